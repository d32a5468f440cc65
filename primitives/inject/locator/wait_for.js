// wait_for answers when a locator is in a state.

/** stateTest makes a test of a locator's state that keeps its last observation. */
function stateTest(locator, state, view) {
  const seen = { trace: {}, count: 0 };
  seen.holds = () => {
    const { nodes, trace } = locate(locator);
    seen.trace = trace;
    seen.count = nodes.length;
    if (state === 'attached') return nodes.length > 0;
    if (state === 'rendered') return nodes.some((node) => rendered(node));
    if (state === 'detached' && !quirk('wait_means_visible')) return nodes.length === 0;
    const clips = new Map();
    const visible = nodes.some((node) => isVisible(node, view, clips));
    if (nodes.length > 0) trace.visible_matches = visible ? 1 : 0;
    return visible === (state === 'visible' || quirk('wait_means_visible'));
  };
  return seen;
}

/**
 * wait_for takes locator, state, timeout_ms and, for a frame, view. An answer with hosts asks
 * the caller to open the closed shadow roots of these elements and to call again; searched
 * says that it opens no more, hosts_in when it opens the next ones.
 */
queries.wait_for = async ({ locator: given, state, timeout_ms, view, searched, hosts_in }) => {
  const locator = understood(given);
  const start = performance.now();
  const test = stateTest(locator, state, viewOf(view));
  const geometric = state === 'visible' || state === 'hidden';
  const pierce = locator.pierce ?? isExtended(locator);
  let hostsAt = start + (hosts_in || 0);
  const probe = () => {
    const holds = test.holds();
    // What is not found may be in a closed shadow root: the caller opens those.
    if (searched || !pierce || test.count > 0 || performance.now() < hostsAt) return holds;
    hostsAt = performance.now() + hostsAgain;
    const hosts = unopenedHosts();
    return hosts.length > 0 ? { hosts } : holds;
  };
  const met = await waitUntil(probe, { timeout: timeout_ms, silent: () => geometric && test.count > 0, pierce });
  if (met && met.hosts) return met;
  const elapsed = Math.round(performance.now() - start);
  if (met) return { matched: true, state, elapsed_ms: elapsed };
  const evidence = notFound(locator, test.trace).evidence;
  throw new Fault('timeout', 'the locator did not reach the state in time', { ...evidence, state, timeout_ms });
};
