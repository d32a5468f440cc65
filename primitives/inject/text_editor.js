// text_editor puts text into a contenteditable element. Editors with a model of
// their own listen to paste, not to changes of the document, and read the
// selection when it changed: so the selection is set, announced and given a
// frame, and the text arrives as a paste. An editor without such a model does
// nothing with a synthetic paste; then the browser's own command inserts.

const selectionOf = methodOf(Document.prototype, 'getSelection');
const execCommandOf = methodOf(Document.prototype, 'execCommand');
const walkerOf = methodOf(Document.prototype, 'createTreeWalker');
const dispatchOf = methodOf(EventTarget.prototype, 'dispatchEvent');

/** clipboardHTML is the rich flavour of plain text: blank lines part paragraphs, line breaks stay. */
function clipboardHTML(text) {
  const escaped = text.replace(/\r\n?/g, '\n')
    .replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
  const blocks = escaped.split(/\n(?:[ \t]*\n)+/).map((block) => block.replace(/\n/g, '<br>'));
  return blocks.length === 1 ? blocks[0] : blocks.map((block) => '<p>' + block + '</p>').join('');
}

/** seatSelection selects all text of node, or puts the caret after its last text. */
function seatSelection(node, all) {
  const walker = walkerOf(document, node, NodeFilter.SHOW_TEXT);
  let first = null;
  let last = null;
  while (walker.nextNode()) {
    first = first || walker.currentNode;
    last = walker.currentNode;
  }
  const range = new Range();
  if (!last) {
    range.selectNodeContents(node);
    if (!all) range.collapse(false);
  } else {
    range.setEnd(last, last.data.length);
    if (all) range.setStart(first, 0);
    else range.collapse(false);
  }
  const selection = selectionOf(document);
  selection.removeAllRanges();
  selection.addRange(range);
  return selection;
}

/** editingHost is the element whose contenteditable makes node editable. */
function editingHost(node) {
  let host = node;
  for (let at = node; at && protoGet(at, 'isContentEditable'); at = parentElementOf(at)) host = at;
  return host;
}

async function insertIntoEditor(target, text, replace) {
  const selected = String(seatSelection(target, replace)).length;
  dispatchOf(document, new Event('selectionchange'));
  await nextFrame();
  const before = textOf(target);
  const data = new DataTransfer();
  data.setData('text/plain', text);
  data.setData('text/html', clipboardHTML(text));
  const paste = new ClipboardEvent('paste', { bubbles: true, cancelable: true, composed: true, clipboardData: data });
  const untouched = dispatchOf(target, paste);
  await nextFrame();
  const value = { inserted: true, inserted_length: text.length };
  if (!untouched || textOf(target) !== before) {
    dispatchOf(target, new Event('change', { bubbles: true }));
    value.input_method = 'synthetic-paste';
    value.selected_text_length = selected;
    value.selection_sync = 'selectionchange+animation-frame';
    return value;
  }
  seatSelection(target, replace);
  const command = text === '' ? 'delete' : 'insertText';
  const nothing = text === '' && (!replace || before === '');
  if (!nothing && !execCommandOf(document, command, false, text)) {
    protoSet(target, 'textContent', replace ? text : before + text);
  }
  dispatchOf(target, new InputEvent('input', { bubbles: true, composed: true, inputType: 'insertText', data: text }));
  dispatchOf(target, new Event('change', { bubbles: true }));
  return value;
}
