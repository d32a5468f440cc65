// text_editor puts text into a contenteditable element. Editors with a model of
// their own read the selection when it changed: so the selection is set,
// announced and given a frame. Then the browser inserts the text, with events that
// the page can trust, as it does for an input method. An editor that refuses
// that insertion gets the text as a paste.

const selectionOf = methodOf(Document.prototype, 'getSelection');
const execCommandOf = methodOf(Document.prototype, 'execCommand');
const walkerOf = methodOf(Document.prototype, 'createTreeWalker');
const dispatchOf = methodOf(EventTarget.prototype, 'dispatchEvent');
const listenOf = methodOf(EventTarget.prototype, 'addEventListener');
const unlistenOf = methodOf(EventTarget.prototype, 'removeEventListener');

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

/**
 * losesText: HTML that is made of this text drops blanks: at the ends of a line,
 * several in a row, tabs. An editor that is given the plain text alone keeps them.
 */
const losesText = (text) => /^[ \t]|[ \t]$|[ \t]{2}|\t/m.test(text);

/** pasteData is a clipboard with text and, unless it would lose some of the text, HTML made of it. */
function pasteData(text, html) {
  const data = new DataTransfer();
  data.setData('text/plain', text);
  const rich = html || (!quirk('pastes_only') && losesText(text) ? '' : clipboardHTML(text));
  if (rich !== '') data.setData('text/html', rich);
  return data;
}

/** selectedRange is where the selection of the document is, for an event that reports its target. */
function selectedRange() {
  const selection = selectionOf(document);
  return selection && selection.rangeCount > 0 ? [new StaticRange(selection.getRangeAt(0))] : [];
}

/** So many parents of a sink may have what its editor draws. */
const drawnAround = 4;

/**
 * watchTaken watches whether a page takes a paste that it does not prevent: it keeps the event from others, or draws
 * something around the target. Such a text must not be inserted once more.
 */
function watchTaken(target) {
  let around = target;
  for (let i = 0; i < drawnAround && flatParentElement(around) && flatParentElement(around) !== bodyOf(); i++)
    around = flatParentElement(around);
  const watch = { stopped: true, drew: false, prevented: false };
  const note = () => { watch.drew = true; };
  const observer = new MutationObserver(note);
  observer.observe(around, { childList: true, characterData: true, subtree: true });
  const onPaste = () => { watch.stopped = false; };
  listenOf(window, 'paste', onPaste);
  watch.taken = () => {
    if (observer.takeRecords().length > 0) note();
    return watch.stopped || watch.drew;
  };
  watch.end = () => {
    unlistenOf(window, 'paste', onPaste);
    observer.disconnect();
  };
  return watch;
}

/**
 * pasteInto gives target a paste as a browser does: the event of the clipboard, and
 * when nobody takes it, in an editable the announcement that it is going to be
 * inserted, which is what newer editors take. It returns which was taken, '' for
 * none.
 */
function pasteInto(target, data, watch) {
  const event = new ClipboardEvent('paste', { bubbles: true, cancelable: true, composed: true, clipboardData: data });
  if (!dispatchOf(target, event)) {
    if (watch) watch.prevented = true;
    return 'synthetic-paste';
  }
  if (watch && watch.taken()) return 'synthetic-paste';
  if (quirk('pastes_only') || protoGet(target, 'isContentEditable') !== true) return '';
  const announced = new InputEvent('beforeinput', {
    bubbles: true,
    cancelable: true,
    composed: true,
    inputType: 'insertFromPaste',
    dataTransfer: data,
    targetRanges: selectedRange()
  });
  return dispatchOf(target, announced) ? '' : 'synthetic-beforeinput';
}

/** selectsAll: the selection lies in editor and leaves out none of its text. */
function selectsAll(editor) {
  const selection = selectionOf(document);
  if (!selection || selection.rangeCount === 0 || selection.isCollapsed) return false;
  const range = selection.getRangeAt(0);
  if (!contains(editor, range.commonAncestorContainer)) return false;
  const walker = walkerOf(document, editor, NodeFilter.SHOW_TEXT);
  let first = null;
  let last = null;
  while (walker.nextNode()) {
    if (walker.currentNode.data === '') continue;
    first = first || walker.currentNode;
    last = walker.currentNode;
  }
  return !first || range.comparePoint(first, 0) >= 0 && range.comparePoint(last, last.data.length) <= 0;
}

/** caretAtEnd: the caret is in editor, and none of its text comes after it. */
function caretAtEnd(editor) {
  const selection = selectionOf(document);
  if (!selection || selection.rangeCount === 0 || !selection.isCollapsed) return false;
  const range = selection.getRangeAt(0);
  if (!contains(editor, range.startContainer)) return false;
  const walker = walkerOf(document, editor, NodeFilter.SHOW_TEXT);
  let last = null;
  while (walker.nextNode()) if (walker.currentNode.data !== '') last = walker.currentNode;
  return !last || range.comparePoint(last, last.data.length) <= 0;
}

/**
 * mayHoldMore: an editor that is made of elements may have more content than it has drawn. One with
 * text only, such as a part of a date, has drawn all of it. There, selecting everything by keys may
 * select more than this part.
 */
const mayHoldMore = (target) => target === editingHost(target) && firstElementOf(target) !== null;

/**
 * Longest time, in milliseconds, that an editor gets to render itself when it has the focus: frames are late on a busy
 * machine.
 */
const longestRendering = 300;

/**
 * pressFirst asks the caller to press keys and to call again, for what only the
 * browser's own input does. Each is asked for once.
 */
const pressFirst = (what) => ({ press: what });

/** holdsNothing: no text but the characters that editors keep in an empty line. */
const holdsNothing = (node) => textOf(node).replace(/[\s\u200b\ufeff]/g, '') === '';

/**
 * insertIntoDrawn puts text into an editor that draws its text itself and receives
 * what is typed and pasted through target. Only its own keys select and delete. Such
 * editors complete and indent what is typed; a paste they take as it is.
 */
async function insertIntoDrawn(target, text, replace, pressed, fresh) {
  if (replace && !pressed.includes('select_all')) return pressFirst('select_all');
  if (!replace && fresh && text !== '' && !pressed.includes('end')) return pressFirst('end');
  const value = { inserted: true, inserted_length: text.length };
  if (text === '')
    return !replace || pressed.includes('delete') ? { ...value, input_method: 'keys' } : pressFirst('delete');
  if (pressed.includes('insert')) return { ...value, input_method: 'insert-text' };
  await nextFrame();
  const watch = watchTaken(target);
  let taken = pasteInto(target, pasteData(text), watch);
  await nextFrame();
  if (taken === '' && watch.taken()) taken = 'synthetic-paste';
  if (taken !== '' && !watch.prevented) await framesWhile(() => watch.taken() && !watch.drew);
  watch.end();
  if (taken === '') return isTextControl(target) ? null : pressFirst('insert');
  // One kept it from others without preventing it, and nothing was drawn: it is not known whether it was taken.
  const unseen = !watch.prevented && taken === 'synthetic-paste' && !watch.drew;
  return { ...value, input_method: taken, ...(unseen ? { unchanged: true } : {}) };
}

/** So often a selection is made again that an editor undoes. */
const mostSeatings = 3;

/** Longest time, in milliseconds, that an editor has to show what it took. */
const longestShowing = 300;

/** sameButBlanks: editors write blanks in their own way. Nothing is not wanted. */
const sameButBlanks = (held, wanted) => wanted !== '' && held.replace(/\s+/g, '') === wanted.replace(/\s+/g, '');

/**
 * sameText sets unchanged in value when the editor took the paste and kept its old text, unless that text was wanted.
 */
async function sameText(target, before, value, wanted, start) {
  if (sameButBlanks(before, wanted)) return;
  await framesWhile(() => textOf(target) === before, start);
  if (textOf(target) === before) value.unchanged = true;
}

/**
 * Insertions that the browser is asked for: target -> its editor, the text before, and what is heard of the insertion.
 */
const inserting = new WeakMap();

/** So many frames an editor that prevents the insertion has to begin drawing what it took. */
const fewestShowingFrames = 6;

/** expectInsertion remembers what an editor holds before the browser inserts text into it. */
function expectInsertion(target, selected) {
  const host = editingHost(target);
  const expected = {
    host,
    before: textOf(host),
    selected,
    announced: null,
    drawn: new MutationObserver(() => {
      expected.redrawn = true;
    })
  };
  expected.drawn.observe(host, { childList: true, characterData: true, subtree: true });
  expected.listener = (event) => { if (event.isTrusted) expected.announced = event; };
  listenOf(window, 'beforeinput', expected.listener, { capture: true, once: true });
  inserting.set(target, expected);
}

/**
 * insertedByBrowser tells what came of an insertion. refused: the editor prevented the announcement and drew nothing.
 * What was not prevented is in the document, or the editor has taken it out. One that drew the same again holds the
 * text where it is not drawn.
 */
async function insertedByBrowser(target, wanted, start) {
  const expected = inserting.get(target);
  const { host, before, selected, announced, drawn, listener } = expected;
  inserting.delete(target);
  unlistenOf(window, 'beforeinput', listener, { capture: true });
  const same = () => isConnected(host) && textOf(host) === before;
  const kept = sameButBlanks(before, wanted);
  for (let frames = 0; !kept && same() && frames < fewestShowingFrames; frames++) await nextFrame();
  const redrawn = expected.redrawn || drawn.takeRecords().length > 0;
  drawn.disconnect();
  const value = { input_method: 'insert-text', selected_text_length: selected };
  if (kept || !same()) return value;
  if (!redrawn && !(announced && !announced.defaultPrevented)) return { refused: true };
  await framesWhile(same, start);
  return same() ? { ...value, unchanged: true } : value;
}

/** holdsFocus: what is typed goes into editor. */
function holdsFocus(editor) {
  const active = activeElement();
  return active !== null && contains(editor, active);
}

async function insertIntoEditor(target, text, replace, pressed, fresh) {
  const strict = !quirk('pastes_only');
  const value = { inserted: true, inserted_length: text.length };
  const announce = () => {
    if (quirk('change_at_once')) dispatchOf(target, new Event('change', { bubbles: true }));
  };
  if (pressed.includes('delete') && holdsNothing(target)) {
    announce();
    return { ...value, input_method: 'keys' };
  }
  const start = performance.now();
  if (pressed.includes('insert')) {
    const done = await insertedByBrowser(target, replace ? text : '', start);
    if (!done.refused) {
      announce();
      return { ...value, ...done };
    }
  }
  // an editor that got the focus renders itself before it heeds the selection
  if (strict && fresh) await nextFrame(longestRendering);
  const whole = replace && target === editingHost(target);
  // What the editor did not draw is selected, and its end is found, by its own commands only.
  if (strict && mayHoldMore(target)) {
    if (replace && !pressed.includes('select_all')) return pressFirst('select_all');
    if (!replace && text !== '' && !pressed.includes('end')) return pressFirst('end');
  }
  const seated = () => (replace ? selectsAll(target) : caretAtEnd(target));
  const kept = strict && (replace ? whole : pressed.includes('end')) && seated();
  const selected = String(kept ? selectionOf(document) : seatSelection(target, replace)).length;
  dispatchOf(document, new Event('selectionchange'));
  await nextFrame();
  // An editor that renders itself late, after it got the focus, puts its own selection back.
  for (let i = 0; strict && (!replace || selected > 0) && i < mostSeatings && !seated(); i++) {
    seatSelection(target, replace);
    dispatchOf(document, new Event('selectionchange'));
    await nextFrame();
  }
  const before = textOf(target);
  if (strict && text === '') {
    if (!replace || before === '') return value;
    if (!pressed.includes('delete')) return pressFirst('delete');
  } else if (strict && !pressed.includes('insert') && holdsFocus(editingHost(target))) {
    expectInsertion(target, selected);
    return pressFirst('insert');
  } else {
    const taken = pasteInto(target, pasteData(text));
    await nextFrame();
    if (taken !== '' || textOf(target) !== before) {
      announce();
      value.input_method = taken || 'synthetic-paste';
      value.selected_text_length = selected;
      value.selection_sync = 'selectionchange+animation-frame';
      if (strict && taken !== '' && textOf(target) === before)
        await sameText(target, before, value, replace ? text : '', start);
      return value;
    }
    if (pressed.includes('insert')) return { ...value, input_method: 'synthetic-paste', unchanged: true };
  }
  seatSelection(target, replace);
  const command = text === '' ? 'delete' : 'insertText';
  const nothing = text === '' && (!replace || before === '');
  if (!nothing && !execCommandOf(document, command, false, text)) {
    protoSet(target, 'textContent', replace ? text : before + text);
  }
  dispatchOf(target, new InputEvent('input', { bubbles: true, composed: true, inputType: 'insertText', data: text }));
  announce();
  return value;
}
