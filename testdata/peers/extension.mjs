// Starts Chromium with the real extension and shows pages to bridges. One request of JSON on a line of standard input:
// {"url", "bridge"} opens the page and does what the popup's button does. One answer of JSON on a line of standard
// output. It ends when standard input does. OUTRIDER_PEERS names the folder with peers.mjs, the harness of the peers.
import path from 'node:path'
import readline from 'node:readline'
import { pathToFileURL } from 'node:url'
import { claim } from './claim.mjs'

const { chromeExt, stopAll, until } = await import(pathToFileURL(path.join(process.env.OUTRIDER_PEERS, 'peers.mjs')))
const x = await chromeExt({ args: ['--ignore-certificate-errors'] })
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { url, bridge } = JSON.parse(line)
  let answer
  try {
    answer = await claim(x, until, url, bridge)
  } catch (e) {
    answer = { ok: false, error: e.stack }
  }
  process.stdout.write(JSON.stringify(answer) + '\n')
}
await x.stop()
await stopAll()
process.exit(0)
