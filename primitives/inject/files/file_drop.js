// file_drop hears what becomes of files that are dragged over an element and dropped there: a page that takes them
// says so to every movement, and the browser would show a file that a page does not take in the page's place.

/** The drag that is watched: {over, dropped, heard, end}. */
let fileDrag = null;

/** Milliseconds after which a watch that nobody ends does so by itself. */
const fileDragLife = 30000;

const fileDragEvents = ['dragenter', 'dragover', 'drop'];

/** takesFiles: the browser itself gives files to this, whatever the page does. */
const takesFiles = (node) =>
  isElement(node) && tagOf(node) === 'input' && protoGet(node, 'type') === 'file' && !isDisabled(node);

queries.file_drag_begin = ({ handle }) => {
  if (fileDrag) fileDrag.end();
  const element = elementOf(handle);
  const drag = { over: null, dropped: null, heard: () => {} };
  // A closed shadow root keeps what is in it out of the path.
  const within = (path) => {
    for (let node = element; node; node = hostOf(rootOf(node))) {
      if (path.includes(node)) return true;
      if (rootOf(node) === document) return false;
    }
    return false;
  };
  const onDrag = (event) => {
    if (!event.isTrusted) return;
    const path = pathOf(event);
    if (drag.on === undefined) drag.on = within(path);
    const { type, dataTransfer } = event;
    const files = type === 'drop' ? dataTransfer.files.length : 0;
    // What the listeners of the page answer stands when all of them have run.
    setTimeout(() => {
      const taken = event.defaultPrevented && dataTransfer.dropEffect !== 'none' || takesFiles(path[0]);
      if (type === 'dragover') drag.over = { taken };
      if (type === 'drop') drag.dropped = { files };
      drag.heard();
    });
  };
  const onDropped = (event) => {
    if (event.isTrusted && !takesFiles(pathOf(event)[0])) event.preventDefault();
  };
  for (const name of fileDragEvents) listen(globalThis, name, onDrag, true);
  listen(globalThis, 'drop', onDropped);
  const timer = setTimeout(() => drag.end(), fileDragLife);
  drag.end = () => {
    clearTimeout(timer);
    for (const name of fileDragEvents) unlisten(globalThis, name, onDrag, true);
    unlisten(globalThis, 'drop', onDropped);
    if (fileDrag === drag) fileDrag = null;
    drag.heard();
  };
  fileDrag = drag;
};

/** file_drag_heard waits for what the page answered to the last movement, or for the drop. It forgets what it tells. */
queries.file_drag_heard = async ({ dropped, timeout_ms, last }) => {
  const drag = fileDrag;
  if (!drag) return {};
  const field = dropped ? 'dropped' : 'over';
  const start = performance.now();
  for (let left = timeout_ms; drag[field] === null && left > 0 && fileDrag === drag;) {
    await new Promise((resolve) => {
      drag.heard = resolve;
      setTimeout(resolve, left);
    });
    left = timeout_ms - (performance.now() - start);
  }
  const heard = drag[field];
  drag[field] = null;
  if (last) drag.end();
  return { heard: heard !== null, on: drag.on === true, ...heard };
};

queries.file_drag_end = () => {
  if (fileDrag) fileDrag.end();
};
