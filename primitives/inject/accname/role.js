// role answers which ARIA role an element has: the first known word of its role
// attribute, or what HTML gives its tag (HTML Accessibility API Mappings). Where
// HTML names no role and the browser has one of its own, a close ARIA word is
// used: a summary is a button, and so is a file input.

const knownRoles = new Set(
  (
    'alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox ' +
    'comment complementary contentinfo definition deletion dialog directory document emphasis feed figure form ' +
    'generic grid gridcell group heading img image insertion link list listbox listitem log main mark marquee math ' +
    'menu menubar menuitem menuitemcheckbox menuitemradio meter navigation none note ' +
    'option paragraph presentation progressbar radio radiogroup region row rowgroup rowheader scrollbar search ' +
    'searchbox sectionfooter sectionheader separator slider spinbutton status strong subscript suggestion ' +
    'superscript switch tab table tablist tabpanel term textbox time timer toolbar ' +
    'tooltip tree treegrid treeitem'
  ).split(' ')
);

/** Attributes that make a role of none or presentation void. */
const globalAria = [
  'aria-atomic', 'aria-busy', 'aria-controls', 'aria-current', 'aria-describedby', 'aria-details', 'aria-dropeffect',
  'aria-flowto', 'aria-grabbed', 'aria-keyshortcuts', 'aria-label', 'aria-labelledby', 'aria-live', 'aria-owns',
  'aria-relevant', 'aria-roledescription'
];

const sameName = (tags) => Object.fromEntries(tags.split(' ').map((tag) => [tag, tag]));

const fixedRoles = {
  ...sameName(
    'article blockquote button caption code dialog figure form main mark math meter option search strong table time'
  ),
  address: 'group', datalist: 'listbox', dd: 'definition', del: 'deletion', details: 'group', dfn: 'term', dt: 'term',
  em: 'emphasis', fieldset: 'group', h1: 'heading', h2: 'heading', h3: 'heading', h4: 'heading', h5: 'heading',
  h6: 'heading', hgroup: 'group', hr: 'separator', html: 'document', ins: 'insertion', menu: 'list', nav: 'navigation',
  ol: 'list', optgroup: 'group', output: 'status', p: 'paragraph', progress: 'progressbar', s: 'deletion',
  sub: 'subscript', sup: 'superscript', svg: 'img', tbody: 'rowgroup', textarea: 'textbox', tfoot: 'rowgroup',
  thead: 'rowgroup', tr: 'row', ul: 'list'
};

const inputRoles = {
  button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio',
  range: 'slider', number: 'spinbutton', search: 'searchbox', file: 'button', email: 'textbox', tel: 'textbox',
  text: 'textbox', url: 'textbox', password: 'textbox'
};

/** Where HTML gives a tag no role, but not the same as a plain container. */
const roleless = new Set([
  'abbr', 'audio', 'canvas', 'cite', 'col', 'colgroup', 'dl', 'embed', 'figcaption', 'iframe', 'kbd', 'label', 'legend',
  'map', 'noscript', 'object', 'picture', 'rp', 'rt', 'ruby', 'script', 'source', 'style', 'template', 'track', 'var',
  'video', 'wbr', 'head', 'meta', 'title', 'link', 'base'
]);

const hasAttribute = methodOf(Element.prototype, 'hasAttribute');

/** isFocusable: the element takes the focus, by itself or through tabindex. */
function isFocusable(node) {
  if (matchesCSS(node, ':disabled')) return false;
  if (hasAttribute(node, 'tabindex') && /^\s*[-+]?\d/.test(attributeOf(node, 'tabindex'))) return true;
  switch (tagOf(node)) {
    case 'a': case 'area': return hasAttribute(node, 'href');
    case 'input': return protoGet(node, 'type') !== 'hidden';
    case 'button': case 'select': case 'textarea': case 'iframe': case 'summary': return true;
    case 'audio': case 'video': return hasAttribute(node, 'controls');
  }
  const editable = attributeOf(node, 'contenteditable');
  return editable !== null && editable.toLowerCase() !== 'false';
}

/** namedByAttribute: aria-label, aria-labelledby or title could give a name. */
const namedByAttribute = (node) =>
  norm(attributeOf(node, 'aria-label')) !== '' ||
  byIds(node, 'aria-labelledby').length > 0 ||
  norm(attributeOf(node, 'title')) !== '';

/** inSection: a header, footer or aside in there belongs to that part, not to the page. */
function inSection(node, tags) {
  for (let at = flatParentElement(node); at; at = flatParentElement(at)) {
    if (
      tags.test(tagOf(at)) ||
      /^(?:article|complementary|main|navigation|region)$/.test(attributeOf(at, 'role') || '')
    )
      return true;
  }
  return false;
}

function inputRole(node) {
  const type = protoGet(node, 'type');
  const listed = hasAttribute(node, 'list') && protoGet(node, 'list') !== null;
  if (type === 'checkbox' && protoGet(node, 'switch') === true) return 'switch';
  if (listed && /^(?:text|search|email|tel|url)$/.test(type)) return 'combobox';
  return inputRoles[type] || '';
}

/** headerRole is the role of a th by its scope, or by its place as the browser guesses it. */
function headerRole(node) {
  const scope = (attributeOf(node, 'scope') || '').toLowerCase();
  if (scope === 'row' || scope === 'rowgroup') return 'rowheader';
  if (scope === 'col' || scope === 'colgroup') return 'columnheader';
  const row = parentElementOf(node);
  if (!row || tagOf(row) !== 'tr') return 'columnheader';
  const section = parentElementOf(row);
  if (section && tagOf(section) === 'thead') return 'columnheader';
  const cells = queryIn(row, ':scope > td');
  return cells.length > 0 ? 'rowheader' : 'columnheader';
}

/** tableOf is the table an element is a part of. */
function tableOf(node) {
  for (let at = parentElementOf(node); at; at = parentElementOf(at)) if (tagOf(at) === 'table') return at;
  return null;
}

/** tablePart is the role of a row, cell or row group, which is that of its table. */
function tablePart(node, role) {
  const table = tableOf(node);
  if (!table) return role;
  const whole = explicitRole(table);
  if (whole === 'none') return 'none';
  if (whole !== '' && whole !== 'table' && whole !== 'grid' && whole !== 'treegrid') return 'generic';
  return role === 'cell' && (whole === 'grid' || whole === 'treegrid') ? 'gridcell' : role;
}

/** Tags whose role depends on nothing else, and most elements have one of them. */
const steadyRoles = new Map(
  ('div span b i u small big center font bdi bdo data hr p h1 h2 h3 h4 h5 h6 ul ol nav main button article ' +
    'blockquote form strong em code table label dl')
    .split(' ')
    .map((tag) => [tag, fixedRoles[tag] || (roleless.has(tag) ? '' : 'generic')])
);

/** implicitRole is the role that HTML gives: a role, 'generic' for a container, '' where there is none. */
function implicitRole(node) {
  const steady = steadyRoles.get(localNameOf(node));
  const namespace = namespaceOf(node);
  if (steady !== undefined && namespace === htmlNamespace) return steady;
  const tag = tagOf(node);
  if (namespace === svgNamespace) {
    if (tag === 'svg') return 'img';
    return tag === 'a' && (hasAttribute(node, 'href') || hasAttribute(node, 'xlink:href')) ? 'link' : 'generic';
  }
  if (namespace !== htmlNamespace) return tag === 'math' ? 'math' : 'generic';
  switch (tag) {
    case 'a':
    case 'area':
      return hasAttribute(node, 'href') ? 'link' : 'generic';
    case 'aside':
      return !inSection(node, /^(?:article|aside|nav|section)$/) || namedByAttribute(node)
        ? 'complementary'
        : 'generic';
    case 'footer':
      return inSection(node, /^(?:article|aside|main|nav|section)$/) ? 'sectionfooter' : 'contentinfo';
    case 'header':
      return inSection(node, /^(?:article|aside|main|nav|section)$/) ? 'sectionheader' : 'banner';
    case 'section':
      return namedByAttribute(node) ? 'region' : 'generic';
    case 'img':
      return attributeOf(node, 'alt') === '' && !namedByAttribute(node) && !isFocusable(node) ? 'none' : 'img';
    case 'input':
      return inputRole(node);
    case 'li': {
      const parent = flatParentElement(node);
      const list = parent && /^(?:ul|ol|menu)$/.test(tagOf(parent));
      if (list) {
        const role = explicitRole(parent);
        if (role === 'none') return 'none';
        return role === '' || role === 'list' || role === 'directory' ? 'listitem' : 'generic';
      }
      return 'listitem';
    }
    case 'select': return hasAttribute(node, 'multiple') || protoGet(node, 'size') > 1 ? 'listbox' : 'combobox';
    case 'summary': {
      const parent = parentElementOf(node);
      return parent && tagOf(parent) === 'details' && queryIn(parent, ':scope > summary')[0] === node
        ? 'button'
        : 'generic';
    }
    case 'td': return tablePart(node, 'cell');
    case 'th': return tablePart(node, headerRole(node));
    case 'tr': case 'tbody': case 'thead': case 'tfoot': return tablePart(node, fixedRoles[tag]);
  }
  const own = semanticsOf(node, tag);
  if (own && own.role !== '') return own.role;
  return fixedRoles[tag] || (roleless.has(tag) ? '' : 'generic');
}

/** Roles of parts, and the roles of what such a part is directly in. Out of it, it is what HTML says. */
const placesOfParts = {
  __proto__: null,
  listitem: new Set(['list', 'group']),
  option: new Set(['listbox', 'group']),
  treeitem: new Set(['tree', 'group']),
};

/** Parts that are chosen, wherever they are. */
const chosenParts = new Set(['option', 'treeitem']);

/** writtenPart is the role of a part that the page writes for an element, also where it is none; else ''. */
function writtenPart(node) {
  const word = (attributeOf(node, 'role') || '').trim().toLowerCase().split(/\s+/)[0];
  return word in placesOfParts ? word : '';
}

/** isPartHere: something around the element, or what owns it, makes it a part of that. */
function isPartHere(node, role) {
  // Parts are no places, and to find out what they are would lead here again.
  const isPlace = (at) => writtenPart(at) === '' && placesOfParts[role].has(roleOf(at));
  for (let at = flatParentElement(node); at; at = flatParentElement(at)) if (isPlace(at)) return true;
  const id = idOf(node);
  return Boolean(id) && queryIn(rootOf(node), '[aria-owns~="' + CSS.escape(id) + '"]').some(isPlace);
}

/** explicitRole is the first role of the attribute that counts, 'none' for presentation, '' without. */
function explicitRole(node) {
  const text = attributeOf(node, 'role');
  if (!text) return '';
  for (const word of text.toLowerCase().split(/\s+/)) {
    if (!knownRoles.has(word)) continue;
    if (word === 'presentation' || word === 'none') {
      if (isFocusable(node) || globalAria.some((name) => hasAttribute(node, name))) return '';
      return 'none';
    }
    if (word === 'image') return 'img';
    if (word === 'directory') return 'list';
    // Landmarks that need a name are containers without one.
    if ((word === 'form' || word === 'region') && !namedByAttribute(node)) continue;
    if (word in placesOfParts && !isPartHere(node, word)) continue;
    return word;
  }
  return '';
}

/**
 * roleOf is the role of an element: 'none' when it is presentational, 'generic' for a container, '' when HTML has no
 * word for it.
 */
const roleOf = (node) => explicitRole(node) || implicitRole(node);

/** Roles whose descendants are not distinguished in the browser's tree. */
const leafRoles =
  /^(?:checkbox|menuitemcheckbox|menuitemradio|meter|option|progressbar|radio|scrollbar|separator|slider|switch)$/;

/**
 * Where elements of a role may be, besides those with a role attribute. A role that is not here is searched everywhere.
 */
const rolePlaces = {
  button: 'button, input, summary', link: 'a[href], area[href], a', textbox: 'input, textarea', searchbox: 'input',
  combobox: 'select, input', listbox: 'select, datalist', checkbox: 'input', switch: 'input', radio: 'input',
  slider: 'input', spinbutton: 'input', heading: 'h1, h2, h3, h4, h5, h6', img: 'img, svg', list: 'ul, ol, menu',
  listitem: 'li', table: 'table', row: 'tr', rowgroup: 'tbody, thead, tfoot', cell: 'td', gridcell: 'td',
  columnheader: 'th', rowheader: 'th', option: 'option', dialog: 'dialog', navigation: 'nav', main: 'main',
  banner: 'header', contentinfo: 'footer', complementary: 'aside', region: 'section', form: 'form', search: 'search',
  article: 'article', group: 'fieldset, details, optgroup, address, hgroup', separator: 'hr', status: 'output',
  progressbar: 'progress', meter: 'meter', paragraph: 'p', figure: 'figure', tab: '', tabpanel: '', tablist: '',
  menu: '', menuitem: '', menubar: '', menuitemcheckbox: '', menuitemradio: '', tree: '', treeitem: '', grid: '',
  treegrid: '', alert: '', alertdialog: '', toolbar: '', tooltip: '', radiogroup: '', application: '', feed: '',
  log: '', marquee: '', timer: '', scrollbar: '', note: ''
};

const placesOfRole = (role) =>
  role in rolePlaces ? [rolePlaces[role], '[role]', ...speakingTags()].filter(Boolean).join(', ') : '*';
