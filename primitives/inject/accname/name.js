// name answers what an element is called: its accessible name, computed as
// Accessible Name and Description Computation 1.2 and the HTML mappings say.
// Generated text of ::before and ::after counts, text that is not exposed does
// not.

/** Roles that take their name from what they contain. */
const namedByContent =
  /^(?:button|cell|checkbox|columnheader|gridcell|heading|link|menuitem|menuitemcheckbox|menuitemradio|option|radio|rowheader|switch|tab|term|tooltip|treeitem)$/;

const maxNameNodes = 5000; // that one name may visit
const maxNameText = 10000;
const deepestName = 400; // elements, below which only the text counts

const childNodesOf = getterOf(Node.prototype, 'childNodes');
const nodeValueOf = getterOf(Node.prototype, 'nodeValue');
const assignedTo = methodOf(HTMLSlotElement.prototype, 'assignedNodes');
const checkVisibility = methodOf(Element.prototype, 'checkVisibility');

/** flatChildren lists the children that are drawn: those of an open shadow root, or what a slot was given. */
function flatChildren(node) {
  const shadow = shadowOf(node);
  if (shadow) return Array.from(childNodesOf(shadow));
  if (node instanceof HTMLSlotElement) {
    const given = assignedTo(node);
    if (given.length > 0) return given;
  }
  return Array.from(childNodesOf(node));
}

/** withheld: aria-hidden or inert, here or around it, takes the element from the accessibility tree. */
function withheld(node, known) {
  const path = [];
  let hidden = false;
  for (let at = node; at; at = flatParentElement(at)) {
    const cached = known.get(at);
    if (cached !== undefined) {
      hidden = cached;
      break;
    }
    path.push(at);
  }
  for (let i = path.length - 1; i >= 0; i--) {
    const at = path[i];
    hidden = hidden || attributeOf(at, 'aria-hidden') === 'true' || hasAttribute(at, 'inert');
    known.set(at, hidden);
  }
  return hidden;
}

/** unexposed: the accessibility tree leaves the element out. known may be shared by the elements of one pass. */
const unexposed = (node, known = new Map()) => withheld(node, known) || undrawn(node);

/** mayShowInside: the element itself is not drawn, but what is in it can be. */
function mayShowInside(node) {
  const style = styleOf(node);
  if (style.visibility === 'visible') return false;
  return style.display === 'contents' || checkVisibility(node, { contentVisibilityAuto: false });
}

/**
 * undrawn: display, visibility or content-visibility leave nothing of the element. display:contents draws its children.
 */
function undrawn(node) {
  const tag = tagOf(node);
  if (tag === 'option' || tag === 'optgroup') {
    // Options of a closed list have no boxes.
    const list = closestCSS(node, 'select, datalist');
    if (list) return tagOf(list) === 'select' && (styleOf(node).display === 'none' || undrawn(list));
  }
  if (tag === 'area') return false;
  const style = styleOf(node);
  if (style.visibility !== 'visible') return true;
  if (style.display === 'contents') {
    if (!contentsPlaced(node)) return true;
    return !flatChildren(node).some((child) => nodeType(child) === 3 || nodeType(child) === 1 && !undrawn(child));
  }
  return !checkVisibility(node, { contentVisibilityAuto: false });
}

/** byIds lists the elements that an attribute with ids names, in the element's own tree. */
function byIds(node, attribute) {
  const text = attributeOf(node, attribute);
  if (!text) return [];
  readsElsewhere++;
  const root = rootOf(node);
  const found = [];
  for (const id of text.split(/\s+/).slice(0, 50)) {
    if (id === '') continue;
    const target = queryIn(root, '#' + CSS.escape(id))[0];
    if (target) found.push(target);
  }
  return found;
}

/**
 * What snapshot_blocks.js has to know of a name: which generated texts it may have, and whether it comes from
 * elsewhere.
 */
let pseudosRead = null;
let readsElsewhere = 0;

/** Parts of CSS content that matter: a function, a string, the slash before what is said instead. */
const cssParts = /[\w-]+\((?:[^()"]|"(?:[^"\\]|\\.)*")*\)|"((?:[^"\\]|\\.)*)"|\//g;

function generatedText(node, which) {
  if (pseudosRead !== null) pseudosRead.push([node, which]);
  const style = getComputedStyle(node, which);
  const content = style.content;
  if (
    !content ||
    content === 'none' ||
    content === 'normal' ||
    style.display === 'none' ||
    style.visibility !== 'visible'
  )
    return '';
  // What follows a slash that is in no string is the alternative for those who do not see it.
  let strings = [];
  for (const [part, string] of content.matchAll(cssParts)) {
    if (part === '/') strings = [];
    else if (string !== undefined) strings.push(string.replace(/\\(.)/g, '$1'));
  }
  const text = strings.join('');
  return text === '' || style.display === 'inline' || style.display === 'contents' ? text : ' ' + text + ' ';
}

/** Roles of controls that have a value. */
const hasValue = new Set([
  'textbox', 'searchbox', 'combobox', 'listbox', 'slider', 'spinbutton', 'scrollbar', 'progressbar', 'meter'
]);

/** contentContext is the context of a computation for what an element contributes by its contents. */
const contentContext = (known) => ({
  inside: 'content',
  inLabelledby: false,
  hidden: false,
  mute: false,
  visited: new Set(),
  referred: new Set(),
  known,
  budget: { left: maxNameNodes }
});

/** selectedOf lists the chosen options of a list. */
const selectedOf = (select) => Array.from(protoGet(select, 'selectedOptions') || []);

const chosenOption = '[role="option"][aria-selected="true"]';

/**
 * controlText is what a control contributes inside the name of another element; undefined when it is no such control.
 */
function controlText(node, role, ctx) {
  if (hasValue.has(role)) readsElsewhere++; // a value is in no markup
  switch (role) {
    case 'textbox': case 'searchbox': {
      const value = protoGet(node, 'value');
      if (protoGet(node, 'type') === 'password') return value === '' ? undefined : '';
      return typeof value === 'string' ? value || undefined : textOf(node); // an empty one counts by what it is called
    }
    case 'combobox': case 'listbox': {
      if (tagOf(node) === 'select') {
        return selectedOf(node).map((option) => textAlternative(option, { ...ctx, inside: 'content' })).join(' ');
      }
      const value = protoGet(node, 'value');
      if (typeof value === 'string') return value || undefined;
      const chosen = [node, ...byIds(node, 'aria-owns')].flatMap((list) => queryIn(list, chosenOption));
      if (chosen.length > 0) {
        return chosen.map((option) => textAlternative(option, { ...ctx, inside: 'content' })).join(' ');
      }
      if (role === 'combobox' && isFocusable(node)) return contentText(node, { ...ctx, inside: 'content' });
      return namedByAttribute(node) ? undefined : '';
    }
    case 'slider': case 'spinbutton': case 'scrollbar': case 'progressbar': case 'meter': {
      const attribute = attributeOf(node, 'aria-valuetext') ?? attributeOf(node, 'aria-valuenow');
      if (attribute !== null) return attribute;
      const value = protoGet(node, 'value');
      if (
        value !== undefined &&
        value !== null &&
        value !== '' &&
        !(tagOf(node) === 'progress' && !hasAttribute(node, 'value'))
      )
        return String(value);
      // what turns without an end is called something
      return tagOf(node) === 'input' ? undefined : attributeOf(node, 'aria-label') || '';
    }
  }
  return undefined;
}

/** nativeName is the name that HTML gives by other elements and attributes; '' when it gives none. */
function nativeName(node, tag, ctx) {
  if (tag === 'input') {
    const type = protoGet(node, 'type');
    if (type === 'button' || type === 'submit' || type === 'reset') {
      const labelled = labelText(node, ctx);
      if (labelled) return labelled;
      const value = protoGet(node, 'value');
      if (worded(value)) return value;
      return type === 'submit' && !hasAttribute(node, 'value')
        ? 'Submit'
        : type === 'reset' && !hasAttribute(node, 'value')
          ? 'Reset'
          : '';
    }
    if (type === 'image') {
      return (
        labelText(node, ctx) ||
        attributeOf(node, 'alt') ||
        (hasAttribute(node, 'value') ? attributeOf(node, 'value') : attributeOf(node, 'title') || 'Submit')
      );
    }
    // the label of its button
    if (type === 'file')
      return labelText(node, ctx) || (hasAttribute(node, 'multiple') ? 'Choose Files' : 'Choose File');
    return labelText(node, ctx);
  }
  switch (tag) {
    case 'button':
    case 'textarea':
    case 'select':
    case 'meter':
    case 'output':
    case 'progress':
      return labelText(node, ctx);
    case 'fieldset':
      return ofFirst(node, 'legend', ctx);
    case 'table':
      return ofFirst(node, 'caption', ctx) || attributeOf(node, 'summary') || '';
    case 'img':
    case 'area':
      return attributeOf(node, 'alt') || '';
    case 'optgroup':
      return attributeOf(node, 'label') || '';
    case 'option':
      return attributeOf(node, 'label') || textOf(node); // a list draws its text only
    case 'svg':
      return ofFirst(node, 'title', ctx);
  }
  if (namespaceOf(node) === svgNamespace) return ofFirst(node, 'title', ctx);
  return tag.includes('-') ? labelText(node, ctx) : '';
}

/**
 * labelsOf lists the labels of a control. A custom element that is a form control lists none: the label elements are
 * searched.
 */
function labelsOf(node) {
  const labels = protoGet(node, 'labels');
  // labels of buttons are compared apart
  if (!labels || labels.length > 0 || localNameOf(node) !== 'button') readsElsewhere++;
  if (labels) return Array.from(labels);
  if (!localNameOf(node).includes('-')) return [];
  const found = [];
  const around = closestCSS(node, 'label');
  if (around) found.push(around);
  const id = idOf(node);
  if (id)
    for (const label of queryIn(rootOf(node), 'label[for="' + CSS.escape(id) + '"]'))
      if (label !== around) found.push(label);
  return found.filter((label) => protoGet(label, 'control') === node);
}

function labelText(node, ctx) {
  const labels = labelsOf(node);
  if (labels.length === 0) return '';
  const texts = labels.map((label) => textAlternative(label, { ...ctx, inside: 'label' }));
  return texts.filter((text) => worded(text) !== '').join(' ');
}

function ofFirst(node, tag, ctx) {
  const child = queryIn(node, ':scope > ' + tag)[0];
  return child ? textAlternative(child, { ...ctx, inside: 'label', hidden: tag === 'title' }) : '';
}

/** Controls whose text does not run into that around them, though they are drawn in its line. */
const standsApart = /^(?:button|checkbox|menuitem|textbox|radio|switch|progressbar|meter|slider|spinbutton|scrollbar)$/;

/** Roles of what is a thing of its own: its content is no part of the name of what is around it. */
const setsApart = /^(?:alertdialog|combobox|dialog|grid|menu|menubar|radiogroup|tablist|toolbar|tree|treegrid)$/;

const fieldTags = /^(?:button|input|select|textarea)$/;

/** contentText joins what the element contains, and what it owns. */
function contentText(node, ctx) {
  const pieces = [];
  let size = 0;
  const add = (text, apart) => {
    if (text === '') return;
    pieces.push(apart ? ' ' + text + ' ' : text);
    size += text.length;
  };
  if (!ctx.hidden && conceals(styleOf(node))) return '';
  if (!ctx.bare) add(generatedText(node, '::before'), false);
  const children = flatChildren(node).concat(byIds(node, 'aria-owns'));
  for (const child of children) {
    if (size > maxNameText || ctx.budget.left <= 0) break;
    const type = nodeType(child);
    if (type === 3) {
      if (!ctx.mute) add(nodeValueOf(child) || '', false);
    } else if (type === 1) {
      const tag = tagOf(child);
      if (ctx.visited.has(child)) {
        if (fieldTags.test(tag)) pieces.push(' '); // the field that is named stands there
        continue;
      }
      if (ctx.referred.has(child)) continue;
      if (tag === 'br' || tag === 'wbr') {
        if (tag === 'br') pieces.push(' ');
        continue;
      }
      const role = roleOf(child);
      if (ctx.branch && role === 'group') continue; // the branches of a tree have names of their own
      const display = styleOf(child).display;
      add(
        textAlternative(child, { ...ctx, mute: false, inside: ctx.inside || 'content' }),
        (display !== 'inline' && display !== 'contents') || standsApart.test(role)
      );
    }
  }
  if (!ctx.bare) add(generatedText(node, '::after'), false);
  return pieces.join('');
}

/**
 * textAlternative is one step of the computation. ctx.inside is how the
 * computation came to the element: '' when it is the one that is named, else 'labelledby',
 * 'label' or 'content'. ctx.hidden: what is not exposed counts too, because a
 * hidden element was referred to. ctx.mute: only what is in elements inside counts.
 */
function textAlternative(node, ctx) {
  if (ctx.visited.has(node) || ctx.budget.left-- <= 0) return '';
  if (ctx.visited.size > deepestName) return textOf(node);
  ctx.visited.add(node);
  try {
    const tag = tagOf(node);
    if (tag === 'script' || tag === 'style' || tag === 'template' || tag === 'noscript') return '';
    if (ctx.inside !== '' && ctx.inside !== 'labelledby' && !ctx.hidden) {
      if (withheld(node, ctx.known)) return '';
      if (undrawn(node)) return mayShowInside(node) ? contentText(node, { ...ctx, mute: true }) : '';
    }
    if (ctx.inside !== 'labelledby') {
      const referred = ctx.inLabelledby ? [] : byIds(node, 'aria-labelledby');
      if (referred.length > 0) {
        const text = referred.map((target) => referredText(node, target, ctx)).join(' ');
        if (worded(text) !== '') return text;
      }
    }
    const role = roleOf(node);
    if (ctx.inside !== '') {
      const text = controlText(node, role, ctx);
      if (text !== undefined && !(ctx.inside === 'labelledby' && worded(attributeOf(node, 'aria-label')) !== ''))
        return text;
    }
    const label = worded(attributeOf(node, 'aria-label')) || semanticsOf(node, tag)?.label;
    if (label && tag !== 'slot') return label;
    const written = ctx.inside !== '' && typesText.test(role); // its label is text of its own
    const native = role === 'none' || written ? '' : nativeName(node, tag, ctx);
    if (worded(native) !== '') return native;
    if (ctx.inside !== '' && !ctx.inLabelledby && setsApart.test(role)) return titleOf(node, tag, role, ctx);
    if (ctx.inside !== '' || namedByContent.test(role) || role === 'row' && rowIsNamed(node)) {
      // What an image contains is how it is drawn, such as the character of an icon font.
      if (
        role !== 'img' &&
        tag !== 'input' &&
        tag !== 'select' &&
        tag !== 'textarea' &&
        !(tag === 'svg' || tag === 'iframe')
      ) {
        const text = contentText(node, {
          ...ctx,
          branch: ctx.branch || role === 'treeitem',
          inside: ctx.inside === 'labelledby' ? 'content' : ctx.inside || 'content'
        });
        if (worded(text) !== '') return text;
        if (text !== '' && !hasAttribute(node, 'title')) return ' '; // it parts the words beside it
      }
    }
    return titleOf(node, tag, role, ctx) || placeholderOf(node);
  } finally {
    ctx.visited.delete(node);
  }
}

/**
 * referredText is what an element that aria-labelledby names gives to a name, once: its content does not count again.
 */
function referredText(node, target, ctx) {
  const text = textAlternative(target, {
    ...ctx,
    visited: new Set(target === node ? [] : [node]),
    inside: 'labelledby',
    inLabelledby: true,
    hidden: unexposed(target, ctx.known),
  });
  ctx.referred.add(target);
  return text;
}

/** titleOf is the title where it is a name: not of text, and not of what only looks like something. */
function titleOf(node, tag, role, ctx) {
  const title = attributeOf(node, 'title');
  if (worded(title) === '' || tag === 'slot' || role === 'none' || role === 'paragraph') return '';
  if (tag === 'img' && hasAttribute(node, 'alt')) return '';
  if (tag === 'label' && ctx.inside !== '') return '';
  if (role === 'generic' && !ctx.inLabelledby && !isFocusable(node)) return '';
  const repeats = ctx.inside === '' && (role === 'listitem' || tag === 'label') && norm(title) === norm(textOf(node));
  return repeats ? '' : title;
}

/** Roles of controls that text is typed into. */
const typesText = /^(?:combobox|searchbox|spinbutton|textbox)$/;

/** Roles that support aria-placeholder. */
const takesPlaceholder = /^(?:searchbox|spinbutton|textbox)$/;

/** Types of inputs that show their placeholder. */
const showsPlaceholder = /^(?:email|number|password|search|tel|text|url)$/;

/** placeholderOf is what a control shows while it is empty. On other elements the attribute has no meaning. */
function placeholderOf(node) {
  const tag = tagOf(node);
  const shows = tag === 'textarea' || tag === 'input' && showsPlaceholder.test(protoGet(node, 'type'));
  const native = shows ? worded(attributeOf(node, 'placeholder')) : '';
  if (native !== '') return native;
  const takes = hasAttribute(node, 'aria-placeholder') && takesPlaceholder.test(roleOf(node));
  return takes ? worded(attributeOf(node, 'aria-placeholder')) : '';
}

/** rowIsNamed: rows of grids, and rows that take the focus, are named by their cells. */
function rowIsNamed(node) {
  if (isFocusable(node)) return true;
  for (let at = flatParentElement(node); at; at = flatParentElement(at)) {
    const role = roleOf(at);
    if (role === 'grid' || role === 'treegrid') return true;
    if (role === 'table') return false;
  }
  return false;
}

/** nameOf is the accessible name, '' when there is none. The glyphs of icon fonts are no part of it. */
function nameOf(node, known = new Map()) {
  const text = textAlternative(node, {
    inside: '',
    inLabelledby: false,
    hidden: unexposed(node, known),
    mute: false,
    visited: new Set(),
    referred: new Set(),
    known,
    budget: { left: maxNameNodes },
  });
  return cut(worded(text), maxNameText);
}

/** safeName and safeRole are for what is said of an element on the way: '' where it cannot be read. */
const safeName = (node, known) => readable(node, () => nameOf(node, known), '');
const safeRole = (node) => readable(node, roleOf, '');

/** inClosedRoot: the element is in a closed shadow root, or in one of the browser's own. */
function inClosedRoot(node) {
  const root = rootOf(node);
  return root instanceof ShadowRoot && shadowOf(hostOf(root)) !== root;
}

/** role_name returns role, name and exposure of elements that were kept, null for what is none. */
queries.role_name = ({ handles }) => {
  const known = new Map();
  return handles.map((handle) => {
    const node = element(handle);
    if (!(node instanceof Element)) return null;
    return readable(
      node,
      () => ({
        tag_name: tagOf(node),
        role: roleOf(node),
        name: nameOf(node, known),
        exposed: !unexposed(node, known),
        label: label(node),
        closed: inClosedRoot(node)
      }),
      null
    );
  });
};
