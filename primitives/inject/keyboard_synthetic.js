// keyboard_synthetic dispatches key events that the browser did not make. They
// reach listeners and nothing else: no text, no focus change, no submit.
questions.keyboard_synthetic = ({ key, code, alt, control, meta, shift, view: given }) => {
  const view = viewOf(given);
  const target = activeElement() || bodyOf() || rootElement();
  if (!target) throw new Fault('target_not_found', 'the document has no element to take the key');
  if (isFrameElement(target)) return descended(target, view);
  const report = actedTarget(target, view);
  const init = { key, code, altKey: alt, ctrlKey: control, metaKey: meta, shiftKey: shift, bubbles: true, cancelable: true, composed: true };
  dispatchOf(target, new KeyboardEvent('keydown', init));
  dispatchOf(target, new KeyboardEvent('keyup', init));
  return { target: report };
};
