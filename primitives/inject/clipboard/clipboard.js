// clipboard moves data between the page and a clipboard that the caller keeps,
// by the events that editors listen to. The browser's own clipboard is not
// touched.

const implementationOf = getterOf(Document.prototype, 'implementation');
const emptyDocument = () => implementationOf(document).createHTMLDocument('');

/**
 * parsedHTML is a document that runs nothing. Where the page forbids to parse plain text, what could run is left out.
 */
function parsedHTML(html) {
  try {
    return new DOMParser().parseFromString(html, 'text/html');
  } catch (error) {
    if (typeof Document.parseHTML !== 'function') throw new Fault('handler_failed', 'the page forbids to parse HTML');
    return Document.parseHTML(html, { sanitizer: {} });
  }
}

/** selectedIn is what a copy would take: of a control its selected value, else the document's selection. */
function selectedIn(node) {
  if (node && isTextControl(node) && !quirk('controls_select_nothing')) {
    if (protoGet(node, 'type') === 'password') return { text: '', html: '' };
    const start = protoGet(node, 'selectionStart');
    return {
      text: Number.isInteger(start) ? protoGet(node, 'value').slice(start, protoGet(node, 'selectionEnd')) : '',
      html: ''
    };
  }
  const selection = selectionOf(document);
  if (!selection || selection.rangeCount === 0 || selection.isCollapsed) return { text: '', html: '' };
  const holder = emptyDocument();
  const root = holder.createElement('div');
  for (let i = 0; i < selection.rangeCount; i++)
    root.append(holder.importNode(selection.getRangeAt(i).cloneContents(), true));
  return { text: String(selection), html: root.innerHTML };
}

const clipboardEvent = (type, data) =>
  new ClipboardEvent(type, { bubbles: true, cancelable: true, composed: true, clipboardData: data });

queries.clipboard_copy = ({ locator, view: given }) => {
  const view = viewOf(given);
  const { node } = chosenTarget(locator);
  if (node && isFrameElement(node)) return descended(node, view);
  const target = actedTarget(node, view);
  const data = new DataTransfer();
  const untouched = dispatchOf(node || document, clipboardEvent('copy', data));
  // An editor with a model of its own fills the clipboard and prevents the default.
  if (!untouched) return { text: data.getData('text/plain'), html: data.getData('text/html'), target };
  return { ...selectedIn(node), target };
};

/** plainOf is the text flavour of HTML: cells of a row parted by tabs, rows and blocks by line breaks. */
function plainOf(html) {
  const parsed = parsedHTML(html);
  let out = '';
  const broken = () => out === '' || out.endsWith('\n');
  const walk = (node) => {
    if (node.nodeType === 3) {
      out += node.data.replace(/\s+/g, ' ');
      return;
    }
    const tag = node.localName;
    if (tag === 'br') out += '\n';
    if (tag === 'style' || tag === 'script') return;
    const block = /^(?:p|div|tr|li|h[1-6]|ul|ol|table|blockquote|pre|section|article)$/.test(tag);
    if (block && !broken()) out = out.trimEnd() + '\n';
    for (const child of node.childNodes) {
      if (/^(?:table|thead|tbody|tfoot|tr)$/.test(tag) && child.nodeType === 3) continue;
      if ((child.localName === 'td' || child.localName === 'th') && child.previousElementSibling) out += '\t';
      walk(child);
    }
    if (block && !broken()) out += '\n';
  };
  walk(parsed.body);
  return out.trim();
}

/** editedText is the text of what is edited, to see whether a paste changed it. */
function editedText(node) {
  if (isTextControl(node)) return protoGet(node, 'value');
  return protoGet(node, 'isContentEditable') === true ? textOf(editingHost(node)) : '';
}

/**
 * insertPasted does what a browser does with a paste that nobody took: the text
 * goes to the caret. Only the plain flavour: HTML of another page could carry scripts.
 */
function insertPasted(node, text) {
  const why = whyNotEditable(node);
  const nothing = { pasted: false, inserted_length: 0 };
  if (isTextControl(node)) {
    if (why !== null) throw notEditable(node, why);
    if (isTextSink(node)) return nothing;
    const { inserted_length, input_method } = insertIntoControl(node, text, false, true, null);
    return { pasted: true, inserted_length, input_method };
  }
  if (why !== null || hasEditContext(node)) return nothing;
  const host = editingHost(node);
  const selection = selectionOf(document);
  if (!selection || selection.rangeCount === 0 || !contains(host, selection.getRangeAt(0).commonAncestorContainer))
    seatSelection(node, false);
  if (!execCommandOf(document, 'insertText', false, text)) return nothing;
  return { pasted: true, inserted_length: text.length, input_method: 'insert-text' };
}

queries.clipboard_paste = async ({ locator, text, html, view: given }) => {
  const view = viewOf(given);
  const { node, kind } = chosenTarget(locator);
  if (node && isFrameElement(node)) return descended(node, view);
  if (!node) throw new Fault('no_paste_target', 'no element has the focus', {});
  if (locator) takeFocus(isTextControl(node) ? node : editingHost(node));
  const target = actedTarget(node, view);
  const plainText = text === undefined ? plainOf(html) : text;
  const before = editedText(node);
  const taken = pasteInto(node, pasteData(plainText, html));
  await nextFrame();
  const out = {
    pasted: true,
    inserted_length: plainText.length,
    input_method: 'synthetic-paste',
    default_prevented: taken !== '',
    target_kind: kind,
    target
  };
  if (quirk('pastes_only') || taken !== '' || !isConnected(node) || editedText(node) !== before) return out;
  return { ...out, ...insertPasted(node, plainText) };
};
