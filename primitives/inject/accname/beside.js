// beside answers what a person would call a control that has no accessible name: by the text
// that stands before it, the head of its column or row, the legend or heading above, its
// tooltip, or the name of its icon. It is a guess and is shown as one. Where two texts could
// be meant, or the text looks like something else, the answer is ''.

const mostBesideText = 60; // what is longer is content and no label
const mostBesideSteps = 80; // nodes that are looked at in one direction
const furthestAbove = 56; // CSS pixels between a label and the control below it
const furthestAside = 340;

const fieldRoles =
  /^(?:textbox|searchbox|combobox|listbox|checkbox|radio|switch|slider|spinbutton|input|menuitemcheckbox)$/;
const choiceRoles = /^(?:checkbox|radio|switch|menuitemcheckbox)$/;
const fieldPlaces =
  'input:not([type=hidden], [type=button], [type=submit], [type=reset], [type=image]), select, textarea, ' +
  '[role=textbox], [role=searchbox], [role=combobox], [role=listbox], [role=checkbox], [role=radio], [role=switch], ' +
  '[role=slider], [role=spinbutton], [contenteditable=""], [contenteditable=true]';
const noLabelPlaces = 'button, a[href], [role=button], [role=link], script, style, template, noscript, svg, option';
const cellPlaces = 'td, th, [role=cell], [role=gridcell], [role=rowheader], [role=columnheader]';
const edgePlaces =
  cellPlaces + ', form, body, fieldset, dialog, li, tr, [role=dialog], [role=row], [role=listitem], article, nav';
const headingPlaces = 'h1, h2, h3, h4, h5, h6, [role=heading]';

const wordInside = /[\p{L}\p{N}]/u;
const letterInside = /\p{L}/u;

/** labelWords is a text as a label, without the colon and the asterisk; '' for what is none. */
function labelWords(text) {
  const words = worded(text).replace(/^[\s*:•·|]+|[\s*:：|]+$/gu, '');
  if (!letterInside.test(words) || words.length > mostBesideText) return '';
  if (words.length === 1 && words.charCodeAt(0) < 0x2e80) return '';
  return words.length > 30 && /[.!?…]$/.test(words) ? '' : words;
}

/** inLine: the element is drawn in the line of the text around it. */
const inLine = (node) => /^(?:inline|contents)/.test(styleOf(node).display);

/** unseenList: a list of the browser that is hidden, because the page draws another in its place. */
const unseenList = (element) => {
  if (tagOf(element) !== 'select') return false;
  const box = rectOf(element);
  return box.width <= 2 || box.height <= 2 || !checkVisibility(element, visibilityOptions);
};

/** anotherLabel: the text of this element is the label of another control. */
const anotherLabel = (element, node) => {
  if (tagOf(element) !== 'label') return false;
  const control = protoGet(element, 'control');
  return control !== null && control !== undefined && control !== node && !unseenList(control);
};

/**
 * besideTexts walks from a control backwards or forwards to the next text. how is what ends the text or the way:
 * 'field', 'edge', or 'text' for another line. crossed: the text is not in the line of the control.
 */
function besideTexts(node, step) {
  const found = nextText(node, step);
  if (found.at !== null) found.crossed = !level(wordsBox(found.at), rectOf(node));
  return found;
}

function nextText(node, step) {
  const found = { text: '', at: null, crossed: false, how: 'edge' };
  let at = node;
  const take = (element) => {
    // false: go on, true: the way ends here
    if (nodeType(element) === 3) {
      const text = nodeValueOf(element);
      if (norm(text) === '' || !checkVisibility(parentElementOf(element), visibilityOptions)) return false;
      found.text = step < 0 ? text + found.text : found.text + text;
      found.at ||= element;
      return false;
    }
    if (nodeType(element) !== 1) return false;
    const tag = tagOf(element);
    if (tag === 'br') return ended();
    if (matchesCSS(element, noLabelPlaces) || skippedTags.has(tag)) return false;
    if (!checkVisibility(element, visibilityOptions) || unseenList(element)) return false;
    if (matchesCSS(element, fieldPlaces) || anotherLabel(element, node)) {
      found.how = 'field';
      return true;
    }
    const apart = !inLine(element);
    if (apart && ended()) return true;
    const children = flatChildren(element);
    if (step < 0) children.reverse();
    for (const child of children) if (left-- <= 0 || take(child)) return true;
    return apart && ended();
  };
  const ended = () => {
    if (norm(found.text) !== '') {
      found.how = 'text';
      return true;
    }
    found.crossed = true;
    return false;
  };
  let left = mostBesideSteps;
  for (let depth = 0; depth < 6; depth++) {
    const parent = flatParent(at);
    if (!parent) return found;
    const around = flatChildren(isElement(parent) ? parent : at);
    let i = around.indexOf(at);
    if (i < 0) return found;
    for (i += step; i >= 0 && i < around.length; i += step) if (left-- <= 0 || take(around[i])) return found;
    at = flatParentElement(at);
    if (!at || matchesCSS(at, edgePlaces)) return found;
    if (!inLine(at) && ended()) return found;
  }
  return found;
}

/** wordsBox is where a text is drawn. */
function wordsBox(text) {
  const range = new Range();
  range.selectNodeContents(text);
  return range.getBoundingClientRect();
}

/** level: two boxes lie in one line. */
const level = (a, b) => a.top < b.bottom && b.top < a.bottom;

/** besideAt: a text lies where people look for the label of a control: before it, or close above. */
function besideAt(text, node) {
  const words = wordsBox(text);
  const box = rectOf(node);
  if (words.width === 0 || words.height === 0) return false;
  if (level(words, box)) return Math.max(box.left - words.right, words.left - box.right) <= furthestAside;
  const above = box.top - words.bottom;
  return above > -4 && above <= furthestAbove && words.left < box.right + 40 && words.right > box.left - furthestAside;
}

/** besideHeading: a heading names the control when it is the only field below it. */
function besideHeading(text, node) {
  const heading = closestCSS(parentElementOf(text), headingPlaces);
  if (!heading) return true;
  const part = parentElementOf(heading);
  return part !== null && contains(part, node) && queryIn(part, fieldPlaces).length === 1;
}

/** acceptedText is the words of a text beside a control, '' where it is not certain that they are its label. */
function acceptedText(found, node) {
  const words = found.at === null ? '' : labelWords(found.text);
  return words !== '' && besideAt(found.at, node) && besideHeading(found.at, node) ? words : '';
}

const cellsOfRow = (row) =>
  Array.from(childNodesOf(row)).filter((child) => isElement(child) && matchesCSS(child, cellPlaces));

/** cellText is the first line of a cell that has no field. */
function cellText(cell) {
  if (!cell || queryIn(cell, fieldPlaces).length > 0) return '';
  const text = protoGet(cell, 'innerText') ?? textOf(cell);
  return labelWords(text.trim().split('\n')[0]);
}

const columnsOf = (cells) => cells.reduce((sum, cell) => sum + spanOf(cell), 0);
const spanOf = (cell) => Math.min(Number(attributeOf(cell, 'colspan')) || 1, 100);
const isHead = (cell) => matchesCSS(cell, 'th, [role=columnheader], [role=rowheader]');

/** columnOf is the place of a cell in its row, counted in columns. */
function columnOf(cell, cells) {
  let column = 0;
  for (const each of cells) {
    if (each === cell) return column;
    column += spanOf(each);
  }
  return -1;
}

/** cellOver is the cell of a row that covers a column. */
function cellOver(cells, column) {
  let at = 0;
  for (const each of cells) {
    at += spanOf(each);
    if (column < at) return each;
  }
  return null;
}

/** columnHead is the head of a column of the table that a row is in, '' without one. */
function columnHead(row, cells, column) {
  const table = closestCSS(row, 'table, [role=table], [role=grid], [role=treegrid]');
  if (!table) return '';
  for (const each of queryIn(table, 'tr, [role=row]').slice(0, 3)) {
    if (each === row) return '';
    const heads = cellsOfRow(each);
    const only = heads.every((head) => isHead(head) || norm(textOf(head)) === '');
    if (heads.length < 2 || !only || queryIn(each, fieldPlaces).length > 0) continue;
    return columnsOf(heads) === columnsOf(cells) ? cellText(cellOver(heads, column)) : '';
  }
  return '';
}

/** leads: the cell before one is its label, and no value of the same row. */
function leads(cells, at, row) {
  if (isHead(cells[at - 1])) return true;
  if (at > 1) return queryIn(cells[at - 2], fieldPlaces).length > 0;
  return queryIn(row, fieldPlaces).length > 1 || cells.slice(2).every((cell) => norm(textOf(cell)) === '');
}

/** besideInTable names a control by the cells around its own. */
function besideInTable(cell, node, choice) {
  const row = parentElementOf(cell);
  if (!row || !matchesCSS(row, 'tr, [role=row]')) return '';
  const cells = cellsOfRow(row);
  const at = cells.indexOf(cell);
  if (at < 0 || queryIn(cell, fieldPlaces).length > 1) return '';
  const column = columnOf(cell, cells);
  const head = columnHead(row, cells, column);
  if (head !== '') return head;
  if (choice) {
    const after = [];
    for (const each of cells.slice(at + 1)) {
      if (queryIn(each, fieldPlaces).length > 0) break;
      if (matchesCSS(each, 'td') || after.length > 0) after.push(norm(textOf(each)));
    }
    const words = cut(worded(after.join(' ')), mostBesideText);
    if (letterInside.test(words)) return words;
  }
  const before = at > 0 ? cells[at - 1] : null;
  if (before && leads(cells, at, row)) {
    const words = cellText(before);
    if (words !== '') return words;
  }
  const above = protoGet(row, 'previousElementSibling');
  if (before === null || queryIn(before, fieldPlaces).length > 0) {
    if (above && queryIn(above, fieldPlaces).length === 0 && cellsOfRow(above).length === cells.length)
      return cellText(cellsOfRow(above)[at]);
  }
  return '';
}

/** fieldText is the text by which a person would name a field. */
function fieldText(node, role) {
  const choice = choiceRoles.test(role);
  const before = besideTexts(node, -1);
  const after = besideTexts(node, 1);
  // In "[ ] A [ ] B" the words follow their boxes, in "A [ ] B [ ]" they stand before them.
  const follows =
    after.at !== null && !after.crossed && (before.at === null || before.crossed || before.how === 'field');
  const unsure = before.at !== null && !before.crossed && before.how === 'field' && follows && startsWithText(node);
  if (choice && !unsure && (follows || after.at !== null && !after.crossed && after.how !== 'field')) {
    const words = acceptedText(after, node);
    if (words !== '') return words;
  }
  if (before.at !== null && !(follows && before.how === 'field' && !before.crossed && !startsWithText(node))) {
    const words = acceptedText(before, node);
    if (words !== '') return words;
  }
  // A label that is drawn over its field, or above it, though it comes behind.
  if (!choice && before.at === null && after.at !== null && after.how !== 'field') {
    const words = acceptedText(after, node);
    if (words !== '' && liesOver(after.at, node)) return words;
  }
  if (before.at !== null || choice && after.at !== null) return '';
  const cell = closestCSS(node, cellPlaces);
  if (cell) {
    const words = besideInTable(cell, node, choice);
    if (words !== '') return words;
  }
  const group = closestCSS(node, 'fieldset');
  if (group && queryIn(group, fieldPlaces).length === 1) {
    const legend = queryIn(group, 'legend')[0];
    if (legend) return labelWords(textOf(legend));
  }
  return '';
}

/** startsWithText: the line of fields that a control stands in begins with a text. */
function startsWithText(node) {
  let at = node;
  for (let i = 0; i < 12; i++) {
    const { text, crossed, how } = besideTexts(at, -1);
    if (how !== 'field' || crossed) return norm(text) !== '' && !crossed;
    const before = earlierField(at);
    if (!before) return false;
    at = before;
  }
  return false;
}

/** earlierField is the field before one, in the same part of the page. */
function earlierField(node) {
  const part = closestCSS(parentElementOf(node), edgePlaces);
  if (!part) return null;
  const fields = queryIn(part, fieldPlaces);
  return fields[fields.indexOf(node) - 1] || null;
}

/** liesOver: a text lies on a field or above it. */
function liesOver(text, node) {
  const words = wordsBox(text);
  const box = rectOf(node);
  return words.left < box.right && words.right > box.left && words.top < (box.top + box.bottom) / 2;
}

/** twinWords names the second of two fields of a kind that one label is for: "Password (2)". */
function twinWords(node, role, known) {
  if (tagOf(node) !== 'input' || choiceRoles.test(role)) return '';
  const type = protoGet(node, 'type');
  let at = node;
  for (let n = 2; n < 9; n++) {
    const before = earlierField(at);
    if (!before || tagOf(before) !== 'input' || protoGet(before, 'type') !== type) return '';
    const label = closestCSS(node, 'label');
    const short = (each) => Number(attributeOf(each, 'maxlength') || 99) <= 4;
    const one = label && contains(label, before) || type === 'password' || short(node) && short(before);
    const { text, how } = besideTexts(at, -1);
    if (!one || how !== 'field' || norm(text) !== '') return '';
    const words = labelWords(nameOf(before, known)) || fieldText(before, role);
    if (words !== '') return words + ' (' + n + ')';
    at = before;
  }
  return '';
}

const tooltips = [
  'title', 'data-tooltip', 'data-original-title', 'data-bs-original-title', 'data-title', 'data-tip', 'data-hint',
  'tooltip', 'aria-placeholder', 'placeholder', 'matTooltip', 'ng-reflect-message', 'data-label', 'data-content-tooltip'
];

const tooltipWords = (node) => {
  for (const name of tooltips) {
    const words = norm(attributeOf(node, name));
    if (letterInside.test(words) && words.length <= 120 && !/[<>{}]/.test(words)) return words;
  }
  return '';
};

/** Words of file names and classes that say nothing of what an icon means. */
const saysNothing = new RegExp(
  '^(?:' +
  'icons?|image|img|picture|button|btn|sprites?|spacer|pixel|blank|logo|svg|fw|lg|sm|xs|xl|md|\\dx|\\d+|' +
  'solid|regular|light|brands?|duotone|spin|pulse|wrapper|inner|only|left|right|small|large|base|primary|' +
  'secondary|white|black|dark|default|container|filled|outlined?|border|inverse|stack|size|color|inline|link|' +
  'svg-inline' +
  ')$'
);

/** spokenIcons are what people call what icons of such names stand for. */
const spokenIcons = new Map(Object.entries({
  'bars': 'menu', 'hamburger': 'menu', 'ellipsis': 'more', 'ellipsis v': 'more', 'ellipsis h': 'more',
  'ellipsis vertical': 'more', 'more vert': 'more', 'dots vertical': 'more', 'dots horizontal': 'more',
  'three dots': 'more', 'three dots vertical': 'more', 'cog': 'settings', 'cogs': 'settings', 'gear': 'settings',
  'gears': 'settings', 'times': 'close', 'xmark': 'close', 'close line': 'close', 'trash': 'delete',
  'trash alt': 'delete', 'trash can': 'delete', 'trash o': 'delete', 'pencil': 'edit', 'pencil alt': 'edit',
  'pen': 'edit', 'pen to square': 'edit', 'bell': 'notifications', 'bell o': 'notifications', 'plus': 'add',
  'magnifying glass': 'search', 'magnify': 'search', 'expand arrows alt': 'full screen', 'house': 'home',
  'facebook f': 'facebook', 'linkedin in': 'linkedin', 'google plus g': 'google plus', 'twitter x': 'x',
  'link alt': 'link', 'chain': 'link', 'rotate left': 'undo', 'rotate right': 'redo', 'floppy disk': 'save',
  'floppy o': 'save', 'question circle': 'help', 'circle question': 'help', 'info circle': 'info',
  'circle info': 'info', 'exclamation triangle': 'warning', 'triangle exclamation': 'warning',
  'sign out alt': 'sign out', 'arrow right from bracket': 'sign out', 'sign in alt': 'sign in',
  'shopping cart': 'cart', 'cart shopping': 'cart', 'calendar alt': 'calendar', 'paper plane': 'send',
}));

/** iconWords are the words of the name of an icon: "arrow left" of arrow-left-24.svg. */
function iconWords(name) {
  const words = name
    .replace(/[?#].*$/, '')
    .replace(/\.(?:svg|png|gif|jpe?g|webp|ico)$/i, '')
    .replace(/[-_.@](?:\d+x?\d*|\d+px|[0-9a-f]{6,}|min|icons?|outlined?|filled|fill|solid|bold|line)$/gi, '')
    .replace(/^(?:icons?|ic|btn|img)[-_]/i, '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[-_+]+/g, ' ')
    .trim()
    .toLowerCase();
  if (!/^[a-z]{2,}(?: [a-z0-9]+){0,3}$/.test(words) || words.split(' ').every((word) => saysNothing.test(word)))
    return '';
  return spokenIcons.get(words) || words;
}

const iconClass = new RegExp(
  '^(?:' +
  'fa|ni|nc-icon|mce-i|bi|icon|icons|glyphicon|mdi|ti|ri|' +
  'la|el-icon|anticon|codicon|octicon|lucide|feather|tabler-icon|ion|pi|' +
  'dashicons|bx|bxs|uil|i-mdi|ph|icofont|flaticon|zmdi|typcn|oi|ki' +
  ')-(.+)$'
);

/** iconOf names the one icon that a control shows, by its file, its symbol or its class; '' for several or none. */
function iconOf(node) {
  if (norm(textOf(node)) !== '' && letterInside.test(worded(textOf(node)))) return '';
  const found = new Set();
  const add = (name) => {
    const words = iconWords(name);
    if (words !== '') found.add(words);
  };
  const parts = [node, ...queryIn(node, 'img, svg, use, i, span, [data-icon]').slice(0, 12)];
  for (const part of parts) {
    const tag = tagOf(part);
    const icon = attributeOf(part, 'data-icon') || attributeOf(part, 'data-lucide');
    if (icon) add(icon);
    else if (tag === 'img' || tag === 'input') {
      const address = attributeOf(part, 'src') || '';
      if (address !== '' && !address.startsWith('data:') && !address.startsWith('blob:'))
        add(address.replace(/[?#].*$/, '').split('/').pop());
    } else if (tag === 'use') {
      const address = attributeOf(part, 'href') || attributeOf(part, 'xlink:href') || '';
      if (address.includes('#')) add(address.split('#').pop());
    } else {
      for (const name of classesOf(part)) {
        const match = iconClass.exec(name);
        if (match && match[1] === 'link') found.add('link');
        else if (match && !saysNothing.test(match[1])) add(match[1]);
      }
    }
  }
  return found.size === 1 ? [...found][0] : '';
}

const namedByIcon = /^(?:button|link|menuitem|tab|generic|img|treeitem|listitem|cell)$/;

/** innerLabel is the label of the one field in a list that a page draws, which has another name itself. */
function innerLabel(node, role) {
  if (role !== 'combobox' || isTextControl(node) || tagOf(node) === 'select') return '';
  const fields = queryIn(node, 'input:not([type=hidden])');
  const labels = fields.length === 1 ? labelsOf(fields[0]) : [];
  return labels.length > 0 ? labelWords(textOf(labels[0])) : '';
}

const listNames = /^(?:combo ?box|list ?box|select|drop ?down|select ?box)$/i;

/**
 * saysNoMore: the name of a list that the page draws is the word for its kind, or only what the list holds now. What
 * stands beside it says more.
 */
function saysNoMore(node, role, name) {
  const list = role === 'combobox' || role === 'listbox' || attributeOf(node, 'aria-haspopup') === 'listbox';
  if (!list || tagOf(node) === 'select' || isTextControl(node) && !listNames.test(name)) return false;
  return listNames.test(name) || comparable(name) === comparable(textOf(node));
}

/**
 * standsBeside is what a person would call a control whose name has no word: '' when it has one, or when nothing beside
 * it is certain.
 */
function standsBeside(node, role, name, known) {
  const field = fieldRoles.test(role);
  const file = tagOf(node) === 'input' && protoGet(node, 'type') === 'file' && labelsOf(node).length === 0;
  if (wordInside.test(name) && !(file && !namedByAttribute(node)))
    return saysNoMore(node, role, name) ? cut(readable(node, () => fieldText(node, role), ''), 120) : '';
  return cut(readable(node, () => {
    const own = tooltipWords(node);
    if (own !== '' || name !== '' && !file) return own;
    if (field || file) return innerLabel(node, role) || fieldText(node, role) || twinWords(node, role, known);
    return namedByIcon.test(role) ? iconOf(node) : '';
  }, ''), 120);
}

/** besideOf is standsBeside of an element of which nothing is known. */
function besideOf(node, known = new Map()) {
  return readable(node, () => {
    const role = roleOf(node) || (tagOf(node) === 'input' ? 'input' : '');
    return standsBeside(node, role, actedName(node), known);
  }, '');
}
