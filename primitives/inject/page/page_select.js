// page_select answers a choice in a native list that may still be filling.

/** optionGroup is the label of the group that an option is in, '' for none. */
function optionGroup(option) {
  const group = parentElementOf(option);
  return group && tagOf(group) === 'optgroup' ? norm(protoGet(group, 'label')) : '';
}

/**
 * labelledOptions are the options that a label names. One of a group can be named with the group before it, and where
 * no label is so, a value will do.
 */
function labelledOptions(options, text) {
  const wanted = sought(text);
  const named = (test) => options.filter(test);
  const ways = [
    (option) => comparable(protoGet(option, 'label')) === wanted,
    (option) => comparable(textOf(option)) === wanted,
    (option) =>
      optionGroup(option) !== '' &&
      [' ', ': ', ' / ', ' > '].some(
        (mark) => comparable(optionGroup(option) + mark + norm(protoGet(option, 'label'))) === wanted
      ),
    (option) => protoGet(option, 'value') === text
  ];
  for (const way of ways) {
    const found = named(way);
    if (found.length > 0) return found;
  }
  return [];
}

/** chosenOptions are the options that a call names; null while one of them is not there yet. */
function chosenOptions(select, { value, label, index }) {
  const options = [...protoGet(select, 'options')];
  const found = [];
  for (const text of value || []) found.push(options.find((option) => protoGet(option, 'value') === text));
  for (const text of label || []) {
    const named = labelledOptions(options, text);
    if (named.length > 1) {
      const candidates = named
        .slice(0, 20)
        .map((option) => ({ ...optionOf(option, options.indexOf(option)), group: optionGroup(option) }));
      throw new Fault('multiple_targets', 'several options have this label; name one by its value, or with its group', {
        label: text,
        candidates
      });
    }
    found.push(named[0]);
  }
  for (const at of index || []) found.push(options[at]);
  return found.includes(undefined) ? null : [...new Set(found)];
}

/** Roles of what lists that pages draw themselves consist of. */
const drawnOptions = ['option', 'menuitem', 'menuitemradio', 'menuitemcheckbox', 'treeitem', 'gridcell']
  .map((role) => `[role="${role}"]`)
  .join(', ');

/** So many names of options are told. */
const mostNearOptions = 5;

/** listsOf are the elements that a control says are its own, by ids; parts of it may say so for it. */
function listsOf(control) {
  const found = new Set([control]);
  const around = closestCSS(control, '[role="combobox"]');
  for (const part of [control, around, ...queryIn(control, '[aria-controls], [aria-owns]')]) {
    if (!part) continue;
    for (const name of ['aria-controls', 'aria-owns']) for (const list of byIds(part, name)) found.add(list);
  }
  return [...found];
}

/** placeOfWords is where a name has whole words, -1 where it has not. */
function placeOfWords(name, words) {
  for (let at = name.indexOf(words); at >= 0; at = name.indexOf(words, at + 1)) {
    const before = at === 0 || !wordInside.test(name[at - 1]) || !wordInside.test(words[0]);
    const end = at + words.length;
    const after = end === name.length || !wordInside.test(name[end]) || !wordInside.test(words[words.length - 1]);
    if (before && after) return at;
  }
  return -1;
}

/** nearestOptions are the names of a few options, those first that share a beginning or a word with what is wanted. */
function nearestOptions(options, names) {
  const words = names.flatMap((name) => comparable(name).toLowerCase().split(' ')).filter((word) => word.length > 1);
  const score = (name) => {
    const text = name.toLowerCase();
    return words.reduce((sum, word) => sum + (text.includes(word) ? 4 : text.startsWith(word[0]) ? 1 : 0), 0);
  };
  return options
    .slice(0, 500)
    .map((node) => cut(norm(nameOf(node) || textOf(node)), 80))
    .map((name, i) => ({ name, i, score: score(name) }))
    .sort((a, b) => b.score - a.score || a.i - b.i)
    .slice(0, mostNearOptions)
    .map(({ name }) => name);
}

/** textPartOf is where a person types to find an option: the control itself, or the one field in it; null for none. */
function textPartOf(control) {
  const takes = (node) =>
    isTextControl(node) && whyNotEditable(node) === null && !typesWithoutText.has(protoGet(node, 'type'));
  if (takes(control)) return control;
  const fields = queryIn(control, 'input, textarea').filter((node) => takes(node) && rendered(node));
  return fields.length === 1 ? fields[0] : null;
}

const foldedText = (node) => comparable(textOf(node)).toLowerCase();

/** labelledAs are the elements with this aria-label, in lower case. */
const labelledAs = (name) =>
  withShadows(document)
    .flatMap((root) => queryIn(root, '[aria-label]'))
    .filter((node) => comparable(attributeOf(node, 'aria-label')).toLowerCase() === name);

/**
 * drawnChoices are the options that are drawn now and have one of the names: ref, and owned where they lie in what the
 * control owns. Whoever clicks the control in between sees which of them came with the click.
 */
function drawnChoices(control, names) {
  const lists = listsOf(control);
  const owned = (node) => lists.some((list) => flatContains(list, node));
  const options = withShadows(document).flatMap((root) => queryIn(root, drawnOptions)).filter((node) => rendered(node));
  const namedAs = (node, name) =>
    comparable(nameOf(node)).toLowerCase() === name || comparable(textOf(node)).toLowerCase() === name;
  const called = options.map((node) => comparable(nameOf(node) || textOf(node)).toLowerCase());
  const choices = names.map((text) => {
    const name = sought(text).toLowerCase();
    const named = options.filter((node) => namedAs(node, name));
    // Some lists are of plain elements: their words count where they are part of no option.
    const inOption = (node) => options.some((option) => flatContains(option, node));
    const plain = (node) => !flatContains(control, node) && rendered(node) && !inOption(node);
    const said = norm(text) === '' ? [] : saying(name, true, foldedText).filter(plain);
    // The days of a calendar show a number and have the whole date as their label.
    const labelled = norm(text) === '' || said.length > 0 ? [] : labelledAs(name).filter(plain);
    return [...named, ...said, ...labelled].slice(0, 50).map((node) => ({ ref: refOf(node), owned: owned(node) }));
  });
  // Where none has the whole name, the only one that begins with the words, or contains them, is meant.
  const parts = names.map((text) => {
    const words = sought(text).toLowerCase();
    const places = called.map((name) => (words === '' ? -1 : placeOfWords(name, words)));
    const begins = options.filter((node, i) => places[i] === 0);
    const found = begins.length > 0 ? begins : options.filter((node, i) => places[i] > 0);
    return found.slice(0, 50).map((node) => ({ ref: refOf(node), owned: owned(node) }));
  });
  const input = textPartOf(control);
  return {
    choices,
    parts,
    near: nearestOptions(options.filter(owned), names),
    shown: nearestOptions(options, names),
    count: options.length,
    typed: input ? refOf(input) : undefined,
    // The browser's own list of suggestions: it may hold any text.
    suggests: tagOf(control) === 'input' && hasAttribute(control, 'list') ? true : undefined,
    expanded: attributeOf(control, 'aria-expanded') === 'true'
  };
}

queries.page_select = async (args) => {
  const select = elementOf(args.handle);
  const refuse = (reason, message, more) =>
    new Fault('target_not_editable', message, { reason, tag_name: tagOf(select), ...more });
  if (tagOf(select) !== 'select') {
    throw refuse(
      'not_a_list',
      'the element is no select element; click the options of a list that the page draws itself',
      drawnChoices(select, (args.label || []).map(String))
    );
  }
  const multiple = protoGet(select, 'multiple') === true;
  const found = await waitUntil(() => isConnected(select) && chosenOptions(select, args), {
    timeout: args.timeout_ms,
    silent: () => false
  });
  const known = () => ({
    options: [...protoGet(select, 'options')].slice(0, 50).map(optionOf),
    option_count: protoGet(select, 'options').length
  });
  if (!found) throw refuse('no_option', 'the list has no such option', known());
  if (found.length > 1 && !multiple) throw refuse('single', 'the list takes one option');
  if (found.length === 0 && !multiple) throw refuse('single', 'a list that takes one option cannot be emptied');
  for (const option of found)
    if (matchesCSS(option, ':disabled'))
      throw new Fault('target_not_actionable', 'the option is disabled', {
        reason: 'disabled',
        option: optionOf(option, [...protoGet(select, 'options')].indexOf(option))
      });
  const options = [...protoGet(select, 'options')];
  const target = actedTarget(select, viewOf(args.view));
  const before = options.map((option) => protoGet(option, 'selected'));
  protoCall(select, 'focus', { preventScroll: true });
  const wanted = (option, i) =>
    args.mode === 'add'
      ? before[i] || found.includes(option)
      : args.mode === 'remove'
        ? before[i] && !found.includes(option)
        : found.includes(option);
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
