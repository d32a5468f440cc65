// Starts the real extension and Outrider in both profiles, each behind a real bridge of its own, and sends them what
// peers_test.go asks for. One request of JSON on a line of standard input, one answer on a line of standard output.
// OUTRIDER_PEERS names the folder with peers.mjs, the harness of the peers.
import { cpSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import readline from 'node:readline'
import { pathToFileURL } from 'node:url'
import { claim } from './claim.mjs'

const { bridge, CHROME, chromeExt, outrider, stopAll, until } =
  await import(pathToFileURL(path.join(process.env.OUTRIDER_PEERS, 'peers.mjs')))

const peers = {}

// The pages are served over https, where the extension connects from its background with all of its tools; over http
// its content script connects, which has those of a page alone. The certificate is the test server's own.
const anyCertificate = '--ignore-certificate-errors'

// The bar that says that an extension debugs the browser takes 56 pixels from every page once it comes.
const noBar = '--silent-debugger-extension-api'

// browserFor is a program that starts the browser for Outrider, which has no switch for certificates.
function browserFor () {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'peers-')), 'browser')
  writeFileSync(file, `#!/bin/sh\nexec '${CHROME}' ${anyCertificate} "$@"\n`, { mode: 0o700 })
  return file
}

// begin gives a bridge its agent.
async function begin(b) {
  await b.rpc('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'peers', version: '1' }
  });
  b.notify('notifications/initialized');
}

// showing waits until the only runtime of a bridge is the page of a URL, and says which runtime that is.
function showing (b, url) {
  return until(async () => {
    const { runtimes = [] } = await b.runtimes()
    const at = r => r.url ?? r.page?.url ?? r.target?.url
    if (runtimes.length === 1 && at(runtimes[0]) === url) return runtimes[0]
    throw new Error(`the runtimes are ${JSON.stringify(runtimes.map(at))}`)
  }, 120000)
}

// viewportOf is the size of the extension's pages, for all to have the same.
async function viewportOf (b, url) {
  await showing(b, url)
  const source = 'return innerWidth + "x" + innerHeight'
  const { body } = await b.call('browser.run_javascript', { source })
  const size = body.output?.result
  if (!/^\d+x\d+$/.test(size)) throw new Error(`no viewport in ${JSON.stringify(body)}`)
  return size
}

const requests = {
  async start ({ url }) {
    await Promise.all(['upstream', 'extension', 'strict'].map(async (name) => {
      const root = mkdtempSync(path.join(tmpdir(), 'storage-'))
      cpSync(path.join(import.meta.dirname, 'storage'), root, { recursive: true })
      peers[name] = await bridge({ root })
      await begin(peers[name])
    }))
    const x = await chromeExt({ args: [anyCertificate, noBar] })
    await claim(x, until, url, peers.upstream.ws)
    const viewport = await viewportOf(peers.upstream, url)
    const browser = browserFor()
    for (const profile of ['extension', 'strict']) {
      const o = outrider(['connect', peers[profile].ws, '--profile', profile, '--no-events', '--viewport', viewport,
        '--browser', browser, '--open', url, ...(profile === 'strict' ? ['--accept-drafts'] : [])])
      peers[profile].errors = o.err
    }
    const out = {}
    for (const [name, b] of Object.entries(peers)) out[name] = await showing(b, url)
    return out
  },
  // All peers get the call at the same time; args are those of each by its name.
  async call ({ name, args }) {
    const answers = await Promise.all(Object.keys(peers).map(async (peer) => {
      const { isError, body } = await peers[peer].call(name, args[peer])
      return [peer, { isError: !!isError, body }]
    }))
    return Object.fromEntries(answers)
  },
  async showing ({ url }) {
    await Promise.all(Object.values(peers).map(b => showing(b, url)))
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { op, ...rest } = JSON.parse(line)
  let answer
  try {
    answer = { ok: true, value: await requests[op](rest) }
  } catch (e) {
    answer = {
      ok: false,
      error: `${e.stack} ${JSON.stringify(Object.entries(peers).map(([n, b]) => [n, b.errors ?? b.err]))}`
    };
  }
  process.stdout.write(JSON.stringify(answer) + '\n')
}
await stopAll()
process.exit(0)
