// here answers which document the library reads: its own, or, while a snapshot walks the
// documents of frames, one of those. Documents of our origin are read by the library of the
// document around them. Each with a library of its own costs several times more, in a new
// document and afterwards: the engine compiles code well that often runs.

/** Of the document that is read: its window, itself, and what its elements are instances of. */
let here = globalThis;
let {
  document, CSSKeywordValue, CSSStyleRule, Element, HTMLDocument, HTMLInputElement, HTMLSlotElement,
  HTMLTextAreaElement, ShadowRoot
} = globalThis;

/**
 * Memory is what is kept of one document. It belongs to our window of the document, so that
 * the library there and those of the documents around it know the same elements.
 */
class Memory {
  constructor() {
    this.numbering = { prefix: '', from: 1, next: 1, reported: 1, set: false };
    this.refRecords = new Map(); // number -> what is known of the element, oldest first
    this.refNumbers = new WeakMap();
    this.lastGiven = []; // the records of the newest snapshot of the whole document
    this.snapshots = 0; // that gave refs; the texts of one snapshot belong together
    this.byHandle = new Map(); // handle -> WeakRef, oldest first
    this.handleOf = new WeakMap();
    this.handles = 0;
    this.attachmentHosts = new Set(); // of attachments.js. They are ours: no query finds them
    this.closedShadows = new WeakMap(); // host -> closed shadow root
    this.closedShadowsKnown = false;
    this.examinedHosts = new WeakSet(); // that were reported as elements that may have one
    this.queriedTags = new Map(); // of semantics.js: tag -> {queried, hasSemantics}
    this.queriedHosts = new WeakSet();
    this.unseenHosts = new WeakMap(); // element -> how often the browser said nothing of it
    this.semantics = new WeakMap(); // element -> {role, label, states, fresh}
    this.messages = null; // see messages.js
    this.still = null; // see still.js
    this.proof = null; // see mutants.js
  }
}

let memory = memoryOf(globalThis);

function memoryOf(place) {
  if (Object.hasOwn(place, 'outriderMemory')) return place.outriderMemory;
  const made = new Memory();
  Object.defineProperty(place, 'outriderMemory', { value: made });
  return made;
}

/** readFrom makes the document of a window the one that is read. */
function readFrom(place, its) {
  here = place;
  memory = its;
  ({
    document, CSSKeywordValue, CSSStyleRule, Element, HTMLDocument, HTMLInputElement, HTMLSlotElement,
    HTMLTextAreaElement, ShadowRoot
  } = place);
}

/** readWithin runs read in the document of a window that our world can access. It must not wait for anything. */
function readWithin(place, read) {
  const from = here;
  const mine = memory;
  readFrom(place, memoryOf(place));
  try {
    return read();
  } finally {
    readFrom(from, mine);
  }
}
