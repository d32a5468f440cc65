// inspect_states lists what the elements of a page are like, besides their names: sorted,
// open, chosen or checked, with which value, and what their entries show as a whole. It
// reads; which of it shows that something was done is decided elsewhere.

const stateAttributes = [
  'aria-sort', 'aria-expanded', 'aria-selected', 'aria-checked', 'aria-pressed', 'aria-current', 'aria-valuenow'
];
const stateful =
  stateAttributes.map((name) => '[' + name + ']').join(', ') +
  ', input, select, textarea, button, details, dialog, th, [role=columnheader], [role=tab], [role=option]';
const listing =
  'ul, ol, table, tbody, [role=list], [role=listbox], [role=grid], [role=treegrid], [role=table], [role=tree], ' +
  '[role=feed], [role=rowgroup], [role=log]';
const maxStates = { elements: 400, lists: 30, value: 2000 };

/** digest tells texts apart without being one. */
function digest(text) {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return text.length + ':' + (hash >>> 0).toString(16);
}

/**
 * statesOf are the states of an element, by the selector that finds an element in that state; false is written as an
 * absent one.
 */
function statesOf(node) {
  const out = {};
  const tag = tagOf(node);
  for (const name of stateAttributes) out[name] = attributeOf(node, name) ?? '';
  const type = tag === 'input' ? protoGet(node, 'type') : '';
  if (type === 'checkbox' || type === 'radio') out.checked = protoGet(node, 'checked') === true ? 'true' : '';
  if (/^(?:input|select|textarea|button)$/.test(tag)) out.disabled = matchesCSS(node, ':disabled') ? 'true' : '';
  if (tag === 'details' || tag === 'dialog') out.open = hasAttribute(node, 'open') ? 'true' : '';
  for (const name of Object.keys(out)) if (out[name] === '') delete out[name];
  return out;
}

/** valueOf is what a field holds; a password is no business of anybody. */
function valueOf(node) {
  const tag = tagOf(node);
  if (!/^(?:input|select|textarea)$/.test(tag)) return undefined;
  if (
    tag === 'input' &&
    /^(?:password|checkbox|radio|file|hidden|button|submit|reset|image)$/.test(protoGet(node, 'type'))
  )
    return undefined;
  return cut(String(protoGet(node, 'value')), maxStates.value);
}

queries.inspect_states = () => {
  const known = new Map();
  const elements = [];
  const lists = [];
  let complete = true;
  for (const root of withShadows(document)) {
    for (const node of queryIn(root, stateful)) {
      const choice = tagOf(node) === 'input' && /^(?:checkbox|radio)$/.test(protoGet(node, 'type'));
      const labelled = choice && labelsOf(node).some((each) => rendered(each));
      if (!labelled && !rendered(node) && !unreadableHere(node)) continue;
      if (elements.length >= maxStates.elements) { complete = false; break; }
      elements.push({ ...appearance(node, known), handle: keep(node), states: statesOf(node), value: valueOf(node) });
    }
    for (const node of queryIn(root, '*')) {
      if (lists.length >= maxStates.lists) { complete = false; break; }
      if (unseenTags.has(tagOf(node)) || !rendered(node)) continue;
      if (!matchesCSS(node, listing) && !readable(node, repeatedIn, null)) continue;
      lists.push({ ...appearance(node, known), handle: keep(node), digest: digest(norm(textOf(node))) });
    }
  }
  return { complete, elements, lists };
};
