// extract answers the rows of a repeated structure: one object per visible item,
// one member per field; or per item of the page, wherever it is.

const maxScopeText = 4000;
const emptyFragment = new DocumentFragment();

function readAttribute(node, name) {
  switch (name) {
    case 'text': return norm(textOf(node));
    case 'href': return node instanceof HTMLAnchorElement ? protoGet(node, 'href') : attributeOf(node, 'href') || '';
    case 'src': return node instanceof HTMLImageElement ? protoGet(node, 'src') : attributeOf(node, 'src') || '';
    case 'currentSrc': return node instanceof HTMLImageElement ? protoGet(node, 'currentSrc') || protoGet(node, 'src') : '';
  }
  return norm(attributeOf(node, name));
}

/** fieldReader prepares a field: where to search in an item, and what to read. */
function fieldReader(field) {
  const selector = field.selector === undefined ? ':scope' : field.selector;
  const listed = (field.attributes || []).filter((name) => norm(name) !== '');
  const names = listed.length > 0 ? listed : field.attribute ? [field.attribute] : ['text'];
  const own = norm(selector) === ':scope';
  if (!own) queryParts(emptyFragment, selector); // fails when no part parses
  return (item, shown) => {
    const nodes = own ? [item] : queryParts(item, selector).nodes;
    for (const node of nodes) {
      if (node !== item && !shown(node)) continue;
      for (const name of names) {
        const value = readAttribute(node, name);
        if (value) return value;
      }
    }
    return '';
  };
}

/** itemsOf lists the items of an extraction, in document order. */
function itemsOf(args, root) {
  let nodes;
  try {
    nodes = queryList(root, args.item_selector);
  } catch (fault) {
    if (quirk('unparsed_finds_nothing')) return [];
    throw fault;
  }
  if (nodes.length === 0 && args.include && args.include !== 'visible' && (root === bodyOf() || root === rootElement())) {
    nodes = locate({ selector: args.item_selector, pierce: true }).nodes;
  }
  const needle = norm(args.text_equals || args.text_contains);
  return needle === '' ? nodes : nodes.filter((node) => hasText(node, needle, Boolean(args.text_equals)));
}

queries.extract = (args) => {
  const view = viewOf(args.view);
  const everywhere = args.include === 'rendered' || args.include === 'all';
  const { scope, root, selectorCount } = resolveScope(args.scope, args.item_selector, view);
  const fields = args.fields.map((field) => [field.name, fieldReader(field)]);
  const clips = new Map();
  const shown = args.include === 'all' ? () => true : everywhere ? (node) => rendered(node) : (node) => isVisible(node, view, clips);
  const seen = new Set();
  const items = [];
  for (const node of itemsOf(args, root)) {
    if (!shown(node)) continue;
    const item = {};
    let empty = true;
    for (const [name, read] of fields) {
      const value = read(node, shown);
      Object.defineProperty(item, name, { value, enumerable: true, configurable: true, writable: true });
      if (value !== '') empty = false;
    }
    if (empty && !everywhere) continue;
    const json = JSON.stringify(item);
    if (seen.has(json) && !everywhere) continue;
    seen.add(json);
    items.push(json);
  }
  const head = JSON.stringify({ text: cut(norm(textOf(scope)), quirk('whole_scope_text') ? Infinity : maxScopeText), selector_count: selectorCount });
  return new Raw('{"ok":true,"scope":' + head + ',"items":[' + items.join(',') + '],"item_count":' + items.length +
    ',"extracted_at":' + JSON.stringify(new Date().toISOString()) + ',"url":' + JSON.stringify(location.href) + '}');
};
