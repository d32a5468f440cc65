// overlay draws the runtime's own overlay and its launchers on the page. What
// is in it hangs below closed shadow roots, its document in a sandboxed frame of
// an origin of its own: page and report cannot access each other. The host
// element is not in body and hidden from the accessibility tree, so that reads
// of the page do not find it; a picture of the page shows it.

const overlayHost = '__actions_json_overlay_runtime_host';
const launcherHost = () => overlayInPage() ? 'data-actions-json-overlay-launcher' : 'data-actions-json-launcher';
const collapsedSide = 42;
const overlayMargin = 16;
const overlayBar = 32;
const maxReattach = 20;

let overlay = null;

/** overlayInPage draws it as the extension does: where and how large that does, and for the page to take away. */
const overlayInPage = () => quirk('overlay_in_page');

/** So many events of the overlay are kept for the next overlay_events; older ones are dropped. */
const maxOverlayEvents = 100;
const overlayEvents = []; // {event, how, title, launcher_id, code}
let overlayWaiter = null; // ends the page call that waits for events

/**
 * recordOverlayEvent keeps an event: what happened to the overlay, and whether a call or somebody at the page did it.
 */
function recordOverlayEvent(event, how, more) {
  overlayEvents.push({ event, how, ...more });
  if (overlayEvents.length > maxOverlayEvents) overlayEvents.shift();
  if (overlayWaiter) overlayWaiter();
}

/** overlayTitled is what an event has about the overlay that is open. */
const overlayTitled = () => overlay === null ? {} : { title: cut(overlay.title.textContent, 200) };

const createElementOf = methodOf(Document.prototype, 'createElementNS');

/** createElement makes an element of HTML, in documents of other kinds too. */
const createElement = (doc, tag) => createElementOf(doc, htmlNamespace, tag);
const insertBeside = methodOf(Element.prototype, 'insertAdjacentElement');

/** styled sets properties that no style sheet of the page can override. */
function styled(node, properties) {
  for (const [name, value] of Object.entries(properties)) node.style.setProperty(name, value, 'important');
  return node;
}

const made = (tag, properties) => styled(createElement(document, tag), { all: 'initial', ...properties });

class Overlay {
  constructor() {
    this.left = null;
    this.top = null;
    this.collapsed = false;
    this.hidden = false;
    this.reattached = 0;
    this.host = made('div', {
      display: 'block',
      position: 'fixed',
      left: '0',
      top: '0',
      width: '0',
      height: '0',
      'z-index': '2147483647',
      'pointer-events': 'none'
    });
    this.host.id = overlayHost;
    this.host.setAttribute('aria-hidden', 'true');
    const root = this.host.attachShadow({ mode: 'closed' });
    this.panel = made('div', {
      display: 'block', position: 'fixed', 'box-sizing': 'border-box', overflow: 'hidden', background: '#fff',
      color: '#111', border: '1px solid #888', 'border-radius': '6px', 'box-shadow': '0 4px 24px rgb(0 0 0 / 30%)',
      'pointer-events': 'auto'
    });
    this.bar = made('div', {
      display: 'flex',
      'align-items': 'center',
      height: overlayBar + 'px',
      padding: '0 6px',
      'box-sizing': 'border-box',
      cursor: 'move',
      background: '#eee',
      font: '13px/1 system-ui, sans-serif',
      'user-select': 'none',
      'touch-action': 'none'
    });
    this.title = made('span', {
      flex: '1',
      overflow: 'hidden',
      'white-space': 'nowrap',
      'text-overflow': 'ellipsis',
      font: 'inherit',
      cursor: 'inherit'
    });
    this.bar.append(
      this.title,
      this.button('\u2013', () => this.collapse(!this.collapsed, 'user')),
      this.button('\u00d7', () => this.close('user'))
    );
    this.frame = made('iframe', {
      display: 'block',
      width: '100%',
      height: `calc(100% - ${overlayBar}px)`,
      border: '0',
      background: '#fff'
    });
    this.frame.setAttribute('sandbox', 'allow-scripts');
    this.panel.append(this.bar, this.frame);
    root.append(this.panel);
    this.drag();
    this.watch = new MutationObserver(() => this.attach());
  }

  button(text, act) {
    const button = made('button', {
      display: 'block',
      width: '26px',
      height: '26px',
      cursor: 'pointer',
      font: '16px/1 system-ui, sans-serif',
      'text-align': 'center'
    });
    button.textContent = text;
    button.addEventListener('click', (event) => {
      if (event.isTrusted) act();
    });
    return button;
  }

  drag() {
    let from = null;
    this.bar.addEventListener('pointerdown', (event) => {
      if (!event.isTrusted || event.target !== this.bar && event.target !== this.title) return;
      const rect = rectOf(this.panel);
      from = { x: event.clientX - rect.left, y: event.clientY - rect.top };
      this.bar.setPointerCapture(event.pointerId);
    });
    this.bar.addEventListener(
      'pointermove',
      (event) => from && this.move(event.clientX - from.x, event.clientY - from.y)
    );
    this.bar.addEventListener('lostpointercapture', () => {
      from = null;
    });
  }

  /** attach puts the host back when the page has removed it, a bounded number of times. */
  attach() {
    if (isConnected(this.host)) return;
    const root = rootElement();
    if (!root || this.reattached >= maxReattach) return;
    this.reattached++;
    root.append(this.host);
    this.watch.disconnect();
    if (!overlayInPage()) this.watch.observe(root, { childList: true });
  }

  open({ html, title, width, height }) {
    this.width = width;
    this.height = height;
    this.title.textContent = title;
    this.collapsed = false;
    this.hidden = false;
    this.reattached = 0;
    this.fill(html);
    this.attach();
    this.reattached = 0;
    this.place();
    if (!isConnected(this.host)) throw new Fault('render_failed', 'the document has nothing to hang the overlay on');
  }

  fill(html) {
    try {
      this.frame.srcdoc = html;
    } catch {
      try {
        this.frame.srcdoc = trustedTypes
          .createPolicy('outrider-overlay', { createHTML: (text) => text })
          .createHTML(html);
      } catch {
        throw new Fault('render_failed', 'the policy of the page allows no document of ours');
      }
    }
  }

  close(how) {
    this.watch.disconnect();
    this.host.remove();
    recordOverlayEvent('closed', how, overlayTitled());
    if (overlay === this) overlay = null;
  }

  collapse(collapsed, how) {
    if (collapsed !== this.collapsed) recordOverlayEvent(collapsed ? 'minimized' : 'expanded', how, overlayTitled());
    this.collapsed = collapsed;
    this.place();
  }

  hide(hidden) {
    this.hidden = hidden;
    this.place();
  }

  move(left, top) {
    this.left = left;
    this.top = top;
    this.place();
  }

  corner(name) {
    const right = name.endsWith('right');
    const bottom = name.startsWith('bottom');
    this.move(right ? innerWidth : 0, bottom ? innerHeight : 0);
  }

  /** size is what the panel takes, its border included. */
  size() {
    if (this.collapsed) return [collapsedSide, collapsedSide];
    if (!overlayInPage())
      return [
        Math.min(this.width, innerWidth - 2 * overlayMargin),
        Math.min(this.height, innerHeight - 2 * overlayMargin)
      ];
    return [
      Math.max(420, Math.min(this.width, innerWidth - 96)) + 2,
      Math.max(320, Math.min(this.height, innerHeight - 96)) + 2
    ];
  }

  /** place draws the panel where it belongs, always within the viewport. */
  place() {
    this.attach();
    const [width, height] = this.size();
    if (this.left === null) {
      this.left = overlayInPage() ? 72 : innerWidth - width - overlayMargin;
      this.top = overlayInPage() ? 56 : overlayMargin;
    }
    const within = (at, size, space) => Math.max(0, Math.min(at, space - size));
    const left = within(this.left, width, innerWidth);
    const top = within(this.top, height, innerHeight);
    styled(this.panel, { left: left + 'px', top: top + 'px', width: width + 'px', height: height + 'px' });
    styled(this.frame, { display: this.collapsed ? 'none' : 'block' });
    styled(this.title, { display: this.collapsed ? 'none' : 'block' });
    styled(this.bar.lastChild, { display: this.collapsed ? 'none' : 'block' });
    styled(this.host, { display: this.hidden ? 'none' : 'block' });
  }

  geometry() {
    return this.hidden ? null : box(rectOf(this.panel), topView);
  }
}

/** overlayShown reports whether the overlay can cover the page. */
const overlayShown = () => overlay !== null && !overlay.hidden && isConnected(overlay.host);

/** overlayState is what every page call about the overlay answers. */
const overlayState = () => overlay === null ? { shown: false, hidden: false, collapsed: false, geometry: null }
  : { shown: true, hidden: overlay.hidden, collapsed: overlay.collapsed, geometry: overlay.geometry() };

queries.overlay_open = (content) => {
  const launchers = installLaunchers(content.launchers || [], content);
  openOverlay(content, 'call');
  return { ...overlayState(), launchers };
};

/** openOverlay opens the overlay and records the event; how is call or user. */
function openOverlay(content, how, more) {
  try {
    overlay ||= new Overlay();
    overlay.open(content);
  } catch (error) {
    recordOverlayEvent('open-failed', how, {
      title: cut(content.title, 200),
      code: error instanceof Fault ? error.code : 'render_failed',
      ...more
    });
    throw error;
  }
  recordOverlayEvent('opened', how, { ...overlayTitled(), ...more });
}

/**
 * overlay_events answers what happened to the overlay since the last call,
 * as soon as something has, and whether anything can still happen in this
 * document. Another call ends the one that waits.
 */
queries.overlay_events = ({ timeout_ms }) => {
  if (overlayWaiter) overlayWaiter();
  const answer = () => ({
    events: overlayEvents.splice(0), live: overlay !== null || queryIn(document, '[' + launcherHost() + ']').length > 0,
  });
  if (overlayEvents.length > 0 || !(timeout_ms > 0)) return answer();
  return new Promise((resolve) => {
    const end = () => {
      if (overlayWaiter !== end) return;
      overlayWaiter = null;
      clearTimeout(timer);
      resolve(answer());
    };
    const timer = setTimeout(end, timeout_ms);
    overlayWaiter = end;
  });
};

queries.overlay_launchers = (content) => ({ launchers: installLaunchers(content.launchers, content) });

queries.overlay_close = () => {
  const was = overlayState();
  if (overlay) overlay.close('call');
  return was;
};

queries.overlay_menu = ({ op, corner, left, top }) => {
  if (overlay) {
    if (op === 'hide' || op === 'show') overlay.hide(op === 'hide');
    else if (op === 'collapse' || op === 'expand') overlay.collapse(op === 'collapse', 'call');
    else if (corner) overlay.corner(corner);
    else if (left !== undefined || top !== undefined) overlay.move(left ?? overlay.left, top ?? overlay.top);
    else overlay.place();
  }
  return overlayState();
};

/** installLaunchers puts buttons beside their anchors and returns how many of each. */
function installLaunchers(launchers, content) {
  return launchers.map((launcher, i) => {
    const id = launcher.id || 'launcher-' + (i + 1);
    for (const old of queryIn(document, '[' + launcherHost() + ']'))
      if (attributeOf(old, launcherHost()) === id) old.remove();
    const out = { id, label: launcher.label || content.title, installed: 0 };
    if (!launcherApplies(launcher)) return { ...out, reason: 'other_url' };
    for (const anchor of anchorsOf(launcher).slice(0, launcher.max_instances || 3)) {
      if (plant(launcherFor(id, launcher, content), anchor, launcher.placement || 'afterend')) out.installed++;
    }
    return out.installed === 0 ? { ...out, reason: 'no_anchor' } : out;
  });
}

function launcherApplies(launcher) {
  if (launcher.url_contains && !documentURLOf(document).includes(launcher.url_contains)) return false;
  if (!launcher.url_matches) return true;
  try {
    return patternFor(
      launcher.url_matches,
      'launcher_failed',
      'url_matches'
    )(cut(documentURLOf(document), maxMatchedText));
  } catch (error) {
    if (!overlayInPage()) throw error;
    return false;
  }
}

/** anywhere is the selector of a launcher that has none. */
function anywhere(launcher) {
  if (!overlayInPage()) return 'body';
  return launcher.text_contains ? 'a, button, h1, h2, h3, h4, [role=heading], span, div' : ':not(*)';
}

function anchorsFor(selector) {
  try {
    return queryList(document, selector);
  } catch (error) {
    if (!overlayInPage()) throw error;
    return [];
  }
}

function anchorsOf(launcher) {
  const selectors =
    launcher.selectors && launcher.selectors.length > 0
      ? launcher.selectors
      : launcher.selector
        ? [launcher.selector]
        : [anywhere(launcher)];
  const clips = new Map();
  const equals = sought(launcher.text_equals).toLowerCase();
  const found = new Set();
  for (const selector of selectors) {
    for (const node of anchorsFor(selector)) {
      const text = textOrLabel(node);
      if (!hasFolded(text, launcher.text_contains) || equals && comparable(text).toLowerCase() !== equals) continue;
      if (node === bodyOf() || isVisible(node, topView, clips)) found.add(node);
    }
    if (found.size > 0) break; // later ones are hints for when the earlier ones find nothing
  }
  return [...found];
}

function launcherFor(id, launcher, content) {
  const button = made('button', {
    display: 'inline-block',
    padding: '4px 10px',
    border: '1px solid #888',
    'border-radius': '4px',
    background: '#eee',
    color: '#111',
    cursor: 'pointer',
    font: '13px/1.2 system-ui, sans-serif'
  });
  if (overlayInPage()) {
    styled(button, {
      'box-sizing': 'border-box',
      padding: '4px 8px',
      'margin-left': '8px',
      'border-radius': '6px',
      'white-space': 'nowrap',
      'vertical-align': 'middle',
      font: '700 12px/1.2 system-ui, -apple-system, BlinkMacSystemFont, "Segoe UI", sans-serif'
    });
    button.setAttribute('type', 'button');
  }
  button.textContent = launcher.label || (overlayInPage() ? 'Open overlay' : content.title);
  if (launcher.title) button.title = launcher.title;
  button.addEventListener('click', (event) => {
    if (!event.isTrusted && !overlayInPage()) return;
    event.stopPropagation();
    recordOverlayEvent('launcher-opened', 'user', { launcher_id: id });
    openOverlay(content, 'user', { launcher_id: id });
  });
  const host = overlayInPage() ? button : made('span', { display: 'inline-block', margin: '0 4px' });
  host.setAttribute(launcherHost(), id);
  if (host !== button) host.attachShadow({ mode: 'closed' }).append(button);
  return host;
}

function plant(host, anchor, placement) {
  if (anchor === bodyOf() && (placement === 'beforebegin' || placement === 'afterend')) placement = 'beforeend';
  return insertBeside(anchor, placement, host) !== null;
}
