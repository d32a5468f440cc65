// press_guard watches which element a press really hits. Between the look at
// the page and the press something can have moved under the pointer; a press
// that would hit something else is kept from the page.

const guardedEvents = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu', 'touchstart', 'touchend'];
const guards = new Map(); // id -> {verdict, hit, end}
const pathOf = methodOf(Event.prototype, 'composedPath');
const stopEvent = methodOf(Event.prototype, 'stopImmediatePropagation');
const preventEvent = methodOf(Event.prototype, 'preventDefault');

/** Milliseconds after which a guard that nobody asks goes by itself. */
const guardLife = 5000;

/** guardPress lets presses pass that arrive at node, and holds back others until press_seen is asked. */
function guardPress(id, node) {
  const guard = { verdict: null, hit: null };
  const hear = (event) => {
    if (!event.isTrusted) return;
    if (guard.verdict === null && (event.type === 'pointerdown' || event.type === 'mousedown')) {
      let hit = pathOf(event).find((at) => at instanceof Element) || null;
      // The path does not tell what is in a closed shadow root.
      if (hit && closedShadows.has(hit)) hit = deepHit(event.clientX, event.clientY) || hit;
      guard.verdict = arrives(node, hit);
      guard.hit = hit;
    }
    if (guard.verdict !== false) return;
    stopEvent(event);
    preventEvent(event);
  };
  const options = { capture: true, passive: false };
  for (const name of guardedEvents) listen(globalThis, name, hear, options);
  const timer = setTimeout(() => guard.end(), guardLife);
  guard.end = () => {
    clearTimeout(timer);
    for (const name of guardedEvents) unlisten(globalThis, name, hear, options);
    guards.delete(id);
  };
  guards.set(id, guard);
}

/** press_seen ends a guard: arrived is null when no press came here, as in a document that has been replaced. */
questions.press_seen = ({ id, view }) => {
  const guard = guards.get(id);
  if (!guard) return { known: false, arrived: null };
  guard.end();
  const out = { known: true, arrived: guard.verdict };
  if (guard.verdict === false && guard.hit) out.occluded_by = { target_label: label(guard.hit), tag_name: tagOf(guard.hit), rect: box(rectOf(guard.hit), viewOf(view)) };
  return out;
};
