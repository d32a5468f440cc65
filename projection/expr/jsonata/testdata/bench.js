// bench measures jsonata-js from JSON text to JSON text for BenchmarkBesideNode:
// {"expr", "n", "input"} on each line of stdin; the answer is nanoseconds of
// n runs. Each run is JSON.parse, evaluate of an expression compiled before,
// and JSON.stringify, in one loop inside Node: no process boundary counts.
// Before anything is measured, the same loop warms up for at least a second and
// two hundred runs. Argument: the directory of node_modules.
const path = require('path');
const jsonata = require(path.join(process.argv[2], 'node_modules', 'jsonata'));

const warm = new Set();

(async () => {
  const lines = require('readline').createInterface({input: process.stdin});
  for await (const line of lines) {
    const q = JSON.parse(line);
    const expr = jsonata(q.expr);
    const run = async (n) => {
      for (let i = 0; i < n; i++) JSON.stringify(await expr.evaluate(JSON.parse(q.input)));
    };
    if (!warm.has(q.expr)) {
      warm.add(q.expr);
      const end = Date.now() + 1000;
      for (let runs = 0; Date.now() < end || runs < 200; runs += 20) await run(20);
    }
    const began = process.hrtime.bigint();
    await run(q.n);
    process.stdout.write(String(process.hrtime.bigint() - began) + '\n');
  }
})();
