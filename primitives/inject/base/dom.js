// dom reads members of nodes through their prototypes. Named properties of
// the document and of forms hide members of the instance, in this world too.

/** uncurry makes f(this, ...args) of a method. */
const uncurry = Function.prototype.bind.bind(Function.prototype.call);
const getterOf = (proto, name) => uncurry(Object.getOwnPropertyDescriptor(proto, name).get);
const methodOf = (proto, name) => uncurry(proto[name]);

const parentOf = getterOf(Node.prototype, 'parentNode');
const parentElementOf = getterOf(Node.prototype, 'parentElement');
const isConnected = getterOf(Node.prototype, 'isConnected');
const nodeType = getterOf(Node.prototype, 'nodeType');
const textContentOf = getterOf(Node.prototype, 'textContent');
const rootOf = methodOf(Node.prototype, 'getRootNode');
const contains = methodOf(Node.prototype, 'contains');
const localNameOf = getterOf(Element.prototype, 'localName');
const idOf = getterOf(Element.prototype, 'id');
const attributeOf = methodOf(Element.prototype, 'getAttribute');
const matchesCSS = methodOf(Element.prototype, 'matches');
const closestCSS = methodOf(Element.prototype, 'closest');
const ownRectOf = methodOf(Element.prototype, 'getBoundingClientRect');
const ownRectsOf = methodOf(Element.prototype, 'getClientRects');
const queryElement = methodOf(Element.prototype, 'querySelectorAll');
const queryDocument = methodOf(Document.prototype, 'querySelectorAll');
const queryFragment = methodOf(DocumentFragment.prototype, 'querySelectorAll');
const openShadowOf = getterOf(Element.prototype, 'shadowRoot');
const openSlotOf = getterOf(Element.prototype, 'assignedSlot');
const classesOf = getterOf(Element.prototype, 'classList');
const scrollLeftOf = getterOf(Element.prototype, 'scrollLeft');
const scrollTopOf = getterOf(Element.prototype, 'scrollTop');
const scrollWidthOf = getterOf(Element.prototype, 'scrollWidth');
const scrollHeightOf = getterOf(Element.prototype, 'scrollHeight');
const clientWidthOf = getterOf(Element.prototype, 'clientWidth');
const clientHeightOf = getterOf(Element.prototype, 'clientHeight');
const clientLeftOf = getterOf(Element.prototype, 'clientLeft');
const clientTopOf = getterOf(Element.prototype, 'clientTop');
const animationsOf = methodOf(Element.prototype, 'getAnimations');
const elementScrollTo = methodOf(Element.prototype, 'scrollTo');
const hitDocument = methodOf(Document.prototype, 'elementFromPoint');
const hitShadow = methodOf(ShadowRoot.prototype, 'elementFromPoint');
const documentElementOf = getterOf(Document.prototype, 'documentElement');
const documentBodyOf = getterOf(Document.prototype, 'body');
const documentTitleOf = getterOf(Document.prototype, 'title');
const documentActiveOf = getterOf(Document.prototype, 'activeElement');
const shadowActiveOf = getterOf(ShadowRoot.prototype, 'activeElement');
const documentAnimationsOf = methodOf(Document.prototype, 'getAnimations');
const scrollingElementOf = getterOf(Document.prototype, 'scrollingElement');
const wholeURLOf = getterOf(Document.prototype, 'URL');

/** withoutUser is an address as the browser writes it, without user and password. */
const withoutUser = (address) =>
  address.includes('@') ? address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1') : address;

/** documentURLOf is the address of a document. What stands for a sign-in in it is for nobody to see. */
const documentURLOf = (doc) => withoutUser(wholeURLOf(doc));
const hostOf = getterOf(ShadowRoot.prototype, 'host');

/** rectOf is where an element is: its box, or where what stands for it is drawn (boxless.js). */
const rectOf = (node) => {
  const rect = ownRectOf(node);
  return rect.width > 0 || rect.height > 0 ? rect : boxlessRect(node) || rect;
};

const bodyOf = () => documentBodyOf(document);
const rootElement = () => documentElementOf(document);
const styleOf = (node) => getComputedStyle(node);
const namespaceOf = getterOf(Element.prototype, 'namespaceURI');

const htmlNamespace = 'http://www.w3.org/1999/xhtml';
const svgNamespace = 'http://www.w3.org/2000/svg';

/** Tags of which the library expects what only elements of HTML have: options, rows, a value, a document inside. */
const htmlTags = new Set(
  (
    'area button canvas datalist details dialog embed fieldset form frame iframe img input label legend ' +
    'meter object optgroup ' +
    'option output progress select slot summary table tbody td textarea tfoot th thead tr'
  ).split(' ')
);

/**
 * tagOf is the tag of an element in lower case. An element of another namespace may be
 * called as a control of HTML without being one: it has its namespace before its name.
 */
function tagOf(node) {
  const written = localNameOf(node);
  const tag = written.toLowerCase();
  if (!htmlTags.has(tag)) return tag;
  const namespace = namespaceOf(node);
  if (namespace === htmlNamespace && written === tag) return tag;
  return (namespace === svgNamespace ? 'svg:' : 'xml:') + tag;
}
const isElement = (node) => node !== null && node !== undefined && nodeType(node) === 1;

/** textOf is the text of a node and its descendants, never null. */
const textOf = (node) => textContentOf(node) || '';

/** queryIn is querySelectorAll on a document, an element or a shadow root, as an array. */
function queryIn(root, selector) {
  const type = nodeType(root);
  const query = type === 1 ? queryElement : type === 9 ? queryDocument : queryFragment;
  const list = query(root, selector);
  const found = new Array(list.length); // by index: an iterator costs three times as much
  for (let i = 0; i < found.length; i++) found[i] = list[i];
  return memory.attachmentHosts.size > 0 ? found.filter((node) => !memory.attachmentHosts.has(node)) : found;
}

/** adoptShadow makes a closed shadow root one that the functions of the library search. */
function adoptShadow(root) {
  memory.closedShadows.set(hostOf(root), root);
  memory.closedShadowsKnown = true;
}

/** shadowOf is the shadow root of an element: an open one, or one that was adopted. */
const shadowOf = (node) => openShadowOf(node) || memory.closedShadowsKnown && memory.closedShadows.get(node) || null;

const slotNodes = methodOf(HTMLSlotElement.prototype, 'assignedNodes');

/** slotOf is the slot that draws an element. A slot in a closed shadow root does not say so itself. */
function slotOf(node) {
  const slot = openSlotOf(node);
  if (slot || !memory.closedShadowsKnown) return slot;
  const host = parentElementOf(node);
  const shadow = host && memory.closedShadows.get(host);
  return shadow && Array.from(queryFragment(shadow, 'slot')).find((each) => slotNodes(each).includes(node)) || null;
}

/** flatParent is the parent that an event propagates to: slots and shadow hosts included. */
function flatParent(node) {
  if (nodeType(node) === 1) {
    const slot = slotOf(node);
    if (slot) return slot;
  }
  const parent = parentOf(node);
  return parent && nodeType(parent) === 11 && parent instanceof ShadowRoot ? hostOf(parent) : parent;
}

/** flatParentElement is flatParent, or null when that is no element. */
function flatParentElement(node) {
  const parent = flatParent(node);
  return isElement(parent) ? parent : null;
}

/** flatContains reports whether an event at node passes through ancestor. */
function flatContains(ancestor, node) {
  for (let at = node; at; at = flatParent(at)) if (at === ancestor) return true;
  return false;
}

/** activeElement is the focused element, looking through open shadow roots. */
function activeElement() {
  let active = documentActiveOf(document);
  while (active && shadowOf(active)) {
    const inner = shadowActiveOf(shadowOf(active));
    if (!inner) break;
    active = inner;
  }
  return active;
}

// prototype -> name -> descriptor or undefined; nobody else changes the prototypes of this world
const descriptors = new WeakMap();

function descriptorOf(node, name) {
  const first = Object.getPrototypeOf(node);
  let known = descriptors.get(first);
  if (known === undefined) descriptors.set(first, known = new Map());
  let found = known.get(name);
  if (found !== undefined || known.has(name)) return found;
  for (let proto = first; proto && !found; proto = Object.getPrototypeOf(proto))
    found = Object.getOwnPropertyDescriptor(proto, name);
  known.set(name, found);
  return found;
}

/** protoGet reads a property through the prototypes, undefined when there is none. */
function protoGet(node, name) {
  const descriptor = descriptorOf(node, name);
  if (!descriptor) return undefined;
  return descriptor.get ? Reflect.apply(descriptor.get, node, []) : descriptor.value;
}

/** protoSet writes a property through the prototypes' setter. */
function protoSet(node, name, value) {
  const descriptor = descriptorOf(node, name);
  if (!descriptor || !descriptor.set) return false;
  Reflect.apply(descriptor.set, node, [value]);
  return true;
}

/** protoCall calls a method through the prototypes, undefined when there is none. */
function protoCall(node, name, ...args) {
  const method = protoGet(node, name);
  return typeof method === 'function' ? Reflect.apply(method, node, args) : undefined;
}

/** utf8Length is the size of text in UTF-8. */
function utf8Length(text) {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7ff) bytes += unit >= 0xd800 && unit <= 0xdfff ? 1 : 2;
    else if (unit > 0x7f) bytes += 1;
  }
  return bytes;
}
