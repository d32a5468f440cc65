// oracle answers, for each line {"expr", "input", "repaired"} on stdin, what
// jsonata-js makes of it, as published or with all of repairs.js applied:
//
//	{"text"}       the result as JSON; "functions" when builtins are in it
//	{"undefined"}  no result
//	{"code"}       the code of the error
//	{"crash"}      a failure without a code, which no map can rely on
//
// "faults" names the repairs that made themselves felt. Run by the differential
// test with the directory of node_modules as its argument.
const fs = require('fs');
const path = require('path');
const Module = require('module');
const repairs = require('./repairs.js');

// A pattern that never advances would keep a match going for ever, and so would
// tail calls without end, for which our steps run out.
const probes = [
  {
    find: 'async function evaluateMatcher(matcher, str) {',
    put: 'async function evaluateMatcher(matcher, str) { globalThis.matching();'
  },
  {
    find: 'while(isLambda(result) && result.thunk === true) {',
    put: 'while(isLambda(result) && result.thunk === true) { globalThis.calling();'
  }
];
const maxMatches = 20000, maxTailCalls = 100000;

// As many open evaluations are endless recursion in all that is asked here.
const maxDepth = 20000;

const file = path.join(process.argv[2], 'node_modules', 'jsonata', 'jsonata.js');

function load(changes) {
  let source = fs.readFileSync(file, 'utf8');
  for (const {find, put} of [...probes, ...changes]) {
    if (source.split(find).length !== 2) throw new Error('not found once: ' + find);
    source = source.replace(find, () => put);
  }
  const m = new Module(file);
  m.filename = file;
  m._compile(source, file);
  return m.exports;
}

const published = load([]);
const repaired = load(repairs);

// kinds looks for functions in a result: a lambda or a match object's closure
// drags the whole environment along, a builtin shows itself as a record.
function kinds(v, found = {}, seen = new Set()) {
  if (v === null || typeof v !== 'object' || seen.has(v)) return found;
  seen.add(v);
  if (v._jsonata_lambda) found.lambda = true;
  else if (v._jsonata_function) found.builtin = true;
  else for (const x of Object.values(v)) kinds(x, found, seen);
  return found;
}

async function evaluate(jsonata, q) {
  let result;
  try {
    const expr = jsonata(q.expr, {stack: maxDepth});
    result = await expr.evaluate(q.input === undefined ? undefined : JSON.parse(q.input));
  } catch (e) {
    const said = String(e && e.message);
    if (e && e.code === 'D1011') return {code: 'U1001'}; // maxDepth; with us the depth is a budget
    if (e && e.code && /^[A-Z]\d{4}$/.test(e.code)) return {code: e.code};
    // Three failures of JavaScript itself for which there are codes: ours, the
    // library's for an overflowing stack, and ours for nesting without end.
    if (
      e instanceof SyntaxError &&
      /^(Invalid regular expression: .*\/g[im]*: |Invalid flags supplied to RegExp)/s.test(said)
    )
      return { code: 'S0303' };
    if (e instanceof RangeError && said === 'Maximum call stack size exceeded') return { code: 'D1011' };
    if (e instanceof TypeError && said.startsWith('Converting circular structure'))
      return { code: 'U1001', crash: said };
    return { crash: said };
  }
  const held = kinds(result);
  if (held.lambda) return {code: 'L0005'};
  let text;
  try {
    text = JSON.stringify(result);
  } catch (e) {
    if (!String(e.message).startsWith('Converting circular structure')) throw e;
    return {code: 'U1001'}; // a transform has closed a circle
  }
  return text === undefined ? {undefined: true} : {text, functions: held.builtin};
}

async function answer(q) {
  const faults = new Set();
  globalThis.felt = (fault) => faults.add(fault);
  globalThis.seenTuples = new WeakSet();
  let matches = 0;
  globalThis.matching = () => {
    if (++matches > maxMatches) throw new Error('endless matching');
  };
  let calls = 0;
  globalThis.calling = () => {
    if (++calls > maxTailCalls) throw {code: 'L0001'};
  };
  const a = await evaluate(q.repaired ? repaired : published, q);
  if (faults.size) a.faults = [...faults].sort();
  return a;
}

(async () => {
  process.stdout.write('{"ready":true}\n');
  const lines = require('readline').createInterface({input: process.stdin});
  for await (const line of lines) {
    if (line) process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + '\n');
  }
})();
