// Makes the session logs hosted_*_damaged*.json: the events of a hosted agent as the real extension's own store of them
// leaves them, with the page that they are about. OUTRIDER_PEERS names the folder that has the extension.
//   OUTRIDER_PEERS=... node evidence/replay/testdata/hosted-logs.mjs
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const store = await import(
  pathToFileURL(path.join(process.env.OUTRIDER_PEERS, 'extension/src/agent/session-memory-store.mjs'))
);
const here = path.dirname(new URL(import.meta.url).pathname);
const form =
  '<!doctype html><title>Form</title><form onsubmit="event.preventDefault()"><textarea id="who"></textarea><button ' +
  'id="send">Send</button></form><p id="p"></p>';
const start = Date.parse('2025-10-09T08:53:20.000Z');
const origin = '{{ORIGIN}}';

// A call of the hosted agent: the background routes it and writes that as it is, the agent's page writes the rest.
async function log(calls) {
  const kept = {};
  const storage = {
    get: async (k) => ({ [k]: kept[k] }),
    set: async (o) => Object.assign(kept, JSON.parse(JSON.stringify(o))),
    remove: async (k) => {
      delete kept[k];
    }
  };
  let n = 0;
  const head = () => {
    n += 5;
    return { id: `event-${start + n}-aaaaaa`, timestamp: new Date(start + n).toISOString() };
  };
  await store.recordAgentMemoryEvent(storage, { ...head(), type: 'session', summary: 'session begins' });
  await store.recordAgentMemoryEvent(storage, { ...head(), type: 'transcript', role: 'user', text: 'please\nsend' });
  for (const [name, args, output, ok = true] of calls) {
    const call_id = `call_${n}`;
    await store.recordAgentMemoryEvent(storage, {
      ...head(),
      type: 'realtime',
      name: 'actions_json.tool.running',
      ok: true,
      summary: `${name} running in background.`,
      input: { call_id, sequence_key: 'default' }
    });
    const memory = kept[store.AGENT_MEMORY_STORAGE_KEY];
    memory.events.push({
      ...head(),
      type: 'routing',
      name: 'background.hosted_tool.routing',
      ok: true,
      summary: 'routed',
      input: {
        tool: name,
        call_id,
        active_tab_id: 7,
        active_tab_url: `${origin}/`,
        active_tab_source: 'claimed_active_tab',
        requested_target_url_contains: null
      },
      output: { route: 'extension_local', ok: true, primitive: name, error_code: null, error_message: null }
    });
    await store.recordAgentMemoryEvent(storage, {
      ...head(),
      type: 'tool',
      name,
      ok,
      summary: `${name} ${ok ? 'completed' : 'failed'}.`,
      input: { call_id, arguments: args },
      output
    });
  }
  return store.getAgentSessionLog(storage)
}

const event = (n) => `event-${start + n}-aaaaaa`;
const insert = (text) => [
  'text.insert',
  { target: { selector: '#who' }, text, mode: 'replace' },
  { ok: true, primitive: 'text.insert', adapter: 'extension' }
];
const read = [
  'locator.element_info',
  { locator: { selector: '#send' } },
  { ok: true, primitive: 'locator.element_info', adapter: 'extension' }
];
const missing = (n, pointer, why) => ({ verdict: 'cannot_be_replayed', missing: [[event(n), pointer, why]] });
const again = (calls) => ({ verdict: 'reproduced', calls, lenient_outputs: true });
const many = Array.from({ length: 25 }, (_, i) => `item ${i}`);
const map = {
  protocol: 'actions.json',
  version: 1,
  surface: { name: 'Form' },
  tools: [
    {
      name: 'form.write_all',
      description: 'Writes all.',
      input_schema: { type: 'object', properties: { items: { type: 'array', maxItems: 30 } } },
      workflow: {
        version: 1,
        expression_language: 'jsonata',
        steps: [
          {
            id: 'write',
            primitive: 'text.insert',
            args: { target: { selector: '#who' }, text: "{% $join(input.items, ' ') %}" }
          }
        ]
      }
    }
  ]
};
const all = ['actions.site', { mode: 'call', action: 'form.write_all', arguments: { items: many } }, { ok: true }];

const cases = {
  ship: [[insert('🚢 ' + 'sailing on '.repeat(60))], missing(25, '/text', 'cut'), { '/text': '🚢 sails' }],
  blank: [[read, insert('  \n ')], missing(40, '/text', 'blank'), { '/text': '  \n ' }],
  key: [[insert('sk-proj-abcdefghijkl')], missing(25, '/text', 'redacted'), { '/text': 'sk-proj-abcdefghijkl' }],
  picture: [
    [insert('data:image/png;base64,iVBORw0KGgo=')],
    missing(25, '/text', 'omitted'),
    { '/text': 'data:image/png;base64,iVBORw0KGgo=' }
  ],
  list: [[all], missing(25, '/items', 'cut'), { '/items': many }, map]
};
for (const [name, [calls, expect, fill, m]] of Object.entries(cases)) {
  const made = { page: form, ...(m && { map: m }), log: await log(calls) };
  const at = expect.missing[0][0];
  writeFileSync(path.join(here, `hosted_damaged_${name}.json`), JSON.stringify({ ...made, expect }, null, 1) + '\n');
  writeFileSync(
    path.join(here, `hosted_damaged_${name}_filled.json`),
    JSON.stringify({ ...made, fill: { values: { [at]: fill } }, expect: again(calls.length) }, null, 1) + '\n'
  );
}
