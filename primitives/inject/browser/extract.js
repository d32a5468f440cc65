// extract answers the rows of a repeated structure: one object per visible item,
// one member per field; or per item of the page, wherever it is. The text of the answer is
// the list of all values, item by item.

const maxScopeText = 4000;
const emptyFragment = new DocumentFragment();

const anchorAddress = getterOf(HTMLAnchorElement.prototype, 'href');
const baseAddressOf = getterOf(Node.prototype, 'baseURI');
const imageAddress = getterOf(HTMLImageElement.prototype, 'src');
const shownImageAddress = getterOf(HTMLImageElement.prototype, 'currentSrc');

/** plainPath has nothing that an address is written otherwise for, and no step up. */
const plainPath = /^\/(?:[\w~-][\w.~-]*(?:\/[\w~-][\w.~-]*)*\/?)?(?:\?[\w=&.~-]*)?$/;

/**
 * addressReader gives the address of a link. To have the browser complete one costs as
 * much as to read the rest of a row.
 */
function addressReader() {
  const base = new URL(baseAddressOf(document));
  const origin = base.protocol === 'http:' || base.protocol === 'https:' ? base.origin : null;
  return (node) => {
    const written = attributeOf(node, 'href');
    if (!(node instanceof HTMLAnchorElement)) return withoutUser(written || '');
    return origin !== null && written !== null && plainPath.test(written)
      ? origin + written
      : withoutUser(anchorAddress(node));
  };
}

/** attributeReader is what reads one of the names that a field may have. */
function attributeReader(name) {
  switch (name) {
    case 'text':
      return (node) => norm(textOf(node));
    case 'href':
      return addressReader();
    case 'src':
      return (node) => (node instanceof HTMLImageElement ? imageAddress(node) : attributeOf(node, 'src') || '');
    case 'currentSrc':
      return (node) => (node instanceof HTMLImageElement ? shownImageAddress(node) || imageAddress(node) : '');
  }
  return (node) => norm(attributeOf(node, name));
}

/** fieldReader prepares a field: where to search in an item, and what to read. */
function fieldReader(field) {
  const selector = field.selector === undefined ? ':scope' : field.selector;
  const listed = (field.attributes || []).filter((name) => norm(name) !== '');
  const names = listed.length > 0 ? listed : field.attribute ? [field.attribute] : ['text'];
  const readers = names.map(attributeReader);
  const read = readers.length === 1 ? readers[0] : (node) => {
    for (const each of readers) {
      const value = each(node);
      if (value) return value;
    }
    return '';
  };
  if (norm(selector) === ':scope') return read;
  queryParts(emptyFragment, selector); // fails when no part parses
  const firstOf = (nodes, item, shown, from) => {
    for (let i = from; i < nodes.length; i++) {
      const value = nodes[i] === item || shown(nodes[i]) ? read(nodes[i]) : '';
      if (value) return value;
    }
    return '';
  };
  const parts = splitSelector(selector);
  const part = parts[0];
  if (parts.length !== 1 || part === ':scope' || quirk('comma_split'))
    return (item, shown) => firstOf(queryParts(item, selector).nodes, item, shown, 0);
  return (item, shown) => {
    if (memory.attachmentHosts.size > 0) return firstOf(queryParts(item, selector).nodes, item, shown, 0);
    const own = matchesCSS(item, part) ? read(item) : '';
    if (own) return own;
    const first = queryFirstElement(item, part); // mostly there is no other
    if (first === null) return '';
    return (shown(first) ? read(first) : '') || firstOf(queryElement(item, part), item, shown, 1);
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
  if (
    nodes.length === 0 &&
    args.include &&
    args.include !== 'visible' &&
    (root === bodyOf() || root === rootElement())
  ) {
    nodes = locate({ selector: args.item_selector, pierce: true }).nodes;
  }
  const needle = sought(args.text_equals || args.text_contains);
  return needle === '' ? nodes : nodes.filter((node) => hasText(node, needle, Boolean(args.text_equals)));
}

/** beginningOf is the text of a node, or somewhat more than its first characters. */
function beginningOf(node, characters) {
  const walker = walkerOf(document, node, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_CDATA_SECTION);
  let text = '';
  for (let at = walker.nextNode(); at !== null && text.length <= characters; at = walker.nextNode())
    text += nodeValueOf(at);
  return text;
}

/** scopeText is the text of the scope as far as it is reported. That of a whole page is long. */
function scopeText(scope) {
  if (quirk('whole_scope_text')) return norm(textOf(scope));
  for (let enough = 2 * maxScopeText; ; enough *= 4) {
    const text = beginningOf(scope, enough);
    const tidy = norm(text);
    if (tidy.length > maxScopeText || text.length <= enough) return cut(tidy, maxScopeText);
  }
}

queries.extract = (args) => {
  const view = viewOf(args.view);
  const everywhere = args.include === 'rendered' || args.include === 'all';
  const { scope, root, selectorCount } = resolveScope(
    args.scope,
    args.item_selector,
    view,
    everywhere && !quirk('reads_in_view')
  );
  const readers = args.fields.map(fieldReader);
  const clips = new Map();
  const shown =
    args.include === 'all'
      ? () => true
      : everywhere
        ? (node) => rendered(node)
        : (node) => isVisible(node, view, clips);
  const seen = new Set();
  const values = [];
  let count = 0;
  for (const node of itemsOf(args, root)) {
    if (!shown(node) && !unreadableHere(node)) continue;
    let empty = true;
    let key = '';
    for (const read of readers) {
      const value = read(node, shown);
      values.push(value);
      if (value !== '') empty = false;
      if (!everywhere) key += value.length + ':' + value;
    }
    if (!everywhere && (empty || seen.has(key))) {
      values.length -= readers.length;
      continue;
    }
    seen.add(key);
    count++;
  }
  // Only the values: to carry a large answer out of the page costs by the character.
  return new WithText(
    {
      scope: { text: scopeText(scope), selector_count: selectorCount },
      item_count: count,
      extracted_at: new Date().toISOString(),
      url: documentURLOf(document)
    },
    JSON.stringify(values)
  );
};
