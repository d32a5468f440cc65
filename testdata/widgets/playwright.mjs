// What a person would write for each task with Playwright: selectOption, fill, setChecked, click on a role or a text.
// A list that is no select element is opened by a click, and its option is clicked. Reads tasks as JSON lines, writes
// {"right": bool, "said": text} for each.
import { createRequire } from 'node:module';
import path from 'node:path';
import readline from 'node:readline';

const [folder, executablePath, files] = process.argv.slice(2);
const require = createRequire(path.join(folder, 'package.json'));
const { chromium } = require('playwright-core');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const timeout = 3000;

/** A control by its label, or by the only role that people give such a name to. */
const control = (page, name) => page.getByLabel(name).first();

async function choose(page, t) {
  try {
    await control(page, t.in).selectOption(t.choose.map((label) => ({ label })), { timeout: 1000 });
    return;
  } catch (e) {
    if (!/not a <select>|Timeout/i.test(String(e))) throw e;
  }
  const open = (await control(page, t.in).count()) > 0 ? control(page, t.in) : page.getByText(t.in, { exact: true });
  for (const option of t.choose) {
    await open.click({ timeout });
    await page.getByRole(/option|menuitem/.test(t.role || '') ? t.role : 'option', { name: option }).click({ timeout });
  }
}

async function act(page, t) {
  if (t.choose) await choose(page, t);
  else if (t.write) await control(page, t.in).fill(t.write, { timeout });
  else if (t.set) {
    await control(page, t.in).fill(t.set, { timeout });
    await page.keyboard.press('Enter');
  }
  else if (t.turn !== undefined) await control(page, t.in).setChecked(t.turn, { timeout });
  else if (t.press) {
    const target = t.role ? page.getByRole(t.role, { name: t.press }) : page.getByText(t.press, { exact: true });
    await target.click({ timeout });
  } else if (t.drag) {
    await page.getByText(t.drag, { exact: true }).dragTo(page.getByText(t.to, { exact: true }), { timeout });
  }
  else if (t.attach) await control(page, t.in).setInputFiles(path.join(files, t.attach), { timeout });
}

/** Does one task in a page of its own and asks the model. */
async function judge(t) {
  const page = await browser.newPage();
  let said = '';
  let right = false;
  try {
    await page.goto(t.url);
    try {
      await act(page, t);
    } catch (e) {
      said = String(e).split('\n')[0].slice(0, 200);
    }
    for (let i = 0; i < 15 && !right; i++) {
      right = (await page.evaluate(`JSON.stringify(${t.model})`).catch(() => '')) === JSON.stringify(t.is);
      if (!right) await page.waitForTimeout(100);
    }
  } catch (e) {
    said ||= String(e).split('\n')[0].slice(0, 200);
  }
  await page.close();
  return { right, said };
}

const tasks = [];
for await (const line of readline.createInterface({ input: process.stdin })) tasks.push(JSON.parse(line));
const answers = [];
let next = 0;
const work = async () => {
  while (next < tasks.length) {
    const i = next++;
    answers[i] = await judge(tasks[i]);
  }
};
await Promise.all([work(), work(), work()]);
for (const answer of answers) process.stdout.write(JSON.stringify(answer) + '\n');
await browser.close();
