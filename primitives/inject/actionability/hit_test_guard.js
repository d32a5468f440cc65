// hit_test_guard watches which element a click really hits. Between the hit test and
// the click something can have moved under the pointer. A click that would hit
// something else is kept from the page.

const guardedEvents = [
  'pointerdown', 'touchstart', 'mousedown', 'pointerup', 'touchend', 'mouseup', 'click', 'dblclick', 'auxclick',
  'contextmenu'
];
const guards = new Map(); // id -> {verdict, hit, end}
const pathOf = methodOf(Event.prototype, 'composedPath');
const stopEvent = methodOf(Event.prototype, 'stopImmediatePropagation');
const preventEvent = methodOf(Event.prototype, 'preventDefault');

/** Milliseconds after which a guard that nobody queries ends by itself. */
const guardLife = 5000;

/**
 * guardClick lets a click pass that arrives at node, and then stops listening.
 * Of any other click it stops every event. When node is detached, again returns the
 * element that has taken its place, null for none. Without a node no click passes.
 */
function guardClick(id, node, again) {
  const unobservable = node !== null && keepsClicks(tagOf(node));
  const guard = { verdict: null, hit: null, before: clicksSoFar(), unobservable };
  const onEvent = (event) => {
    if (!event.isTrusted) return;
    if (guard.verdict === null) {
      let hit = pathOf(event).find((at) => at instanceof Element) || null;
      // The path does not contain what is in a closed shadow root.
      if (hit && memory.closedShadows.has(hit)) hit = deepHit(event.clientX, event.clientY) || hit;
      const target = node === null || isConnected(node) ? node : again();
      guard.verdict = target !== null && arrives(target, hit);
      guard.hit = hit;
      const waiter = clickWaiters.get(id);
      const verdict = waiter && clickVerdict(guard, waiter.view);
      if (guard.verdict) guard.stopListening();
      if (guard.verdict && waiter) guard.end();
      resolveWaiter(id, verdict);
    }
    if (guard.verdict !== false) return;
    stopEvent(event);
    preventEvent(event);
  };
  const options = { capture: true, passive: false };
  for (const name of guardedEvents) listen(globalThis, name, onEvent, options);
  const timer = setTimeout(() => guard.end(), guardLife);
  guard.stopListening = () => {
    for (const name of guardedEvents) unlisten(globalThis, name, onEvent, options);
  };
  guard.end = () => {
    clearTimeout(timer);
    guard.stopListening();
    guards.delete(id);
  };
  guards.set(id, guard);
}

/** Queries that wait for a click, by the id of its guard, which may come later. */
const clickWaiters = new Map();

/** Milliseconds after which a query that nothing answers is dropped. */
const waiterLife = 150000;

function resolveWaiter(id, verdict) {
  const waiter = clickWaiters.get(id);
  if (!waiter) return;
  clickWaiters.delete(id);
  clearTimeout(waiter.timer);
  waiter.resolve(verdict || { known: false, arrived: null });
}

/**
 * click_verdict answers what a guard observed. With wait it answers once the guard has
 * observed a click, also when the guard starts later. Without wait it ends guard and wait.
 * arrived is null when no click came here, as in a document that has been
 * replaced. here: one came all the same, or may have, and a listener of the page
 * or what the element shows kept it from us.
 */
queries.click_verdict = ({ id, view, wait }) => {
  const guard = guards.get(id);
  if (wait && !(guard && guard.verdict !== null)) {
    return new Promise((resolve) => {
      clickWaiters.set(id, { resolve, view, timer: setTimeout(() => resolveWaiter(id), waiterLife) });
    });
  }
  if (!wait) resolveWaiter(id);
  if (!guard) return { known: false, arrived: null };
  if (!wait || guard.verdict) guard.end();
  return clickVerdict(guard, view);
};

function clickVerdict(guard, view) {
  const out = { known: true, arrived: guard.verdict };
  if (guard.verdict === null) out.here = guard.unobservable || clicksSoFar() > guard.before;
  if (guard.verdict === false && guard.hit)
    out.occluded_by = {
      target_label: label(guard.hit),
      tag_name: tagOf(guard.hit),
      rect: box(rectOf(guard.hit), viewOf(view))
    };
  return out;
}
