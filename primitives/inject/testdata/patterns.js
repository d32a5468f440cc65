// Compares patternOf of pattern.js, the text of which is the first argument, with RegExp
// over expressions that are put together at random, and tells how long hard ones take.
'use strict';
const source = require('node:fs').readFileSync(process.argv[2], 'utf8');
class Fault extends Error {}
const patternOf = new Function('Fault', 'cut', source + '; return patternOf;')(Fault, (text, n) => text.slice(0, n));
const atoms = [
  'a', 'b', 'ab', '.', '[ab]', '[^a]', '\\w', '\\d', '\\s', '(a|b)', '(?:ab|a)', '(a+)', '(b*a?)', '^', '$', '\\b',
  '\\B', '(?=a)', '(?!b)', '(?<=a)', '(?<!ab)', 'a{2}', '(ab){1,2}', 'x?', '\u00e9', '\\u0061', '\\x62', '[\\]a]',
  '\\.', '(?<n>a)', '\\n', '(?<=(a|b)c)', '{', '}]', 'a{,2}', '(?<=a.*)', 'K', '\u{1f600}', '\\u{1f600}', '\\p{L}'
];
const repeats = ['', '', '', '*', '+', '?', '*?', '{0,2}', '{1,}', '+?'];
const flags = ['', 'i', 'm', 'u', 's', 'iu', 'mu'];
const texts = [
  '', 'a', 'b', 'ab', 'aab', 'abab', 'ba', 'a b', 'bb\na', 'xa\u00e9', '\u{1f600}a', 'aaaaaaaaaaaa', 'abc', 'cab',
  'acb', '{', 'a{,2}', '}]', '.', '1 a', 'AB', '\u212a'
];
let state = 1;
const pick = (list) => list[(state = Math.imul(state ^ state >>> 15, 0x2c1b3c6d) + 0x9e3779b9 >>> 0) % list.length];
const wrong = [];
let compared = 0;
while (compared < 8000) {
  let text = '';
  for (let terms = pick([1, 2, 3, 4, 5]); terms > 0; terms--)
    text += pick(atoms) + pick(repeats) + pick(['', '', '', '', '|']);
  const flag = pick(flags);
  let native;
  try {
    native = new RegExp(text, flag);
  } catch {
    continue;
  }
  compared++;
  const ours = patternOf(text, flag);
  for (const t of texts)
    if (native.test(t) !== ours(t) && wrong.length < 20) wrong.push([text, flag, t, native.test(t)]);
}
const slow = {};
for (const text of ['^(a+)+$', '(a|aa)+$', '(.*)*x', '(a?){25}a{25}$', 'a*a*a*a*a*b', '(?<=(a+)+)c', '(?=(a+)+$)b']) {
  const from = performance.now();
  try {
    patternOf(text)('a'.repeat(9999) + '!');
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
  slow[text] = Math.round(performance.now() - from);
}
const refused = ['(a)\\1', '(?<x>a)\\k<x>', '(?:[', '(?:a{3000}){3000}'].filter((text) => {
  try {
    patternOf(text);
    return false;
  } catch (error) {
    return error instanceof Fault;
  }
});
console.log(JSON.stringify({ compared, wrong, slow, refused: refused.length }));
