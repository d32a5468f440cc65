// pointer_synthetic dispatches pointer events that the browser did not make, as
// the Chrome extension does: listeners hear them, the focus and hover styles do
// not follow, and they stop at frames.

const buttonCodes = { left: 0, middle: 1, right: 2 };
const modifierBits = { altKey: 1, ctrlKey: 2, metaKey: 4, shiftKey: 8 };

/** What has been pressed and not released, between the calls of one drag. */
let pressed = null;

function pointerEvents(target, types, event) {
  const init = {
    bubbles: true, cancelable: true, composed: true, view: window, detail: event.count || 1, clientX: event.x, clientY: event.y,
    screenX: event.x, screenY: event.y, button: buttonCodes[event.button] || 0, buttons: event.buttons,
  };
  for (const [name, bit] of Object.entries(modifierBits)) init[name] = (event.modifiers & bit) !== 0;
  for (const type of types) dispatchOf(target, type.startsWith('pointer') ? new PointerEvent(type, init) : new MouseEvent(type, init));
}

questions.pointer_synthetic = ({ events }) => {
  for (const event of events) {
    const target = hitDocument(document, event.x, event.y);
    if (!target) continue;
    switch (event.type) {
      case 'mouseMoved':
        // A movement alone moves nothing but the pointer that is drawn.
        if (pressed) pointerEvents(target, ['pointermove', 'mousemove'], event);
        break;
      case 'mousePressed':
        pointerEvents(target, ['pointerover', 'pointerenter', 'mouseover', 'mouseenter', 'pointermove', 'mousemove', 'pointerdown', 'mousedown'], event);
        pressed = { target, x: event.x, y: event.y };
        break;
      case 'mouseReleased':
        pointerEvents(target, ['pointerup', 'mouseup'], event);
        if (pressed && pressed.x === event.x && pressed.y === event.y) {
          pointerEvents(target, event.count === 2 ? ['click', 'dblclick'] : ['click'], event);
        } else if (pressed && pressed.target !== target && isConnected(pressed.target)) {
          pointerEvents(pressed.target, ['pointerup', 'mouseup'], event);
        }
        pressed = null;
        break;
    }
  }
  return {};
};
