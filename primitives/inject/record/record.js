// record answers what a recording keeps of a document: its nodes, in the form that trace viewers draw,
// and the element that a call is about. What a password field holds is never in an answer.

/** Fields whose content is secret: they are, or were while somebody recorded, of type password. */
const secretFields = new WeakSet();
const secretPurpose = /(?:^|\s)(?:current-password|new-password|one-time-code|cc-number|cc-csc)(?:\s|$)/i;

/** isSecretField: what is typed here must not be shown. */
function isSecretField(node) {
  if (secretFields.has(node)) return true;
  if (tagOf(node) !== 'input' && tagOf(node) !== 'textarea') return false;
  if (protoGet(node, 'type') !== 'password' && !secretPurpose.test(attributeOf(node, 'autocomplete') || '')) return false;
  secretFields.add(node);
  return true;
}

/** Stands for the content of a secret field, whatever its length. */
const veil = '\u2022\u2022\u2022\u2022\u2022\u2022';

const nodeNameOf = getterOf(Node.prototype, 'nodeName');
const previousNodeOf = getterOf(Node.prototype, 'previousSibling');
const attributesOf = getterOf(Element.prototype, 'attributes');

/** What the last answer about this document found, to say that nothing has changed since. */
const recorded = { watching: false, changed: true, controls: '', roots: new WeakSet(), scrolled: new Set(), observer: null };

function recordChange() { recorded.changed = true; }

function recordMutations(changes) {
  if (changes.length > 0) recorded.changed = true;
  for (const change of changes) {
    if (change.attributeName === 'type' && /^password$/i.test(change.oldValue || '')) secretFields.add(change.target);
  }
}

function recordScroll(event) {
  recorded.changed = true;
  const node = event.target === document ? scrollingElementOf(document) : event.target;
  if (node) recorded.scrolled.add(node);
}

function watchRoot(root) {
  if (recorded.roots.has(root)) return;
  recorded.roots.add(root);
  recorded.observer.observe(root, { subtree: true, childList: true, attributes: true, attributeOldValue: true, characterData: true });
}

/** watchDocument begins to follow changes. It stays, as long as the document does: somebody records. */
function watchDocument() {
  if (recorded.watching) return;
  recorded.watching = true;
  recorded.observer = new MutationObserver(recordMutations);
  for (const name of ['input', 'change', 'toggle']) listen(globalThis, name, recordChange, true);
  listen(globalThis, 'scroll', recordScroll, true);
  watchRoot(document);
}

/** controlsNow is what the controls show: script can change that and nothing reports it. */
function controlsNow() {
  let text = '';
  for (const node of queryIn(document, 'input, textarea, select')) {
    text += isSecretField(node) ? (protoGet(node, 'value') === '' ? '-' : '*') : protoGet(node, 'value');
    text += protoGet(node, 'checked') ? '\u0001' : '\u0000';
  }
  return text;
}

const unrecordedLinks = /(?:^|\s)(?:preload|prefetch|modulepreload|dns-prefetch|preconnect)(?:\s|$)/i;
const unrecordedMetas = /^(?:content-security-policy|refresh|set-cookie)$/i;

/** isRecorded: the node has a place in a snapshot. */
function isRecorded(node) {
  const type = nodeType(node);
  if (type === 3) return true;
  if (type !== 1 || attachmentHosts.has(node)) return false;
  switch (localNameOf(node)) {
    case 'script': case 'noscript': return false;
    case 'link': return !unrecordedLinks.test(attributeOf(node, 'rel') || '');
    case 'meta': return !unrecordedMetas.test(attributeOf(node, 'http-equiv') || '');
    case 'base': return false; // the snapshot brings its own
  }
  return true;
}

/** leading is how many nodes a snapshot puts before the children of a node. */
const leading = (node) => nodeType(node) === 1 && (localNameOf(node) === 'head' && parentOf(node) === rootElement() || shadowOf(node)) ? 1 : 0;

/** recordPath leads from the root element of a snapshot to a node: the places among the children, null when it is not there. */
function recordPath(node) {
  const path = [];
  for (let at = node; at !== rootElement();) {
    if (!at || !isRecorded(at)) return null;
    let place = 0;
    for (let before = previousNodeOf(at); before; before = previousNodeOf(before)) if (isRecorded(before)) place++;
    const parent = parentOf(at);
    if (!parent) return null;
    if (nodeType(parent) === 11) { // a shadow root: the template is the first child of its host
      if (!(parent instanceof ShadowRoot)) return null;
      path.unshift(0, place);
      at = hostOf(parent);
      continue;
    }
    path.unshift(place + leading(parent));
    at = parent;
  }
  return path;
}

/** SnapshotText writes a document as the node arrays of Playwright's snapshots. */
class SnapshotText {
  constructor() {
    this.parts = [];
    this.nodes = 0;
    this.frames = [];
  }

  sheets(root) {
    let list;
    try { list = protoGet(root, 'adoptedStyleSheets') || []; } catch { list = []; }
    for (const sheet of Array.from(list)) {
      let css = '';
      try { for (const rule of sheet.cssRules) css += rule.cssText + '\n'; } catch { continue; }
      this.parts.push(',["template",', JSON.stringify({ __playwright_style_sheet_: css }), ']');
    }
  }

  children(node) {
    const list = childNodesOf(node);
    const veiled = nodeType(node) === 1 && secretFields.has(node);
    for (let i = 0; i < list.length; i++) {
      const child = list[i];
      if (!isRecorded(child)) continue;
      this.parts.push(',');
      if (nodeType(child) === 3) {
        this.nodes++;
        this.parts.push(JSON.stringify(veiled && norm(nodeValueOf(child)) !== '' ? veil : nodeValueOf(child) || ''));
      } else this.element(child);
    }
  }

  element(node) {
    this.nodes++;
    const tag = localNameOf(node);
    const attributes = {};
    const secret = (tag === 'input' || tag === 'textarea') && isSecretField(node);
    const list = attributesOf(node);
    for (let i = 0; i < list.length; i++) {
      const { name, value } = list[i];
      if (secret && name === 'value' || name === 'srcdoc' || name.startsWith('__playwright')) continue;
      attributes[name] = value;
    }
    if (tag === 'input' || tag === 'textarea') {
      const type = protoGet(node, 'type');
      if (type === 'checkbox' || type === 'radio') attributes.__playwright_checked_ = String(protoGet(node, 'checked') === true);
      else if (type !== 'file') {
        const value = protoGet(node, 'value') || '';
        attributes.__playwright_value_ = secret ? value === '' ? '' : veil : value;
      }
    } else if (tag === 'option') attributes.__playwright_selected_ = String(protoGet(node, 'selected') === true);
    else if (tag === 'img') {
      const source = protoGet(node, 'currentSrc');
      if (source && attributes.srcset !== undefined) attributes.__playwright_current_src__ = source;
    } else if (tag === 'iframe' || tag === 'frame') {
      delete attributes.src;
      attributes.__outrider_frame__ = String(this.frames.length);
      this.frames.push(keep(node));
    } else if (tag === 'dialog' && attributes.open !== undefined) attributes.__playwright_dialog_open_ = matchesCSS(node, ':modal') ? 'modal' : 'true';
    if (recorded.scrolled.has(node)) {
      attributes.__playwright_scroll_top_ = String(scrollTopOf(node));
      attributes.__playwright_scroll_left_ = String(scrollLeftOf(node));
    }
    this.parts.push('[', JSON.stringify(nodeNameOf(node)), ',', JSON.stringify(attributes));
    const shadow = shadowOf(node);
    if (tag === 'head' && parentOf(node) === rootElement()) this.parts.push(',["BASE",', JSON.stringify({ href: protoGet(document, 'baseURI') }), ']');
    else if (shadow) {
      watchRoot(shadow);
      this.parts.push(',["template",{"__playwright_shadow_root_":"open"}');
      this.children(shadow);
      this.sheets(shadow);
      this.parts.push(']');
    }
    if (tag !== 'textarea') this.children(node);
    if (node === rootElement()) this.sheets(document);
    this.parts.push(']');
  }
}

/** recordedTarget is the element that a call is about, null when that cannot be said. */
function recordedTarget({ locator, x, y, focused }, view) {
  try {
    if (focused) return activeElement();
    if (locator) {
      const { nodes } = locate(understood(locator));
      const clips = new Map();
      return nodes.find((node) => isVisible(node, view, clips)) || nodes[0] || null;
    }
    if (typeof x === 'number' && typeof y === 'number') return deepHit(x, y);
  } catch { /* the call itself says what is wrong with its locator */ }
  return null;
}

/** secretBoxes are where secret fields are drawn in the viewport of the tab. */
function secretBoxes(view) {
  const out = [];
  for (const root of withShadows(document)) {
    for (const node of queryIn(root, 'input, textarea')) {
      if (!isSecretField(node)) continue;
      const rect = rectOf(node);
      if (rect.width > 0 && rect.height > 0) out.push(box(rect, view));
    }
  }
  return out;
}

queries.record_boxes = ({ view }) => ({ secret: secretBoxes(viewOf(view)), width: innerWidth, height: innerHeight });

/** record_target describes what a call is about; with secret, its content is secret from here on. */
queries.record_target = (args) => {
  watchDocument();
  const view = viewOf(args.view);
  const node = recordedTarget(args, view);
  if (!node || !isElement(node)) return { element: null };
  if (args.focused && isFrameElement(node)) return descended(node, view);
  if (args.secret) secretFields.add(node);
  const out = { token, element: appearance(node, new Map()), box: box(rectOf(node), view), path: recordPath(node), secret: isSecretField(node) };
  if (out.secret) out.element.text = '';
  return out;
};

/**
 * record_snapshot answers the document, as text behind the value; without it when nothing has changed
 * since the last answer and known is its token.
 */
queries.record_snapshot = ({ known }) => {
  watchDocument();
  recordMutations(recorded.observer.takeRecords());
  const doctype = protoGet(document, 'doctype');
  const value = {
    token, url: location.href, title: documentTitleOf(document), doctype: doctype ? doctype.name : '',
    width: innerWidth, height: innerHeight, secret: secretBoxes(topView), frames: [], nodes: 0, same: false,
  };
  const controls = controlsNow();
  if (!recorded.changed && known === token && controls === recorded.controls) return { ...value, same: true };
  const text = new SnapshotText();
  const root = rootElement();
  if (root) text.element(root);
  recorded.changed = false;
  recorded.controls = controls;
  return new WithText({ ...value, frames: text.frames, nodes: text.nodes }, text.parts.join(''));
};
