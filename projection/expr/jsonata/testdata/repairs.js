// The faults of jsonata-js 2.2.1 that this package does not share, each as the
// smallest change of its source that removes it. Where the two disagree, the
// differential test asks the library again with all of these applied: only an
// answer that then is ours, by way of a repair that made itself felt, is set
// aside, under the name of that repair. upstream_faults.json has an example and
// the reason of each.
//
// `find` stands exactly once in jsonata.js. felt(name) notes that the evaluation
// went where the repair changes something.

const repairs = [];
const repair = (fault, find, put) => repairs.push({fault, find, put: put.replace(/FELT/g, `globalThis.felt(${JSON.stringify(fault)})`)});

// ?? and ?: evaluate their left side twice, the first time a copy made by way of
// JSON, in which a pattern is {} and a signature has lost its function.
repair('copied-condition', 'arguments: [JSON.parse(JSON.stringify(left))]', 'arguments: [(this.once = true, globalThis.copyTree(left, () => FELT))]');
repair('copied-condition', 'this.condition = JSON.parse(JSON.stringify(left));', 'this.once = true; this.condition = globalThis.copyTree(left, () => FELT);');

repair('invalid-signature', 'var regex = new RegExp(regexStr);',
  `let regex; try { regex = new RegExp(regexStr); } catch (e) { FELT; throw {code: 'S0403'}; }`);
repair('invalid-signature', 'prevParam.contextRegex = new RegExp(prevParam.regex);', `try { prevParam.contextRegex = new RegExp(prevParam.regex); } catch (e) { FELT; throw {code: 'S0403'}; }`);

repair('misplaced-argument', "} else if (single === 'a') {",
  `} else if (single === 'a' && (arg === undefined || arg === null || typeof arg === 'string' && arg.length > 0)) {
     FELT;
     arrayOK = false;
   } else if (single === 'a') {`);

// The second time, at the end of a lambda, is a tail call, with the caller's context.
repair('copied-condition', 'result.condition = processAST(expr.condition);', 'result.once = expr.once; result.condition = processAST(expr.condition);');
repair('copied-condition', 'expr.then = tailCallOptimize(expr.then);', 'if (expr.once) FELT; else expr.then = tailCallOptimize(expr.then);');

repair('endless-padding', 'var padding = (new Array(padLength + 1)).join(char);',
  "if (padLength >= 2 ** 32 - 1) { FELT; throw {code: 'L0002'}; } var padding = (new Array(padLength + 1)).join(char);");

repair('each-of-missing', 'async function each(obj, func) {', 'async function each(obj, func) { if (obj === undefined) { FELT; return undefined; }');
repair('each-of-missing', 'async function sift(arg, func) {', 'async function sift(arg, func) { if (arg === undefined) { FELT; return undefined; }');

repair('contains-missing', 'async function contains(str, token) {', 'async function contains(str, token) { if (str !== undefined && token === undefined) { FELT; return undefined; }');

const missing = 'throw {code: "L0007"};';
repair('missing-function', 'function hofFuncArgs(func, arg1, arg2, arg3) {', `function hofFuncArgs(func, arg1, arg2, arg3) { if (func === undefined) { FELT; ${missing} }`);
repair('missing-function', 'var arity = getFunctionArity(func);', `if (func === undefined) { FELT; ${missing} } var arity = getFunctionArity(func);`);
repair('missing-function', 'async function evaluateMatcher(matcher, str) {', `async function evaluateMatcher(matcher, str) { if (matcher === undefined && arguments.length === 2) { FELT; ${missing} }`);
repair('falsy-match', 'var matches = await evaluateMatcher(token, str);', 'var matches = await evaluateMatcher(token, str, true);');
repair('falsy-match', 'if(result && !(typeof result.start', `if (!result && result !== undefined && arguments.length < 3) { FELT; throw {code: 'T1010'}; }
   if(result && !(typeof result.start`);

repair('foreign-digits', "digits = digits.split('').map(char => String.fromCodePoint(char.codePointAt(0) - formatSpec.zeroCode + 0x30)).join('');",
  `try {
     digits = digits.split('').map(char => String.fromCodePoint(char.codePointAt(0) - formatSpec.zeroCode + 0x30)).join('');
   } catch (e) { FELT; throw {code: 'D3137'}; }`);

repair('function-as-text', 'var match = re.exec(str);', 'if (isFunction(str)) { FELT; str = ""; } var match = re.exec(text(str));');
// Objects that an expression made have no prototype, and so no toString.
repair('object-as-text', 'var closure = function(str, fromIndex) {', `const text = (v) => {
    if (Array.isArray(v)) return v.map((x) => x === null ? '' : text(x)).join(',');
    if (v === null || typeof v !== 'object' || Object.getPrototypeOf(v) !== null) return v;
    FELT;
    return '[object Object]';
  };
  var closure = function(str, fromIndex) {`);
repair('function-as-record', "} else if (arg !== null && typeof arg === 'object' && !isLambda(arg)) {", "} else if (arg !== null && typeof arg === 'object' && !isLambda(arg) && !(arg._jsonata_function && (FELT, true))) {");

repair('missing-function', 'var replacedWith = replacer.apply(self, [matches]);', `if (replacer === undefined) { FELT; ${missing} } var replacedWith = replacer.apply(self, [matches]);`);

const emptyPicture = "if (picture === undefined) { FELT; picture = ''; }";
repair('missing-picture', 'const format = analyseIntegerPicture(picture);', `${emptyPicture} const format = analyseIntegerPicture(picture);`);
repair('missing-picture', 'const formatSpec = analyseIntegerPicture(picture);', `${emptyPicture} const formatSpec = analyseIntegerPicture(picture);`);
repair('missing-picture', "var subPictures = picture.split(properties['pattern-separator']);", `${emptyPicture} var subPictures = picture.split(properties['pattern-separator']);`);

// The arguments of a tail call and of a partial application, and what stands
// left of ~>, are handed over as they are, and neither a builtin nor a partially applied one has an apply.
const callable = `if (given && isFunction(given) && typeof given !== 'function' && (!given.apply || given.apply.lent)) {
    const record = given, lent = async (self, params) => { FELT; return await apply(record, params, null, environment); };
    lent.lent = true;
    Object.defineProperty(record, 'apply', {configurable: true, enumerable: false, value: lent});
  }`;
repair('uncallable-argument', 'evaluatedArgs.push(await evaluate(result.body.arguments[ii], result.input, result.environment));',
  `let given = await evaluate(result.body.arguments[ii], result.input, result.environment); ${callable} evaluatedArgs.push(given);`);
repair('uncallable-argument', 'evaluatedArgs.push(applyto.context);', `let given = applyto.context; ${callable} evaluatedArgs.push(given);`);
repair('uncallable-argument', 'evaluatedArgs.push(await evaluate(arg, input, environment));',
  `let given = await evaluate(arg, input, environment); ${callable} evaluatedArgs.push(given);`);
repair('uncallable-argument', 'comp = comparator;', 'comp = typeof comparator === "function" ? comparator : (a, b) => { FELT; return comparator.apply(this, [a, b]); };');

repair('call-of-nothing', "if(typeof proc === 'object') {", "if(proc === null) FELT; else if(typeof proc === 'object') {");
repair('call-of-nothing', 'var next = await evaluate(result.body.procedure, result.input, result.environment);',
  `var next = await evaluate(result.body.procedure, result.input, result.environment);
   if (typeof next !== 'function' && typeof next !== 'object' || next === null) {
     FELT;
     const name = result.body.procedure.type === 'path' && result.body.procedure.steps[0].value;
     if (next === undefined && name && result.environment.lookup(name)) throw {code: 'T1005'};
     for (const arg of result.body.arguments) await evaluate(arg, result.input, result.environment);
     throw {code: 'T1006'};
   }`);

repair('message-of-a-function', 'return JSON.stringify(err[arguments[1]]);', 'try { return JSON.stringify(err[arguments[1]]); } catch (e) { FELT; return ""; }');

repair('no-such-time', 'result += formatComponent(dateTime, part);',
  'try { result += formatComponent(dateTime, part); } catch (e) { if (e.code) throw e; FELT; throw {code: "L0010"}; }');

repair('transformed-scalar', 'match[prop] = update[prop];',
  `if (match === null || typeof match !== 'object' || Array.isArray(match) && prop === 'length') { FELT; throw {code: 'L0008'}; }
   match[prop] = update[prop];`);

repair('transformed-scalar', 'delete match[deletions[jj]];',
  `if (Array.isArray(match) && deletions[jj] === 'length') { FELT; throw {code: 'L0008'}; }
   delete match[deletions[jj]];`);

repair('grouped-empty-array', 'input.push(undefined);', 'FELT; const reduced = input; input = focus.createSequence(undefined); if (reduced.tupleStream) input.tupleStream = true;');
repair('grouped-no-tuples', 'for(const prop of Object.keys(tuple)) {', 'if (tuple === undefined) { FELT; return frame; } for(const prop of Object.keys(tuple)) {');
repair('grouped-no-tuples', "var key = await evaluate(pair[0], reduce ? item['@'] : item, env);", "var key = await evaluate(pair[0], reduce && item ? item['@'] : item, env);");

repair('tuple-of-two-keys', 'if(!Array.isArray(tupleStream)) {',
  `if(!Array.isArray(tupleStream)) {
     if (tupleStream && globalThis.seenTuples.has(tupleStream)) FELT;
     if (tupleStream) globalThis.seenTuples.add(tupleStream);
     return Object.assign(Object.create(null), tupleStream);`);

repair('tail-call-with-predicate', "if (expr.type === 'function' && !expr.predicate) {", "if (expr.type === 'function' && !expr.predicate && !(expr.group && (FELT, true))) {");
repair('tail-call-with-predicate', "} else if (expr.type === 'block') {\n                // only the last", "} else if (expr.type === 'block' && !((expr.predicate || expr.group) && (FELT, true))) {\n                // only the last");

repair('concurrent-members', 'await Promise.all(expr.expressions\n                    .map(', 'await globalThis.inOrder(() => FELT, expr.expressions, (');
repair('concurrent-members', 'await Promise.all(Object.keys(groups).map(', 'await globalThis.inOrder(() => FELT, Object.keys(groups), (');

// A tuple stream is for the path around it; anyone else gets the items.
repair('leaked-tuples', '    async function evaluate(expr, input, environment) {',
  `    async function evaluate(expr, input, environment) {
        const stream = await evaluateStream(expr, input, environment);
        if (!stream || !stream.tupleStream) return stream;
        FELT;
        const items = environment.base.createSequence();
        for (const tuple of stream) items.push(tuple['@']);
        if (expr.keepArray || stream.keepSingleton) items.keepSingleton = true;
        return items.length === 0 ? undefined : items.length === 1 && !items.keepSingleton ? items[0] : items;
    }
    async function evaluateStream(expr, input, environment) {`);
repair('leaked-tuples', "var res = await evaluate(expr, tupleBindings[ee]['@'], stepEnv);", "var res = await evaluateStream(expr, tupleBindings[ee]['@'], stepEnv);");
repair('leaked-tuples', 'result = await evaluate(expr.expressions[ii], input, frame);', 'result = await evaluateStream(expr.expressions[ii], input, frame);');
repair('leaked-tuples', 'result = await evaluateSortExpression(expr, tupleBindings, environment);',
  'result = await evaluateSortExpression(expr, tupleBindings, environment); if (!result.tupleStream) { FELT; result.tupleStream = true; }');

repair('unchecked-partial', 'result = partialApplyNativeFunction(proc.implementation, evaluatedArgs, environment);',
  'proc.implementation.checked = proc.signature; result = partialApplyNativeFunction(proc.implementation, evaluatedArgs, environment);');
repair('unchecked-partial', 'var result = proc.apply(focus, args);',
  `if (proc.checked) {
     FELT;
     const types = proc.checked.definition.slice(1).match(/^(?:(?:\\([a-z]+\\)|[a-z])(?:<[^<>]*>)?[-?+]*)*/)[0].match(/(?:\\([a-z]+\\)|[a-z])(?:<[^<>]*>)?/g) || [];
     args = args.map((arg, i) => arg === undefined || !types[i] ? arg : parseSignature('<' + types[i] + '>').validate([arg])[0]);
   }
   var result = proc.apply(focus, args);`);

repair('eval-assigns', 'var result = await evaluate(ast, input, this.environment);',
  `const inner = createFrame(this.environment), bind = inner.bind;
   inner.bind = (name, value) => { FELT; bind(name, value); };
   var result = await evaluate(ast, input, inner);`);

repair('wildcard-of-flags', 'var value = input[key];', "if (Array.isArray(input) && !/^\\d+$/.test(key)) { FELT; return; } var value = input[key];");

// copyTree copies a parsed expression; lossy is called for what JSON cannot carry.
globalThis.copyTree = function copy(node, lossy) {
  if (node instanceof RegExp || typeof node === 'function') {
    lossy();
    return node;
  }
  if (node === null || typeof node !== 'object') return node;
  if (Array.isArray(node)) return node.map((n) => copy(n, lossy));
  const out = {};
  for (const key of Object.keys(node)) out[key] = copy(node[key], lossy);
  return out;
};

globalThis.inOrder = async function (felt, list, f) {
  const out = [];
  for (let i = 0; i < list.length; i++) {
    try {
      out.push(await f(list[i], i));
    } catch (e) {
      felt();
      throw e;
    }
  }
  return out;
};

module.exports = repairs;
