// base answers calls: it finds the function, decodes its arguments, encodes its
// value, and turns everything thrown into a code.

/** A failure with a stable code. Evidence is data for repair, bounded by the caller. */
class Fault extends Error {
  constructor(code, message, evidence) {
    super(message);
    this.code = code;
    this.evidence = evidence;
  }
}

/**
 * A value that is JSON text already. What would stand in it several times may be
 * given once, as a line: the control character 1 stands for the first, 2 for the
 * second, in the text and in lines before that one. There can be 8 of them, and then
 * the text has no white space between its members: a line end begins the lines.
 */
class Raw {
  constructor(json, lines) {
    this.json = json;
    this.lines = lines;
  }
}

/** A value, and text that follows it as it is: lines that need not be quoted once more. */
class WithText {
  constructor(value, text) {
    this.value = value;
    this.text = text;
  }
}

/**
 * readable is what read answers of an element, and otherwise where the element cannot be
 * read: the fault of one element never costs an answer about the others.
 */
function readable(node, read, otherwise) {
  try {
    return read(node);
  } catch (error) {
    if (error instanceof Fault) throw error;
    return otherwise;
  }
}

/** What stands in the place of an element that cannot be read. */
const unreadText = '(this element cannot be read)';

/** Functions that Go may call, by name. */
const queries = Object.create(null);

function accept(value) {
  const head = '{"ok":true' + newRefs() + ',"value":';
  if (value instanceof Raw) return head + value.json + (value.lines ? '}\n' + value.lines.join('\n') : '}');
  if (value instanceof WithText) return head + JSON.stringify(value.value) + '}\n' + value.text;
  const json = JSON.stringify(value);
  return head + (json === undefined ? 'null' : json) + '}';
}

function refuse(error) {
  if (error instanceof Fault) {
    return (
      '{"ok":false' +
      newRefs() +
      ',' +
      JSON.stringify({ code: error.code, message: error.message, evidence: error.evidence }).slice(1)
    );
  }
  return JSON.stringify({
    ok: false, code: 'internal', message: 'the page library failed',
    evidence: { detail: String(error && error.stack || error).slice(0, 500) },
  });
}

/** The quirks of the profile (package quirks), sent with each call that has some. */
let quirks = new Set();
const usedQuirks = new Set(); // that were enabled

/** quirk reports whether the upstream behaviour of this name is enabled. */
const quirk = (name) => quirks.has(name) && Boolean(usedQuirks.add(name));

function outrider(name, json) {
  let answer;
  ({ document } = globalThis); // a window may get another one
  try {
    const query = queries[name];
    if (!query) throw new Fault('internal', 'the page library has no such function', { name });
    const args = json ? JSON.parse(json) : {};
    if (args.quirks) quirks = new Set(args.quirks);
    answer = args.mutant === undefined ? query(args) : underMutant(args.mutant, () => query(args));
    if (!(answer instanceof Promise)) return accept(answer);
  } catch (error) {
    return refuse(error);
  }
  return answer.then(accept).catch(refuse);
}

const maxHandles = 2000;

/** keep names an element so that a later call can refer to it. */
function keep(node) {
  let handle = memory.handleOf.get(node);
  if (handle !== undefined && memory.byHandle.has(handle)) return handle;
  handle = 'h' + ++memory.handles;
  memory.handleOf.set(node, handle);
  memory.byHandle.set(handle, new WeakRef(node));
  if (memory.byHandle.size > maxHandles) memory.byHandle.delete(memory.byHandle.keys().next().value);
  return handle;
}

/** element returns what keep named, or null when it was collected. */
function element(handle) {
  const ref = memory.byHandle.get(handle);
  return ref && ref.deref() || null;
}

/** elementOf is element for callers that cannot go on without it. */
function elementOf(handle) {
  const found = element(handle);
  if (!found || !isConnected(found))
    throw new Fault('target_not_found', 'the element is no longer in the document', { handle });
  return found;
}

// Timers stand still where a document is frozen, and come late in frames out of
// sight and in tabs behind others. So the library keeps its own, and the host has
// those that are due run whenever a call takes long: see Page.probeStart.

const timers = new Set(); // {at, run, id}
const { setTimeout: pageSetTimeout, clearTimeout: pageClearTimeout } = globalThis;

/** setTimeout is that of the window, but what it sets can be run by runDueTimers too. */
function setTimeout(callback, ms) {
  const timer = { at: performance.now() + (ms || 0), run: null, id: 0 };
  timer.run = () => {
    if (!timers.delete(timer)) return;
    pageClearTimeout(timer.id);
    callback();
  };
  timers.add(timer);
  timer.id = pageSetTimeout(timer.run, ms);
  return timer;
}

function clearTimeout(timer) {
  if (timer && timers.delete(timer)) pageClearTimeout(timer.id);
}

/** runDueTimers runs the timers that are overdue. */
outrider.runDueTimers = () => {
  const now = performance.now();
  for (const timer of [...timers]) if (timer.at <= now) timer.run();
};

outrider.keep = keep;
outrider.element = element;
