// read answers about all elements that a locator matches, and waits until the answer is another one.

const maxReadText = 100000; // of one text or attribute
const maxParts = 1000; // that one field lists

/** checkedState is what a control that can be checked is, null of anything else. */
function checkedState(node) {
  if (tagOf(node) === 'input' && /^(?:checkbox|radio)$/.test(protoGet(node, 'type')))
    return protoGet(node, 'indeterminate') === true ? 'mixed' : protoGet(node, 'checked') === true;
  if (!checkedRoles.test(roleOf(node))) return null;
  const row = {};
  fillOwnStates(row, node, tagOf(node), roleOf(node));
  if (row.checked !== undefined) return row.checked;
  const value = attributeOf(node, 'aria-checked');
  return value === 'mixed' ? 'mixed' : value === 'true';
}

/** partOf is what a field says of an element: a text, null for none, a list or an object. */
function partOf(node, field) {
  if (!field.selector) return field.all ? [partHere(node, field)] : partHere(node, field);
  const { nodes } = queryParts(node, field.selector, true);
  if (field.all) return nodes.slice(0, maxParts).map((each) => partHere(each, field));
  return nodes.length > 0 ? partHere(nodes[0], field) : null;
}

function partHere(node, field) {
  if (field.fields) return partsOf(node, field.fields);
  if (field.attribute) return hasAttribute(node, field.attribute)
    ? cut(attributeOf(node, field.attribute), maxReadText)
    : null;
  if (field.html) return cut(outerHTMLOf(node), maxReadText);
  return cut(textOrLabel(node), maxReadText);
}

const partsOf = (node, fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, partOf(node, field)]));

/** optionsChosen are the values of the chosen options of a list. */
const optionsChosen = (node) =>
  tagOf(node) === 'select' ? selectedOf(node).map((option) => String(protoGet(option, 'value'))) : [];

/** readingOf describes one element. */
function readingOf(node, { view, attributes, css, fields }, clips) {
  const { value } = liveValue(node);
  const out = {
    tag_name: tagOf(node),
    role: safeRole(node) || '',
    name: safeName(node, new Map()),
    text: cut(textOrLabel(node), maxReadText),
    value: value === null ? null : cut(value, maxReadText),
    rendered: rendered(node),
    visible: isVisible(node, view, clips),
    enabled: !isDisabled(node),
    editable: whyNotEditable(node) === null,
    focused: activeElement() === node,
    checked: checkedState(node),
    selected: optionsChosen(node)
  };
  if (attributes) {
    const there = attributes.filter((name) => hasAttribute(node, name));
    out.attributes = Object.fromEntries(there.map((name) => [name, cut(attributeOf(node, name), maxReadText)]));
  }
  if (css) {
    const style = styleOf(node);
    out.css = Object.fromEntries(css.map((name) => [name, String(style.getPropertyValue(name))]));
  }
  if (fields) out.fields = partsOf(node, fields);
  return out;
}

/** readDigest is a short text that is equal for equal texts. */
function readDigest(text) {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36) + text.length.toString(36);
}

queries.locator_read = async ({ locator: given, view: place, limit, changed_from, timeout_ms, ...what }) => {
  const locator = understood(given);
  const view = viewOf(place);
  const read = () => {
    const { nodes, trace } = locate(locator);
    if (nodes.length === 0) return { count: 0, state: 'none', elements: [], trace };
    const clips = new Map();
    const some = nodes.slice(0, limit || 100);
    const elements = some.map((node) => readingOf(node, { ...what, view }, clips));
    const state = readDigest(nodes.length + JSON.stringify(elements));
    elements.forEach((element, i) => (element.bounding_box = box(rectOf(some[i]), view)));
    return { count: nodes.length, state, elements };
  };
  let last;
  const probe = () => (last = read()).state !== changed_from;
  if (changed_from === undefined || changed_from === null) last = read();
  else await waitUntil(probe, { timeout: timeout_ms, silent: () => false, pierce: true });
  if (last.count === 0) throw notFound(locator, last.trace);
  return last;
};
