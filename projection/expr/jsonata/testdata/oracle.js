// oracle answers, for each line {"expr", "input"} on stdin, what jsonata-js
// makes of it: {"text"} | {"undefined"} | {"code"} | {"skip"} when the result
// holds a function or the failure has no code. Run by the differential test
// with the directory of node_modules as its argument.
const path = require('path');
const jsonata = require(path.join(process.argv[2], 'node_modules', 'jsonata'));

function holdsFunction(v, seen = new Set()) {
  if (typeof v === 'function') return true;
  if (v === null || typeof v !== 'object' || seen.has(v)) return false;
  if (v._jsonata_function || v._jsonata_lambda) return true;
  seen.add(v);
  return Object.values(v).some((x) => holdsFunction(x, seen));
}

async function answer(q) {
  let result;
  try {
    const expr = jsonata(q.expr);
    result = await expr.evaluate(q.input === undefined ? undefined : JSON.parse(q.input));
  } catch (e) {
    return e && e.code ? {code: e.code} : {skip: 'failure without a code: ' + (e && e.message)};
  }
  if (holdsFunction(result)) return {skip: 'function in the result'};
  let text;
  try {
    text = JSON.stringify(result);
  } catch (e) {
    return {skip: 'result that JSON cannot carry'}; // a transform can close a circle
  }
  return text === undefined ? {undefined: true} : {text};
}

(async () => {
  const lines = require('readline').createInterface({input: process.stdin});
  for await (const line of lines) {
    if (line) process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + '\n');
  }
})();
