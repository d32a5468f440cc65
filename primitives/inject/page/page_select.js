// page_select answers a choice in a native list that may still be filling.

/** chosenOptions are the options that a call names; null while one of them is not there yet. */
function chosenOptions(select, { value, label, index }) {
  const options = [...protoGet(select, 'options')];
  const found = [];
  for (const text of value || []) found.push(options.find((option) => protoGet(option, 'value') === text));
  for (const text of label || []) found.push(options.find((option) => norm(protoGet(option, 'label')) === norm(text)) || options.find((option) => norm(textOf(option)) === norm(text)));
  for (const at of index || []) found.push(options[at]);
  return found.includes(undefined) ? null : [...new Set(found)];
}

queries.page_select = async (args) => {
  const select = elementOf(args.handle);
  const refuse = (reason, message, more) => new Fault('target_not_editable', message, { reason, tag_name: tagOf(select), ...more });
  if (tagOf(select) !== 'select') throw refuse('not_a_list', 'the element is no select element; click the options of a list that the page draws itself');
  const multiple = protoGet(select, 'multiple') === true;
  const found = await waitUntil(() => isConnected(select) && chosenOptions(select, args), { timeout: args.timeout_ms, silent: () => false });
  const known = () => ({ options: [...protoGet(select, 'options')].slice(0, 50).map(optionOf), option_count: protoGet(select, 'options').length });
  if (!found) throw refuse('no_option', 'the list has no such option', known());
  if (found.length > 1 && !multiple) throw refuse('single', 'the list takes one option');
  if (found.length === 0 && !multiple) throw refuse('single', 'a list that takes one option cannot be emptied');
  for (const option of found) if (matchesCSS(option, ':disabled')) throw new Fault('target_not_actionable', 'the option is disabled', { reason: 'disabled', option: optionOf(option, [...protoGet(select, 'options')].indexOf(option)) });
  const options = [...protoGet(select, 'options')];
  const target = actedTarget(select, viewOf(args.view));
  const before = options.map((option) => protoGet(option, 'selected'));
  protoCall(select, 'focus', { preventScroll: true });
  const wanted = (option, i) => args.mode === 'add' ? before[i] || found.includes(option) : args.mode === 'remove' ? before[i] && !found.includes(option) : found.includes(option);
  if (multiple) options.forEach((option, i) => protoSet(option, 'selected', wanted(option, i)));
  else protoSet(found[0], 'selected', true);
  const changed = options.some((option, i) => protoGet(option, 'selected') !== before[i]);
  if (changed) {
    dispatchOf(select, new Event('input', { bubbles: true, composed: true }));
    dispatchOf(select, new Event('change', { bubbles: true }));
  }
  const after = [...protoGet(select, 'options')]; // a listener may have rebuilt the list
  return {
    ref: refOf(select), target, changed, multiple, value: String(protoGet(select, 'value')),
    selected: after.map(optionOf).filter((_, i) => protoGet(after[i], 'selected')).slice(0, 1000),
  };
};
