// oracle answers, for each line {"expr", "input"} on stdin, what jsonata-js
// makes of it: {"text"} | {"undefined"} | {"code"} | {"skip"} when the result
// holds a function or the failure has no code. "upstream" is added when the
// evaluation went through a known fault of jsonata-js that lets it answer about
// its own internals. Run by the differential test with the directory of
// node_modules as its argument.
const fs = require('fs');
const path = require('path');
const Module = require('module');

// The library runs as published but for probes that note where it passes.
function load(file) {
  let source = fs.readFileSync(file, 'utf8');
  const probe = (anchor, code) => {
    if (source.split(anchor).length !== 2) throw new Error('not found once: ' + anchor);
    source = source.replace(anchor, () => anchor + code);
  };
  probe('if (input.length === 0) {\n', 'globalThis.upstream = "puts undefined into an empty array";');
  for (const f of ['async function evaluateFilter(predicate, input, environment) {', 'async function evaluateGroupExpression(expr, input, environment) {']) {
    probe(f, 'if (input && input.thunk === true) globalThis.upstream = "filters a call that was put off";');
  }
  probe('var tuple = reduceTupleStream(entry.data, environment);', 'if (!("@" in tuple)) globalThis.upstream = "takes the context from a tuple that is grouped under a second key";');
  probe("if (expr.type === 'function' && !expr.predicate) {", 'if (expr.group) globalThis.upstream = "forgets the grouping of a call that it puts off";');
  const m = new Module(file);
  m.filename = file;
  m._compile(source, file);
  return m.exports;
}

const jsonata = load(path.join(process.argv[2], 'node_modules', 'jsonata', 'jsonata.js'));

function holdsFunction(v, seen = new Set()) {
  if (typeof v === 'function') return true;
  if (v === null || typeof v !== 'object' || seen.has(v)) return false;
  if (v._jsonata_function || v._jsonata_lambda) return true;
  seen.add(v);
  return Object.values(v).some((x) => holdsFunction(x, seen));
}

async function evaluate(q) {
  let result;
  try {
    const expr = jsonata(q.expr);
    result = await expr.evaluate(q.input === undefined ? undefined : JSON.parse(q.input));
  } catch (e) {
    if (e instanceof SyntaxError && /^Invalid regular expression: .*\/g[im]*: /s.test(e.message)) return {code: 'S0303'}; // no code there
    return e && e.code ? {code: e.code} : {skip: 'failure without a code: ' + (e && e.message)};
  }
  if (holdsFunction(result)) return {skip: 'function in the result'};
  let text;
  try {
    text = JSON.stringify(result);
  } catch (e) {
    return {skip: 'result that JSON cannot carry'}; // a transform can close a circle
  }
  if (text === undefined) return {undefined: true};
  if (/function \(/i.test(text)) globalThis.upstream = 'shows the source of a function';
  return {text};
}

async function answer(q) {
  globalThis.upstream = undefined;
  const a = await evaluate(q);
  if (globalThis.upstream) a.upstream = globalThis.upstream;
  return a;
}

(async () => {
  const lines = require('readline').createInterface({input: process.stdin});
  for await (const line of lines) {
    if (line) process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + '\n');
  }
})();
