// Makes the session logs of testdata/real: runs workflows on pages with the real extension behind a real bridge, and
// writes what runtime.session.log gives, with the page and the map. Names of the machine are masked.
// OUTRIDER_PEERS names the folder with peers.mjs, the harness of the peers.
//   OUTRIDER_PEERS=... node evidence/replay/testdata/session-logs.mjs
import { mkdirSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const { bridge, chromeExt, mkroot, stopAll, until } =
  await import(pathToFileURL(path.join(process.env.OUTRIDER_PEERS, 'peers.mjs')))

const at = (selector) => ({ locator: { selector } });
const info = (id, selector) => ({ id, primitive: 'locator.element_info', args: at(selector) });
const center = (id) => ({
  x: `{% steps.${id}.output.clickable_center.x %}`,
  y: `{% steps.${id}.output.clickable_center.y %}`
});
const click = (id, selector) => [
  info(`find_${id}`, selector),
  { id, primitive: 'pointer.click', args: center(`find_${id}`) }
];
const insert = (id, selector, text, more = {}) => ({
  id,
  primitive: 'text.insert',
  args: { target: { selector }, text, mode: 'replace', ...more }
});
const wait = (id, selector, state = 'visible', timeout = 400) => ({
  id,
  primitive: 'locator.wait_for',
  args: { ...at(selector), state, timeout_ms: timeout }
});
const text = (id, selector) => ({ id, primitive: 'locator.text_content', args: at(selector) });
const said = '<p id="said" role="status"></p>';
const form =
  `<form onsubmit="event.preventDefault();said.textContent='thanks '+who.value">` +
  `<input id="who"><button id="send">Send</button></form>${said}`;

// name, page, steps, arguments, and for some the quirks that explain that it goes otherwise in strict
const cases = [
  [
    'works',
    form,
    [insert('write', '#who', '{% input.text %}'), ...click('send', '#send'), text('read', '#said')],
    { text: 'Ada' }
  ],
  [
    'works_with_lines_and_marks',
    `<textarea id="who"></textarea>${said}`,
    [insert('write', '#who', '{% input.text %}')],
    { text: 'Grüße\n“zwei” Zeilen 🚢' }
  ],
  ['works_without_arguments', form, [text('read', '#send')], {}],
  [
    'for_each_without_a_bound',
    '<ul><li>a<li>b</ul>',
    [{ id: 'each', primitive: 'locator.text_content', for_each: '{% input.items %}', args: at('li') }],
    { items: ['a', 'b'] }
  ],
  [
    'skips_a_step',
    form,
    [{ ...insert('write', '#who', 'x'), when: '{% input.write %}' }, text('read', '#send')],
    { write: false }
  ],
  ['misses_an_element', form, [info('find', '#gone')], {}],
  ['misses_at_the_second_step', form, [insert('write', '#who', 'x'), info('find', '#gone'), text('read', '#said')], {}],
  ['misses_a_field', form, [insert('write', '#nobody', 'x')], {}],
  ['reads_what_is_gone', form, [text('read', '#gone')], {}],
  ['bad_selector', form, [text('read', 'p[')], {}],
  ['bad_expression', form, [insert('write', '#who', '{% $nothing(input.text) %}')], { text: 'x' }],
  ['unknown_primitive', form, [{ id: 'odd', primitive: 'overlay.menu.hide', args: {} }], {}, ['overlay_menu_throws']],
  ['wait_swallowed', form, [wait('gone', '#gone')], {}],
  [
    'wait_swallowed_before_a_click',
    form,
    [wait('gone', '#gone'), insert('write', '#who', 'x'), ...click('send', '#send')],
    {}
  ],
  ['wait_attached_but_hidden', `<p id="h" hidden>x</p>`, [wait('there', '#h', 'attached')], {}],
  ['element_hidden', `<button id="b" style="display:none">B</button>${said}`, [...click('press', '#b')], {}],
  [
    'element_covered',
    `<button id="b" onclick="said.textContent='clicked'">B</button><div style="position:fixed;inset:0"></div>${said}`,
    [...click('press', '#b'), text('read', '#said')],
    {}
  ],
  ['element_disabled', `<button id="b" disabled>B</button>${said}`, [...click('press', '#b')], {}],
  [
    'element_late',
    `${said}<script>setTimeout(()=>{const b=document.createElement('button');b.id='b';b.textContent='B';` +
      `document.body.append(b)},150)</script>`,
    [wait('there', '#b', 'visible', 3000), ...click('press', '#b')],
    {}
  ],
  ['element_in_a_frame', `<iframe srcdoc="<button id=b>B</button>"></iframe>`, [info('find', '#b')], {}],
  [
    'element_in_a_shadow_tree',
    `<x-b></x-b><script>customElements.define('x-b',class extends HTMLElement{constructor(){super();` +
      `this.attachShadow({mode:'open'}).innerHTML='<button id=b>B</button>'}})</script>`,
    [info('find', '#b')],
    {}
  ],
  [
    'element_below_the_fold',
    `<div style="height:3000px"></div><button id="b" onclick="said.textContent='clicked'">B</button>${said}`,
    [...click('press', '#b')],
    {}
  ],
  [
    'selector_with_a_comma',
    `<button data-x="a,b" id="x">One</button><button>b"]</button>`,
    [text('read', '[data-x="a,b"]')],
    {}
  ],
  ['blank_selector', form, [text('read', ' ')], {}, ['blank_selector']],
  [
    'text_names_a_control',
    '<label>Name <input id="n" value="x"></label><p>Other</p>',
    [{ id: 'find', primitive: 'locator.element_info', args: { locator: { text: 'x' } } }],
    {}
  ],
  [
    'page_wants_trusted_clicks',
    `<button id="b" onclick="if(event.isTrusted)said.textContent='trusted'">B</button>${said}`,
    [...click('press', '#b'), wait('thanks', '#said:not(:empty)')],
    {}
  ],
  [
    'page_wants_trusted_keys',
    `<input id="i" autofocus onkeydown="if(event.isTrusted&&event.key==='Enter')said.textContent='entered'">${said}`,
    [
      insert('write', '#i', 'x'),
      { id: 'enter', primitive: 'keyboard.press', args: { key: 'Enter' } },
      text('read', '#said')
    ],
    {}
  ],
  ['checkbox_is_typed_into', `<input id="c" type="checkbox">`, [insert('write', '#c', 'yes')], {}],
  ['number_is_typed_into', `<input id="n" type="number">`, [insert('write', '#n', 'seven')], {}],
  ['field_is_read_only', `<input id="r" readonly value="old">`, [insert('write', '#r', 'new')], {}],
  [
    'field_limits_its_length',
    `<input id="m" maxlength="3">`,
    [insert('write', '#m', 'abcdef'), info('read', '#m')],
    {}
  ],
  [
    'page_answers_with_an_error',
    `<button id="b" onclick="throw new Error('bug')">B</button>${said}`,
    [...click('press', '#b'), wait('thanks', '#said:not(:empty)')],
    {}
  ],
  [
    'page_removes_the_element',
    `<button id="b" onmousedown="this.remove()">B</button>${said}`,
    [...click('press', '#b'), info('again', '#b')],
    {}
  ]
];

const tool = (name, steps) => ({
  name: `log.${name}`, description: name.replaceAll('_', ' '), input_schema: { type: 'object' },
  workflow: { version: 1, expression_language: 'jsonata', steps }
})
const mapOf = (tools) => ({ protocol: 'actions.json', version: 1, surface: { name: 'Logs' }, tools })
const pageOf = (body) => `<!doctype html><title>Log</title>${body}`

const server = http.createServer((q, r) => {
  const c = cases[Number(q.url.match(/^\/(\d+)/)?.[1])]
  r.writeHead(c ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' })
  r.end(c ? pageOf(c[1]) : '')
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${server.address().port}`
const out = process.env.OUT ?? path.join(import.meta.dirname, 'real')
mkdirSync(out, { recursive: true })

const root = mkroot({
  'scopes/private/sites/127.0.0.1/logs/actions.json': mapOf(cases.map(([name, , steps]) => tool(name, steps)))
});
const b = await bridge({ root });
await b.rpc('initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'logs', version: '1' }
});
b.notify('notifications/initialized');
const x = await chromeExt();
const first = `${origin}/0`;
const target = await x.open(first);
await x.claim(first, b.ws);
await b.waitRuntimes(1);
const page = await x.page(target);
await until(async () => (await b.call('actions.site', { mode: 'list' })).body.ok, 15000);

const eventsOf = async () => {
  const { body } = await b.call('runtime.session.log', {})
  return (body.output?.value ?? body.value ?? body.output ?? body).events ?? []
}
const masked = (events) => {
  const names = new Map()
  const name = (v, kind) => { if (!names.has(v)) names.set(v, `${kind}-${names.size + 1}`); return names.get(v) }
  return JSON.parse(JSON.stringify(events).replaceAll(origin, '{{ORIGIN}}'), (key, v) => {
    if (typeof v === 'string' && /^(call_id|runtime_id|runtime_key|authorization_id|visitorId|session_id)$/.test(key))
      return name(v, key);
    if (key === 'tab_id' && typeof v === 'number') return 7;
    return typeof v === 'string' ? v.replaceAll(/\/(home|tmp|root)\/[^\s"]*/g, '/…') : v;
  });
};

for (const [i, [name, body, steps, args, quirks]] of cases.entries()) {
  const url = `${origin}/${i}`
  await page.nav(url)
  const known = new Set()
  try {
    await until(async () => {
      const { runtimes = [] } = await b.runtimes()
      return runtimes.length === 1 && (runtimes[0].url ?? runtimes[0].page?.url ?? runtimes[0].target?.url) === url
    }, 15000)
    for (const e of await eventsOf()) known.add(e.id)
    const answer = await b.call('actions.site', { mode: 'call', action: `log.${name}`, arguments: args })
    const events = await until(async () => {
      const list = (await eventsOf()).filter((e) => !known.has(e.id));
      return list.some((e) => e.type === 'workflow') && list;
    }, 5000);
    const file = { quirks, page: pageOf(body), map: mapOf([tool(name, steps)]), log: masked(events) };
    writeFileSync(path.join(out, `${name}.json`), JSON.stringify(file, null, 1) + '\n');
    const w = events.find((e) => e.type === 'workflow');
    console.log(
      name,
      w.ok,
      w.output?.code ?? w.output?.error?.code ?? '',
      JSON.stringify(w.steps?.map((s) => [s.id, s.ok]))
    );
    if (process.env.VERBOSE) console.log(JSON.stringify(answer.body).slice(0, 300));
  } catch (error) {
    console.log(name, 'NO LOG', String(error).slice(0, 200))
  }
}
await x.stop()
b.stop()
await stopAll()
server.close()
process.exit(0)
