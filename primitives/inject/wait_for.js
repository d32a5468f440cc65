// wait_for answers when a locator has reached a state.

/** stateTest makes a test of a locator's state that tells what it saw last. */
function stateTest(locator, state, view) {
  const seen = { trace: {}, count: 0 };
  seen.holds = () => {
    const { nodes, trace } = locate(locator);
    seen.trace = trace;
    seen.count = nodes.length;
    if (state === 'attached') return nodes.length > 0;
    if (state === 'detached') return nodes.length === 0;
    const clips = new Map();
    const visible = nodes.some((node) => isVisible(node, view, clips));
    if (nodes.length > 0) trace.visible_matches = visible ? 1 : 0;
    return visible === (state === 'visible');
  };
  return seen;
}

questions.wait_for = async ({ locator, state, timeout_ms, view }) => {
  const start = performance.now();
  const test = stateTest(locator, state, viewOf(view));
  const geometric = state === 'visible' || state === 'hidden';
  const met = await waitUntil(test.holds, {
    timeout: timeout_ms, silent: () => geometric && test.count > 0, pierce: locator.pierce ?? isExtended(locator),
  });
  const elapsed = Math.round(performance.now() - start);
  if (met) return { matched: true, state, elapsed_ms: elapsed };
  const evidence = notFound(locator, test.trace).evidence;
  throw new Fault('timeout', 'the locator did not reach the state in time', { ...evidence, state, timeout_ms });
};
