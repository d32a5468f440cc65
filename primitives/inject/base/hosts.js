// hosts answers which elements may hide others in closed shadow roots, which only
// the browser can open.

const maxUnopened = 200;

/**
 * unopenedHosts names the elements that may have a closed shadow root, or a role of their own making, and were not
 * reported before.
 */
function unopenedHosts() {
  const hosts = [];
  for (const root of withShadows(document)) {
    for (const node of queryIn(root, '*')) {
      if (hosts.length === maxUnopened) break;
      const tag = localNameOf(node);
      if (
        (!memory.examinedHosts.has(node) && !shadowOf(node) && mayHideShadow(node, tag)) ||
        wantsSemantics(node, tag, false)
      )
        hosts.push(node);
    }
  }
  return takeHosts(hosts);
}

queries.unopened_hosts = () => ({ hosts: unopenedHosts() });
