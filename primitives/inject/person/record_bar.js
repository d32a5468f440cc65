// record_bar is the bar of a recording: assert, read, mark as input, undo, done. It hangs in a closed shadow root of
// the body, so the document has no element more, and in the top layer. What is clicked there goes by the place of a
// trusted pointer event, which ends before the page gets it; so it works beside a modal dialog too.

const recordBarItems = [
  ['assert_text', 'Assert text', 84],
  ['assert_visible', 'Assert visible', 96],
  ['read', 'Read this', 76],
  ['mark_input', 'Input', 52],
  ['undo', 'Undo', 48],
  ['done', 'Done', 48],
  ['move', '\u2195', 20]
];
const recordBarPicks = /^(?:assert_text|assert_visible|read)$/;
const attachShadowTo = methodOf(Element.prototype, 'attachShadow');
const showPopoverOf = methodOf(HTMLElement.prototype, 'showPopover');
const hidePopoverOf = methodOf(HTMLElement.prototype, 'hidePopover');

class RecordBar {
  constructor() {
    this.bar = made('div', {
      display: 'flex', position: 'fixed', inset: 'auto 8px 8px auto', margin: '0', padding: '4px', gap: '2px',
      border: '1px solid #888', 'border-radius': '6px', background: '#fff', color: '#111',
      font: '12px/1 system-ui, sans-serif', 'box-shadow': '0 2px 12px rgb(0 0 0 / 30%)', 'z-index': '2147483647',
      cursor: 'default', 'user-select': 'none', 'white-space': 'nowrap'
    });
    this.bar.setAttribute('popover', 'manual');
    this.bar.setAttribute('aria-hidden', 'true');
    this.mode = '';
    this.down = '';
    this.items = recordBarItems.map(([name, text, width]) => {
      const node = made('span', {
        display: 'block',
        'box-sizing': 'border-box',
        width: width + 'px',
        padding: '7px 0',
        'border-radius': '4px',
        font: 'inherit',
        color: 'inherit',
        'text-align': 'center',
        cursor: 'pointer'
      });
      node.textContent = text;
      this.bar.append(node);
      return { name, node };
    });
    this.high = false;
  }

  /** attach hangs the bar below the body that is there, as a shadow root that shows the body's own children. */
  attach() {
    const body = bodyOf();
    if (!body || body === this.body || tagOf(body) !== 'body') return;
    let root;
    try {
      root = attachShadowTo(body, { mode: 'closed' });
      root.append(createElement(document, 'slot'));
    } catch { // the page has one there itself
      const host = made('div', { display: 'block', position: 'fixed', width: '0', height: '0' });
      root = attachShadowTo(host, { mode: 'closed' });
      rootElement().append(host);
    }
    this.body = body;
    root.append(this.bar);
    this.raise();
  }

  /** raise puts the bar above what came into the top layer after it. */
  raise() {
    try {
      if (matchesCSS(this.bar, ':popover-open')) hidePopoverOf(this.bar);
      showPopoverOf(this.bar);
    } catch { /* it is not connected */ }
  }

  /** at is the item at a point, 'bar' between two, '' outside. */
  at(x, y) {
    const within = (node) => {
      const rect = ownRectOf(node);
      return x >= rect.left && x < rect.right && y >= rect.top && y < rect.bottom;
    };
    if (!isConnected(this.bar) || !within(this.bar)) return '';
    const item = this.items.find(({ node }) => within(node));
    return item ? item.name : 'bar';
  }

  turn(mode) {
    this.mode = mode;
    for (const { name, node } of this.items) styled(node, { background: name === mode ? '#cde' : 'transparent' });
  }

  act(name) {
    if (name === 'bar') return;
    if (name === 'move') {
      this.high = !this.high;
      styled(this.bar, { inset: this.high ? '8px 8px auto auto' : 'auto 8px 8px auto' });
    } else if (recordBarPicks.test(name)) this.turn(this.mode === name ? '' : name);
    else {
      this.turn('');
      reportStep({ what: 'bar', do: name });
    }
  }

  /** took says whether a pointer event is the bar's. The page does not get those. */
  took(event) {
    if (!event.isTrusted) return false;
    const item = this.at(event.clientX, event.clientY);
    const picking = this.mode !== '';
    if (event.type === 'pointerdown') this.down = item || (picking ? 'page' : '');
    const ours = this.down !== '';
    if (!ours) return false;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.type === 'pointerup' && event.button === 0) {
      if (this.down === 'page') {
        const how = this.mode;
        this.turn('');
        if (item === '') reportStep({ what: 'bar', do: how, x: event.clientX, y: event.clientY });
      } else if (item === this.down) this.act(item);
    }
    if (event.type === 'click' || event.type === 'contextmenu' || event.type === 'auxclick') this.down = '';
    return true;
  }
}

const barEvents = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu'];

/** showRecordBar draws the bar on the page of the tab. Its listeners come first, so they are added first. */
function showRecordBar() {
  if (!isTopWindow || protoGet(document, 'contentType') !== 'text/html') return;
  const bar = new RecordBar();
  const listener = (event) => bar.took(event);
  const listenAll = () => { for (const name of barEvents) listen(globalThis, name, listener, true); };
  listenAll();
  const again = () => bar.attach();
  const watch = new MutationObserver(again);
  const begin = () => {
    listenAll();
    const root = rootElement();
    if (root) watch.observe(root, { childList: true });
    again();
  };
  new MutationObserver(begin).observe(document, { childList: true });
  listen(globalThis, 'DOMContentLoaded', again, true);
  listen(globalThis, 'toggle', (event) => { if (event.isTrusted && event.newState === 'open') bar.raise(); }, true);
  listen(globalThis, 'keydown', (event) => {
    if (event.isTrusted && event.key === 'Escape' && bar.mode !== '') {
      bar.turn('');
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);
  begin();
}

showRecordBar();
follow();
