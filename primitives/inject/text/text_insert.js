// text_insert puts text into one element of this document: the one a locator
// finds first, visible or not, or the one with the focus.
//
// A focus that is inside a frame is answered with that frame's handle in
// descend; nothing has been changed then, and the caller calls again there. What
// only real input does is answered with press: the caller presses that and calls
// again, with what it has pressed so far.

queries.text_insert = (args) => {
  const { locator, text, replace, pressed = [], handle, view: given, read_ms, watch } = args;
  const unread = readTime(read_ms);
  if (unread > 0) return documentRead(unread).then(() => queries.text_insert({ ...args, read_ms: 0 }));
  const view = viewOf(given);
  let target;
  if (locator) {
    // The keys can have changed what the locator finds; the target stays the same element.
    const before = handle ? element(handle) : null;
    target = before && isConnected(before) ? before : insertionTarget(understood(locator));
  } else {
    target = activeElement();
    if (target && isFrameElement(target) && !quirk('frames_unseen')) return descended(target, view);
  }
  // Upstream accepts a control of its own realm only: in a frame only editors are seen.
  const reason = whyNotEditable(target) || (unseen() && isTextControl(target) ? 'not_editable' : null);
  if (reason) throw notEditable(target, reason);
  if (args.drawn && pressed.length === 0) requireDrawn(target);
  const editor = isTextControl(target) ? target : editingHost(target);
  const active = activeElement();
  const editing = active === target || !isTextControl(target) && active !== null && contains(editor, active);
  focusWindow(editor);
  if (!editing) {
    protoCall(editor, 'focus');
    if (!isConnected(target))
      throw notEditable(target, 'removed', 'the element left the document when it got the focus');
    const reason = whyNotEditable(target);
    if (reason) throw notEditable(target, reason);
  }
  // It is told as it was before the first key, and after one the layout would have to be made anew.
  const report = pressed.length > 0 && reported.get(target) || actedTarget(target, view);
  const done = (value) => {
    if (!value.press) return { ...value, target: report };
    reported.set(target, report);
    return { ...value, handle: keep(target) };
  };
  // A control is answered at once: a promise costs a good tenth of the call.
  const plainly = () => {
    const value = isTextControl(target)
      ? insertIntoControl(target, text, replace, editing, pressed, watch && { id: watch, report })
      : insertIntoEditor(target, text, replace, pressed, !editing);
    return value instanceof Promise ? value.then(done) : done(value);
  };
  if (!hasEditContext(target) && !isTextSink(target)) return plainly();
  return insertIntoDrawn(target, text, replace, pressed, !editing).then((drawn) => (drawn ? done(drawn) : plainly()));
};

/** What was told of targets for which keys are pressed. */
const reported = new WeakMap();

/** insertionTarget is the first candidate of a locator that names something. */
function insertionTarget(locator) {
  const named = (locator.selector !== undefined && locator.selector !== null) || isExtended(locator);
  if (
    !named &&
    !quirk('known_members_only') &&
    norm(locator.text || locator.text_contains || locator.text_equals) === ''
  ) {
    throw notEditable(null, 'empty_target', 'the target names no element');
  }
  const { nodes, trace } = locateToAct(locator);
  if (nodes.length > 0) return isExtended(locator) ? oneOf(locator, nodes, topView).node : nodes[0];
  if (trace.guessed) throw drifted(locator, trace);
  const fault = notEditable(null, 'not_found', 'nothing matches the target');
  Object.assign(fault.evidence, notFound(locator, trace).evidence);
  throw fault;
}
