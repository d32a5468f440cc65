// hit_test_guard watches which element a click really hits. Between the hit test and
// the click something can have moved under the pointer. A click that would hit
// something else is kept from the page.

const guardedEvents = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu'];
const guards = new Map(); // id -> {verdict, hit, end}
const pathOf = methodOf(Event.prototype, 'composedPath');
const stopEvent = methodOf(Event.prototype, 'stopImmediatePropagation');
const preventEvent = methodOf(Event.prototype, 'preventDefault');

/** Milliseconds after which a guard that nobody asks goes by itself. */
const guardLife = 5000;

/**
 * guardClick lets a click pass that arrives at node, and listens no longer then.
 * Another it holds back, up to its click. When node is gone, again says which element
 * has taken its place; null for none.
 */
function guardClick(id, node, again) {
  const guard = { verdict: null, hit: null, before: clicksSoFar(), deaf: keepsClicks(tagOf(node)) };
  const hear = (event) => {
    if (!event.isTrusted) return;
    if (guard.verdict === null) {
      let hit = pathOf(event).find((at) => at instanceof Element) || null;
      // The path does not tell what is in a closed shadow root.
      if (hit && closedShadows.has(hit)) hit = deepHit(event.clientX, event.clientY) || hit;
      const target = isConnected(node) ? node : again();
      guard.verdict = target !== null && arrives(target, hit);
      guard.hit = hit;
      const waiter = clickWaiters.get(id);
      const verdict = waiter && clickVerdict(guard, waiter.view);
      if (guard.verdict) guard.deafen();
      if (guard.verdict && waiter) guard.end();
      tellWaiter(id, verdict);
    }
    if (guard.verdict !== false) return;
    stopEvent(event);
    preventEvent(event);
  };
  const options = { capture: true, passive: false };
  for (const name of guardedEvents) listen(globalThis, name, hear, options);
  const timer = setTimeout(() => guard.end(), guardLife);
  guard.deafen = () => {
    for (const name of guardedEvents) unlisten(globalThis, name, hear, options);
  };
  guard.end = () => {
    clearTimeout(timer);
    guard.deafen();
    guards.delete(id);
  };
  guards.set(id, guard);
}

/** Queries that wait for a click, by the id of its guard, which may come later. */
const clickWaiters = new Map();

/** Milliseconds after which a query that nothing answers is dropped. */
const waiterLife = 150000;

function tellWaiter(id, verdict) {
  const waiter = clickWaiters.get(id);
  if (!waiter) return;
  clickWaiters.delete(id);
  clearTimeout(waiter.timer);
  waiter.resolve(verdict || { known: false, arrived: null });
}

/**
 * click_verdict answers what a guard saw: with wait once it has seen a click, also
 * when the guard has still to come; without wait any guard and any wait is over.
 * arrived is null when no click came here, as in a document that has been
 * replaced; here says that one came all the same, or may have: a listener of the page
 * or what the element shows kept it from us.
 */
queries.click_verdict = ({ id, view, wait }) => {
  const guard = guards.get(id);
  if (wait && !(guard && guard.verdict !== null)) {
    return new Promise((resolve) => {
      clickWaiters.set(id, { resolve, view, timer: setTimeout(() => tellWaiter(id), waiterLife) });
    });
  }
  if (!wait) tellWaiter(id);
  if (!guard) return { known: false, arrived: null };
  if (!wait || guard.verdict) guard.end();
  return clickVerdict(guard, view);
};

function clickVerdict(guard, view) {
  const out = { known: true, arrived: guard.verdict };
  if (guard.verdict === null) out.here = guard.deaf || clicksSoFar() > guard.before;
  if (guard.verdict === false && guard.hit) out.occluded_by = { target_label: label(guard.hit), tag_name: tagOf(guard.hit), rect: box(rectOf(guard.hit), viewOf(view)) };
  return out;
}
