// wait answers as soon as a condition holds: changes of the document are observed,
// and what no observer reports is probed on frames.

/** A probe that took longer than this many milliseconds is followed by a rest. */
const cheapEvaluation = 4;

/**
 * waitUntil resolves with the first truthy answer of probe, or with null after
 * timeout milliseconds. probe runs at once, after every change of the document,
 * and, because style, geometry and pseudo-classes change silently, on every
 * frame while silent() holds and every 50 ms else. pierce also observes changes
 * in open shadow roots.
 */
async function waitUntil(probe, { timeout, silent = () => true, pierce = false }) {
  const start = performance.now();
  let found = probe();
  if (found || !(timeout > 0)) return found || null;
  let wake = () => {};
  let changed = false;
  const observer = new MutationObserver(() => {
    changed = true;
    wake();
  });
  const observed = new WeakSet();
  const observe = () => {
    for (const root of pierce ? withShadows(document) : [document]) {
      if (observed.has(root)) continue;
      observed.add(root);
      observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    }
  };
  observe();
  try {
    for (;;) {
      const left = timeout - (performance.now() - start);
      if (left <= 0) return null;
      if (!changed) {
        await new Promise((resolve) => {
          const timer = setTimeout(() => wake(), Math.min(50, left));
          const frame = silent() ? requestAnimationFrame(() => wake()) : 0;
          wake = () => {
            wake = () => {};
            clearTimeout(timer);
            cancelAnimationFrame(frame);
            resolve();
          };
        });
      }
      if (changed && pierce) observe();
      changed = false;
      const from = performance.now();
      found = probe();
      if (found) return found;
      const took = performance.now() - from;
      if (took > cheapEvaluation) await after(Math.min(2 * took, 250));
    }
  } finally {
    observer.disconnect();
  }
}
