// pointer_synthetic dispatches pointer events that the browser did not make, as
// the Chrome extension does: listeners receive them, the focus and hover styles do
// not follow, and they stop at frames and shadow roots.

const buttonCodes = { left: 0, middle: 1, right: 2 };
const modifierBits = { altKey: 1, ctrlKey: 2, metaKey: 4, shiftKey: 8 };

const enterEvents = ['pointerover', 'pointerenter', 'mouseover', 'mouseenter'];
const moveEvents = ['pointermove', 'mousemove'];
const downEvents = ['pointerdown', 'mousedown'];
const upEvents = ['pointerup', 'mouseup'];

function pointerEvents(target, types, event) {
  const button = buttonCodes[event.button] || 0;
  const init = {
    bubbles: true,
    cancelable: true,
    composed: true,
    view: window,
    detail: event.count ?? 1,
    clientX: event.x,
    clientY: event.y,
    // The extension takes a button's number for its bit: 2 is middle and 4 right, the reverse of the standard. It is
    // down to the end of a click.
    screenX: event.x, screenY: event.y, button, buttons: event.up ? 0 : 1 << button,
  };
  for (const [name, bit] of Object.entries(modifierBits)) init[name] = (event.modifiers & bit) !== 0;
  for (const type of types)
    dispatchOf(target, type.startsWith('pointer') ? new PointerEvent(type, init) : new MouseEvent(type, init));
}

let lastSynthetic = null;

/** pointer_synthetic_target describes what the last click was dispatched on, as it is when that is over. */
queries.pointer_synthetic_target = () => {
  if (!lastSynthetic) throw new Fault('target_not_found', 'no element was pressed');
  const { target, x, y } = lastSynthetic;
  lastSynthetic = null;
  return clickTarget(
    target,
    topView,
    { width: innerWidth, height: innerHeight, scroll_x: scrollX, scroll_y: scrollY },
    { x, y }
  );
};

/**
 * pointer_synthetic dispatches the clicks and releases of a click. All go to the
 * element that is at the point when the first one comes, whatever the listeners of
 * one do to it and to what is there then.
 */
queries.pointer_synthetic = ({ events }) => {
  const { x, y } = events[0];
  const target = hitDocument(document, x, y);
  if (!target) throw new Fault('target_not_found', 'no element is at the point', { x, y });
  lastSynthetic = { target, x, y };
  for (const event of events) {
    if (event.type === 'mousePressed') {
      pointerEvents(target, [...enterEvents, ...moveEvents, ...downEvents], event);
    } else if (event.type === 'mouseReleased') {
      pointerEvents(target, [...upEvents, 'click'], event);
      if (event.count === 2) pointerEvents(target, ['dblclick'], { ...event, button: 'left', modifiers: 0, up: true });
    }
  }
  return {};
};

/**
 * drag_synthetic drags at once: each movement, and the release, is received by what is
 * at its point by then, and the release once more by what was picked up.
 */
queries.drag_synthetic = ({ from, to, steps }) => {
  const at = (point, types, up) => {
    const target = hitDocument(document, point.x, point.y);
    if (target) pointerEvents(target, types, { ...point, up, count: 0 });
    return target;
  };
  const picked = at(from, downEvents, false);
  for (let n = 1; n <= steps; n++) {
    at({ x: from.x + (to.x - from.x) * n / steps, y: from.y + (to.y - from.y) * n / steps }, moveEvents, false);
  }
  const over = at(to, upEvents, true);
  if (picked && picked !== over) pointerEvents(picked, upEvents, { ...to, up: true, count: 0 });
  return {};
};
