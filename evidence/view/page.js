
'use strict';
(async () => {
  const $ = (id) => document.getElementById(id);
  const make = (name, attributes = {}, ...children) => {
    const e = document.createElement(name);
    for (const [k, v] of Object.entries(attributes))
      if (v !== undefined && v !== false) e.setAttribute(k, v === true ? '' : v);
    e.append(...children.filter((c) => c !== null && c !== undefined));
    return e;
  };
  const took = (ms) =>
    ms < 1000
      ? Math.round(ms) + ' ms'
      : ms < 60000
        ? (ms / 1000).toFixed(ms < 10000 ? 2 : 1) + ' s'
        : Math.floor(ms / 60000) + ' min ' + Math.round((ms % 60000) / 1000) + ' s';
  const size = (n) =>
    n < 1024 ? n + ' B' : n < 1048576 ? (n / 1024).toFixed(1) + ' KiB' : (n / 1048576).toFixed(1) + ' MiB';
  const pretty = (v) => (typeof v === 'string' ? v : JSON.stringify(v, null, 2));
  const section = (title, ...content) => [make('h3', {}, title), ...content];
  const none = (text) => make('p', { class: 'none' }, text);

  let model;
  try {
    model = await (await fetch('model.json')).json();
  } catch (error) {
    $('title').textContent = 'The recording cannot be read: ' + error;
    return;
  }
  const { rows } = model;
  const clock = (t) => took(t - model.since_ms);

  document.title = (model.failed ? '✗ ' : '') + model.title + ' · Outrider';
  $('title').textContent = model.title;
  const facts = [make('b', {}, String(model.calls)), ' calls'];
  if (model.failed) facts.push(', ', make('b', { class: 'bad' }, model.failed + ' failed'));
  facts.push(' · ' + took(model.duration_ms) + ' · ' + new Date(model.started).toLocaleString());
  for (const more of [
    model.program,
    model.browser,
    model.profile && 'profile ' + model.profile,
    model.cut && 'cut: what wrote it was ended'
  ])
    if (more) facts.push(' · ' + more);
  $('facts').append(...facts);

  // The list.
  const list = $('rows'), closed = new Set(), items = new Map();
  const parents = new Map(); // of each row, the nearest row above it that is less deep
  const stack = [];
  rows.forEach((row, i) => {
    while (stack.length && stack[stack.length - 1].depth >= row.depth) stack.pop();
    parents.set(row.id, stack.length ? stack[stack.length - 1].id : '');
    row.parent = Boolean(rows[i + 1] && rows[i + 1].depth > row.depth);
    stack.push(row);
    if (row.depth === 0 && row.parent && row.ok) closed.add(row.id);
  });
  const shownUnder = (row) => {
    for (let p = parents.get(row.id); p; p = parents.get(p)) if (closed.has(p)) return false;
    return true;
  };
  for (const row of rows) {
    const li = make(
      'li',
      {
        role: 'treeitem',
        id: 'row-' + row.id,
        'aria-level': row.depth + 1,
        class: row.open ? 'open' : row.ok ? undefined : 'bad'
      },
      make('span', { class: 'twist', 'aria-hidden': true }),
      make('span', { class: 'dot', 'aria-hidden': true }),
      make(
        'span',
        { class: 'what' },
        make('b', {}, row.title),
        row.target ? make('span', {}, ' ' + row.target) : null,
        row.code ? make('span', {}, ' · ' + row.code) : null
      ),
      make('span', { class: 'took' }, row.open ? 'no end' : took(row.end - row.t))
    );
    li.style.setProperty('--depth', row.depth);
    li.title = row.title + (row.target ? ' ' + row.target : '');
    items.set(row.id, li);
    li.addEventListener('click', (event) => { if (event.target.className === 'twist') toggle(row); choose(row); });
    list.append(li);
  }
  const byID = new Map(rows.map((r) => [r.id, r]));

  function refresh() {
    const words = $('find').value.trim().toLowerCase(),
      onlyFailed = $('failed').getAttribute('aria-pressed') === 'true';
    const filtered = Boolean(words) || onlyFailed;
    const wanted = new Set();
    for (const row of rows) {
      if (onlyFailed && row.ok && !row.open) continue;
      if (words && !(row.title + ' ' + (row.target || '') + ' ' + (row.code || '')).toLowerCase().includes(words))
        continue;
      for (let id = row.id; id; id = parents.get(id)) wanted.add(id);
    }
    let shown = 0;
    for (const row of rows) {
      const li = items.get(row.id), visible = filtered ? wanted.has(row.id) : shownUnder(row);
      li.hidden = !visible;
      if (visible) shown++;
      const open = filtered || !closed.has(row.id);
      if (row.parent) { li.setAttribute('aria-expanded', open); li.firstChild.textContent = open ? '▾' : '▸'; }
    }
    $('count').textContent = filtered ? shown + ' of ' + rows.length + ' rows' : '';
  }
  function toggle(row, open = closed.has(row.id)) {
    if (!row.parent) return;
    if (open) closed.delete(row.id); else closed.add(row.id);
    refresh();
  }

  // The film.
  const film = $('film'), frames = [];
  if (model.pictures.length) {
    film.hidden = false;
    const most = 24, step = Math.max(1, model.pictures.length / most);
    for (let i = 0; i < model.pictures.length; i += step) {
      const p = model.pictures[Math.floor(i)];
      const b = make(
        'button',
        { type: 'button', 'aria-label': 'At ' + clock(p.t) },
        make('img', { src: 'picture/' + p.name, alt: '', loading: 'lazy' })
      );
      b.addEventListener('click', () => {
        const row = rows.findLast((r) => r.t <= p.t) || rows[0];
        if (row) {
          reveal(row);
          choose(row, 'picture');
        }
      });
      frames.push([p, b]);
      film.append(b);
    }
  }
  function reveal(row) { for (let p = parents.get(row.id); p; p = parents.get(p)) closed.delete(p); refresh(); }

  // The document.
  let chosen = null, phase = 'after', tab = 'call', detail = null;
  const shot = $('shot');
  const pictureAt = (row) => model.pictures.findLast((p) => p.t <= row.end + 300) || null;
  const phases = [['before', 'Before'], ['after', 'After'], ['picture', 'Picture']];
  const tabButton = (group, id, label, onclick) => {
    const b = make(
      'button',
      { type: 'button', role: 'tab', id: group + '-' + id, 'aria-selected': false, tabindex: -1 },
      label
    );
    b.addEventListener('click', onclick);
    b.addEventListener('keydown', (event) => {
      const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!move) return;
      event.preventDefault();
      event.stopPropagation();
      const all = [...b.parentNode.children].filter((e) => !e.disabled),
        next = all[(all.indexOf(b) + move + all.length) % all.length];
      next.focus();
      next.click();
    });
    return b;
  };
  for (const [id, label] of phases)
    $('phases').append(
      tabButton('phase', id, label, () => {
        phase = id;
        draw();
      })
    );
  const select = (group, id) => {
    for (const b of group.children) {
      const on = b.id.endsWith('-' + id);
      b.setAttribute('aria-selected', on);
      b.tabIndex = on ? 0 : -1;
    }
  };
  function draw() {
    const has = {
      before: chosen && chosen.before,
      after: chosen && chosen.after,
      picture: chosen && pictureAt(chosen)
    };
    for (const [id] of phases) $('phase-' + id).disabled = !has[id];
    const now = has[phase] ? phase : ['after', 'before', 'picture'].find((p) => has[p]);
    select($('phases'), now || phase);
    $('address').textContent = chosen && (now && now !== 'before' && chosen.after_url || chosen.url) || '';
    shot.replaceChildren();
    if (!now) {
      shot.append(
        none(
          chosen
            ? 'There is no document for this row: it did not act on the page, or pages were not recorded.'
            : 'Choose a call.'
        )
      );
      return;
    }
    if (now === 'picture') {
      shot.append(make('img', { src: 'picture/' + has.picture.name, alt: 'The page at ' + clock(has.picture.t) }));
      return;
    }
    const frame = make('iframe', {
      sandbox: '',
      src: 'snapshot/' + encodeURIComponent(chosen.id + '.' + now),
      title: 'The document ' + now + ' ' + chosen.title,
      referrerpolicy: 'no-referrer'
    });
    shot.append(frame);
    fit();
  }
  function fit() {
    const frame = shot.querySelector('iframe');
    if (!frame || !chosen) return;
    const w = chosen.w || 1280,
      h = chosen.h || 720,
      scale = Math.min((shot.clientWidth - 24) / w, (shot.clientHeight - 24) / h, 1);
    frame.style.width = w + 'px';
    frame.style.height = h + 'px';
    frame.style.transform = 'scale(' + scale + ')';
    frame.style.left = (shot.clientWidth - w * scale) / 2 + 'px';
    frame.style.top = (shot.clientHeight - h * scale) / 2 + 'px';
  }
  new ResizeObserver(fit).observe(shot);

  // The details.
  const during = (entry) => chosen && entry.t >= chosen.t - 1 && entry.t <= chosen.end + 150;
  const tabs = {
    call: [
      'Call',
      () => {
        const d = detail,
          out = [];
        if (!d) return [none('Choose a call.')];
        if (d.error)
          out.push(make('p', { class: 'error' }, (d.error.code || 'failed') + ': ' + (d.error.message || '')));
        if (d.arguments) out.push(...section('Arguments', make('pre', {}, pretty(d.arguments))));
        if (d.error) out.push(...section('Error', make('pre', {}, pretty(d.error))));
        if (d.output !== undefined) out.push(...section('Result', make('pre', {}, pretty(d.output))));
        if (d.steps) out.push(...section('Steps', make('pre', {}, pretty(d.steps))));
        if (d.effects) out.push(...section('Effects', make('pre', {}, pretty(d.effects))));
        const table = make(
          'table',
          {},
          make(
            'tbody',
            {},
            ...[
              ['began', clock(chosen.t)],
              ['took', took(chosen.end - chosen.t)],
              ['waited for pacing', d.wait_ms && took(d.wait_ms)],
              ['page', d.url],
              ['page afterwards', d.url_after !== d.url && d.url_after],
              ['tab', chosen.tab]
            ]
              .filter(([, v]) => v)
              .map(([k, v]) => make('tr', {}, make('th', { scope: 'row' }, k), make('td', {}, String(v))))
          )
        );
        out.push(...section('When and where', table));
        return out;
      }
    ],
    target: [
      'Target',
      () => {
        const t = detail && detail.target;
        if (!t || !t.element) return [none('This row is about no element.')];
        const e = t.element,
          facts = [
            ['role', e.role],
            ['name', e.name],
            ['tag', e.tag],
            ['text', e.text],
            ['secret', t.secret && 'yes: what it holds is not recorded'],
            ['box', t.box && `${t.box.x}, ${t.box.y}, ${t.box.width} × ${t.box.height}`]
          ];
        return [
          ...section(
            'Element',
            make(
              'table',
              {},
              make(
                'tbody',
                {},
                ...facts
                  .filter(([, v]) => v)
                  .map(([k, v]) => make('tr', {}, make('th', { scope: 'row' }, k), make('td', {}, String(v))))
              )
            )
          ),
          ...section(
            'Locators, the one that should last longest first',
            make('pre', {}, (t.candidates || []).map((c) => JSON.stringify(c)).join('\n') || '—')
          ),
          ...section('Attributes', make('pre', {}, pretty(e.attributes || {})))
        ];
      }
    ],
    changes: [
      'Changes',
      () => {
        const d = detail || {},
          out = [];
        if (d.states)
          out.push(
            ...section(
              'States of the map',
              ...(d.states.before || [])
                .filter((s) => !(d.states.after || []).includes(s))
                .map((s) => make('p', { class: 'gone' }, s)),
              ...(d.states.after || [])
                .filter((s) => !(d.states.before || []).includes(s))
                .map((s) => make('p', { class: 'new' }, s))
            )
          );
        for (const p of d.projections || [])
          out.push(
            ...section(
              'State ' + p.name,
              make(
                'p',
                {},
                p.code ? 'not read: ' + p.code : p.patches ? '' : 'unchanged or read first',
                p.state
                  ? make('a', { href: 'body/' + p.state, target: '_blank', rel: 'noreferrer' }, 'the whole state')
                  : null
              ),
              ...(p.patches || []).map((o) =>
                make(
                  'p',
                  { class: o.op === 'remove' ? 'gone' : 'new' },
                  o.op +
                    ' ' +
                    o.path +
                    (o.from ? ' from ' + o.from : '') +
                    ('value' in o ? ' ' + JSON.stringify(o.value) : '')
                )
              )
            )
          );
        const lines = [
          ...(d.gone || []).map((l) => make('p', { class: 'gone' }, l)),
          ...(d.new || []).map((l) => make('p', { class: 'new' }, l))
        ];
        if (lines.length) out.push(...section('Text of the page', ...lines));
        return out.length ? out : [none('The text of the page did not change.')];
      }
    ],
    console: [
      'Console',
      () =>
        timed(
          model.console,
          (l) => [make('td', {}, l.text, l.place ? make('div', { class: 'mono' }, l.place) : null)],
          (l) => ({ error: 'bad', exception: 'bad', warning: 'warn' })[l.kind]
        )
    ],
    network: [
      'Network',
      () =>
        timed(
          model.requests,
          (q) => [
            make('td', { class: 'n' }, q.failure ? 'failed' : String(q.status || '—')),
            make(
              'td',
              {},
              q.method + ' ' + q.url,
              q.failure ? make('div', {}, q.failure) : null,
              make(
                'div',
                {},
                ...[q.sent && ['body sent', q.sent], q.body && ['body ' + size(q.size), q.body]]
                  .filter(Boolean)
                  .flatMap(([label, name]) => [
                    make('a', { href: 'body/' + name, target: '_blank', rel: 'noreferrer' }, label),
                    ' '
                  ]),
                q.missing || null
              )
            ),
            make('td', { class: 'n' }, q.type),
            make('td', { class: 'n' }, took(q.ms))
          ],
          (q) => (q.failure || q.status >= 400 ? 'bad' : '')
        )
    ],
    events: ['Events', () => timed(model.happened, (l) => [make('td', { class: 'n' }, l.kind), make('td', {}, l.text)])]
  };
  function timed(entries, cells, kind = () => '') {
    if (!entries.length) return [none('Nothing was recorded.')];
    const own = chosen ? entries.filter(during) : [],
      shown = own.length ? own : entries.slice(0, 2000);
    const note = own.length
      ? own.length + ' during this row, of ' + entries.length
      : (chosen ? 'None during this row. All ' : '') + entries.length;
    return [
      make('h3', {}, note),
      make(
        'table',
        {},
        make(
          'tbody',
          {},
          ...shown.map((e) =>
            make('tr', { class: kind(e) || undefined }, make('td', { class: 'n' }, clock(e.t)), ...cells(e))
          )
        )
      )
    ];
  }
  for (const [id, [label]] of Object.entries(tabs))
    $('tabs').append(
      tabButton('tab', id, label, () => {
        tab = id;
        describe();
      })
    );
  function counts() {
    const put = (id, n, bad) => {
      const b = $('tab-' + id);
      b.querySelector('i')?.remove();
      if (n) b.append(make('i', { class: bad ? 'bad' : undefined }, String(n)));
    };
    const own = (list) => list.filter(during);
    const c = own(model.console), q = own(model.requests);
    put('console', c.length, c.some((l) => l.kind === 'error' || l.kind === 'exception'));
    put('network', q.length, q.some((r) => r.failure || r.status >= 400));
    put('events', own(model.happened).length);
    put(
      'changes',
      detail
        ? (detail.gone || []).length +
            (detail.new || []).length +
            (detail.projections || []).reduce((n, p) => n + (p.patches || []).length, 0)
        : 0
    );
  }
  function describe() {
    select($('tabs'), tab);
    $('detail').setAttribute('aria-labelledby', 'tab-' + tab);
    $('detail').replaceChildren(...tabs[tab][1]());
    $('detail').scrollTop = 0;
    counts();
  }
  async function choose(row, wanted) {
    if (chosen) items.get(chosen.id).setAttribute('aria-selected', false);
    chosen = row; detail = null;
    if (wanted) phase = wanted;
    const li = items.get(row.id);
    li.setAttribute('aria-selected', true);
    list.setAttribute('aria-activedescendant', li.id);
    li.scrollIntoView({ block: 'nearest' });
    for (const [p, b] of frames) b.removeAttribute('aria-current');
    frames.findLast(([p]) => p.t <= row.end)?.[1].setAttribute('aria-current', true);
    history.replaceState(null, '', '#' + row.id);
    draw();
    const answer = await (await fetch('row/' + encodeURIComponent(row.id))).json();
    if (chosen === row) { detail = answer; describe(); }
  }
  const visible = () => rows.filter((r) => !items.get(r.id).hidden);
  function move(by) {
    const all = visible(), at = all.indexOf(chosen);
    const next = all[Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + by))];
    if (next) choose(next);
  }
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $('help').open) return;
    if (event.target.id === 'find') {
      if (event.key === 'Escape') {
        $('find').value = '';
        refresh();
        list.focus();
      }
      return;
    }
    const inDetail = $('detail').contains(event.target);
    const keys = {
      ArrowDown: () => inDetail || move(1),
      ArrowUp: () => inDetail || move(-1),
      j: () => move(1),
      k: () => move(-1),
      Home: () => inDetail || move(-1e9),
      End: () => inDetail || move(1e9),
      ArrowRight: () => chosen && (chosen.parent && closed.has(chosen.id) ? toggle(chosen, true) : move(1)),
      ArrowLeft: () =>
        chosen &&
        (chosen.parent && !closed.has(chosen.id)
          ? toggle(chosen, false)
          : byID.get(parents.get(chosen.id)) && choose(byID.get(parents.get(chosen.id)))),
      e: () => {
        const bad = rows.filter((r) => !r.ok),
          after = bad.find((r) => rows.indexOf(r) > rows.indexOf(chosen)) || bad[0];
        if (after) {
          reveal(after);
          choose(after);
        }
      },
      b: () => {
        phase = 'before';
        draw();
      },
      a: () => {
        phase = 'after';
        draw();
      },
      p: () => {
        phase = 'picture';
        draw();
      },
      '/': () => $('find').focus(),
      '?': () => $('help').showModal()
    };
    const name = Object.keys(tabs)[Number(event.key) - 1];
    if (name) { tab = name; describe(); event.preventDefault(); return; }
    const act = keys[event.key];
    if (act && act() !== true) event.preventDefault();
  });
  $('find').addEventListener('input', refresh);
  $('failed').addEventListener('click', () => {
    $('failed').setAttribute('aria-pressed', $('failed').getAttribute('aria-pressed') !== 'true');
    refresh();
  });
  $('keys').addEventListener('click', () => $('help').showModal());
  refresh();
  const first = byID.get(location.hash.slice(1)) || rows.find((r) => !r.ok && r.depth === 0) || rows[0];
  if (first) {
    reveal(first);
    choose(first);
  } else {
    $('rows').append(none('The recording has no call.'));
    describe();
    draw();
  }
  list.focus();
})();
