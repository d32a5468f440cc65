(c) => {
  const norm = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const labels = (e) => [...(e.labels || [])].map((label) => label.textContent);
  const namesOf = (e) =>
    [
      e.getAttribute('aria-label'),
      e.getAttribute('placeholder'),
      e.getAttribute('title'),
      e.getAttribute('alt'),
      e.localName === 'input' ? e.value : '',
      e.textContent,
      ...labels(e)
    ].map(norm);
  const is = (e) =>
    e.localName === c.tag && ((c.name !== '' && namesOf(e).includes(c.name)) || (c.id !== '' && e.id === c.id));
  const hit = () => {
    document.documentElement.dataset.changed = c.kind;
  };
  const renamed = (text) => (norm(text) === c.name ? 'My ' + text.trim().toLowerCase() + ' here' : text);
  const rename = (e) => {
    for (const name of ['aria-label', 'placeholder', 'title', 'alt'])
      if (e.hasAttribute(name) && norm(e.getAttribute(name)) === c.name)
        e.setAttribute(name, renamed(e.getAttribute(name)));
    if (e.localName === 'input' && /button|submit/.test(e.type)) e.value = renamed(e.value);
    const walk = (root) => {
      const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      for (let text = texts.nextNode(); text; text = texts.nextNode())
        if (norm(text.data) !== '' && renamed(text.data) !== text.data) text.data = renamed(text.data);
    };
    walk(e);
    for (const label of e.labels || []) walk(label);
    hit();
  };
  const apply = (root) => {
    if (c.kind === 'wrapped')
      for (const e of root.querySelectorAll('body *:not([data-v-7f3a])')) {
        e.setAttribute('data-v-7f3a', '');
        if (!(e instanceof SVGElement)) e.classList.add('css-' + (e.localName.length * 7919).toString(36) + 'x1');
      }
    if (c.tag === '') return;
    for (const e of root.querySelectorAll(c.tag)) {
      if (!is(e)) continue;
      if (c.kind === 'renamed') rename(e);
      if (c.kind === 'gone') { e.style.setProperty('display', 'none', 'important'); hit(); }
    }
  };
  const watch = (root) => {
    apply(root);
    new MutationObserver(() => apply(root)).observe(root, { childList: true, subtree: true });
  };
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options);
    watch(root);
    return root;
  };
  if (c.kind !== 'deaf') {
    watch(document);
    return;
  }
  for (const name of [
    'pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick', 'keydown', 'keypress', 'keyup',
    'beforeinput', 'input', 'change', 'dragstart', 'touchstart', 'touchend'
  ]) {
    addEventListener(
      name,
      (event) => {
        const about =
          c.tag === ''
            ? event.type.startsWith('key')
            : event
                .composedPath()
                .some(
                  (e) =>
                    (e instanceof Element && (is(e) || [...(e.labels || [])].some(is))) ||
                    (e instanceof HTMLLabelElement && e.control && is(e.control))
                );
        if (!about) return;
        hit();
        event.stopImmediatePropagation();
        if (
          /^(?:click|keydown|mousedown|pointerdown|dragstart)$/.test(name) &&
          (name !== 'keydown' || event.key === 'Enter' || c.tag === '')
        )
          event.preventDefault();
      },
      true
    );
  }
};
