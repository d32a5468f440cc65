// locator_reads answers the text and the value of what a locator names, and
// gives it the focus.

queries.text_content = ({ locator, view }) => ({
  locator,
  text: textOrLabel(locateToRead(understood(locator), viewOf(view)))
});

/** liveValue is the value property of a control, which its attribute does not follow. */
function liveValue(node) {
  const value = protoGet(node, 'value');
  if (typeof value === 'string') return { value, settable: true };
  if (protoGet(node, 'isContentEditable') === true) return { value: norm(textOf(node)), settable: false };
  return { value: null, settable: false };
}

queries.value = ({ locator, view }) => {
  const node = locateToRead(understood(locator), viewOf(view));
  return { locator, ...liveValue(node), tag_name: tagOf(node) };
};

const selectionText = () => {
  const selection = getSelection();
  return selection ? String(selection) : '';
};

queries.focus = ({ locator, view: given }) => {
  const view = viewOf(given);
  const node = actedOn(understood(locator), view);
  if (typeof protoGet(node, 'focus') !== 'function') {
    throw new Fault('target_not_focusable', 'the element cannot take the focus', { locator, tag_name: tagOf(node) });
  }
  const target = actedTarget(node, view);
  const before = selectionText();
  protoCall(node, 'focus', { preventScroll: false });
  const behind = selectionText();
  const root = rootOf(node);
  const active = (root instanceof ShadowRoot ? shadowActiveOf(root) : documentActiveOf(document)) === node;
  return {
    focused: active,
    tag_name: tagOf(node),
    active_is_target: active,
    selection_preserved: before !== '' && before === behind,
    selection_before_length: before.length,
    selection_after_length: behind.length,
    target
  };
};
