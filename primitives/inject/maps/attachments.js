// attachments keeps what maps attach to a document: launchers, annotations,
// status badges and shortcuts. Like launchers of the overlay they are drawn in
// closed shadow roots. They follow their anchors while the page renders again,
// are invisible to the queries of this library, and leave nothing behind. The
// frames of a page do not know of each other: how many a document may show is
// for the caller to say, who knows what the others do.

const attachmentHost = 'data-actions-json-attachment';
const attachmentQuiet = 60; // ms without changes before anchors are searched again
const attachmentShare = 9; // and this many times what the last search took
const maxAnchors = 50;
const maxReplants = 20; // of one attachment within replantWindow ms: the page fights it
const replantWindow = 10000;
const maxActivations = 50;
const resultShown = 4000;

let attachments = null;

const prevent = methodOf(Event.prototype, 'preventDefault');
const stopNow = methodOf(Event.prototype, 'stopImmediatePropagation');

class Attachment {
  constructor(spec) {
    this.spec = spec;
    this.hosts = new Map(); // anchor -> host
    this.state = 'unattached';
    this.candidate = null;
    this.ever = false;
    // {turns, changes} at the first loss that was not made up for; changes is -1 where the page took it away; byPage
    // until it was in another context
    this.lost = null;
    this.again = false; // it was attached again after the page removed it
    this.epoch = spec.epoch;
    this.turns = 0; // changes of the epoch
    this.most = spec.max_instances;
    this.replants = [];
  }

  /**
   * anchors are the elements it belongs to, and the candidate that found them. One without a box for a moment keeps its
   * attachment.
   */
  anchors() {
    const d = this.spec.target;
    const candidates = descriptorCandidates(d);
    const attempt = (list) => {
      for (const candidate of list) {
        const nodes = triedCandidate(candidate).nodes.filter(
          (node) => this.spec.kind === 'shortcut' || node === bodyOf() || this.hosts.has(node) || rendered(node)
        );
        if (nodes.length > 0) return { candidate: candidate.candidate, nodes: nodes.slice(0, maxAnchors) };
      }
      return null;
    };
    const without = (...dropped) => candidates.map(({ candidate, locator }) => {
      const rest = { ...locator };
      for (const key of dropped) delete rest[key];
      return { candidate, locator: rest };
    });
    let found = attempt(candidates);
    // a name may be one for people: see resolvedDescriptor
    if (!found && candidates.length > 0 && candidates[0].candidate !== 'predicates') {
      if (d.name) found = attempt(without('name'));
      if (!found && d.role) found = attempt(without('name', 'role'));
    }
    return found || { candidate: null, nodes: [] };
  }

  /** keeps reports whether an instance stays that is not wanted there. */
  keeps(anchor, matched, stands, there) {
    const { present, remove } = this.spec;
    return remove === 'never' ? stands : remove === 'target' && !present && there && matched.has(anchor);
  }

  /** returns reports whether the lifecycle attaches again what was lost. */
  returns(changes) {
    const { reattach } = this.spec;
    if (reattach === 'always') return true;
    if (reattach === 'url') return this.turns !== this.lost.turns;
    return reattach === 'dom' && changes !== this.lost.changes;
  }

  /** sync puts what belongs to the document where it belongs; changes is how many the page has made. */
  sync(changes) {
    const { present, max_instances: most, placement, hide_drifted: hidesDrifted, epoch } = this.spec;
    const turns = this.turns;
    if (epoch !== this.epoch) this.turns++;
    this.epoch = epoch;
    const found = this.anchors();
    const drifted = found.candidate !== null && found.candidate.startsWith('fallback');
    const matched = new Set(drifted && hidesDrifted ? [] : found.nodes);
    const wanted = new Set(present ? [...matched].slice(0, most) : []);
    const shrunk = most < this.most;
    for (const [anchor, host] of this.hosts) {
      const stands = host === null || isConnected(host);
      const there = stands && (host === null ? isConnected(anchor) : inPlace(host, anchor, placement));
      if (wanted.has(anchor) ? there : this.keeps(anchor, matched, stands, there)) continue;
      this.drop(anchor);
      // What makes room for another frame is not lost.
      if (!(shrunk && present && there && matched.has(anchor)))
        this.lost ||= { turns, changes: present ? -1 : changes, byPage: present };
    }
    if (!present && this.hosts.size === 0) { // in its context it begins anew
      this.again = false;
      if (this.lost) this.lost.byPage = false;
    }
    const again = this.lost !== null;
    if (!again || this.returns(changes)) {
      for (const anchor of wanted)
        if (!this.hosts.has(anchor) && this.hosts.size < most) this.plant(anchor, again || this.again);
      if (again && this.hosts.size > 0 && present) {
        this.again ||= this.lost.byPage;
        this.lost = null;
      }
    }
    this.most = most;
    this.candidate = found.candidate;
    if (drifted && hidesDrifted) this.state = 'drifted';
    else if (this.hosts.size === 0) this.state = this.ever ? 'stale' : 'unattached';
    else if (drifted) this.state = 'drifted';
    else this.state = this.again || this.lost && this.lost.byPage ? 'reattached' : 'attached';
  }

  plant(anchor, again) {
    if (again) {
      const now = performance.now();
      this.replants = this.replants.filter((at) => now - at < replantWindow);
      if (this.replants.length >= maxReplants) return;
      this.replants.push(now);
    }
    if (this.spec.kind === 'shortcut') {
      this.hosts.set(anchor, null); // nothing to see
      this.ever = true;
      return;
    }
    const host = this.draw();
    memory.attachmentHosts.add(host);
    if (!plant(host, anchor, this.spec.placement)) {
      memory.attachmentHosts.delete(host);
      return;
    }
    this.hosts.set(anchor, host);
    this.ever = true;
  }

  drop(anchor) {
    const host = this.hosts.get(anchor);
    this.hosts.delete(anchor);
    if (!host) return;
    host.remove();
    memory.attachmentHosts.delete(host);
  }

  clear() {
    for (const anchor of [...this.hosts.keys()]) this.drop(anchor);
  }

  draw() {
    const { id, kind, label, title, opens } = this.spec;
    const host = made('span', { display: 'inline-block', margin: '0 4px' });
    host.setAttribute(attachmentHost, id);
    host.setAttribute('aria-hidden', 'true');
    const variant = {
      status_badge: {
        padding: '1px 8px',
        border: '1px solid #888',
        'border-radius': '999px',
        background: '#f4f4f4',
        font: '12px/1.4 system-ui, sans-serif'
      },
      annotation: {
        padding: '1px 6px',
        'border-left': '3px solid #888',
        background: '#fffbe6',
        font: 'italic 12px/1.4 system-ui, sans-serif'
      }
    }[kind] || {
      padding: '4px 10px',
      border: '1px solid #888',
      'border-radius': '4px',
      background: '#eee',
      font: '13px/1.2 system-ui, sans-serif'
    };
    const face = made(opens ? 'button' : 'span', {
      display: 'inline-block',
      color: '#111',
      ...variant,
      ...(opens ? { cursor: 'pointer' } : {})
    });
    if (opens) face.tabIndex = -1;
    face.textContent = label;
    if (title) face.title = title;
    if (opens) {
      // The page receives no clicks that are not for it, and keeps its focus.
      for (const name of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'dblclick']) {
        face.addEventListener(name, (event) => {
          event.stopPropagation();
          if (name === 'mousedown') event.preventDefault();
        });
      }
      face.addEventListener('click', (event) => {
        event.stopPropagation();
        event.preventDefault();
        if (event.isTrusted) attachments.activate(this, 'click');
      });
    }
    host.attachShadow({ mode: 'closed' }).append(face);
    host.outriderFace = face; // a property in our world only
    return host;
  }

  /** show writes on the affordance how its tool ended. */
  show(ok, text) {
    for (const host of this.hosts.values()) {
      if (!host) continue;
      const face = host.outriderFace;
      if (this.spec.kind === 'status_badge' && ok && text) {
        face.textContent = text;
        continue;
      }
      face.textContent = this.spec.label + (ok ? ' \u2713' : ' \u2717');
      face.title = text || this.spec.title || '';
      setTimeout(() => {
        face.textContent = this.spec.label;
        face.title = this.spec.title || '';
      }, resultShown);
    }
  }
}

/** inPlace reports whether a host still is where it was put. */
function inPlace(host, anchor, placement) {
  if (!isConnected(anchor)) return false;
  return anchor !== bodyOf() && (placement === 'beforebegin' || placement === 'afterend')
    ? parentOf(host) === parentOf(anchor)
    : parentOf(host) === anchor;
}

class Attachments {
  constructor() {
    this.byID = new Map();
    this.document = Math.random().toString(36).slice(2);
    this.revision = 0;
    this.changes = 0; // that the page made
    this.reported = '';
    this.activations = [];
    this.wake = null;
    this.timer = 0;
    this.cost = 0;
    this.observer = new MutationObserver((records) => {
      if (!records.some((record) => !this.own(record))) return;
      this.changes++;
      this.soon();
    });
    this.observed = new WeakSet(); // shadow roots
    this.key = (event) => this.pressed(event);
    this.watching = false;
  }

  /** own: the change is one that attachments made. */
  own(record) {
    if (record.type !== 'childList') return memory.attachmentHosts.has(record.target);
    const nodes = [...record.addedNodes, ...record.removedNodes];
    // A host that is detached although nothing here removed it is the page's doing.
    return nodes.every(
      (node) =>
        (memory.attachmentHosts.has(node) && isConnected(node)) ||
        (isElement(node) && attributeOf(node, attachmentHost) !== null && !memory.attachmentHosts.has(node))
    );
  }

  soon() {
    this.timer ||= setTimeout(() => {
      this.timer = 0;
      this.sync();
    }, Math.max(attachmentQuiet, this.cost * attachmentShare));
  }

  set(specs) {
    const wanted = new Map(specs.map((spec) => [spec.id, spec]));
    for (const [id, attachment] of this.byID) {
      if (wanted.has(id) && sameAppearance(attachment.spec, wanted.get(id))) attachment.spec = wanted.get(id);
      else {
        attachment.clear();
        this.byID.delete(id);
      }
    }
    for (const [id, spec] of wanted) if (!this.byID.has(id)) this.byID.set(id, new Attachment(spec));
    this.watch(this.byID.size > 0);
    this.sync();
  }

  watch(on) {
    if (on === this.watching) return;
    this.watching = on;
    if (on) {
      this.observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      listen(globalThis, 'keydown', this.key, true);
    } else {
      this.observer.disconnect();
      this.observed = new WeakSet();
      unlisten(globalThis, 'keydown', this.key, true);
      clearTimeout(this.timer);
      this.timer = 0;
    }
  }

  sync() {
    const began = performance.now();
    const pending = this.observer.takeRecords();
    if (pending.some((record) => !this.own(record))) this.changes++;
    for (const attachment of this.byID.values()) attachment.sync(this.changes);
    this.observer.takeRecords(); // our own
    this.observeShadows();
    this.cost = performance.now() - began;
    const states = JSON.stringify(this.states());
    if (states === this.reported) return;
    this.reported = states;
    this.revision++;
    if (this.wake) this.wake();
  }

  /**
   * observeShadows has changes in open shadow roots noticed where an anchor may be in one: it was not found in the
   * document itself.
   */
  observeShadows() {
    const inside = (node) => node.getRootNode() !== document;
    if (
      ![...this.byID.values()].some((a) => a.spec.present && (a.hosts.size === 0 || [...a.hosts.keys()].some(inside)))
    )
      return;
    for (const root of withShadows(document)) {
      if (root === document || this.observed.has(root)) continue;
      this.observed.add(root);
      this.observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    }
  }

  states() {
    return [...this.byID.values()].map((a) => ({
      id: a.spec.id,
      state: a.state,
      candidate: a.candidate,
      instances: a.hosts.size
    }));
  }

  activate(attachment, how) {
    if (this.activations.length < maxActivations) this.activations.push({ id: attachment.spec.id, how });
    if (this.wake) this.wake();
  }

  pressed(event) {
    if (!event.isTrusted || event.repeat || event.isComposing) return;
    for (const attachment of this.byID.values()) {
      const keys = attachment.spec.keys;
      if (!keys || attachment.hosts.size === 0 && !attachment.spec.elsewhere) continue;
      if (event.ctrlKey !== keys.control || event.altKey !== keys.alt || event.metaKey !== keys.meta) continue;
      const printed = keys.key.length === 1;
      if (
        event.shiftKey !== keys.shift &&
        !(printed && !keys.shift && keys.key.toLowerCase() === keys.key.toUpperCase())
      )
        continue;
      if (event.key.toLowerCase() !== keys.key.toLowerCase() && !(keys.alt && event.code === keys.code)) continue;
      if (!keys.control && !keys.alt && !keys.meta && writes(activeElement())) continue; // somebody is typing
      prevent(event);
      stopNow(event);
      this.activate(attachment, 'keys');
      return;
    }
  }

  answer() {
    const activations = this.activations;
    this.activations = [];
    return {
      revision: this.document + ':' + this.revision,
      document: this.document,
      attachments: this.states(),
      activations
    };
  }
}

/** sameAppearance reports whether two specs differ at most in what may change while an attachment stands. */
const sameAppearance = (a, b) => stableSpec(a) === stableSpec(b);
const stableSpec = (spec) => JSON.stringify({ ...spec, epoch: 0, present: 0, max_instances: 0, elsewhere: 0 });

/** writes reports whether keys pressed in an element are text. */
function writes(node) {
  if (!node) return false;
  const tag = tagOf(node);
  return (
    tag === 'textarea' ||
    tag === 'select' ||
    tag === 'input' ||
    tag === 'iframe' ||
    Boolean(protoGet(node, 'isContentEditable'))
  );
}

/**
 * attachments takes the list of those that belong on the page and answers
 * their states as soon as they differ from those of the revision that the caller
 * has received, or somebody clicked one, or after timeout_ms. The newest page call
 * ends an older one.
 */
queries.attachments = ({ items, seen, timeout_ms }) => {
  attachments ||= new Attachments();
  const all = attachments;
  if (all.wake) all.wake();
  all.set(items);
  if (all.activations.length > 0 || seen !== all.document + ':' + all.revision || !timeout_ms) return all.answer();
  return new Promise((resolve) => {
    const timer = setTimeout(() => all.wake === done && done(), timeout_ms);
    function done() {
      clearTimeout(timer);
      if (all.wake === done) all.wake = null;
      resolve(all.answer());
    }
    all.wake = done;
  });
};

/** attachment_result shows how the tool that an attachment opened has ended. */
queries.attachment_result = ({ id, ok, text }) => {
  const attachment = attachments && attachments.byID.get(id);
  if (attachment) attachment.show(ok, text);
  return { shown: Boolean(attachment) };
};
