// appearances describes elements, so that one can be recognised after
// the page has changed. It reads; which element is the one is decided elsewhere.

/** Attributes that people give, and that say what an element is for. */
const keyAttributes = [
  'id', 'name', 'type', 'data-testid', 'data-test-id', 'data-test', 'data-qa', 'data-cy', 'data-automation-id',
  'autocomplete', 'for', 'aria-label', 'placeholder', 'title', 'alt', 'href', 'src', 'value', 'class'
];

/** Elements that nobody points at. */
const unseenTags = new Set(
  'html head meta link style script template noscript base title br wbr param source track'.split(' ')
);

const maxAppearanceText = 200;

/**
 * keyAttribute is the value of an attribute that helps to recognise an element; the value of a control counts where
 * it names a choice and nobody typed it.
 */
function keyAttribute(node, name) {
  const value = attributeOf(node, name);
  if (value === null || value === '' || value.length > 300) return null;
  const tag = tagOf(node);
  if (
    name === 'value' &&
    tag !== 'option' &&
    !(tag === 'input' && /^(?:button|submit|reset|radio|checkbox)$/.test(protoGet(node, 'type')))
  )
    return null;
  return value;
}

/** nthOfType is an element's place among its siblings with the same tag, from 1, and how many they are. */
function nthOfType(node) {
  const kind = localNameOf(node);
  let nth = 1;
  for (let at = previousElementOf(node); at; at = previousElementOf(at)) if (localNameOf(at) === kind) nth++;
  let all = nth;
  for (let at = nextElementOf(node); at; at = nextElementOf(at)) if (localNameOf(at) === kind) all++;
  return [nth, all];
}

/** shortText is the text of a node if it is short enough to be one's own. */
function shortText(node) {
  const text = norm(textOf(node));
  return text.length <= maxAppearanceText ? text : '';
}

/** nearbyText is what stands beside an element, and above it: its siblings, and the nearest legend or heading. */
function nearbyText(node) {
  const out = [];
  for (const sibling of [previousElementOf(node), nextElementOf(node)])
    if (sibling && !unseenTags.has(tagOf(sibling))) out.push(shortText(sibling));
  let at = node;
  for (let steps = 0; at && steps < 8; steps++, at = flatParentElement(at)) {
    for (let before = previousElementOf(at), n = 0; before && n < 10; before = previousElementOf(before), n++) {
      if (!/^(?:h[1-6]|legend|caption)$/.test(tagOf(before))) continue;
      out.push(shortText(before));
      return out.join(' ');
    }
  }
  return out.join(' ');
}

/** appearance describes one element, or says that it cannot be read. */
const appearance = (node, known) => readable(
  node,
  () => readAppearance(node, known),
  { tag: tagOf(node), role: '', name: '', text: unreadText, attributes: {}, path: [], nth: 1, siblings: 1, near: '' }
);

function readAppearance(node, known) {
  const attributes = {};
  for (const name of keyAttributes) {
    const value = keyAttribute(node, name);
    if (value !== null) attributes[name] = value;
  }
  const path = [];
  for (let at = flatParentElement(node); at && path.length < 12 && tagOf(at) !== 'html'; at = flatParentElement(at)) {
    const [nth] = nthOfType(at);
    path.push({
      tag: tagOf(at),
      nth,
      id: attributeOf(at, 'id') || undefined,
      testid: attributeOf(at, 'data-testid') || undefined,
      role: attributeOf(at, 'role') || undefined
    });
  }
  const [nth, siblings] = nthOfType(node);
  return {
    tag: tagOf(node),
    role: roleOf(node),
    name: cut(nameOf(node, known), maxAppearanceText),
    text: shortText(node),
    attributes,
    path,
    nth,
    siblings,
    near: cut(nearbyText(node), 400),
    shadow: rootOf(node) !== document || undefined
  };
}

/**
 * appearances describes the elements with the given handles, and in candidates
 * those on the page whose tag or role is one of those requested, in document order.
 */
queries.appearances = ({ handles = [], tags = [], roles = [], limit = 0 }) => {
  const known = new Map();
  const out = { elements: handles.map((handle) => {
    const node = element(handle);
    return node && isConnected(node) ? { ...appearance(node, known), handle } : null;
  }), candidates: [], complete: true };
  if (limit === 0) return out;
  const wantedTags = new Set(tags);
  const wantedRoles = new Set(roles);
  for (const root of withShadows(document)) {
    for (const node of queryIn(root, '*')) {
      if (unseenTags.has(tagOf(node)) || !(wantedTags.has(tagOf(node)) || wantedRoles.has(safeRole(node))) ||
        !rendered(node) && !unreadableHere(node)) continue;
      if (out.candidates.length >= limit) return { ...out, complete: false };
      out.candidates.push({ ...appearance(node, known), handle: keep(node) });
    }
  }
  return out;
};
