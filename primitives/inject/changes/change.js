// change answers when something of the document has changed and is quiet again.

/** Waits by id: what ends them early. */
const waits = new Map();
/** Page calls that wait until a wait has begun, by its id. */
const changeWaiters = new Map();

/**
 * await_change resolves once something below the document has changed (nodes,
 * attributes, text, what a user typed or chose) and nothing more has for
 * quiet_ms, or longest_ms after the first change, or after timeout_ms without
 * any. Open shadow roots that are there when it begins count; other frames do
 * not, and neither does what script alone writes to a property.
 */
queries.await_change = ({ id, quiet_ms, longest_ms, timeout_ms }) => new Promise((resolve) => {
  const start = performance.now();
  let first = 0;
  let last = 0;
  let timer = 0;
  const observer = new MutationObserver(() => changed());
  const eventNames = ['input', 'change', 'toggle'];
  const end = (cancelled) => {
    clearTimeout(timer);
    observer.disconnect();
    for (const name of eventNames) unlisten(globalThis, name, changed, true);
    waits.delete(id);
    resolve({ changed: first > 0, cancelled, elapsed_ms: Math.round(performance.now() - start) });
  };
  // One timer, moved at its end: a page that changes all the time must not pay
  // for a new one with every change.
  const check = () => {
    const now = performance.now();
    const until = first > 0 ? Math.min(last + quiet_ms, first + longest_ms) : start + timeout_ms;
    if (now >= until - 1) end(false);
    else timer = setTimeout(check, until - now);
  };
  const changed = () => {
    last = performance.now();
    if (first > 0) return;
    first = last;
    clearTimeout(timer);
    check();
  };
  for (const root of withShadows(document)) {
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  }
  for (const name of eventNames) listen(globalThis, name, changed, { capture: true, passive: true });
  waits.set(id, end);
  check();
  const changeWaiter = changeWaiters.get(id);
  changeWaiters.delete(id);
  if (changeWaiter) changeWaiter({ armed: true });
});

/** change_armed resolves when await_change of this id has begun. */
queries.change_armed = ({ id, timeout_ms }) => new Promise((resolve) => {
  if (waits.has(id)) {
    resolve({ armed: true });
    return;
  }
  const timer = setTimeout(() => {
    changeWaiters.delete(id);
    resolve({ armed: false });
  }, timeout_ms);
  changeWaiters.set(id, (answer) => {
    clearTimeout(timer);
    resolve(answer);
  });
});

/** change_end ends a wait early. */
queries.change_end = ({ id }) => {
  const end = waits.get(id);
  if (end) end(true);
  return { ended: Boolean(end) };
};
