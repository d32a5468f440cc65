// snapshot_tree answers what a document offers to somebody who cannot see it:
// roles, names, states and text in document order, each element with its ref.
//
// The walk goes down the flat tree once: shadow roots and slots as they are
// drawn, elements that aria-owns moves at their owner. Containers that say
// nothing are left out and their contents moved up; runs of text are one row.

/** Roles whose element is not worth a row: its text is part of the text around it. */
const plainRoles = new Set([
  '', 'generic', 'none', 'presentation', 'strong', 'emphasis', 'code', 'mark', 'subscript', 'superscript', 'time',
  'deletion', 'insertion', 'document', 'rowgroup', 'caption', 'term'
]);

/**
 * What some components keep for assistive technology apart from what they draw: it can be read, and nobody can click
 * it.
 */
const listed = new Set(['option', 'treeitem', 'menuitem']);
const sizeless = (node) => {
  const rect = rectOf(node);
  return rect.width === 0 || rect.height === 0;
};

/** Roles that a click, a key or text is meant for. */
const interactiveRoles = new Set([
  'button', 'link', 'textbox', 'searchbox', 'combobox', 'listbox', 'option', 'checkbox', 'radio', 'switch', 'slider',
  'spinbutton', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'tab', 'treeitem', 'scrollbar', 'input'
]);

/** Roles whose name is their whole text, so that the text is not repeated. */
const namedByText = new Set([
  'button', 'link', 'heading', 'tab', 'menuitem', 'tooltip', 'checkbox', 'radio', 'switch', 'option',
  'menuitemcheckbox', 'menuitemradio'
]);

/** Roles with nothing below them that could be distinguished. */
const leafRows = new Set([
  'checkbox', 'radio', 'switch', 'option', 'slider', 'progressbar', 'meter', 'scrollbar', 'separator', 'img', 'math',
  'menuitemcheckbox', 'menuitemradio', 'textbox', 'searchbox', 'spinbutton', 'input'
]);

/** Roles that are dropped when nothing came of what they contain. */
const emptyWithout = new Set([
  'paragraph', 'list', 'listitem', 'row', 'cell', 'gridcell', 'group', 'table', 'figure', 'article', 'blockquote',
  'banner', 'contentinfo', 'complementary', 'sectionheader', 'sectionfooter', 'navigation', 'main', 'region', 'form',
  'search', 'definition', 'status', 'feed', 'rowheader', 'columnheader'
]);

/** Roles that HTML names by more than aria attributes and their own text. */
const namedByMarkup = new Set([
  'textbox', 'searchbox', 'combobox', 'listbox', 'checkbox', 'radio', 'switch', 'slider', 'spinbutton', 'img', 'group',
  'figure', 'table', 'meter', 'progressbar', 'status', 'option', 'form', 'iframe', 'input'
]);

const tagRows = {
  iframe: 'iframe',
  frame: 'iframe',
  canvas: 'canvas',
  video: 'video',
  audio: 'audio',
  embed: 'embed',
  object: 'object'
};
const skippedTags = new Set([
  'script', 'style', 'template', 'noscript', 'head', 'meta', 'link', 'base', 'title', 'datalist', 'source', 'track',
  'param', 'col', 'colgroup', 'rp'
]);

/** Tags that stand apart from the text around them. */
const blockTags = new Set([
  'address', 'article', 'aside', 'blockquote', 'body', 'dd', 'details', 'dialog', 'div', 'dl', 'dt', 'fieldset',
  'figcaption', 'figure', 'footer', 'form', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'hr', 'html', 'li', 'main',
  'menu', 'nav', 'ol', 'p', 'pre', 'section', 'summary', 'table', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr', 'ul',
  'button', 'input', 'select', 'textarea', 'iframe', 'img'
]);

/** Text of which nothing is seen. */
const zeroWidth = /^ *(?:[\u200b-\u200d\u2060\ufeff] *)+$/;

const visibilityOptions = Object.freeze({ visibilityProperty: true });
const maxRowName = 300;
const maxRowText = 2000;
const maxTreeDepth = 1500; // of elements; deeper ones are counted as left out
const maxOptions = 30; // of one list that are reported
const mostUnreadable = 100; // elements, before what is in one is left out

/** lineOf is a value as far as a row shows it. */
const lineOf = (value) =>
  value.length > maxRowName
    ? cut(value, maxRowName) + '… [' + (value.length - maxRowName) + ' more characters]'
    : value;

const nestedControls = 'a[href], button, input, select, textarea, [tabindex]';

/** Controls in a drawing. */
const drawnControls = 'a[*|href], [tabindex]:not([tabindex="-1"]), [onclick], ' +
  ['button', 'checkbox', 'link', 'menuitem', 'option', 'radio', 'slider', 'switch', 'tab']
    .map((role) => '[role=' + role + ']')
    .join(', ');

const firstElementOf = getterOf(Element.prototype, 'firstElementChild');
const firstChildOf = getterOf(Node.prototype, 'firstChild');
const nextSiblingOf = getterOf(Node.prototype, 'nextSibling');

const elementsIn = methodOf(Element.prototype, 'getElementsByTagName');
const firstInDocument = methodOf(Document.prototype, 'querySelector');
const nothing = new Set();
const nothingOwned = Object.freeze({ owners: new Map(), owned: new Set() });

/** ownership lists what aria-owns moves: owner -> elements, and all that are moved. */
function ownership(root) {
  if (firstInDocument(root, '[aria-owns]') === null) return nothingOwned;
  const owners = new Map();
  const owned = new Set();
  for (const owner of queryIn(root, '[aria-owns]').slice(0, 2000)) {
    // What nobody walks through, such as the contents of a canvas, would take along what is drawn elsewhere.
    if (!checkVisibility(owner) && getComputedStyle(owner).display !== 'contents') continue;
    const list = byIds(owner, 'aria-owns').filter(
      (node) => node !== owner && !owned.has(node) && !contains(node, owner)
    );
    for (const node of list) owned.add(node);
    if (list.length > 0) owners.set(owner, list);
  }
  return { owners, owned };
}

/**
 * Row is what is reported of an element, or of a run of text. All rows have the same
 * members in the same order: thousands are written out one after the other.
 */
class Row {
  constructor(depth, role, name, text) {
    this.role = role;
    this.name = name;
    this.near = undefined; // what it is called without a name, see beside.js
    this.of = undefined; // what tells it from others of its name, see siblings.js
    this.ref = undefined;
    this.checked = undefined;
    this.selected = undefined;
    this.expanded = undefined;
    this.pressed = undefined;
    this.current = undefined;
    this.disabled = undefined;
    this.required = undefined;
    this.readonly = undefined;
    this.invalid = undefined;
    this.busy = undefined;
    this.focused = undefined;
    this.filled = undefined;
    this.clickable = undefined;
    this.draggable = undefined;
    this.level = undefined;
    this.type = undefined;
    this.haspopup = undefined;
    this.sort = undefined;
    this.options = undefined;
    this.message = undefined;
    this.position = undefined;
    this.scrolls = undefined;
    this.url = undefined;
    this.value = undefined;
    this.text = text;
    this.visible = undefined;
    this.hint = undefined;
    this.depth = depth;
    this.frame = undefined;
    this.line = undefined; // as it was written
    this.indent = undefined;
  }
}

const hasFocus = methodOf(Document.prototype, 'hasFocus');
const designModeOf = getterOf(Document.prototype, 'designMode');

/** editableDocument: what is written into is the body itself. */
const editableDocument = (body) =>
  designModeOf(document) === 'on' ||
  (hasAttribute(body, 'contenteditable') && protoGet(body, 'isContentEditable') === true);

/** drawnApart: an element is not drawn in the line of the text around it. */
function drawnApart(node) {
  const { display } = getComputedStyle(node);
  return display !== 'inline' && display !== 'contents';
}

const isSpace = (unit) => unit === 32 || unit >= 9 && unit <= 13;

const drawnWords = (node) => cut(norm(protoGet(node, 'innerText') || textOf(node)), 100) || undefined;

let noteSerial = 0; // of the newest neighbour of any walk

/**
 * TreeWalk is one pass. options: interactive, urls, refs (false for a pass that
 * only compares), limit of rows, places (whether neighbours are noted), overdue, states
 * ('first' or 'again', which walk of a snapshot it is: see wantsSemantics), brief (what
 * comes after the last row that fits is not walked, only its outermost elements counted),
 * blocks (what earlier walks met, see snapshot_blocks.js).
 */
class TreeWalk {
  constructor(options) {
    this.options = options;
    this.rows = [];
    this.bytes = 0;
    this.leftOut = 0;
    this.full = false;
    this.tooDeep = 0;
    this.text = '';
    this.textDepth = 0;
    this.gaps = []; // elements since the end of the text, which part it from more of it if they are no inline ones
    this.known = new Map();
    this.controls = new Map(); // root -> controls that labels name
    this.active = activeElement();
    // One pass through a document that has nothing of what three more look for.
    const plain = firstInDocument(document, '[aria-owns], [style], [hidden="until-found" i]') === null;
    const { owners, owned } = plain ? nothingOwned : ownership(document);
    this.owners = owners;
    this.owned = owned;
    this.last = ''; // the newest text or named element, for the neighbours of a ref
    this.closed = []; // places that wait for the next text or named element
    this.opened = []; // places without a text or named element so far
    this.named = []; // what gets a ref after the walk: row, element, place
    this.elements = 0;
    this.overdue = options.overdue;
    this.stopped = false;
    this.unreadable = 0; // elements
    this.hosts = new Set();
    this.shadows = 0; // shadow roots around the current node
    this.hints = styleHints(plain);
    this.derived = false; // the newest name is not that of an attribute or the element's own text
    this.blocks = owned.size === 0 && options.blocks || null;
    if (this.blocks !== null) this.blocks.start(this);
  }

  /** noteNeighbour records a piece of text or a named element as the neighbour of what is around it. */
  noteNeighbour(what) {
    if (!this.options.places) return;
    noteSerial++;
    if (this.blocks !== null) this.blocks.notes.push(what);
    for (const place of this.closed) place.next = what;
    for (const place of this.opened) place.first = what;
    if (this.closed.length > 0) this.closed = [];
    if (this.opened.length > 0) this.opened = [];
    this.last = what;
  }

  flush() {
    if (this.text === '') return;
    const text = norm(this.text);
    this.text = '';
    this.gaps.length = 0;
    if (text === '' || text.length < 4 && zeroWidth.test(text)) return;
    this.noteNeighbour(cut(text, 80));
    if (this.options.interactive) return;
    this.add(
      new Row(
        this.textDepth,
        'text',
        undefined,
        text.length > maxRowText
          ? cut(text, maxRowText) + '… [' + (text.length - maxRowText) + ' more characters]'
          : text
      )
    );
  }

  /** hides notes an element that may have a closed shadow root. */
  hides(node) {
    if (this.blocks !== null) this.blocks.unsafe++;
    if (this.hosts.size < maxHosts && !memory.examinedHosts.has(node)) this.hosts.add(node);
  }

  add(row) {
    this.bytes +=
      48 +
      2 * row.depth +
      (row.name === undefined ? 0 : row.name.length) +
      (row.text === undefined ? 0 : row.text.length);
    if (this.rows.length >= this.options.limit || this.bytes > this.options.bytes) {
      this.full = true;
      this.leftOut++;
      return false;
    }
    this.rows.push(row);
    return true;
  }

  /** children walks what is drawn inside a node. */
  children(node, depth, level, state, tag) {
    const shadow = shadowOf(node);
    const first = firstChildOf(node);
    if (!shadow && (first === null || tag.includes('-')) && mayHideShadow(node, tag)) this.hides(node);
    if (shadow) {
      this.shadows++;
      for (let child = firstChildOf(shadow); child; child = nextSiblingOf(child)) this.node(child, depth, level, state);
      this.shadows--;
    } else if (tag === 'slot' && node instanceof HTMLSlotElement) {
      const given = assignedTo(node);
      if (given.length > 0) for (const child of given) this.node(child, depth, level, state);
      else
        for (let child = firstChildOf(node); child; child = nextSiblingOf(child)) this.node(child, depth, level, state);
    } else {
      for (let child = first; child; child = nextSiblingOf(child)) this.node(child, depth, level, state);
    }
    const owned = this.owners.size > 0 && this.owners.get(node);
    if (owned) for (const child of owned) this.element(child, depth, level, state, true);
  }

  node(node, depth, level, state) {
    const type = nodeType(node);
    if (type === 3) {
      if (state.quiet || state.invisible) return;
      const text = nodeValueOf(node);
      if (this.text === '') this.textDepth = depth;
      else if (this.gaps.length > 0) this.closeGaps(text);
      this.text += text;
    } else if (type === 1) {
      if (this.owned.size > 0 && this.owned.has(node)) return;
      this.step(node, depth, level, state);
    }
  }

  /**
   * part notes that an element may stand apart from the text before it: its style is read when text follows that no
   * space parts.
   */
  part(node, tag) {
    if (this.text === '') return;
    if (blockTags.has(tag)) this.text += ' ';
    else this.gaps.push(node);
  }

  closeGaps(text) {
    const { gaps } = this;
    if (!isSpace(text.charCodeAt(0)) && !isSpace(this.text.charCodeAt(this.text.length - 1))) {
      if (gaps.some(drawnApart)) this.text += ' ';
    }
    gaps.length = 0;
  }

  /** step walks an element, unless an earlier walk has its rows. */
  step(node, depth, level, state) {
    if (this.blocks !== null) this.blocks.element(node, depth, level, state);
    else this.element(node, depth, level, state, false);
  }

  /** element walks an element. One that cannot be read is a row that says so, and costs nothing but itself. */
  element(node, depth, level, state, moved) {
    const { elements, shadows } = this;
    const rows = this.rows.length;
    const named = this.named.length;
    try {
      this.walked(node, depth, level, state, moved);
    } catch (error) {
      this.shadows = shadows;
      this.unread(node, depth, level, state, { rows, named, entered: this.elements > elements + 1 }, error);
    }
  }

  /** unread puts a row in the place of an element that cannot be read, and goes on with what is in it. */
  unread(node, depth, level, state, before, error) {
    if (this.blocks !== null) this.blocks.unsafe++;
    pseudosRead = null;
    this.unreadable++;
    if (before.entered) return; // it was read, and what is in it as well
    this.rows.length = Math.min(this.rows.length, before.rows);
    this.named.length = Math.min(this.named.length, before.named);
    this.flush();
    const row = new Row(this.options.interactive ? 0 : depth, 'generic', undefined, unreadText);
    if (this.add(row) && this.options.refs) {
      row.ref = '';
      this.named.push({
        row,
        node,
        tag: tagOf(node),
        role: 'generic',
        name: '',
        place: null,
        number: memory.refNumbers.get(node)
      });
    }
    // A stack that is full stays full.
    if (error instanceof RangeError || this.unreadable > mostUnreadable) this.leftOut++;
    else this.children(node, depth + 1, level + 1, state, tagOf(node));
    this.flush();
  }

  walked(node, depth, level, state, moved) {
    const tag = tagOf(node);
    if (skippedTags.has(tag)) return;
    if (level > maxTreeDepth) {
      this.tooDeep++;
      this.leftOut++;
      return;
    }
    if (this.full && this.options.brief) {
      this.leftOut++;
      return;
    }
    if ((++this.elements & 1023) === 0 && this.overdue()) this.stopped = true;
    if (this.stopped) {
      this.leftOut++;
      return;
    }
    let invisible = false;
    let inline = false;
    let style = null;
    if (!checkVisibility(node, visibilityOptions)) {
      style = getComputedStyle(node);
      const display = style.display;
      if (display === '') {
        // It is not drawn at all: its parent shows a shadow root that we were not given.
        const host = parentElementOf(node);
        if (host) this.hides(host);
        return;
      }
      // display:contents has no box of its own, but what is in it has.
      inline = display === 'contents';
      invisible = style.visibility !== 'visible';
      if (!inline && !invisible && tag !== 'area') return;
      if (!inline && invisible && !checkVisibility(node)) return;
      if (inline && !contentsPlaced(node)) return;
    }
    // most elements have none, so that they need not be read one by one
    const attributed = hasAttributes(node) && hasMeaning(node);
    if (
      attributed &&
      ((hasAttribute(node, 'aria-hidden') && attributeOf(node, 'aria-hidden') === 'true') ||
        hasAttribute(node, 'inert'))
    ) {
      if (node !== this.active && tag !== 'body') return;
    }
    if (tag.includes('-') && wantsSemantics(node, tag, this.options.states) && this.hosts.size < maxQueries)
      this.hosts.add(node);
    if (tag === 'br') {
      if (this.text !== '') this.text += ' ';
      return;
    }
    if (!inline) this.part(node, tag);
    let role = attributed ? roleOf(node) : implicitRole(node);
    if (
      this.blocks !== null &&
      attributed &&
      (hasAttribute(node, 'aria-labelledby') || hasAttribute(node, 'list') || role in placesOfParts)
    )
      this.blocks.probe(() => roleOf(node), role);
    const framed = tag in tagRows && showsDocument(node);
    if (framed && plainRoles.has(role)) role = 'iframe';
    else if (tag in tagRows && plainRoles.has(role)) role = tagRows[tag];
    // of a date, a time, a colour
    if (tag === 'input' && plainRoles.has(role) && protoGet(node, 'type') !== 'hidden') role = 'input';
    const disabled = state.disabled || attributed && attributeOf(node, 'aria-disabled') === 'true';
    let clickable = false;
    let handled = false; // its role does not imply that it takes clicks
    let draggable = attributed && attributeOf(node, 'draggable') === 'true';
    let bare = false; // only what can be done with it gives it a row
    let shown = !invisible && !plainRoles.has(role);
    // the whole document of a frame, as rich text editors have it
    const editor = tag === 'body' && editableDocument(node);
    const hollow = this.concealed(style, node);
    if (!shown && !invisible && (editor || tag !== 'body' && tag !== 'html')) {
      if (hollow) return;
      const sign = this.sign(style, node);
      draggable = draggable || sign === 'drag';
      clickable =
        editor ||
        (!state.inClickable &&
          ((tag !== 'label' && sign === 'click') || (attributed && hasAttribute(node, 'onclick')))) ||
        (attributed &&
          ((hasAttribute(node, 'tabindex') && attributeOf(node, 'tabindex') !== '-1') ||
            hasAttribute(node, 'contenteditable')) &&
          isFocusable(node)) ||
        (attributed && chosenParts.has(writtenPart(node)));
      if (clickable || draggable || this.scrolls(style, node) !== '') {
        role = 'generic';
        shown = true;
        bare = true;
      }
    } else if (shown && !interactiveRoles.has(role)) {
      const sign = this.sign(style, node);
      handled = !state.inClickable && (sign === 'click' || attributed && hasAttribute(node, 'onclick'));
      draggable = draggable || sign === 'drag';
    }
    const interactive = clickable || handled || draggable || interactiveRoles.has(role);
    let name = '';
    let row = null;
    let place = null;
    let rowDepth = depth;
    if (shown) {
      name =
        this.blocks === null
          ? this.nameFor(node, tag, role, clickable || bare)
          : this.blocks.nameFor(node, tag, role, clickable || bare);
      if (role === 'img' && name === '' && tag !== 'img' && !interactive && !hasAttribute(node, 'role')) {
        shown = false; // an icon that is not named
      }
    }
    if (shown) {
      this.flush();
      const wanted = !this.options.interactive || interactive || framed;
      if (this.options.places) {
        place = { path: state.path, prev: this.last, first: '', next: '', serial: noteSerial };
        this.opened.push(place);
        if (this.options.compare) this.options.compare(node, tag, role, name, place);
      }
      if (wanted) {
        row = new Row(
          this.options.interactive ? 0 : depth,
          role,
          name === '' ? undefined : cut(name, maxRowName),
          undefined
        );
        if (handled) row.clickable = true;
        if (draggable) row.draggable = true;
        if (!this.add(row)) row = null;
        else this.describe(row, node, tag, role, disabled, clickable, place, name);
        if (row && !interactiveRoles.has(role)) row.scrolls = this.scrolls(style, node) || undefined;
        if (row && this.options.interactive && (handled || draggable) && row.text === undefined && name === '') {
          row.text = drawnWords(node);
          if (this.blocks !== null) this.blocks.probe(() => drawnWords(node), row.text);
        }
      }
      if (name !== '') this.noteNeighbour(role + ' ' + cut(name, 80));
      rowDepth = depth + 1;
    }
    const before = this.rows.length;
    const leaf = shown && leafRows.has(role) && !this.hasInside(node, tag, role);
    if (leaf && this.blocks !== null) this.blocks.visitInside(node);
    if (!leaf && !hollow && !framed) {
      const inside = {
        quiet:
          state.quiet ||
          (shown && name !== '' && namedByText.has(role)) ||
          (tag === 'label' && this.labelled(node)) ||
          tag === 'select' ||
          tag === 'textarea' ||
          (state.titled && (tag === 'caption' || tag === 'legend' || tag === 'figcaption')),
        titled: name !== '' && (tag === 'table' || tag === 'fieldset' || tag === 'figure'),
        invisible,
        disabled,
        inClickable:
          state.inClickable ||
          ((clickable || interactiveRoles.has(role)) && !(clickable && getComputedStyle(node).cursor !== 'pointer')),
        path: shown && this.options.places ? state.path + '/' + role + (namedByText.has(role) ? '' : name) : state.path
      };
      if (tag === 'select') {
        if (row) this.choices(row, node, rowDepth);
      } else if (tag === 'details' && !hasAttribute(node, 'open') && !shadowOf(node) && skipsContent(node, null)) {
        const summary = queryIn(node, ':scope > summary')[0];
        if (summary) this.step(summary, rowDepth, level + 1, inside);
      } else {
        this.children(node, rowDepth, level + 1, inside, tag);
      }
    }
    if (shown) {
      this.flush();
      if (place) this.closed.push(place);
      if (row) this.settle(row, before, role, name, clickable, shadowOf(node) !== null);
    } else if (!inline) {
      this.part(node, tag);
    }
  }

  /** complain notes that a control is not valid once a person has been there, and what the browser says of it. */
  complain(row, node) {
    if (!matchesCSS(node, ':user-invalid')) return;
    row.invalid = true;
    const message = protoGet(node, 'validationMessage');
    if (typeof message === 'string' && message !== '') row.message = cut(norm(message), 120);
  }

  /** concealed: nothing in the element is drawn. */
  concealed(style, node) {
    const possible = this.hints.conceals || this.shadows > 0 || shadowOf(node) !== null;
    return possible && conceals(style || getComputedStyle(node));
  }

  /** scrolls is how far an element that scrolls by itself can be scrolled, '' for any other. */
  scrolls(style, node) {
    if (!this.options.scrollers || !this.hints.scrolls && this.shadows === 0) return '';
    const { overflowY } = style || getComputedStyle(node);
    if (overflowY !== 'auto' && overflowY !== 'scroll' || clientHeightOf(node) < 16) return '';
    const far = scrollHeightOf(node) - clientHeightOf(node);
    if (far < 8) return '';
    const up = Math.round(scrollTopOf(node));
    const down = far - up;
    return (up > 0 ? up + 'px up' + (down > 0 ? ', ' : '') : '') + (down > 0 ? down + 'px down' : '');
  }

  /** sign is what the pointer shows here, and not already around here, that can be done: 'click', 'drag' or ''. */
  sign(style, node) {
    // The browser's own style sheet has a pointer for links; the sheets of a shadow root are about its host, too.
    const tag = tagOf(node);
    if (!this.hints.cursors && this.shadows === 0 && tag !== 'a' && tag !== 'area' && shadowOf(node) === null)
      return '';
    const { cursor } = style || getComputedStyle(node);
    const sign = cursor === 'pointer' ? 'click' : cursor === 'move' || cursor === 'grab' ? 'drag' : '';
    if (sign === '') return '';
    const parent = flatParentElement(node);
    return parent === null || getComputedStyle(parent).cursor !== cursor ? sign : '';
  }

  /** holdsOne: one control, and what is in it, is all that was added since. */
  holdsOne(before, depth) {
    const { rows } = this;
    if (rows.length === before || this.full || !interactiveRoles.has(rows[before].role)) return false;
    for (let i = before + 1; i < rows.length; i++) if (rows[i].depth <= depth + 1) return false;
    return true;
  }

  /** settle merges a single text into its row and drops a row without content. */
  settle(row, before, role, name, clickable, component) {
    if (
      clickable &&
      (name === '' ? component : before < this.rows.length && name === this.rows[before].name) &&
      (row.text === undefined || this.options.interactive) &&
      !row.focused &&
      this.holdsOne(before, row.depth)
    ) {
      // A component around its button: the button is what is clicked and reported.
      if (this.blocks !== null) this.blocks.spoil(before - 1);
      for (let i = before; i < this.rows.length; i++) if (this.rows[i].depth > row.depth) this.rows[i].depth--;
      this.rows.splice(before - 1, 1);
      const at = this.named.findLastIndex((named) => named.row === row);
      if (at >= 0) this.named.splice(at, 1);
      return;
    }
    const count = this.rows.length - before;
    if (count === 1 && this.rows[before].role === 'text') {
      row.text = this.rows[before].text;
      this.rows.length = before;
    } else if (
      count === 0 &&
      name === '' &&
      emptyWithout.has(role) &&
      row.text === undefined &&
      !row.focused &&
      !this.full &&
      !row.clickable &&
      !row.draggable
    ) {
      this.rows.length = before - 1;
      if (this.named.length > 0 && this.named[this.named.length - 1].row === row) this.named.pop();
    }
  }

  /** hasInside: a control of this role that contains other controls, as authors nest them. */
  hasInside(node, tag, role) {
    if (role === 'textbox' || role === 'searchbox') return tag !== 'input' && tag !== 'textarea';
    if (firstElementOf(node) === null || tag === 'math') return false;
    return queryIn(node, tag === 'svg' ? drawnControls : nestedControls).length > 0;
  }

  labelled(label) {
    const labels = this.labels(label);
    if (this.blocks !== null) this.blocks.probe((walk) => walk.labels(label), labels);
    return labels;
  }

  labels(label) {
    const control = protoGet(label, 'control');
    if (control === null || control === undefined || unexposed(control, this.known)) return false;
    if (!localNameOf(control).includes('-')) return true;
    // Without a row for the component its label would be lost.
    const role = roleOf(control);
    return !plainRoles.has(role) || this.sign(null, control) === 'click';
  }

  /** hasLabel: a label names the control. The list that a control has of its labels costs a walk of its whole tree. */
  hasLabel(control) {
    const root = rootOf(control);
    let controls = this.controls.get(root);
    if (controls === undefined) {
      const labels = queryIn(root, 'label');
      controls = labels.length === 0 ? nothing : new Set(labels.map((label) => protoGet(label, 'control')));
      this.controls.set(root, controls);
    }
    return controls.has(control);
  }

  derivedName(node) {
    this.derived = true;
    return nameOf(node, this.known);
  }

  nameFor(node, tag, role, clickable) {
    if (clickable)
      return (
        worded(attributeOf(node, 'aria-label')) ||
        (tag.includes('-') && labelsOf(node).length > 0 ? this.derivedName(node) : '')
      );
    const attributed = hasAttributes(node);
    if (semanticsOf(node, tag)) return this.derivedName(node);
    const labelled = attributed && hasAttribute(node, 'aria-label');
    const referring = attributed && hasAttribute(node, 'aria-labelledby');
    this.derived ||= referring;
    const attributes = labelled || referring || attributed && hasAttribute(node, 'title');
    if (labelled && !referring) {
      const label = worded(attributeOf(node, 'aria-label'));
      if (label !== '') return label;
    }
    if (tag === 'iframe' || tag === 'frame')
      return (attributes && this.derivedName(node)) || norm(attributeOf(node, 'name'));
    if (!attributes) {
      if (tag === 'input') return this.derivedName(node); // also a button has no text of its own
      if (tag === 'button') {
        const labelled = this.hasLabel(node);
        if (this.blocks !== null) this.blocks.probe((walk) => walk.hasLabel(node), labelled);
        if (labelled) return this.derivedName(node);
      }
      if (namedByText.has(role)) {
        const owns = attributed && hasAttribute(node, 'aria-owns');
        const plain = firstElementOf(node) === null && !shadowOf(node) && !owns && !(node instanceof HTMLSlotElement);
        if (plain && !this.concealed(null, node)) {
          const bare = !this.hints.generates && this.shadows === 0;
          this.derived ||= !bare;
          const own = worded(
            bare ? textOf(node) : generatedText(node, '::before') + textOf(node) + generatedText(node, '::after')
          );
          if (own !== '') return own;
        }
      } else if (!namedByMarkup.has(role)) {
        return '';
      }
      return this.derivedName(node);
    }
    if (namedByContent.test(role) && !namedByText.has(role) && !namedByAttribute(node)) return '';
    return this.derivedName(node);
  }

  describe(row, node, tag, role, disabled, clickable, place, name) {
    // A cell of a grid that cannot have the focus is a cell of a table.
    const still =
      this.options.compact &&
      role === 'gridcell' &&
      !row.clickable &&
      !row.draggable &&
      !hasAttribute(node, 'tabindex') &&
      !hasAttribute(node, 'contenteditable');
    const unsized = listed.has(role) && sizeless(node);
    if (this.blocks !== null && listed.has(role)) this.blocks.probe(() => sizeless(node), unsized);
    if (this.options.refs && !still && !unsized) {
      row.ref = ''; // its place among the members
      this.named.push({ row, node, tag, role, name, place, number: memory.refNumbers.get(node) });
    }
    if (clickable) {
      row.clickable = true;
      if (this.options.interactive) row.text = cut(norm(textOf(node)), 100) || undefined;
    }
    if (node === this.active && (tag !== 'body' || hasFocus(document))) row.focused = true;
    if (role === 'heading') {
      const level = Number(attributeOf(node, 'aria-level')) || Number(/^h([1-6])$/.exec(tag)?.[1]) || 2;
      row.level = level;
    }
    const control =
      tag === 'input' ||
      tag === 'button' ||
      tag === 'select' ||
      tag === 'textarea' ||
      tag === 'option' ||
      tag === 'fieldset' ||
      tag === 'optgroup';
    if (disabled || (control && matchesCSS(node, ':disabled'))) row.disabled = true;
    if (!interactiveRoles.has(role) && !clickable) {
      this.readARIAStates(row, node, role);
      if (role === 'iframe') row.frame = node;
      if (role === 'progressbar' || role === 'meter') {
        const value = controlText(node, role, contentContext(this.known));
        if (value && value !== name) row.value = value;
      }
      if (tag.includes('-')) fillOwnStates(row, node, tag, role);
      return;
    }
    switch (role) {
      case 'checkbox': case 'radio': case 'switch': case 'menuitemcheckbox': case 'menuitemradio': {
        const checked = attributeOf(node, 'aria-checked');
        row.checked =
          tag === 'input'
            ? protoGet(node, 'indeterminate') === true
              ? 'mixed'
              : protoGet(node, 'checked') === true
            : checked === 'mixed'
              ? 'mixed'
              : checked === 'true';
        break;
      }
      case 'option':
        row.selected =
          tag === 'option' ? protoGet(node, 'selected') === true : attributeOf(node, 'aria-selected') === 'true';
        break;
      case 'textbox': case 'searchbox': case 'spinbutton': case 'slider': case 'scrollbar': case 'input':
        this.value(row, node, tag, role);
        break;
      case 'combobox':
        if (tag === 'select')
          row.value = lineOf(
            selectedOf(node)
              .map((option) => worded(protoGet(option, 'label')))
              .join(', ')
          );
        else this.value(row, node, tag, role);
        break;
      case 'link':
        if (this.options.urls)
          row.url = cut(
            withoutUser(
              String(
                typeof protoGet(node, 'href') === 'string' ? protoGet(node, 'href') : attributeOf(node, 'href') || ''
              )
            ),
            2000
          );
        break;
    }
    if (tag === 'summary') {
      const details = parentElementOf(node);
      if (details && tagOf(details) === 'details') row.expanded = hasAttribute(details, 'open');
    }
    if (tag === 'input' || tag === 'select' || tag === 'textarea') {
      if (hasAttribute(node, 'required')) row.required = true;
      if (hasAttribute(node, 'readonly')) row.readonly = true;
      this.complain(row, node);
      const type = tag === 'input' ? protoGet(node, 'type') : '';
      if (
        type === 'file' ||
        type === 'password' ||
        type === 'date' ||
        type === 'time' ||
        type === 'month' ||
        type === 'week' ||
        type === 'datetime-local' ||
        type === 'color'
      )
        row.type = type;
    }
    this.readARIAStates(row, node, role);
    if (tag.includes('-')) fillOwnStates(row, node, tag, role);
  }

  /** readARIAStates reads the states that ARIA attributes give. */
  readARIAStates(row, node, role) {
    if (!hasAttributes(node)) return;
    for (const attribute of attributeNames(node)) {
      if (!attribute.startsWith('aria-')) continue;
      const value = attributeOf(node, attribute);
      switch (attribute) {
        case 'aria-expanded':
          if (role !== 'listbox' && (value === 'true' || value === 'false')) row.expanded = value === 'true';
          break;
        case 'aria-pressed':
          if (role === 'button') row.pressed = value === 'mixed' ? 'mixed' : value === 'true';
          break;
        case 'aria-selected':
          if (value === 'true') row.selected = true;
          break;
        case 'aria-current':
          if (value !== '' && value !== 'false') row.current = value === 'true' ? true : cut(value, 20);
          break;
        case 'aria-required':
          if (value === 'true') row.required = true;
          break;
        case 'aria-readonly':
          if (value === 'true') row.readonly = true;
          break;
        case 'aria-invalid':
          if (value !== '' && value !== 'false') row.invalid = true;
          break;
        case 'aria-errormessage':
          if (this.blocks !== null) this.blocks.unsafe++; // it stands elsewhere
          if (attributeOf(node, 'aria-invalid') !== 'false')
            row.message ??=
              cut(
                norm(
                  byIds(node, attribute)
                    .map((said) => textOf(said))
                    .join(' ')
                ),
                120
              ) || undefined;
          break;
        case 'aria-posinset':
          if (hasAttribute(node, 'aria-setsize'))
            row.position = cut(value, 8) + ' of ' + cut(attributeOf(node, 'aria-setsize'), 8);
          break;
        case 'aria-rowcount':
          if (Number(value) > 0) row.position = cut(value, 8) + ' rows';
          break;
        case 'aria-busy':
          if (value === 'true') row.busy = true;
          break;
        case 'aria-haspopup':
          if (value !== '' && value !== 'false') row.haspopup = value === 'true' ? 'menu' : cut(value, 20);
          break;
        case 'aria-sort':
          if (value !== '' && (value !== 'none' || this.options.compact)) row.sort = cut(value, 20);
          break;
      }
    }
  }

  value(row, node, tag, role) {
    if (tag === 'input' && protoGet(node, 'type') === 'password') {
      if (protoGet(node, 'value') !== '') row.filled = true;
      return;
    }
    // the field in it has the value
    if (role === 'combobox' && tag !== 'input' && queryIn(node, 'input, textarea').length > 0) return;
    let value;
    if (tag === 'input' || tag === 'textarea') value = protoGet(node, 'value');
    else if (role === 'textbox' || role === 'searchbox') value = norm(textOf(node));
    else value = norm(controlText(node, role, contentContext(this.known)));
    if (!value && role === 'combobox') value = norm(textOf(node));
    value = String(value ?? '');
    if (zeroWidth.test(value)) value = ''; // holds a line open
    if (value !== '') row.value = lineOf(value);
  }

  /** choices reports the options of a list. */
  choices(row, select, depth) {
    const all = protoGet(select, 'options');
    let reported = 0;
    let count = 0;
    for (let i = 0; i < all.length && i < 5000; i++) {
      const option = all[i];
      const name =
        hasAttributes(option) && namedByAttribute(option)
          ? nameOf(option, this.known)
          : worded(protoGet(option, 'label')) || worded(textOf(option));
      if (hasAttribute(option, 'hidden')) continue;
      count++;
      const selected = protoGet(option, 'selected') === true;
      if (reported >= maxOptions && !(selected && reported < 2 * maxOptions)) continue;
      reported++;
      const child = new Row(this.options.interactive ? 0 : depth, 'option', cut(name, maxRowName), undefined);
      if (selected) child.selected = true;
      if (matchesCSS(option, ':disabled')) child.disabled = true;
      if (!this.options.interactive && this.add(child) && this.options.refs) {
        child.ref = '';
        this.named.push({
          row: child,
          node: option,
          tag: 'option',
          role: 'option',
          name,
          place: null,
          number: memory.refNumbers.get(option)
        });
      }
    }
    if (count > reported || this.options.interactive) row.options = count;
  }
}

const styleSheetsOf = getterOf(Document.prototype, 'styleSheets');
const adoptedSheetsOf = getterOf(Document.prototype, 'adoptedStyleSheets');
const maxRules = 500;

/**
 * styleHints says what the style sheets of the document may do, so that styles are not read
 * where they cannot matter: to read one property of an element costs as much as its name.
 * generates is about ::before and ::after, cursors about the pointer, conceals about
 * content-visibility, scrolls about overflow. plain: no element has a style of its own. A sheet that is long, grouped
 * or not ours to read may do everything.
 */
function styleHints(plain) {
  const sheets = styleSheetsOf(document);
  const adopted = adoptedSheetsOf(document);
  const hints = {
    generates: false,
    cursors: !plain && firstInDocument(document, '[style*="cursor" i]') !== null,
    conceals: !plain && firstInDocument(document, '[hidden="until-found" i], [style*="content-visibility" i]') !== null,
    scrolls: !plain && firstInDocument(document, '[style*="overflow" i]') !== null,
  };
  let left = maxRules;
  const known = sheets.length + adopted.length;
  for (let i = 0; i < known; i++) {
    try {
      for (const rule of (i < sheets.length ? sheets[i] : adopted[i - sheets.length]).cssRules) {
        if (left-- <= 0 || !(rule instanceof CSSStyleRule) || rule.cssRules.length > 0) return everyHint;
        hints.generates ||= /:(?:before|after)/i.test(rule.selectorText);
        hints.cursors ||= rule.style.cursor !== '';
        hints.conceals ||= rule.style.contentVisibility !== '';
        hints.scrolls ||= rule.style.overflowY !== '';
      }
    } catch {
      return everyHint; // of another origin
    }
  }
  return hints;
}

const everyHint = Object.freeze({ generates: true, cursors: true, conceals: true, scrolls: true });

const hasAttributes = methodOf(Element.prototype, 'hasAttributes');
const attributeNames = methodOf(Element.prototype, 'getAttributeNames');

/** hasMeaning: an element has an attribute that is not only there for styles and scripts. */
function hasMeaning(node) {
  const names = attributeNames(node);
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    if (name !== 'class' && name !== 'id' && name !== 'style' && !name.startsWith('data-')) return true;
  }
  return false;
}
const offsetHeightOf = getterOf(HTMLElement.prototype, 'offsetHeight');
const styleMapOf = methodOf(Element.prototype, 'computedStyleMap');

const maxHosts = 64;
const shadowTags = new Set([
  'article', 'aside', 'blockquote', 'div', 'footer', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'main', 'nav', 'p',
  'section', 'span'
]);

/**
 * mayHideShadow: the element can have a shadow root, shows none to us, and looks
 * as if it had one: it is a custom element, or has height without contents.
 */
const mayHideShadow = (node, tag) => readable(node, () => seemsToHideShadow(node, tag), false);

function seemsToHideShadow(node, tag) {
  if (memory.attachmentHosts.has(node)) return false;
  if (tag.includes('-')) return true;
  if (!shadowTags.has(tag) || firstChildOf(node) !== null || memory.examinedHosts.has(node)) return false;
  const style = getComputedStyle(node);
  if (style.display === 'inline' ? tag !== 'span' : style.position === 'absolute' || style.position === 'fixed')
    return false;
  if (offsetHeightOf(node) <= 0) return false;
  const height = styleMapOf(node).get('height');
  return (
    height instanceof CSSKeywordValue &&
    height.value === 'auto' &&
    offsetHeightOf(node) >
      parseFloat(style.paddingTop) +
        parseFloat(style.paddingBottom) +
        parseFloat(style.borderTopWidth) +
        parseFloat(style.borderBottomWidth)
  );
}

/** adopt gives the page library access to a closed shadow root that the browser handed over. */
outrider.adopt = (root) => {
  adoptShadow(root);
  return true;
};

/** walkTree walks a subtree, or the whole document. */
function walkTree(root, options) {
  const walk = new TreeWalk(options);
  const state = { quiet: false, invisible: false, disabled: false, inClickable: false, path: '' };
  if (rootOf(root) !== document) walk.shadows++;
  walk.element(root, 0, 0, state, false);
  walk.flush();
  return walk;
}

/** drawnPart is the first element of a locator that is drawn, wherever the page is scrolled to. */
function drawnPart(locator) {
  const { nodes, trace } = locate(locator);
  const part =
    nodes.find((node) => drawnNow(node)) || nodes.find((node) => getComputedStyle(node).display === 'contents');
  if (part) return part;
  if (nodes.length > 0) trace.rendered_matches = 0;
  throw notFound(locator, trace);
}

/** isTopDocument: no frame shows this document. A window gives the same top to everybody. */
const isTopDocument = () => globalThis === top;

/** belowViewport is how much of the document lies below the viewport, and the ref of the first control there. */
function belowViewport(walk) {
  const root = scrollingElementOf(document);
  const px = root ? Math.round(scrollHeightOf(root) - scrollTopOf(root) - innerHeight) : 0;
  if (px < 8) return undefined;
  const { named } = walk;
  let first = named.length;
  while (first > 0 && rectOf(named[first - 1].node).top >= innerHeight) first--;
  const from = named.slice(first).find(({ role, row }) => row.ref && (interactiveRoles.has(role) || row.clickable));
  return { px, from: from ? from.row.ref : undefined };
}

const notPlain = /["\\\u0000-\u001f\u2028\u2029\ud800-\udfff]/;

/** quoted is text as a JSON string. */
const quoted = (text) => notPlain.test(text) ? JSON.stringify(text) : '"' + text + '"';

/** flagged writes a state. Only what opens has it written when it is false, too. */
const flagged = (value, word) =>
  value === true ? ' [' + word + ']' : value === false ? '' : ' [' + word + '=' + value + ']';

const lineEnds = /[\r\n\u2028\u2029]/;

/** oneLine: one row is one line, whatever somebody typed into a text area. */
const oneLine = (text) => lineEnds.test(text) ? text.replace(/\r\n?|[\n\u2028\u2029]/g, '\\n') : text;

/** rowLine is a row as one line of text. The ref comes first of what is in brackets. */
function rowLine(row) {
  if (row.role === 'text') return '- text: ' + row.text;
  let line = '- ' + row.role;
  if (row.name !== undefined) line += ' ' + quoted(row.name);
  if (row.near !== undefined) line += ' ≈' + quoted(row.near);
  if (row.of !== undefined) line += ' — ' + quoted(row.of);
  if (row.ref !== undefined) line += ' [ref=' + row.ref + ']';
  if (row.checked !== undefined) line += flagged(row.checked, 'checked');
  if (row.selected !== undefined) line += flagged(row.selected, 'selected');
  if (row.expanded !== undefined) line += row.expanded === false ? ' [collapsed]' : flagged(row.expanded, 'expanded');
  if (row.pressed !== undefined) line += flagged(row.pressed, 'pressed');
  if (row.current !== undefined)
    line += row.current === true ? ' [current]' : ' [current=' + oneLine(row.current) + ']';
  if (row.disabled) line += ' [disabled]';
  if (row.required) line += ' [required]';
  if (row.readonly) line += ' [readonly]';
  if (row.invalid)
    line +=
      row.message === undefined ? ' [invalid]' : ' [invalid: ' + oneLine(row.message).replace(/[\[\]]/g, '') + ']';
  if (row.busy) line += ' [busy]';
  if (row.focused) line += ' [focused]';
  if (row.filled) line += ' [filled]';
  if (row.clickable) line += ' [clickable]';
  if (row.draggable) line += ' [draggable]';
  if (row.level !== undefined) line += ' [level=' + row.level + ']';
  if (row.type !== undefined) line += ' [type=' + row.type + ']';
  if (row.haspopup !== undefined) line += ' [haspopup=' + oneLine(row.haspopup) + ']';
  if (row.sort !== undefined) line += ' [sort=' + oneLine(row.sort) + ']';
  if (row.options !== undefined) line += ' [options=' + row.options + ']';
  if (row.position !== undefined) line += ' [' + oneLine(row.position).replace(/[\[\]]/g, '') + ']';
  if (row.scrolls !== undefined) line += ' [scrolls=' + row.scrolls + ']';
  if (row.url !== undefined) line += ' [url=' + oneLine(row.url) + ']';
  const content = row.value ?? row.text;
  return content === undefined ? line : line + ': ' + oneLine(content);
}

/** rowObject is a row as JSON, without what only we need. */
function rowObject(row) {
  const { depth, frame } = row;
  row.depth = undefined;
  row.frame = undefined;
  row.line = undefined;
  row.indent = undefined;
  const text = JSON.stringify(row);
  row.depth = depth;
  row.frame = frame;
  return text;
}

/**
 * takeHosts returns handles of the elements that may have a shadow root that only the browser can open. Each is
 * returned once.
 */
function takeHosts(hosts) {
  const handles = [];
  for (const node of hosts) {
    memory.examinedHosts.add(node);
    handles.push(querySemantics(node));
  }
  return handles;
}

const steps = [];

/** stepsIn is a space for each step of depth. */
const stepsIn = (depth) => steps[depth] ??= ' '.repeat(depth);

/**
 * page_snapshot answers the rows of this document: lines of text, or objects, as
 * the text of the answer, each on a line of its own with a space before it for
 * each step of depth. Documents inside it that this world can access are part of
 * it, and inside counts them. frames has the rows that show one of the others.
 */
queries.page_snapshot = (args) => {
  const { ref, locator, tell_visible, time_ms } = args;
  let root = rootElement();
  if (ref !== undefined) root = elementOfRef(ref);
  else if (locator !== undefined) root = drawnPart(locator);
  const whole = root === rootElement();
  if (!root) return new WithText({ count: 0, frames: [], left_out: 0, hosts: [], stopped: false }, '');
  const overdue = overdueIn(time_ms);
  const kept = whole && fileHere() === undefined;
  const { blocks, answers } = kept ? earlierOf(args) : { blocks: null, answers: null };
  const walk = rowsOf(root, args, overdue, blocks);
  if (!whole && hasLostRefs() && walk.named.some(({ node }) => !memory.refNumbers.has(node))) {
    // Only the whole document shows what was rendered again.
    giveRefs(
      walkTree(rootElement(), {
        interactive: false,
        urls: false,
        refs: true,
        limit: maxRefs,
        bytes: Infinity,
        places: true,
        overdue: overdueIn(time_ms)
      }).named,
      true
    );
  }
  giveRefs(walk.named, whole);
  addBeside(walk, args);
  if (tell_visible) addVisible(walk);
  if (args.hints && isTopDocument()) addHints(walk);
  const output = { lines: [], frames: [], inside: 0, leftOut: 0, stopped: false, refs: [], messages: [] };
  writeRows(walk, args, output, 0, 0, overdue, undefined);
  const { lines, frames, inside, leftOut, stopped, refs, messages } = output;
  const all = walk.full ? elementsIn(root, '*').length : 0;
  const { token, runs, fresh } = sinceLines(answers, args.base, lines);
  return new WithText(
    {
      unseen: walk.full ? Math.max(0, all - walk.elements) : undefined,
      token,
      runs,
      taken: walk.blocks === null ? undefined : walk.blocks.taken,
      count: lines.length,
      frames,
      inside,
      left_out: leftOut,
      stopped,
      refs_inside: refs,
      hosts: takeHosts(walk.hosts),
      more_hosts: walk.hosts.size >= maxHosts,
      messages: messages.length > 0 ? messages : undefined,
      title: whole ? documentTitleOf(document) : undefined,
      below: whole && args.places ? belowViewport(walk) : undefined
    },
    fresh.join('\n')
  );
};

/** overdueIn says whether so many milliseconds have passed since the call. */
function overdueIn(ms) {
  const until = performance.now() + ms;
  return () => performance.now() > until;
}

/** rowsOf walks a document, or a part of it, for an answer. blocks are those of earlier ones, or null. */
function rowsOf(root, args, overdue, blocks) {
  try {
    return walkFor(root, args, overdue, blocks);
  } catch (error) {
    if (blocks === null) throw error;
    snapshotKinds().clear(); // what was kept of earlier walks cannot be used
    return walkFor(root, args, overdue, null);
  }
}

const walkFor = (root, { interactive_only, urls, max_nodes, max_bytes, again, places }, overdue, blocks) => {
  const walk = walkTree(root, {
    interactive: interactive_only === true,
    urls: urls === true,
    scrollers: places === true,
    compact: places === true,
    refs: true,
    limit: max_nodes,
    bytes: max_bytes,
    places: true,
    states: again ? 'again' : 'first',
    brief: true,
    overdue,
    blocks
  });
  if (walk.blocks !== null) walk.blocks.finish();
  const file = root === rootElement() ? fileHere() : undefined;
  if (file !== undefined) walk.rows.unshift(new Row(0, 'document', file.name, fileWords(file)));
  return walk;
};

function addVisible(walk) {
  const clips = new Map();
  for (const { row, node } of walk.named) row.visible = isVisible(node, topView, clips);
}

const mostBeside = 500; // controls without a name that are looked at

/**
 * addBeside gives rows of controls without a name what they are called, and, where that is asked for, repeated ones
 * what they belong to. A row may be one of an earlier answer.
 */
function addBeside(walk, { interactive_only, siblings }) {
  let left = mostBeside;
  for (const { row, node, role } of walk.named) {
    if (!interactiveRoles.has(role) && !row.clickable) continue;
    const name = row.name ?? '';
    let near = '';
    const open = row.text === undefined && !(wordInside.test(name) && tagOf(node) !== 'input');
    if (role !== 'option' && (open || saysNoMore(node, role, name))) {
      if (left-- > 0) near = standsBeside(node, role, name, walk.known);
    }
    said(row, 'near', near);
  }
  if (interactive_only || siblings) addSiblings(walk);
}

/** said sets what a row says beside its name. Its line is written anew when that is something else. */
function said(row, member, text) {
  const now = text === '' ? undefined : text;
  if (row[member] === now) return;
  row[member] = now;
  row.line = undefined;
}

const hintAttributes = ['data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa', 'name', 'aria-label'];

/** addHints gives rows the selector of their element, where its markup has one that is its alone. */
function addHints(walk) {
  for (const { row, node, tag } of walk.named) {
    if (rootOf(node) !== document) continue;
    const id = attributeOf(node, 'id');
    const candidates = id ? ['#' + CSS.escape(id)] : [];
    for (const name of hintAttributes) {
      const value = attributeOf(node, name);
      if (value && value.length <= 80) candidates.push(tag + '[' + name + '=' + JSON.stringify(value) + ']');
    }
    row.hint = candidates.find((selector) => queryIn(document, selector).length === 1);
  }
}

/** writeRows adds the rows of a document, below depth, and those of the documents in it. */
function writeRows(walk, args, output, depth, nesting, overdue, within) {
  output.leftOut += walk.leftOut;
  output.stopped ||= walk.stopped;
  if (args.messages) output.messages.push(...messagesGone());
  const { lines } = output;
  for (const row of walk.rows) {
    const { frame } = row;
    const indent = depth + row.depth;
    if (row.line === undefined || row.indent !== indent) {
      row.line = stepsIn(indent) + (args.format === 'text' ? rowLine(row) : rowObject(row));
      row.indent = indent;
    }
    lines.push(row.line);
    if (frame === undefined) continue;
    if (!writeInside(frame, args, output, indent + 1, nesting + 1, overdue))
      output.frames.push({ row: lines.length - 1, handle: keep(frame), within, nesting });
  }
}

/**
 * writeInside adds the document that a frame shows, when its origin is ours and the runtime has
 * begun our world in it. A world of ours can access our world in that frame, and what its window
 * has of its own only we can have put there. A page call for each frame costs several times more.
 */
function writeInside(frame, args, output, depth, nesting, overdue) {
  if (nesting > args.max_nesting || output.stopped) return false;
  let place;
  try {
    place = windowIn(frame, tagOf(frame));
    if (!Object.hasOwn(place, 'outriderWorld')) return false;
  } catch {
    return false; // of another origin
  }
  return readWithin(place, () => {
    if (Object.hasOwn(place, 'outriderRefs')) outrider.numberRefs(...place.outriderRefs);
    return writeDocument(args, output, depth, nesting, overdue);
  });
}

/** writeDocument adds the document that is read, which a frame shows. */
function writeDocument(args, output, depth, nesting, overdue) {
  const root = rootElement();
  if (!root) return false;
  let walk;
  try {
    walk = rowsOf(root, args, overdue, earlierOf(args).blocks);
    if (walk.hosts.size > 0) return false; // for the browser to open first
    giveRefs(walk.named, true);
    addBeside(walk, args);
    if (args.tell_visible) addVisible(walk);
  } catch {
    return false; // a page call in the frame itself reports why, and only that frame is left out
  }
  const { numbering } = memory;
  output.inside++;
  writeRows(walk, args, output, depth, nesting, overdue, numbering.prefix);
  if (numbering.next !== numbering.reported)
    output.refs.push({ prefix: numbering.prefix, next: (numbering.reported = numbering.next) });
  return true;
}
