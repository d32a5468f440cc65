#!/usr/bin/env node
// shell does by commands of a shell what mcp.mjs beside it does over MCP; the lines are the same. A time is that of one
// command from its start to its end. Its arguments are the name of the program (outrider, playwright-cli or
// agent-browser), its file, and the file of the browser. It needs node.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

const [name, program, browser] = process.argv.slice(2);
const folder = await mkdtemp(path.join(tmpdir(), 'd-')); // for sockets, whose paths must be short, and what they write
const session = `drivers-${process.pid}`;

const settings = path.join(folder, 'playwright.json');
const launchOptions = { executablePath: browser, headless: true, args: ['--no-sandbox'] };
await writeFile(settings, JSON.stringify({ browser: { isolated: true, launchOptions } }));

const programs = {
  outrider: {
    env: { OUTRIDER_SESSION: session, XDG_RUNTIME_DIR: folder },
    navigate: (url) => ['open', url],
    click: ['click', '#go'],
  },
  'playwright-cli': {
    env: { PLAYWRIGHT_CLI_SESSION: session },
    begin: ['open', '--config', settings],
    navigate: (url) => ['goto', url],
    click: ['click', '#go'],
  },
  'agent-browser': {
    env: {
      AGENT_BROWSER_SESSION: session, AGENT_BROWSER_EXECUTABLE_PATH: browser, AGENT_BROWSER_ARGS: '--no-sandbox',
    },
    navigate: (url) => ['open', url],
    click: ['click', '#go'],
  },
};
const one = programs[name];

/** run runs one command, and gives the time from its start to its end. */
const run = (args) => new Promise((resolve, reject) => {
  const began = performance.now();
  const child = spawn(program, args, {
    cwd: folder, env: { ...process.env, ...one.env }, stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.on('data', (part) => { said += part; });
  child.stderr.on('data', (part) => { said += part; });
  child.on('error', reject);
  child.on('exit', (code) => { // a process that goes on may hold the pipes
    const took = performance.now() - began;
    if (code === 0) resolve([took, said]);
    else reject(new Error(`${args[0]}: exit ${code}: ${said}`));
  });
});

const lines = {
  open: (url) => run(one.navigate(url)),
  navigate: (url) => run(one.navigate(url)),
  click: () => run(one.click),
};

let begun = false;
for await (const line of createInterface({ input: process.stdin })) {
  const [op, arg] = line.split(' ');
  let answer;
  try {
    if (op === 'version') {
      const [, said] = await run(['--version']);
      answer = /[0-9]+(\.[0-9]+)+\S*/.exec(said)?.[0] ?? said.trim();
    } else if (!lines[op]) {
      answer = 'none';
    } else {
      if (!begun && one.begin) await run(one.begin);
      begun = true;
      [answer] = await lines[op](arg);
    }
  } catch (error) {
    answer = `error: ${String(error).replace(/\s+/g, ' ')}`;
  }
  process.stdout.write(`${answer}\n`);
}
if (begun) await run(['close']).catch(() => {});
await rm(folder, { recursive: true, force: true });
