// select_words selects words of an element: of a control a part of its value, of anything else a part of the text that
// is drawn. An editor that draws its own text is selected in by the pointer: the caller drags from the first letter to
// the last, and asks again whether that is what is selected.

/** Most characters and places of an element's text that are looked through. */
const mostWordText = 400000;
const mostWordPlaces = 5;

const isWordSpace = (c) => /[\s\u00a0]/.test(c);
const isUnseen = (c) => /[\u00ad\u200b-\u200d\u2060\ufeff]/.test(c);

/** WordText is text on one line, in which runs of blanks are one, with where each of its characters lies. */
class WordText {
  constructor() {
    this.text = '';
    this.nodes = [];
    this.offsets = [];
    this.lines = [''];
  }

  add(node, data) {
    for (let i = 0; i < data.length && this.text.length < mostWordText; i++) {
      const c = data[i];
      if (isUnseen(c)) continue;
      if (isWordSpace(c)) this.blank(node, i);
      else this.put(c, node, i);
      if (c === '\n' && node === null) this.line();
    }
  }

  put(c, node, offset) {
    this.text += c;
    this.nodes.push(node);
    this.offsets.push(offset);
    this.lines[this.lines.length - 1] += c;
  }

  blank(node, offset) {
    if (this.text !== '' && !this.text.endsWith(' ')) this.put(' ', node, offset);
  }

  /** line begins another line: another block, or what stands after a line break. */
  line() {
    this.blank(null, 0);
    if (this.lines[this.lines.length - 1].trim() !== '') this.lines.push('');
  }

  /** find is where words begin, in the same letters, or else in letters of either case. */
  find(words) {
    const all = (text, wanted) => {
      const out = [];
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) out.push(at);
      return out;
    };
    const exact = all(this.text, words);
    if (exact.length > 0) return exact;
    const lower = this.text.toLowerCase();
    return lower.length === this.text.length ? all(lower, words.toLowerCase()) : [];
  }

  /** around is what stands around a place. */
  around(at, length) {
    const from = Math.max(0, at - 30);
    return (from > 0 ? '…' : '') + cut(this.text.slice(from, at + length + 30).trim(), 90);
  }

  /** nearest are the lines with most of the words. */
  nearest(words) {
    const wanted = new Set(words.toLowerCase().split(' '));
    return this.lines
      .map((line) => line.trim())
      .filter((line) => /\p{L}/u.test(line) || !/\p{L}/u.test(words) && line !== '')
      .map((line) => ({ line, hits: line.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((w) => wanted.has(w)).length }))
      .sort((a, b) => b.hits - a.hits)
      .slice(0, 3)
      .map(({ line }) => cut(line, 90));
  }
}

/** drawnText is the text of an element that is drawn. */
function drawnText(root) {
  const out = new WordText();
  const walker = walkerOf(document, root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  const blocks = new Map(); // parent -> the block that it lies in
  const blockOf = (node) => {
    if (!blocks.has(node)) {
      const outer = parentElementOf(node);
      blocks.set(node, node === root || !outer || drawnApart(node) ? node : blockOf(outer));
    }
    return blocks.get(node);
  };
  let last = null;
  while (walker.nextNode() && out.text.length < mostWordText) {
    const node = walker.currentNode;
    if (nodeType(node) === 1) {
      if (tagOf(node) === 'br') out.line();
      continue;
    }
    const parent = parentElementOf(node);
    if (!parent || skippedTags.has(tagOf(parent)) || !checkVisibility(parent, visibilityOptions)) continue;
    const block = blockOf(parent);
    if (last !== null && block !== last) out.line();
    last = block;
    out.add(node, node.data);
  }
  return out;
}

/** valueText is the value of a control as text with places. */
function valueText(node) {
  const out = new WordText();
  out.add(null, protoGet(node, 'value'));
  return out;
}

const oneSpaced = (text) => Array.from(text, (c) => (isUnseen(c) ? '' : isWordSpace(c) ? ' ' : c)).join('')
  .replace(/ +/g, ' ').trim();

/** placeOfSelection is where in a text the words begin that are meant. */
function placeOfSelection(found, words, nth, node) {
  const secret = isTextControl(node) && protoGet(node, 'type') === 'password';
  const places = found.find(words);
  if (places.length === 0)
    throw new Fault('target_not_found', 'the element does not show these words', {
      words: cut(words, 120),
      ...(secret ? {} : { nearest: found.nearest(words) })
    });
  if (nth === undefined && places.length > 1)
    throw new Fault('multiple_targets', 'the element shows these words more than once; say which by nth', {
      count: places.length,
      ...(secret ? {} : { places: places.slice(0, mostWordPlaces).map((at) => found.around(at, words.length)) })
    });
  const at = places.at(nth ?? 0);
  if (at === undefined)
    throw new Fault('target_not_found', 'the element shows these words less often', { nth, count: places.length });
  return at;
}

function rangeOfWords(found, at, length) {
  const range = new Range();
  range.setStart(found.nodes[at], found.offsets[at]);
  range.setEnd(found.nodes[at + length - 1], found.offsets[at + length - 1] + 1);
  return range;
}

/** holdsRange: the selection of the document begins and ends where a range does. */
function holdsRange(range) {
  const root = rootOf(range.startContainer);
  const selection = root.getSelection ? root.getSelection() : selectionOf(document);
  if (!selection || selection.rangeCount === 0 || selection.isCollapsed) return false;
  if (root !== document) return sameButBlanks(String(selection), String(range));
  const now = selection.getRangeAt(0);
  return sameButBlanks(String(now), String(range)) &&
    now.comparePoint(range.startContainer, range.startOffset + 1) === 0 &&
    now.comparePoint(range.endContainer, range.endOffset - 1) === 0;
}

/** endsOfWords is where the pointer goes down and up to select a range, in the viewport of the tab. */
function endsOfWords(range, around, view) {
  const holder = parentElementOf(range.startContainer);
  const first = new Range();
  first.setStart(range.startContainer, range.startOffset);
  first.setEnd(range.startContainer, range.startOffset + 1);
  const last = new Range();
  last.setStart(range.endContainer, range.endOffset - 1);
  last.setEnd(range.endContainer, range.endOffset);
  const boxes = () => [first, last].map((one) => one.getClientRects()[0]);
  const shown = (at) => {
    const hit = at && hitDocument(document, at.left + at.width / 2, at.top + at.height / 2);
    return Boolean(hit) && flatContains(around, hit);
  };
  if (!boxes().every(shown)) protoCall(holder, 'scrollIntoView', { block: 'center', inline: 'nearest' });
  const [a, b] = boxes();
  if (![a, b].every(shown))
    throw new Fault('target_not_actionable', 'the words are not shown, or something lies over them', {
      reason: 'covered'
    });
  const back = styleOf(holder).direction === 'rtl';
  const edge = (rect, end) => ({
    x: end === back ? rect.left + Math.min(1, rect.width / 4) : rect.right - Math.min(1, rect.width / 4),
    y: rect.top + rect.height / 2
  });
  return { from: pointOut(edge(a, false), view), to: pointOut(edge(b, true), view) };
}

/** drawnAroundSink is what an editor draws whose text goes into a sink: the nearest element around it with text. */
function drawnAroundSink(sink) {
  for (let at = flatParentElement(sink), i = 0; at && at !== bodyOf() && i < 6; at = flatParentElement(at), i++) {
    const found = drawnText(at);
    if (found.text.trim() !== '') return { around: at, found };
  }
  throw new Fault('target_not_found', 'the editor draws no text', {});
}

/** selectedInSink is what a sink reports as selected, '' for nothing. */
function selectedInSink(sink) {
  const holder = hasEditContext(sink) ? protoGet(sink, 'editContext') : sink;
  const text = hasEditContext(sink) ? holder.text : isTextControl(sink) ? protoGet(sink, 'value') : '';
  const [from, to] = [holder.selectionStart, holder.selectionEnd].sort((a, b) => a - b);
  return oneSpaced(text.slice(from, to));
}

/** selectInDom selects a range and sees whether the editor keeps it. */
/** selectionHeeded is when the page has had the event that the selection changed, which editors read it after. */
async function selectionHeeded() {
  await nextFrame(longestRendering);
  await nextFrame(longestRendering);
  await after(0);
}

async function selectInDom(node, words, nth) {
  const find = () => {
    const found = drawnText(node);
    return rangeOfWords(found, placeOfSelection(found, words, nth, node), words.length);
  };
  let range = find();
  const inside = parentElementOf(range.startContainer);
  const editable = protoGet(inside, 'isContentEditable') === true;
  if (editable) {
    takeFocus(editingHost(inside));
    await nextFrame(longestRendering); // an editor that got the focus renders itself before it heeds the selection
    range = find();
  }
  for (let i = 0; i < mostSeatings; i++) {
    const { startContainer, startOffset, endContainer, endOffset } = range;
    selectionOf(document).setBaseAndExtent(startContainer, startOffset, endContainer, endOffset);
    await selectionHeeded();
    range = find();
    if (holdsRange(range)) break;
  }
  return range;
}

queries.select_words = async ({ locator, text, nth, handle, view: given }) => {
  const view = viewOf(given);
  const words = oneSpaced(text);
  if (words === '') throw new Fault('invalid_input', 'there are no words to select', {});
  const before = handle ? element(handle) : null;
  const { node, kind } = before && isConnected(before)
    ? { node: before, kind: locator ? 'resolved-locator' : 'activeElement' }
    : chosenTarget(locator);
  if (node && isFrameElement(node)) return descended(node, view);
  if (!node || !locator && whyNotEditable(node) !== null)
    throw new Fault('no_select_target', 'no element that takes text has the focus', {
      tag_name: node ? tagOf(node) : null
    });
  const value = { selected: true, selected_length: words.length, target_kind: kind, target: actedTarget(node, view) };
  if (hasEditContext(node) || isTextSink(node)) {
    if (before) {
      await framesWhile(() => selectedInSink(node).toLowerCase() !== words.toLowerCase());
      const now = selectedInSink(node);
      return { ...value, confirmed: now.toLowerCase() === words.toLowerCase() };
    }
    const { around, found } = drawnAroundSink(node);
    const range = rangeOfWords(found, placeOfSelection(found, words, nth, node), words.length);
    return { ...value, ...endsOfWords(range, around, view), handle: keep(node) };
  }
  if (isTextControl(node)) {
    const found = valueText(node);
    const at = placeOfSelection(found, words, nth, node);
    takeFocus(node);
    const end = found.offsets[at + words.length - 1] + 1;
    try {
      protoCall(node, 'setSelectionRange', found.offsets[at], end);
    } catch {
      throw new Fault('target_not_actionable', 'a control of this type has no selection', { reason: 'type' });
    }
    await nextFrame();
    return { ...value, selected_length: end - found.offsets[at] };
  }
  if (before) {
    await selectionHeeded();
    const found = drawnText(node);
    const range = rangeOfWords(found, placeOfSelection(found, words, nth, node), words.length);
    if (!holdsRange(range))
      throw new Fault('target_not_actionable', 'the editor did not keep the selection', { reason: 'not_kept' });
    return value;
  }
  const range = await selectInDom(node, words, nth);
  if (holdsRange(range)) return value;
  return { ...value, ...endsOfWords(range, node, view), handle: keep(node) };
};
