// announcements hears what the live regions of this document say. It is the one
// query whose observer stays after the call: the runtime listens from
// a11y.watch until the tab is closed, and calls again as soon as it has an answer.

const liveRegions = '[aria-live], [role="alert"], [role="status"], [role="log"]';
const maxUtterance = 2000;
const maxUtterances = 300;

let listener = null;

const listenTo = methodOf(EventTarget.prototype, 'addEventListener');

/** politenessOf an element that is a live region: aria-live wins over the role; null when it is off. */
function politenessOf(region) {
  const live = norm(attributeOf(region, 'aria-live')).toLowerCase();
  if (live === 'off') return null;
  if (live === 'assertive' || live === 'polite') return live;
  const role = norm(attributeOf(region, 'role')).toLowerCase();
  if (role === 'alert') return 'assertive';
  return role === 'status' || role === 'log' ? 'polite' : null;
}

const isRegion = (node) => matchesCSS(node, liveRegions);

/** regionOf is the nearest live region around a node, itself included. */
function regionOf(node) {
  for (let at = isElement(node) ? node : flatParentElement(node); at; at = flatParentElement(at)) {
    if (isRegion(at)) return at;
  }
  return null;
}

/** isAnnounced leaves out what no screen reader reads. */
function isAnnounced(node) {
  for (let at = isElement(node) ? node : flatParentElement(node); at; at = flatParentElement(at)) {
    if (attributeOf(at, 'aria-hidden') === 'true' || attributeOf(at, 'aria-busy') === 'true') return false;
    const style = styleOf(at);
    if (style.display === 'none' || style.visibility === 'hidden') return false;
  }
  return true;
}

class Listener {
  constructor() {
    this.heard = [];
    this.answers = 0;
    this.batches = 0;
    this.frames = false;
    this.wake = null;
    this.seen = new WeakSet();
    this.observer = new MutationObserver((records) => this.take(records));
    for (const root of withShadows(document)) this.observe(root);
    listenTo(document, 'load', (event) => {
      if (isElement(event.target) && isFrameElement(event.target)) this.framesChanged();
    }, true);
  }

  observe(root) {
    if (this.seen.has(root)) return;
    this.seen.add(root);
    this.observer.observe(root, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
      attributeFilter: ['aria-busy', 'aria-label']
    });
  }

  framesChanged() {
    this.frames = true;
    if (this.wake) this.wake();
  }

  take(records) {
    const parts = new Map(); // region -> nodes that changed, null for the whole region
    const add = (region, node) => {
      if (!region) return;
      const atomic = attributeOf(region, 'aria-atomic') === 'true';
      if (node === null || atomic || node === region) parts.set(region, null);
      else if (!parts.has(region)) parts.set(region, new Set([node]));
      else if (parts.get(region)) parts.get(region).add(node);
    };
    for (const record of records) {
      if (record.type === 'attributes') {
        const region = regionOf(record.target);
        if (
          record.attributeName === 'aria-busy'
            ? attributeOf(record.target, 'aria-busy') !== 'true'
            : record.target === region
        )
          add(region, null);
        continue;
      }
      if (record.type === 'characterData') {
        add(regionOf(record.target), parentElementOf(record.target));
        continue;
      }
      for (const node of record.addedNodes) {
        if (!isElement(node)) {
          if (nodeType(node) === 3) add(regionOf(node), node);
          continue;
        }
        if (isFrameElement(node) || queryIn(node, 'iframe, frame').length > 0) this.framesChanged();
        for (const root of withShadows(node)) if (root !== node) this.observe(root);
        const inside = isRegion(node) ? [node] : queryIn(node, liveRegions);
        if (inside.length > 0) for (const region of inside) add(region, null);
        else add(regionOf(node), node);
      }
    }
    for (const [region, nodes] of parts) this.say(region, nodes);
    if (this.heard.length > 0) {
      this.batches++;
      if (this.wake) this.wake();
    }
  }

  say(region, nodes) {
    const politeness = politenessOf(region);
    if (!politeness || !isConnected(region) || !isAnnounced(region)) return;
    const list =
      nodes === null ? [region] : [...nodes].filter((node) => node && isConnected(node) && isAnnounced(node));
    const whole = norm(list.map((node) => (isElement(node) ? labelOrText(node) : textContentOf(node))).join(' '));
    if (!whole) return;
    this.heard.push({
      text: cut(whole, maxUtterance),
      politeness,
      region: cut(norm(attributeOf(region, 'aria-label')) || label(region), 200),
      region_role: cut(norm(attributeOf(region, 'role')), 40),
      relevant: cut(norm(attributeOf(region, 'aria-relevant')), 40),
      interrupt: politeness === 'assertive'
    });
    if (this.heard.length > maxUtterances) this.heard.shift();
  }

  answer() {
    const out = {
      answer: ++this.answers,
      heard: this.heard,
      batches: this.batches,
      frames: this.frames,
      regions: queryIn(document, liveRegions).length
    };
    this.heard = [];
    this.batches = 0;
    this.frames = false;
    return out;
  }
}

/**
 * announcements answers what regions announced since the last answer. With a timeout it
 * waits until something was, or until the frames of the document changed; the
 * newest wait ends an older one.
 */
queries.announcements = ({ timeout_ms }) => {
  listener ||= new Listener();
  const all = listener;
  if (all.wake) all.wake();
  if (all.heard.length > 0 || all.frames || !timeout_ms) return all.answer();
  return new Promise((resolve) => {
    const timer = setTimeout(() => all.wake === done && done(), timeout_ms);
    function done() {
      clearTimeout(timer);
      all.wake = null;
      resolve(all.answer());
    }
    all.wake = done;
  });
};

/** reader_mode says whether the page's own screen reader mode is on, waiting for it up to timeout_ms. */
queries.reader_mode = ({ timeout_ms }) => {
  const region = queryIn(document, '#docs-aria-speakable')[0];
  const state = () => ({ has: Boolean(region), on: Boolean(region) && norm(textOf(region)) !== '' });
  if (!region || state().on || !timeout_ms) return state();
  return new Promise((resolve) => {
    const end = () => {
      observer.disconnect();
      clearTimeout(timer);
      resolve(state());
    };
    const observer = new MutationObserver(() => state().on && end());
    observer.observe(region, { subtree: true, childList: true, characterData: true });
    const timer = setTimeout(end, timeout_ms);
  });
};
