#!/usr/bin/env node
// playwright does with Playwright what main.go beside it does with chromedp; the lines are the same. It needs node, the
// browser in OUTRIDER_BROWSER, and playwright-core in the folder PLAYWRIGHT_DIR, where npm installed it.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import path from 'node:path';

const require = createRequire(path.resolve(process.env.PLAYWRIGHT_DIR || '.', 'package.json'));
const { chromium } = require('playwright-core');

const text = 'the quick brown fox jump';
const rows = () => Array.from(document.querySelectorAll('.row'), (e) => ({
  id: e.getAttribute('data-id'), title: e.querySelector('h3').textContent,
  url: e.querySelector('a').getAttribute('href'), price: e.querySelector('.price').textContent,
}));

const start = async () => {
  const browser = await chromium.launch({
    executablePath: process.env.OUTRIDER_BROWSER, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  return { browser, page: await browser.newPage({ viewport: { width: 1280, height: 720 } }) };
};

const now = () => performance.timeOrigin + performance.now();
const timed = async (action) => {
  const began = performance.now();
  const value = await action();
  return [performance.now() - began, value];
};
const wanted = (is, message) => {
  if (!is) throw new Error(message);
};

const ops = {
  open: (page, url) => timed(() => page.goto(url)),
  navigate: (page, url) => timed(() => page.goto(url)),
  async click(page) {
    const before = await page.textContent('#out');
    const took = await timed(() => page.click('#go'));
    wanted(await page.textContent('#out') !== before, 'the click did nothing');
    return took;
  },
  async fill(page) {
    const took = await timed(() => page.fill('#name', text));
    wanted(await page.inputValue('#name') === text, 'the field has another text');
    await page.fill('#name', '');
    return took;
  },
  async type(page) {
    const took = await timed(() => page.locator('#name').pressSequentially(text));
    wanted(await page.inputValue('#name') === text, 'the field has another text');
    await page.fill('#name', '');
    return took;
  },
  async evaluate(page) {
    const took = await timed(() => page.evaluate('1+1'));
    wanted(took[1] === 2, '1+1 is not 2');
    return took;
  },
  async extract(page, count) {
    const took = await timed(() => page.evaluate(rows));
    wanted(took[1].length === Number(count) && took[1][1].title === 'Item 1', `${took[1].length} records of ${count}`);
    return took;
  },
  async snapshot(page) {
    const took = await timed(() => page.locator('body').ariaSnapshot());
    wanted(took[1].length > 50_000, `a snapshot of ${took[1].length}`);
    return took;
  },
  async first(page, url) {
    await page.goto(url);
    const took = await timed(() => page.locator('body').ariaSnapshot());
    wanted(took[1].includes('- '), 'the snapshot is empty');
    return took;
  },
  picture: (page) => timed(() => page.screenshot({ type: 'jpeg', quality: 80 })),
  async late(page) {
    await page.evaluate('later()');
    await page.waitForSelector('#late');
    const end = now();
    return [end - await page.evaluate('since')];
  },
};

let one = null;
for await (const line of createInterface({ input: process.stdin })) {
  const [op, arg] = line.split(' ');
  let answer;
  try {
    if (op === 'version') {
      answer = require('playwright-core/package.json').version;
    } else if (op === 'cold') {
      let browser;
      [answer] = await timed(async () => {
        const started = await start();
        browser = started.browser;
        await started.page.goto(arg);
      });
      await browser.close();
    } else if (!ops[op]) {
      answer = 'none';
    } else {
      one ??= await start();
      [answer] = await ops[op](one.page, arg);
    }
  } catch (error) {
    answer = `error: ${String(error).replace(/\s+/g, ' ')}`;
  }
  process.stdout.write(`${answer}\n`);
}
await one?.browser.close();
