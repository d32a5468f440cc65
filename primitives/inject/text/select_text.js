// select_text selects the contents of an element: of a control its value, of
// anything else its text.

/** chosenTarget is the first candidate of a locator, visible or not, or the focused element. */
function chosenTarget(given) {
  if (!given) return { node: activeElement(), kind: 'activeElement' };
  const locator = understood(given);
  const { nodes, trace } = locateToAct(locator);
  if (nodes.length === 0) throw notFound(locator, trace);
  return { node: isExtended(locator) ? oneOf(locator, nodes, topView).node : nodes[0], kind: 'resolved-locator' };
}

/**
 * focusWindow: a body that is edited has the focus of its document always, and its window may not have it. That of a
 * document in design mode does not take the focus.
 */
function focusWindow(node) {
  if ((node === bodyOf() || node === rootElement()) && !protoCall(document, 'hasFocus')) focus();
}

/** takeFocus focuses an element that does not have the focus already. */
function takeFocus(node) {
  focusWindow(node);
  const active = activeElement();
  if (active === node || active && active !== bodyOf() && flatContains(node, active)) return;
  protoCall(node, 'focus');
}

queries.select_text = async ({ locator, pressed = [], handle, view: given }) => {
  const view = viewOf(given);
  const before = handle ? element(handle) : null;
  const { node, kind } =
    before && isConnected(before)
      ? { node: before, kind: locator ? 'resolved-locator' : 'activeElement' }
      : chosenTarget(locator);
  if (node && isFrameElement(node)) return descended(node, view);
  const editable = node && protoGet(node, 'isContentEditable') === true;
  if (!node || !editable && (node === bodyOf() || node === rootElement())) {
    throw new Fault('no_select_target', 'no element has the focus', { tag_name: node ? tagOf(node) : null });
  }
  const report = actedTarget(node, view);
  const drawn = hasEditContext(node) || isTextSink(node);
  if ((drawn || editable && !quirk('pastes_only') && mayHoldMore(node)) && !pressed.includes('select_all')) {
    takeFocus(node);
    await nextFrame(longestRendering);
    return { ...pressFirst('select_all'), handle: keep(node) };
  }
  let length;
  if (drawn) {
    const selection = hasEditContext(node) ? protoGet(node, 'editContext') : node;
    length = Math.abs(selection.selectionEnd - selection.selectionStart) || 0; // as far as the editor reports it
  } else if (editable && selectsAll(node) && pressed.includes('select_all')) {
    length = String(selectionOf(document)).length;
  } else if (isTextControl(node) && quirk('controls_select_nothing')) {
    protoCall(node, 'focus');
    const contents = new Range();
    contents.selectNodeContents(node); // which has none: nothing is selected any more
    selectionOf(document).removeAllRanges();
    selectionOf(document).addRange(contents);
    length = 0;
  } else if (isTextControl(node)) {
    takeFocus(node);
    protoCall(node, 'select');
    length = protoGet(node, 'value').length;
  } else {
    if (editable) takeFocus(editingHost(node));
    length = String(seatSelection(node, true)).length;
  }
  await nextFrame(); // editors read the selection after the event that it changed
  return { selected: true, selected_length: length, target_kind: kind, target: report };
};
