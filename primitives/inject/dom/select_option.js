// select_option answers a choice in a native list.

const optionOf = (option, index) => ({
  value: protoGet(option, 'value'),
  label: norm(protoGet(option, 'label')),
  index
});

/** wantedOptions are the options that the call names, in its order. */
function wantedOptions(options, args, fail) {
  if (Number.isInteger(args.index)) {
    if (args.index >= options.length) throw fail('no_option', 'the list has no option at this position');
    return [options[args.index]];
  }
  const listed = (v) => (v === undefined || v === null ? [] : Array.isArray(v) ? v : [v]);
  const byValue = (text) => options.find((o) => protoGet(o, 'value') === text);
  const byLabel = (text) => options.find((o) => comparable(protoGet(o, 'label')) === sought(text));
  const found = [
    ...listed(args.option).map((t) => byValue(t) || byLabel(t)),
    ...listed(args.value).map(byValue),
    ...listed(args.label).map(byLabel)
  ];
  if (found.length === 0) throw fail('nothing_named', 'the call names no option, value, label or index');
  if (found.some((o) => !o)) throw fail('no_option', 'the list has no such option');
  return found;
}

queries.select_option = (args) => {
  const { locator } = args;
  const [node] = renderedCandidates(locator, topView).nodes;
  const fail = (reason, message, more) =>
    new Fault('target_not_editable', message, { locator, reason, tag_name: tagOf(node), ...more });
  if (tagOf(node) !== 'select') throw fail('not_a_list', 'the element is no select element');
  if (isDisabled(node)) throw new Fault('target_not_actionable', 'the list is disabled', { locator });
  const options = [...protoGet(node, 'options')];
  const multiple = protoGet(node, 'multiple') === true;
  const known = () => options.slice(0, 50).map(optionOf);
  const wanted = wantedOptions(options, args, (reason, message) => fail(reason, message, { options: known() }));
  if (wanted.length > 1 && !multiple) throw fail('single', 'the list takes one option');
  for (const option of wanted)
    if (matchesCSS(option, ':disabled'))
      throw new Fault('target_not_actionable', 'the option is disabled', { locator });
  const target = actedTarget(node, viewOf(args.view));
  const before = options.map((o) => protoGet(o, 'selected'));
  protoCall(node, 'focus', { preventScroll: true });
  for (const option of options) protoSet(option, 'selected', wanted.includes(option));
  const changed = options.some((o, i) => protoGet(o, 'selected') !== before[i]);
  if (changed) {
    dispatchOf(node, new Event('input', { bubbles: true, composed: true }));
    dispatchOf(node, new Event('change', { bubbles: true }));
  }
  const after = [...protoGet(node, 'options')]; // a listener may have rebuilt the list
  const selected = after.map(optionOf).filter((_, i) => protoGet(after[i], 'selected')).slice(0, 1000);
  return { locator, changed, multiple, selected, target };
};
