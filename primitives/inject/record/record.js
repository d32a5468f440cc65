// record answers what a recording keeps of a document: its nodes, in the form that trace viewers draw,
// and the element that a call is about. What a password field holds is never in an answer.

/** Fields whose content is secret: they are, or were while somebody recorded, of type password. */
const secretFields = new WeakSet();
const secretPurpose = /(?:^|\s)(?:current-password|new-password|one-time-code|cc-number|cc-csc)(?:\s|$)/i;

/** isSecretField: what is typed here must not be shown. */
function isSecretField(node) {
  if (secretFields.has(node)) return true;
  if (tagOf(node) !== 'input' && tagOf(node) !== 'textarea') return false;
  if (protoGet(node, 'type') !== 'password' && !secretPurpose.test(attributeOf(node, 'autocomplete') || ''))
    return false;
  secretFields.add(node);
  return true;
}

/** Stands for the content of a secret field, whatever its length. */
const veil = '\u2022\u2022\u2022\u2022\u2022\u2022';

const nodeNameOf = getterOf(Node.prototype, 'nodeName');
const previousNodeOf = getterOf(Node.prototype, 'previousSibling');
const attributesOf = getterOf(Element.prototype, 'attributes');

/** What the last answer about this document found, to say that nothing has changed since. */
const recorded = {
  watching: false,
  changed: true,
  version: 0,
  base: '',
  roots: new WeakSet(),
  scrolled: new Set(),
  observer: null,
  texts: new WeakMap(),
  controls: new WeakMap()
};

/** recordChange says that a node is another: what was written of it and of those around it does not hold. */
function recordChange(node) {
  recorded.changed = true;
  for (let at = node; at; at = nodeType(at) === 11 && at instanceof ShadowRoot ? hostOf(at) : parentOf(at))
    recorded.texts.delete(at);
}

function recordMutations(changes) {
  for (const change of changes) {
    recordChange(change.target);
    if (change.attributeName === 'type' && /^password$/i.test(change.oldValue || '')) secretFields.add(change.target);
  }
}

function recordEvent(event) { recordChange(event.target instanceof Node ? event.target : null); }

function recordScroll(event) {
  const node = event.target === document ? scrollingElementOf(document) : event.target;
  recordChange(node);
  if (node) recorded.scrolled.add(node);
}

function watchRoot(root) {
  if (recorded.roots.has(root)) return;
  recorded.roots.add(root);
  recorded.observer.observe(root, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeOldValue: true,
    characterData: true
  });
}

/** watchDocument begins to follow changes. It stays, as long as the document does: somebody records. */
function watchDocument() {
  if (recorded.watching) return;
  recorded.watching = true;
  recorded.observer = new MutationObserver(recordMutations);
  for (const name of ['input', 'change', 'toggle']) listen(globalThis, name, recordEvent, true);
  listen(globalThis, 'scroll', recordScroll, true);
  watchRoot(document);
}

/** recordControls finds the controls that show something else: script can change that and nothing reports it. */
function recordControls() {
  for (const node of queryIn(document, 'input, textarea, select')) {
    const value = protoGet(node, 'value') || '';
    let text = isSecretField(node) ? (value === '' ? '-' : '*') : value;
    text += (protoGet(node, 'checked') ? '\u0001' : '\u0000') + (protoGet(node, 'selectedIndex') ?? '');
    if (recorded.controls.get(node) === text) continue;
    recorded.controls.set(node, text);
    recordChange(node);
  }
}

const unrecordedLinks = /(?:^|\s)(?:preload|prefetch|modulepreload|dns-prefetch|preconnect)(?:\s|$)/i;
const unrecordedMetas = /^(?:content-security-policy|refresh|set-cookie)$/i;

/** isRecorded: the node has a place in a snapshot. */
function isRecorded(node) {
  const type = nodeType(node);
  if (type === 3) return true;
  if (type !== 1 || memory.attachmentHosts.has(node)) return false;
  switch (localNameOf(node)) {
    case 'script': case 'noscript': return false;
    case 'link': return !unrecordedLinks.test(attributeOf(node, 'rel') || '');
    case 'meta': return !unrecordedMetas.test(attributeOf(node, 'http-equiv') || '');
    case 'base': return false; // the snapshot brings its own
  }
  return true;
}

/** leading is how many nodes a snapshot puts before the children of a node. */
const leading = (node) =>
  nodeType(node) === 1 && ((localNameOf(node) === 'head' && parentOf(node) === rootElement()) || shadowOf(node))
    ? 1
    : 0;

/**
 * recordPath leads from the root element of a snapshot to a node: the places among the children, null when it is not
 * there.
 */
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

/** leastKept is how many nodes an element has whose text is kept for the next snapshot. */
const leastKept = 16;

/** SnapshotText writes a document as the node arrays of Playwright's snapshots. */
class SnapshotText {
  constructor() {
    this.nodes = 0;
    this.frames = [];
    this.own = 0; // what cannot be kept: it has frames, shadow trees or pictures that the browser chooses
  }

  sheets(root) {
    let list;
    try { list = protoGet(root, 'adoptedStyleSheets') || []; } catch { list = []; }
    let text = '';
    for (const sheet of Array.from(list)) {
      let css = '';
      try { for (const rule of sheet.cssRules) css += rule.cssText + '\n'; } catch { continue; }
      text += ',["template",' + JSON.stringify({ __playwright_style_sheet_: css }) + ']';
    }
    return text;
  }

  children(node) {
    const list = childNodesOf(node);
    const veiled = nodeType(node) === 1 && secretFields.has(node);
    let text = '';
    for (let i = 0; i < list.length; i++) {
      const child = list[i];
      if (!isRecorded(child)) continue;
      if (nodeType(child) === 3) {
        this.nodes++;
        text += ',' + JSON.stringify(veiled && norm(nodeValueOf(child)) !== '' ? veil : nodeValueOf(child) || '');
      } else text += ',' + this.element(child);
    }
    return text;
  }

  /** element is the text of an element, as it was written last when nothing in it has changed. */
  element(node) {
    const kept = recorded.texts.get(node);
    if (kept) {
      this.nodes += kept.nodes;
      return kept.text;
    }
    const nodes = this.nodes, own = this.own;
    const text = this.written(node);
    if (this.own === own && this.nodes - nodes >= leastKept)
      recorded.texts.set(node, { text, nodes: this.nodes - nodes });
    return text;
  }

  written(node) {
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
      if (type === 'checkbox' || type === 'radio')
        attributes.__playwright_checked_ = String(protoGet(node, 'checked') === true);
      else if (type !== 'file') {
        const value = protoGet(node, 'value') || '';
        attributes.__playwright_value_ = secret ? value === '' ? '' : veil : value;
      }
    } else if (tag === 'option') attributes.__playwright_selected_ = String(protoGet(node, 'selected') === true);
    else if (tag === 'img') {
      const source = attributes.srcset === undefined ? '' : protoGet(node, 'currentSrc');
      if (attributes.srcset !== undefined) this.own++;
      if (source) attributes.__playwright_current_src__ = source;
    } else if (tag === 'iframe' || tag === 'frame') {
      delete attributes.src;
      attributes.__outrider_frame__ = String(this.frames.length);
      this.frames.push(keep(node));
      this.own++;
    } else if (tag === 'dialog' && attributes.open !== undefined)
      attributes.__playwright_dialog_open_ = matchesCSS(node, ':modal') ? 'modal' : 'true';
    if (recorded.scrolled.has(node)) {
      attributes.__playwright_scroll_top_ = String(scrollTopOf(node));
      attributes.__playwright_scroll_left_ = String(scrollLeftOf(node));
    }
    let text = '[' + JSON.stringify(nodeNameOf(node)) + ',' + JSON.stringify(attributes);
    const shadow = shadowOf(node);
    if (tag === 'head' && parentOf(node) === rootElement())
      text += ',["BASE",' + JSON.stringify({ href: withoutUser(protoGet(document, 'baseURI')) }) + ']';
    else if (shadow) {
      watchRoot(shadow);
      this.own++;
      text += ',["template",{"__playwright_shadow_root_":"open"}' + this.children(shadow) + this.sheets(shadow) + ']';
    }
    if (tag !== 'textarea') text += this.children(node);
    if (node === rootElement()) {
      this.own++;
      text += this.sheets(document);
    }
    return text + ']';
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

/** recordedSnapshot is what is answered of the document, with its text unless that is the one that is known. */
function recordedSnapshot({ known, version }) {
  watchDocument();
  recordMutations(recorded.observer.takeRecords());
  recordControls();
  const base = protoGet(document, 'baseURI');
  if (base !== recorded.base) recordChange(queryIn(document, 'head')[0]);
  recorded.base = base;
  const doctype = protoGet(document, 'doctype');
  const value = {
    token,
    version: recorded.version,
    url: documentURLOf(document),
    title: documentTitleOf(document),
    doctype: doctype ? doctype.name : '',
    width: innerWidth,
    height: innerHeight,
    frames: [],
    nodes: 0,
    same: true
  };
  if (!recorded.changed && known === token && version === recorded.version) return { value, text: '' };
  const snapshot = new SnapshotText();
  const root = rootElement();
  const text = root ? snapshot.element(root) : '';
  if (recorded.changed) recorded.version++;
  recorded.changed = false;
  return {
    value: { ...value, version: recorded.version, frames: snapshot.frames, nodes: snapshot.nodes, same: false },
    text
  };
}

/**
 * record_target describes what a call is about; with secret, its content is secret from here on. With
 * snapshot it answers the document too, as record_snapshot does.
 */
queries.record_target = (args) => {
  watchDocument();
  const view = viewOf(args.view);
  const node = recordedTarget(args, view);
  let out = { element: null };
  if (node && isElement(node)) {
    if (args.focused && isFrameElement(node)) return descended(node, view);
    if (args.secret) {
      secretFields.add(node);
      recordChange(node);
    }
    out = {
      token,
      element: appearance(node, new Map()),
      box: box(rectOf(node), view),
      path: recordPath(node),
      secret: isSecretField(node)
    };
    if (out.secret) out.element.text = '';
  }
  if (!args.snapshot) return out;
  const { value, text } = recordedSnapshot(args.snapshot);
  out.snapshot = value;
  return value.same ? out : new WithText(out, text);
};

/**
 * record_snapshot answers the document, as text behind the value; without it when nothing has changed
 * since the answer with this token and version.
 */
queries.record_snapshot = (args) => {
  const { value, text } = recordedSnapshot(args);
  return value.same ? value : new WithText(value, text);
};

/** record_at describes the element that a person points at; in a frame it answers the frame, and the point in it. */
queries.record_at = ({ x, y }) => {
  const node = deepHit(x, y);
  if (!node) return { element: null };
  if (isFrameElement(node)) {
    const rect = ownRectOf(node);
    const style = styleOf(node);
    return {
      frame: keep(node),
      x: x - rect.left - clientLeftOf(node) - parseFloat(style.paddingLeft),
      y: y - rect.top - clientTopOf(node) - parseFloat(style.paddingTop)
    };
  }
  const secret = isSecretField(node);
  const out = { element: appearance(node, new Map()), secret };
  if (secret) out.element.text = '';
  return out;
};

/**
 * record_quirks answers which quirks this document was asked for that are enabled: no other can explain what it
 * answered.
 */
queries.record_quirks = () => ({ names: Array.from(usedQuirks) });
