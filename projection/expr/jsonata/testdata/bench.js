// bench measures jsonata-js from JSON text to JSON text for BenchmarkNode:
// {"expr", "n", "input"} on each line of stdin; the answer is nanoseconds of
// n runs. Argument: the directory of node_modules.
const path = require('path');
const jsonata = require(path.join(process.argv[2], 'node_modules', 'jsonata'));

(async () => {
  const lines = require('readline').createInterface({input: process.stdin});
  for await (const line of lines) {
    const q = JSON.parse(line);
    const expr = jsonata(q.expr);
    const began = process.hrtime.bigint();
    for (let i = 0; i < q.n; i++) JSON.stringify(await expr.evaluate(JSON.parse(q.input)));
    process.stdout.write(String(process.hrtime.bigint() - began) + '\n');
  }
})();
