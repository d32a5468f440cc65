/**
 * listen reports the page events that maps declare as signals, from before the
 * first script of a document, in a world that the page cannot access. The table
 * lists them: {version, ignorable_counts, signals: [{key, hosts, event, selectors,
 * text_equals, text_contains}]}; hosts are those of the top document, null for any.
 * Run again with a newer table it takes that one over.
 *
 * Events go through the binding outriderReport as JSON text. The binding appears a
 * moment after the document. A flood costs a counter only: of each event no more than
 * a bucketful is examined.
 */
(table) => {
  'use strict';
  const burst = 20;
  const perSecond = 10;
  const maxPayload = 64 << 10; // characters of JSON
  const flushAfter = 1000;
  const maxKept = 100;
  const longestPatience = 20000;

  const had = globalThis.outriderListening;
  if (had) {
    had(table);
    return;
  }

  let version = -1;
  const heard = new Map(); // event name -> {signals, listener, tokens, filled}
  const dropped = new Map(); // event name -> {reason: count}
  let flushing = 0;

  // The binding comes a moment after the document: until then reports are kept.
  let kept = [];
  let patience = 10; // ms until the next try

  const send = (message) => {
    kept.push(JSON.stringify(message));
    if (kept.length === 1) deliver();
    else if (kept.length > maxKept) kept.splice(1, 1);
  };

  const deliver = () => {
    try {
      while (kept.length > 0) {
        globalThis.outriderReport(kept[0]);
        kept.shift();
      }
      patience = 10;
    } catch { // it is not there yet, or nobody listens
      if (patience > longestPatience) kept = [];
      else setTimeout(deliver, patience);
      patience *= 2;
    }
  };

  const flush = () => {
    clearTimeout(flushing);
    flushing = 0;
    if (dropped.size === 0) return;
    const counts = [];
    for (const [event, reasons] of dropped)
      for (const [reason, count] of Object.entries(reasons)) counts.push({ event, reason, count });
    dropped.clear();
    send({ dropped: counts });
  };

  const drop = (event, reason) => {
    let reasons = dropped.get(event);
    if (!reasons) dropped.set(event, reasons = { __proto__: null });
    reasons[reason] = (reasons[reason] || 0) + 1;
    flushing ||= setTimeout(flush, flushAfter);
  };

  const take = (entry) => {
    const now = performance.now();
    entry.tokens = Math.min(burst, entry.tokens + (now - entry.filled) / 1000 * perSecond);
    entry.filled = now;
    if (entry.tokens < 1) return false;
    entry.tokens--;
    return true;
  };

  const spaced = (text) => (text || '').replace(/\s+/g, ' ').trim().toLowerCase();

  /** folded leaves out characters that nobody sees, as every comparison of texts does. */
  const folded = (text) =>
    spaced(table.ignorable_counts ? text : (text || '').replace(/\p{Default_Ignorable_Code_Point}/gu, ''));

  /** sought is what is looked for in folded texts. Where it is of such characters alone, nothing has it. */
  const sought = (text) => folded(text) || spaced(text);

  /** from reports whether an event comes from the source that a signal names. */
  const from = (signal, path) => {
    if (signal.selectors.length === 0 && !signal.text_equals && !signal.text_contains) return true;
    for (const node of path) {
      if (!(node instanceof Element)) continue;
      try {
        if (signal.selectors.length > 0 && !signal.selectors.some((selector) => node.matches(selector))) continue;
      } catch {
        return false;
      }
      const text = folded(node.textContent);
      if (signal.text_equals && text !== sought(signal.text_equals)) continue;
      if (signal.text_contains && !text.includes(sought(signal.text_contains))) continue;
      return true;
    }
    return false;
  };

  const report = (name, entry, event) => {
    if (!take(entry)) {
      drop(name, 'rate_limited');
      return;
    }
    const path = event.composedPath();
    const keys = entry.signals.filter((signal) => from(signal, path)).map((signal) => signal.key);
    if (keys.length === 0) return;
    let payload = '{}';
    if (event instanceof CustomEvent) {
      try {
        const detail = event.detail; // a copy: it comes from another world
        if (detail !== null && detail !== undefined) payload = JSON.stringify(detail);
      } catch {
        payload = undefined;
      }
    }
    if (payload === undefined) drop(name, 'payload_not_json');
    else if (payload.length > maxPayload) drop(name, 'payload_too_large');
    else
      send({ event: name, keys, url: location.href.replace(/^([^/?#]*\/\/)[^/?#]*@/, '$1').slice(0, 2000), payload });
  };

  const topHost = () => {
    const above = location.ancestorOrigins;
    if (above.length === 0) return location.hostname.toLowerCase();
    try {
      return new URL(above[above.length - 1]).hostname.toLowerCase();
    } catch {
      return '';
    }
  };

  const below = (host, key) => host === key || host.endsWith('.' + key) || 'www.' + host === key;

  globalThis.outriderListening = (next) => {
    if (next.version < version) return;
    version = next.version;
    const host = topHost();
    const wanted = new Map();
    for (const signal of next.signals) {
      if (signal.hosts !== null && !signal.hosts.some((key) => below(host, key))) continue;
      if (!wanted.has(signal.event)) wanted.set(signal.event, []);
      wanted.get(signal.event).push(signal);
    }
    for (const [name, entry] of heard) {
      if (wanted.has(name)) continue;
      removeEventListener(name, entry.listener, true);
      heard.delete(name);
    }
    for (const [name, signals] of wanted) {
      let entry = heard.get(name);
      if (!entry) {
        entry = { tokens: burst, filled: performance.now() };
        const listener = (event) => report(name, entry, event);
        entry.listener = listener;
        heard.set(name, entry);
      }
      entry.signals = signals;
      addEventListener(name, entry.listener, true);
    }
  };
  // document.open takes every listener away, also ours; it replaces the root too.
  new MutationObserver(() => {
    for (const [name, entry] of heard) addEventListener(name, entry.listener, true);
    if (heard.size > 0) addEventListener('pagehide', flush, true);
  }).observe(document, { childList: true });
  addEventListener('pagehide', flush, true);
  globalThis.outriderListening(table);
}
