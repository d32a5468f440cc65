// snapshot_blocks answers which parts of a document look as they did in an earlier
// snapshot, so that their rows need not be made again.
//
// A block is an element with a few dozen others in it. Its rows are taken over when all
// that the walk reads of it is the same: its markup, the identity of its elements, what
// its ancestors are, and, since no mutation announces them, the style of each element,
// the states of its controls, and names that come from elsewhere. Nothing observes the
// page between two snapshots, so nothing can be missed.
//
// What holds frames, shadow roots, custom elements, lists of choices, media or the focus is
// no block. Blocks are for answers that repeat an earlier one: what differs since then, and
// the list of controls from the second time on. A full snapshot walks the whole document.

const leastInBlock = 2; // elements
const mostInBlock = 160;
const mostInBlocks = 20000; // elements that the blocks of one walk hold
const mostSignatures = 5000;
const deepestBlock = 300;

const outerHTMLOf = getterOf(Element.prototype, 'outerHTML');
const elementsInside = methodOf(Element.prototype, 'getElementsByTagName');
const baseURIOf = getterOf(Node.prototype, 'baseURI');
const inputValueOf = getterOf(HTMLInputElement.prototype, 'value');
const inputCheckedOf = getterOf(HTMLInputElement.prototype, 'checked');
const inputTypeOf = getterOf(HTMLInputElement.prototype, 'type');
const inputMixedOf = getterOf(HTMLInputElement.prototype, 'indeterminate');

/** Tags whose contents have states that neither markup nor styles show. */
const blocklessTags = new Set([
  'html', 'select', 'iframe', 'frame', 'object', 'embed', 'video', 'audio', 'canvas', 'slot'
]);

/** Tags whose role or state depends on what stands beside them. */
const besideTags = new Set(['td', 'th', 'summary', 'legend', 'option', 'optgroup', 'area']);

const liveTags = new Set(['input', 'button', 'textarea', 'fieldset', 'progress', 'meter']);

/** liveState is what a control has that its markup does not show. */
function liveState(node) {
  const tag = tagOf(node);
  if (tag === 'progress' || tag === 'meter') return protoGet(node, 'value') + '/' + protoGet(node, 'max');
  const disabled = matchesCSS(node, ':disabled') ? 'disabled ' : '';
  const typed = node instanceof HTMLInputElement;
  if (!typed && tag !== 'textarea') return disabled;
  const invalid = matchesCSS(node, ':user-invalid') ? 'invalid: ' + protoGet(node, 'validationMessage') : '';
  if (!typed) return disabled + invalid + '\n' + protoGet(node, 'value');
  const value = inputValueOf(node);
  return (
    disabled +
    (inputCheckedOf(node) ? 'checked ' : '') +
    (inputMixedOf(node) ? 'mixed ' : '') +
    invalid +
    '\n' +
    (inputTypeOf(node) === 'password' ? value !== '' : value)
  );
}

/** Attributes that change no role, name or state of what is inside. Styles are read of each element. */
const styleAttribute = /^(?:class|style|id|data-.*)$/;
const signatures = new Map(); // text -> number
let signatureNumber = 0;

function signatureNumberOf(text) {
  let number = signatures.get(text);
  if (number !== undefined) return number;
  if (signatures.size >= mostSignatures) signatures.clear();
  signatures.set(text, number = ++signatureNumber);
  return number;
}

const sameState = (a, b) =>
  a.path === b.path &&
  a.quiet === b.quiet &&
  a.invisible === b.invisible &&
  a.disabled === b.disabled &&
  a.inClickable === b.inClickable &&
  a.titled === b.titled;

/** generatedBy is what a style generates, as far as a name may have it. */
const generatedBy = (style) => {
  const { content } = style;
  return !content || content === 'none' || content === 'normal'
    ? ''
    : content + '\n' + style.display + ' ' + style.visibility;
};

/** SnapshotBlocks has the blocks of this document for one kind of snapshot. */
class SnapshotBlocks {
  constructor() {
    this.blocks = new WeakMap(); // element -> block
    this.about = ''; // what is true of the whole document
    this.taken = 0; // blocks whose rows the newest walk took over
    this.walk = null;
  }

  /** start prepares a walk. */
  start(walk) {
    const { hints, active } = walk;
    const about = [
      hints.generates,
      hints.cursors,
      hints.conceals,
      hints.scrolls,
      designModeOf(document),
      baseURIOf(document)
    ].join('\n');
    if (about !== this.about) this.blocks = new WeakMap();
    this.about = about;
    this.walk = walk;
    this.unsafe = 0;
    this.kept = 0; // elements
    this.visited = [];
    this.probes = []; // functions, each with its answer behind it
    this.pseudos = []; // elements and which of their generated texts was read
    pseudosRead = null;
    this.notes = []; // see noteNeighbour
    this.candidates = [];
    this.replayed = [];
    this.around = new Map();
    this.focused = new Set(); // the element that has the focus, and all around it
    const body = bodyOf();
    if (active !== body || (body && editableDocument(body)))
      for (let at = active; at; at = flatParentElement(at)) this.focused.add(at);
  }

  /** element walks an element, or takes its rows over. */
  element(node, depth, level, state) {
    const { walk } = this;
    const tag = tagOf(node);
    if (skippedTags.has(tag)) return;
    const known = this.blocks.get(node);
    if (known !== undefined && this.holds(known, depth, state)) {
      this.replay(known);
      return;
    }
    const { unsafe } = this;
    if (
      walk.shadows > 0 ||
      blocklessTags.has(tag) ||
      tag.includes('-') ||
      (node === walk.active && this.focused.has(node)) ||
      shadowOf(node)
    )
      this.unsafe++;
    const { elements, bytes } = walk;
    const clean = norm(walk.text) === '';
    const from = {
      rows: walk.rows.length,
      named: walk.named.length,
      visited: this.visited.length,
      probes: this.probes.length,
      pseudos: this.pseudos.length,
      notes: this.notes.length,
      serial: noteSerial,
      candidates: this.candidates.length
    };
    this.visited.push(node);
    walk.element(node, depth, level, state, false);
    const size = walk.elements - elements;
    if (
      size < leastInBlock ||
      size > mostInBlock ||
      level > deepestBlock ||
      this.unsafe !== unsafe ||
      besideTags.has(tag)
    )
      return;
    if (!clean || norm(walk.text) !== '' || this.notes.length === from.notes || walk.full || walk.stopped) return;
    this.candidates.length = from.candidates; // it stands for those inside it
    const named = walk.named.slice(from.named);
    this.candidates.push({
      node,
      depth,
      state,
      named,
      from,
      size,
      parent: parentOf(node),
      bytes: walk.bytes - bytes,
      rows: walk.rows.slice(from.rows),
      toVisited: this.visited.length,
      toProbes: this.probes.length,
      toPseudos: this.pseudos.length,
      // A place before the first text of the block has its neighbour outside, and so have those after the last one.
      heads: named.filter(({ place }) => place !== null && place.serial === from.serial),
      firstNote: this.notes[from.notes],
      lastNote: walk.last,
      closed: walk.closed.slice(),
      opened: walk.opened.slice(),
      visited: null, asked: null, probes: null, around: '', html: '', list: null, styles: null, displays: null,
      visibilities: null, cursors: null, conceals: null, scrolls: null, pseudos: null, generated: null,
      generatedStyles: null, drawn: false
    });
  }

  /** holds: the walk would find in the block what it found before. */
  holds(block, depth, state) {
    const { walk } = this;
    const {
      node,
      list,
      styles,
      displays,
      visibilities,
      cursors,
      conceals,
      scrolls,
      generated,
      generatedStyles,
      probes,
      visited
    } = block;
    if (
      block.depth !== depth ||
      !sameState(block.state, state) ||
      block.parent !== parentOf(node) ||
      this.focused.has(node) ||
      walk.shadows > 0
    )
      return false;
    if (
      walk.full ||
      walk.stopped ||
      walk.rows.length + block.size + block.rows.length >= walk.options.limit ||
      walk.bytes + block.bytes > walk.options.bytes
    )
      return false;
    if (
      norm(walk.text) !== '' ||
      outerHTMLOf(node) !== block.html ||
      this.surroundings(block.parent) !== block.around ||
      checkVisibility(node) !== block.drawn
    )
      return false;
    const now = elementsInside(node, '*');
    for (let i = 0; i < list.length; i++) if (now[i] !== list[i]) return false;
    for (let i = 0; i < visited.length; i++) {
      const style = styles[i];
      if (style.display !== displays[i] || style.visibility !== visibilities[i] || shadowOf(visited[i]) !== null)
        return false;
      if (
        (cursors !== null && style.cursor !== cursors[i]) ||
        (conceals !== null && style.contentVisibility !== conceals[i])
      )
        return false;
      if (scrolls !== null && walk.scrolls(style, visited[i]) !== scrolls[i]) return false;
    }
    for (let i = 0; i < generated.length; i++) if (generatedBy(generatedStyles[i]) !== generated[i]) return false;
    for (let i = 0; i < probes.length; i += 2) if (probes[i](walk) !== probes[i + 1]) return false;
    return true;
  }

  /** surroundings is what a parent and its ancestors are, as far as it matters inside. */
  surroundings(parent) {
    return parent === null || nodeType(parent) !== 1
      ? ''
      : this.signature(parent) + (this.walk.hints.cursors ? getComputedStyle(parent).cursor : '');
  }

  signature(node) {
    const known = this.around.get(node);
    if (known !== undefined) return known;
    const parent = parentElementOf(node);
    let text = (parent === null ? '' : this.signature(parent)) + localNameOf(node);
    if (hasAttributes(node))
      for (const name of attributeNames(node))
        if (!styleAttribute.test(name)) text += '\n' + name + '=' + attributeOf(node, name);
    const number = signatureNumberOf(text);
    this.around.set(node, number);
    return number;
  }

  /** replay adds the rows of a block as the walk would. */
  replay(block) {
    const { walk } = this;
    const { rows, named, heads, closed, opened, visited, asked, pseudos } = block;
    this.replayed.push({ block, row: walk.rows.length });
    for (const { place } of heads) {
      place.prev = walk.last;
      place.serial = noteSerial;
    }
    walk.text = '';
    walk.gaps.length = 0;
    walk.noteNeighbour(block.firstNote);
    walk.last = block.lastNote;
    for (const place of closed) place.next = '';
    for (const place of opened) place.first = '';
    walk.closed = closed.slice();
    walk.opened = opened.slice();
    for (let i = 0; i < rows.length; i++) walk.rows.push(rows[i]);
    for (let i = 0; i < named.length; i++) walk.named.push(named[i]);
    for (let i = 0; i < visited.length; i++) this.visited.push(visited[i]);
    for (let i = 0; i < asked.length; i++) this.probes.push(asked[i]);
    for (let i = 0; i < pseudos.length; i++) this.pseudos.push(pseudos[i]);
    walk.bytes += block.bytes;
    const before = walk.elements;
    walk.elements += block.size;
    if (before >> 10 !== walk.elements >> 10 && walk.overdue()) walk.stopped = true;
    this.kept += block.size;
  }

  /**
   * nameFor is that of the walk. What generates a part of the name is noted, and a name that comes from elsewhere is
   * found again each time.
   */
  nameFor(node, tag, role, plain) {
    const { walk } = this;
    const elsewhere = readsElsewhere;
    walk.derived = false;
    pseudosRead = this.pseudos;
    const name = walk.nameFor(node, tag, role, plain);
    pseudosRead = null;
    if (walk.derived && readsElsewhere !== elsewhere) this.probe((now) => now.nameFor(node, tag, role, plain), name);
    if (walk.derived && tag === 'button') this.probe((now) => now.hasLabel(node), walk.hasLabel(node));
    return name;
  }

  /** visitInside adds what is in a row that has no rows inside: a name around it may have read its style. */
  visitInside(node) {
    if (firstElementOf(node) !== null) this.visited.push(...elementsInside(node, '*'));
  }

  /** probe notes what was read beyond the markup and the styles of the element. */
  probe(ask, answer) {
    this.probes.push(ask, answer);
  }

  /** spoil forgets blocks whose rows, from this one on, an element around them has changed. */
  spoil(row) {
    while (this.candidates.length > 0 && this.candidates[this.candidates.length - 1].from.rows >= row)
      this.candidates.pop();
    for (const { block, row: at } of this.replayed) if (at >= row) this.blocks.delete(block.node);
    this.unsafe++;
  }

  /** finish keeps the blocks that the walk met. It is the same turn: nothing in the document has changed. */
  finish() {
    for (const block of this.candidates) {
      const { node, from } = block;
      this.kept += block.size;
      if (this.kept > mostInBlocks) break;
      block.visited = this.visited.slice(from.visited, block.toVisited);
      block.asked = this.probes.slice(from.probes, block.toProbes);
      block.probes = block.asked.slice();
      block.around = this.surroundings(block.parent);
      block.html = outerHTMLOf(node);
      block.list = Array.from(elementsInside(node, '*'));
      block.styles = block.visited.map((each) => getComputedStyle(each));
      block.displays = block.styles.map((style) => style.display);
      block.visibilities = block.styles.map((style) => style.visibility);
      const { hints, options } = this.walk;
      if (hints.cursors) block.cursors = block.styles.map((style) => style.cursor);
      if (hints.conceals) block.conceals = block.styles.map((style) => style.contentVisibility);
      if (hints.scrolls && options.scrollers)
        block.scrolls = block.styles.map((style, i) => this.walk.scrolls(style, block.visited[i]));
      block.pseudos = this.pseudos.slice(from.pseudos, block.toPseudos);
      block.generatedStyles = block.pseudos.map(([each, which]) => getComputedStyle(each, which));
      block.generated = block.generatedStyles.map(generatedBy);
      block.drawn = checkVisibility(node);
      for (const each of block.visited) this.readBeyond(each, block.probes);
      this.blocks.set(node, block);
    }
    // Elements that leave the document are held by nothing but their blocks, which go with them.
    this.taken = this.replayed.length;
    this.walk = this.around = null;
    this.visited = this.probes = this.pseudos = this.notes = this.candidates = this.replayed = [];
    this.focused.clear();
  }

  /** readBeyond adds what the walk may read of an element itself that is in no markup. */
  readBeyond(node, probes) {
    const tag = tagOf(node);
    if (liveTags.has(tag)) probes.push(() => liveState(node), liveState(node));
    if (shadowTags.has(tag) && firstChildOf(node) === null)
      probes.push(() => mayHideShadow(node, tag), mayHideShadow(node, tag));
  }
}

const kindsOf = new WeakMap(); // memory of a document -> kind -> {blocks, answers}, oldest first
const nothingEarlier = Object.freeze({ blocks: null, answers: null });
const mostKinds = 2;
const mostAnswers = 4; // whose lines are kept; most of them are the same text

/** snapshotKinds has the kinds of this document. */
function snapshotKinds() {
  let kinds = kindsOf.get(memory);
  if (kinds === undefined) kindsOf.set(memory, kinds = new Map());
  return kinds;
}

/**
 * earlierOf is what this document keeps for the snapshots of a kind: blocks, null for a
 * full walk, and answers whose lines need not be sent again. Nothing is kept of a kind until
 * it is asked for again.
 */
function earlierOf({ format, interactive_only, urls, places, hints, tell_visible, since, afresh }) {
  const kinds = snapshotKinds();
  const first = since || interactive_only;
  // XML is written out otherwise
  if ((!first && kinds.size === 0) || afresh || hints || tell_visible || !(document instanceof HTMLDocument))
    return nothingEarlier;
  const kind = [format, interactive_only, urls, places].join();
  const known = kinds.get(kind);
  if (known === undefined) {
    if (!first) return nothingEarlier;
    if (kinds.size >= mostKinds) kinds.delete(kinds.keys().next().value);
    const made = { blocks: new SnapshotBlocks(), answers: [] };
    kinds.set(kind, made);
    return since ? made : nothingEarlier;
  }
  kinds.delete(kind);
  kinds.set(kind, known);
  return first ? known : { blocks: null, answers: known.answers };
}

const nearbyLines = 32; // that are searched for the next one in common
let lineTokens = 0;

/** lineRuns is lines by those of an earlier answer: a first one and a number, or -1 and a number of new ones. */
function lineRuns(before, lines) {
  const runs = [];
  const fresh = [];
  let at = 0; // in before
  let last = -2; // where the last run ended
  for (const line of lines) {
    let found = -1;
    for (let i = at; i < before.length && i < at + nearbyLines; i++) {
      if (before[i] !== line) continue;
      found = i;
      break;
    }
    if (found < 0) fresh.push(line);
    else at = found + 1;
    const next = found < 0 ? -1 : found + 1;
    if (runs.length > 0 && (found < 0 ? last === -1 : last === found)) runs[runs.length - 1]++;
    else runs.push(found, 1);
    last = next;
  }
  return { runs, fresh };
}

/**
 * sinceLines keeps the lines of an answer for the next one, and leaves out what the caller has from the one that base
 * names.
 */
function sinceLines(answers, base, lines) {
  if (answers === null) return { token: undefined, runs: undefined, fresh: lines };
  const before = base === undefined ? undefined : answers.find((answer) => answer.token === base);
  const token = memory.numbering.prefix + performance.timeOrigin + '/' + ++lineTokens;
  answers.push({ token, lines });
  if (answers.length > mostAnswers) answers.shift();
  return before === undefined ? { token, runs: undefined, fresh: lines } : { token, ...lineRuns(before.lines, lines) };
}
