// caret_end puts the caret after the content of a focused element, and reports whether
// it could; whole: the end of all that an editor holds is meant, by its own keys. It answers target_not_editable for
// what takes no text.
queries.caret_end = ({ handle }) => {
  const node = elementOf(handle);
  const reason = whyNotEditable(node);
  if (reason) throw notEditable(node, reason);
  if (hasEditContext(node) || isTextSink(node)) return { placed: false, whole: true };
  if (!isTextControl(node)) {
    seatSelection(editingHost(node), false);
    return { placed: !mayHoldMore(node), whole: true };
  }
  if (!Number.isInteger(protoGet(node, 'selectionStart'))) return { placed: false };
  const end = protoGet(node, 'value').length;
  protoCall(node, 'setSelectionRange', end, end);
  return { placed: true };
};
