// keyboard_synthetic dispatches key events that the browser did not make. They
// arrive at listeners and have no other effect: no text, no focus change, no submit. With flat
// they go to what has the focus in this document: also a frame element, or the host
// of a shadow root.
queries.keyboard_synthetic = ({ key, code, alt, control, meta, shift, flat, view: given }) => {
  const view = viewOf(given);
  const target = (flat ? documentActiveOf(document) : activeElement()) || bodyOf() || rootElement();
  if (!target) throw new Fault('target_not_found', 'the document has no element to take the key');
  if (!flat && isFrameElement(target)) return descended(target, view);
  const report = actedTarget(target, view);
  const init = {
    key,
    code,
    altKey: alt,
    ctrlKey: control,
    metaKey: meta,
    shiftKey: shift,
    bubbles: true,
    cancelable: true,
    composed: true
  };
  dispatchOf(target, new KeyboardEvent('keydown', init));
  dispatchOf(target, new KeyboardEvent('keyup', init));
  return { target: report };
};
