// caret_end puts the caret after what a focused element holds, and says whether
// it could. It answers target_not_editable for what takes no text.
questions.caret_end = ({ handle }) => {
  const node = elementOf(handle);
  const reason = whyNotEditable(node);
  if (reason) throw notEditable(node, reason);
  if (!isTextControl(node)) {
    seatSelection(editingHost(node), false);
    return { placed: true };
  }
  if (!Number.isInteger(protoGet(node, 'selectionStart'))) return { placed: false };
  const end = protoGet(node, 'value').length;
  protoCall(node, 'setSelectionRange', end, end);
  return { placed: true };
};
