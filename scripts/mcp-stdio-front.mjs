// Lets the public MCP conformance suite, which speaks HTTP only, test a server on standard input and output:
// node scripts/mcp-stdio-front.mjs COMMAND ARGUMENT... prints its address, and passes each message on as it is.
// Every client that initializes gets a process of its own, as over stdio; versions without sessions share one.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const [command, ...args] = process.argv.slice(2);
const children = new Map(); // session -> Child

class Child {
  open = new Map(); // id of a request -> {reply, token, notify}
  constructor() {
    this.process = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.process.on('exit', () => { for (const { reply } of this.open.values()) reply(null); });
    createInterface({ input: this.process.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      const request = message.method === undefined && this.open.get(message.id);
      if (request) {
        this.open.delete(message.id);
        request.reply(message);
        return;
      }
      const token = message.params?.progressToken;
      for (const { token: own, notify } of this.open.values())
        if (token === undefined || token === own) notify(message);
    });
  }
  write(message) { this.process.stdin.write(JSON.stringify(message) + '\n'); }
}

function close(session) {
  children.get(session)?.process.stdin.end();
  children.delete(session);
}

function childOf(session, message) {
  if (message.method === 'initialize') {
    session = randomUUID();
    // clients leave without a word
    for (const [other, child] of children) if (other !== 'shared' && child.open.size === 0) close(other);
  }
  const key = session || 'shared';
  if (!children.has(key) && (message.method === 'initialize' || key === 'shared')) children.set(key, new Child());
  return [children.get(key), session];
}

const server = createServer((request, response) => {
  const session = request.headers['mcp-session-id'];
  if (request.method === 'DELETE') {
    close(session);
    response.writeHead(200).end();
    return;
  }
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  let body = '';
  request.on('data', (part) => { body += part; });
  request.on('end', () => {
    const message = JSON.parse(body);
    const [child, own] = childOf(session, message);
    if (!child) {
      response.writeHead(404).end();
      return;
    }
    if (message.id === undefined) {
      child.write(message);
      response.writeHead(202).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', ...(own ? { 'mcp-session-id': own } : {}) });
    const send = (m) => response.write('event: message\ndata: ' + JSON.stringify(m) + '\n\n');
    // Two clients may use one id for what they ask the shared process.
    const id = own ? message.id : randomUUID();
    child.open.set(id, {
      token: message.params?._meta?.progressToken, notify: send,
      reply: (m) => { if (m) send({ ...m, id: message.id }); response.end(); },
    });
    response.on('close', () => child.open.delete(id));
    child.write({ ...message, id });
  });
});
server.listen(0, '127.0.0.1', () =>
  console.log(JSON.stringify({ mcp: `http://127.0.0.1:${server.address().port}/mcp` }))
);
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    for (const { process: child } of children.values()) child.kill();
    process.exit(0);
  });
}
