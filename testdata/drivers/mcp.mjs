#!/usr/bin/env node
// mcp does over the Model Context Protocol what main.go and playwright.mjs beside it do in their own programs; the
// lines are the same. Its arguments are the command of a server, over standard input and output. It needs node, and
// knows the tools of Outrider, @playwright/mcp, chrome-devtools-mcp and agent-browser by their names.
//
// For heavy pages there are further lines: look takes a snapshot, press clicks the button that it shows and write TEXT
// fills the field, each by the ref that the snapshot has; size is how many characters the snapshot has.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

const text = 'the quick brown fox jump';

class Server {
  static async start(command) {
    const server = new Server();
    server.folder = await mkdtemp(path.join(tmpdir(), 'drivers-')); // servers write files where they are started
    server.process = spawn(command[0], command.slice(1), {
      stdio: ['pipe', 'pipe', 'ignore'], cwd: server.folder, env: { ...process.env, ...agentBrowserEnv(server.folder) },
    });
    server.waiting = new Map();
    server.last = 0;
    const ended = (error) => {
      for (const { reject } of server.waiting.values()) reject(error);
    };
    server.process.on('error', ended);
    server.process.on('exit', () => ended(new Error('the server ended')));
    createInterface({ input: server.process.stdout }).on('line', (line) => {
      const answer = JSON.parse(line);
      const call = server.waiting.get(answer.id);
      if (!call || answer.method) return;
      server.waiting.delete(answer.id);
      if (answer.error) call.reject(new Error(answer.error.message));
      else call.resolve(answer.result);
    });
    server.about = await server.ask('initialize', {
      protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'drivers', version: '1' },
    });
    server.send({ method: 'notifications/initialized' });
    const { tools } = await server.ask('tools/list', {});
    const has = (name) => tools.some((tool) => tool.name === name);
    server.ops = outrider;
    if (has('browser_navigate')) server.ops = playwright;
    if (has('navigate_page')) server.ops = devTools;
    if (has('agent_browser_open')) server.ops = agentBrowser;
    return server;
  }

  send(message) {
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  ask(method, params) {
    return new Promise((resolve, reject) => {
      this.waiting.set(++this.last, { resolve, reject });
      this.send({ id: this.last, method, params });
    });
  }

  /** call runs a tool, and gives its text. */
  async call(name, args) {
    const result = await this.ask('tools/call', { name, arguments: args });
    const said = result.content.map((part) => part.text ?? '').join('\n');
    if (result.isError) throw new Error(said);
    return said;
  }

  async end() {
    await this.ops.close?.(this);
    await new Promise((resolve) => {
      this.process.on('exit', resolve);
      this.process.stdin.end();
    });
    await rm(this.folder, { recursive: true, force: true });
  }
}

const outrider = {
  navigate: (s, url) => s.call('tabs', { action: 'navigate', url }),
  click: (s) => s.call('act', { action: 'click', locator: { selector: '#go' } }),
  fill: (s) => s.call('act', { action: 'fill', locator: { selector: '#name' }, text }),
  snapshot: (s) => s.call('snapshot', {}),
  press: (s) => s.call('act', { action: 'click', ref: s.refs.go }),
  write: (s, words) => s.call('act', { action: 'fill', ref: s.refs.name, text: words }),
};

/** refOf is the name that a snapshot gives to the first element of a role. */
const refOf = (snapshot, role) => {
  const found = new RegExp(`- ${role}[^\\n]*\\[ref=([a-z0-9]+)\\]`).exec(snapshot) ??
    new RegExp(`uid=(\\S+) ${role}`).exec(snapshot);
  if (!found) throw new Error(`the snapshot has no ${role}`);
  return found[1];
};

const playwright = {
  async navigate(s, url) {
    s.page = await s.call('browser_navigate', { url });
    s.refs = null;
  },
  async refsOf(s) {
    if (s.refs) return;
    const page = await s.call('browser_snapshot', {});
    s.refs = { go: refOf(page, 'button'), name: refOf(page, 'textbox') };
  },
  click: (s) => s.call('browser_click', { element: 'the button', target: s.refs.go }),
  fill: (s) => s.call('browser_type', { element: 'the field', target: s.refs.name, text }),
  snapshot: (s) => s.call('browser_snapshot', {}),
  press: (s) => s.call('browser_click', { element: 'the button', target: s.refs.go }),
  write: (s, words) => s.call('browser_type', { element: 'the field', target: s.refs.name, text: words }),
};

const devTools = {
  async navigate(s, url) {
    s.pageId ??= Number(/^(\d+):/m.exec(await s.call('list_pages', {}))[1]);
    return s.call('navigate_page', { pageId: s.pageId, type: 'url', url });
  },
  snapshot: (s) => s.call('take_snapshot', { pageId: s.pageId }),
  press: (s) => s.call('click', { pageId: s.pageId, uid: s.refs.go }),
  write: (s, words) => s.call('fill', { pageId: s.pageId, uid: s.refs.name, value: words }),
};

const agentBrowser = {
  navigate: (s, url) => s.call('agent_browser_open', { url }),
  snapshot: (s) => s.call('agent_browser_snapshot', {}),
  press: (s) => s.call('agent_browser_click', { selector: `@${s.refs.go}` }),
  write: (s, words) => s.call('agent_browser_fill', { selector: `@${s.refs.name}`, text: words }),
  close: (s) => s.call('agent_browser_close', {}),
};

/** agentBrowserEnv gives it the browser of the others, and a place of its own for its process in the background. */
const agentBrowserEnv = (folder) => ({
  AGENT_BROWSER_EXECUTABLE_PATH: process.env.OUTRIDER_BROWSER, AGENT_BROWSER_SOCKET_DIR: folder,
  AGENT_BROWSER_NO_VERSION_CHECK: '1', AGENT_BROWSER_ARGS: process.getuid?.() === 0 ? '--no-sandbox' : '',
});

const timed = async (action) => {
  const began = performance.now();
  const value = await action();
  return [performance.now() - began, value];
};
const wanted = (is, message) => {
  if (!is) throw new Error(message);
};

const lines = {
  open: (s, url) => timed(() => s.ops.navigate(s, url)),
  navigate: (s, url) => timed(() => s.ops.navigate(s, url)),
  async first(s, url) {
    await s.ops.navigate(s, url);
    const took = await timed(() => s.ops.snapshot(s));
    wanted(took[1].includes('button'), 'the snapshot has no button');
    return took;
  },
  async click(s) {
    await s.ops.refsOf?.(s);
    return timed(() => s.ops.click(s));
  },
  async fill(s) {
    await s.ops.refsOf?.(s);
    return timed(() => s.ops.fill(s));
  },
  async snapshot(s) {
    const took = await timed(() => s.ops.snapshot(s));
    wanted(took[1].length > 5_000, `a snapshot of ${took[1].length}`);
    return took;
  },
  async look(s) {
    const took = await timed(() => s.ops.snapshot(s));
    s.size = took[1].length;
    s.refs = { go: refOf(took[1], 'button "Refresh"'), name: refOf(took[1], 'textbox "Quick filter"') };
    return took;
  },
  size: async (s) => [s.size],
  press: (s) => timed(() => s.ops.press(s)),
  write: (s, words) => timed(() => s.ops.write(s, words)),
};

const command = process.argv.slice(2);
let one = null;
for await (const line of createInterface({ input: process.stdin })) {
  const [op, arg] = line.split(/ (.*)/);
  let answer;
  try {
    if (op === 'version') {
      one ??= await Server.start(command);
      answer = one.about.serverInfo.version;
    } else if (op === 'cold') {
      let server;
      [answer] = await timed(async () => {
        server = await Server.start(command);
        await server.ops.navigate(server, arg);
      });
      await server.end();
    } else if (!lines[op]) {
      answer = 'none';
    } else {
      one ??= await Server.start(command);
      [answer] = await lines[op](one, arg);
    }
  } catch (error) {
    answer = `error: ${String(error).replace(/\s+/g, ' ')}`;
  }
  process.stdout.write(`${answer}\n`);
}
await one?.end();
