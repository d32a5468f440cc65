// messages keeps the texts that a document shows for a while and takes away again: what
// a live region says, and what is laid over the page. Somebody who looks from time to
// time would miss them. The first snapshot that asks begins; the observer stays.

const messageRegions = liveRegions + ", output";
const notMessages =
  'dialog, [role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"], [role="tooltip"], [role="timer"], ' +
  '[aria-live="off"]';
const mostMessages = 3;
const mostMessageText = 120;
const mostLength = 1200; // of a text that is a message
const mostNewNodes = 200; // of one reading
const messagePause = 20; // milliseconds from a change to its reading
const unfoldPause = 250; // and from there to that of what had no size yet
const layerDepth = 4; // elements from the body to a toast

/** layerOf is the element around a node, or the node, that is laid over the page; null for what is part of the page. */
function layerOf(node) {
  const path = [];
  for (let at = node; at && at !== bodyOf(); at = flatParentElement(at)) {
    if (path.push(at) > layerDepth) return null; // before a style, which costs more
  }
  const layer = path.find((at) => styleOf(at).position === 'fixed');
  return layer && !covers(layer) ? layer : null;
}

const messageText = (node) => norm(protoGet(node, 'innerText') ?? textOf(node));

class Messages {
  constructor() {
    this.place = here;
    this.shown = new Map(); // text -> what shows it, the newest last
    this.told = [];
    this.added = new Set();
    this.unfolding = new WeakSet();
    this.timer = null;
    this.observer = new MutationObserver((records) => readWithin(this.place, () => this.take(records)));
    for (const root of withShadows(document))
      this.observer.observe(root, { subtree: true, childList: true, characterData: true });
  }

  take(records) {
    for (const { type, target, addedNodes } of records) {
      if (this.added.size >= mostNewNodes) break;
      if (type === "characterData") this.added.add(target);
      else
        for (const node of addedNodes) if (this.added.size < mostNewNodes && nodeType(node) !== 8) this.added.add(node);
    }
    if (this.added.size > 0) this.timer ||= setTimeout(() => readWithin(this.place, () => this.read()), messagePause);
  }

  read() {
    clearTimeout(this.timer);
    this.timer = null;
    const nodes = [...this.added];
    this.added.clear();
    const found = new Set();
    for (const node of nodes) {
      const at = isElement(node) ? node : flatParentElement(node);
      if (!at || !isConnected(at) || skippedTags.has(tagOf(at))) continue;
      const around = closestCSS(at, messageRegions);
      if (around) {
        found.add(around);
        continue;
      }
      const inside = isElement(node) ? queryIn(node, messageRegions).slice(0, mostMessages) : [];
      for (const region of inside) found.add(region);
      const layer = inside.length === 0 && layerOf(at);
      if (layer) found.add(contains(at, layer) ? layer : at);
    }
    for (const node of found) this.note(node);
  }

  note(node) {
    // What is longer is a part of the page, such as a log. Its drawn text would cost a layout.
    if (textOf(node).length > mostLength || closestCSS(node, notMessages)) return;
    if (!rendered(node)) {
      if (this.unfolding.has(node)) return;
      this.unfolding.add(node);
      setTimeout(() => {
        readWithin(this.place, () => this.note(node));
        this.unfolding.delete(node);
      }, unfoldPause);
      return;
    }
    const whole = messageText(node);
    if (whole === '') return;
    this.shown.delete(whole);
    this.shown.set(whole, node);
    if (this.shown.size > 4 * mostMessages) this.shown.delete(this.shown.keys().next().value);
  }

  /** gone are the texts since the last look that nobody sees any more, and that no answer has reported. */
  gone() {
    this.take(this.observer.takeRecords());
    this.read();
    const lost = [];
    for (const [text, node] of this.shown) {
      if (isConnected(node) && rendered(node) && messageText(node).includes(text)) continue;
      if (this.told.some((told) => told.includes(text) || text.startsWith(told))) continue;
      lost.push(cut(text, mostMessageText));
    }
    this.shown.clear();
    this.told = [];
    return lost.slice(-mostMessages);
  }
}

/** messagesGone are the messages of this document since it was called last; the first call has none. */
function messagesGone() {
  const { messages } = memory; // perhaps of another library
  if (messages) return readWithin(messages.place, () => messages.gone());
  memory.messages = new Messages();
  return [];
}

/** markReported says that an answer has reported these texts. */
function markReported(texts) {
  const { messages } = memory;
  if (messages) messages.told = messages.told.concat(texts).slice(-4 * mostMessages);
}
