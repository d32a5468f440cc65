#!/usr/bin/env node
// bench-playwright measures Playwright's page.evaluate on the pages of BenchmarkExtract (runtime/browser), and prints its rows.
//
// It needs node, a Chromium (CHROMIUM, default /usr/bin/chromium) and playwright-core in the folder that PLAYWRIGHT_DIR names (default:
// the current one): npm install --prefix DIR playwright-core. Nothing of the build or of the tests runs it.
//
//   PLAYWRIGHT_DIR=DIR node scripts/bench-playwright.mjs [rounds]
//
// With --serve it answers the benchmark, which then takes turns with it: each line of stdin, "ROWS object" or "ROWS string", is answered
// with the milliseconds that one evaluate took.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import path from 'node:path';

const require = createRequire(path.resolve(process.env.PLAYWRIGHT_DIR || '.', 'package.json'));
const { chromium } = require('playwright-core');

const rowsOf = () => Array.from(document.querySelectorAll('.row'), (e) => ({
  id: e.getAttribute('data-id'), title: e.querySelector('h3').textContent,
  url: e.querySelector('a').getAttribute('href'), price: e.querySelector('.price').textContent,
}));
const ways = {
  object: (page) => page.evaluate(rowsOf),
  string: async (page) => JSON.parse(await page.evaluate(`JSON.stringify((${rowsOf})())`)),
};

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
const pages = new Map();
async function pageWith(rows) {
  if (!pages.has(rows)) {
    const page = await browser.newPage();
    await page.setContent('<!doctype html><title>Rows</title><body>');
    await page.evaluate((count) => {
      const row = (i) => '<div class="row" data-id="' + i + '"><h3>Item ' + i + '</h3><a href="/items/' + i + '">open</a><span class="price">' +
        (i * 7 % 1000) + ' EUR</span><p>Text that describes item ' + i + '</p></div>';
      document.body.insertAdjacentHTML('beforeend', Array.from({ length: count }, (_, i) => row(i)).join(''));
    }, rows);
    pages.set(rows, page);
  }
  return pages.get(rows);
}

async function once(rows, way) {
  const page = await pageWith(rows);
  const start = process.hrtime.bigint();
  const got = await ways[way](page);
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  if (got.length !== rows) throw new Error(`${got.length} records of ${rows}`);
  return ms;
}

if (process.argv[2] === '--serve') {
  for await (const line of createInterface({ input: process.stdin })) {
    const [rows, way] = line.split(' ');
    process.stdout.write(await once(Number(rows), way) + '\n');
  }
} else {
  const rounds = Number(process.argv[2]) || 100;
  for (const rows of [1000, 10000]) {
    for (const way of Object.keys(ways)) {
      const times = [];
      for (let i = 0; i < rounds; i++) times.push(await once(rows, way));
      times.sort((a, b) => a - b);
      const mean = times.reduce((a, b) => a + b) / rounds;
      console.log(`extract ${rows} records of 4 fields, page.evaluate giving ${way === 'object' ? 'objects' : 'a string'}: ` +
        `mean ${Math.round(mean * 1000)} µs, median ${Math.round(times[rounds >> 1] * 1000)} µs, fastest ${Math.round(times[0] * 1000)} µs`);
    }
  }
}
await browser.close();
