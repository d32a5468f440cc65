// pattern tests a regular expression that a caller brings against text that the
// page brings, in time that grows with the text alone: (a+)+$ and its like hold
// the thread of a backtracking engine for hours.
//
// The expression becomes a list of states, and the text is read once while all
// states that it may be in are followed together. What one character may be is
// left to the engine of the platform, so that classes, escapes and the flags i, s
// and u mean what they mean elsewhere. A look ahead or behind is a list of its own.
// Back references have no such list, and are refused.

const maxPatternStates = 3000;
const maxPatternSteps = 3000000; // on one text

/** Expressions without repetition, alternatives and groups: the platform is linear there. */
const plainPattern = /^(?:[^\\()[\]{}*+?|]|\\[dDwWsSbB.*+?^$()[\]{}|/\\-])*$/;

const refusePattern = (source, why) =>
  new Fault('invalid_selector', 'the regular expression ' + why, { regex: cut(source, 500) });

/**
 * patternFor is patternOf for an argument that is not a locator: what is wrong with it has the argument's code and
 * name.
 */
function patternFor(source, code, field) {
  try {
    return patternOf(source);
  } catch (error) {
    throw new Fault(code, error.message, { [field]: cut(source, 500) });
  }
}

/** patternOf makes a test of an expression: text => whether it is found there. */
function patternOf(source, flags = '') {
  flags = flags.replace(/[gyd]/g, '');
  let native;
  try {
    native = new RegExp(source, flags);
  } catch {
    throw refusePattern(source, 'does not parse');
  }
  if (plainPattern.test(source)) return (text) => native.test(text);
  if (flags.includes('v')) throw refusePattern(source, 'has the flag v, which is not read here; the flag u is');
  const states = new PatternReader(source, flags).states();
  if (!flags.includes('m') && !states.list.some(({ look, edge }) => look || edge === 'b' || edge === 'B'))
    return stepsOn(states, source);
  return (text) => {
    const spent = { left: maxPatternSteps, source };
    return runsOn(states, text, 0, false, spent);
  };
}

const maxPatternSets = 1000;

/**
 * stepsOn makes a test of states that look at no more than the character to be read and at
 * the ends of the text: which states are open after a character is remembered, and
 * looked up from then on.
 */
function stepsOn({ list, unicode }, source) {
  let sets = new Map(); // which states are open -> {now, found, inside, last}
  const setOf = (firsts, start, end) => {
    const seen = new Set();
    const open = [...firsts];
    const now = [];
    let found = false;
    while (open.length > 0) {
      const state = open.pop();
      if (seen.has(state)) continue;
      seen.add(state);
      const { test, fork, edge } = list[state];
      if (list[state].found) found = true;
      else if (test) now.push(state);
      else if (fork) open.push(...fork);
      else if (edge === '^' ? start : end) open.push(state + 1);
    }
    const key = found ? 'found' : now.sort((a, b) => a - b).join();
    let set = sets.get(key);
    if (!set) {
      if (sets.size >= maxPatternSets) sets = new Map();
      set = { now, found, inside: new Map(), last: new Map() };
      sets.set(key, set);
    }
    return set;
  };
  return (text) => {
    let set = setOf([0], true, text.length === 0);
    let left = maxPatternSteps;
    for (let at = 0; !set.found && at < text.length;) {
      const char = characterAt(text, at, false, unicode);
      at += char.length;
      const end = at === text.length;
      const known = end ? set.last : set.inside;
      let next = known.get(char);
      if (!next) {
        if ((left -= list.length) < 0) throw refusePattern(source, 'takes too many steps on a text of the page');
        next = setOf(set.now.filter((state) => list[state].test(char)).map((state) => state + 1).concat(0), false, end);
        if (known.size < 500) known.set(char, next);
      }
      set = next;
    }
    return set.found;
  };
}

/** PatternReader reads the terms of an expression that is known to parse. */
class PatternReader {
  constructor(source, flags) {
    this.source = source;
    this.at = 0;
    this.unicode = flags.includes('u');
    this.multiline = flags.includes('m');
    this.one = flags.replace('m', '');
    this.size = 0;
    this.known = new Map(); // source of a character -> its test
  }

  states() {
    const tree = this.alternatives();
    return this.compiled(tree, false);
  }

  peek(text) {
    return this.source.startsWith(text, this.at);
  }

  taken(text) {
    if (!this.peek(text)) return false;
    this.at += text.length;
    return true;
  }

  alternatives() {
    const branches = [];
    do branches.push(this.sequence()); while (this.taken('|'));
    return branches.length === 1 ? branches[0] : { kind: 'either', parts: branches };
  }

  sequence() {
    const parts = [];
    while (this.at < this.source.length && !this.peek('|') && !this.peek(')')) parts.push(this.repeated(this.term()));
    return { kind: 'all', parts };
  }

  repeated(part) {
    const rest = this.source.slice(this.at, this.at + 40);
    const found = /^(?:[*+?]|\{(\d+)(,(\d*))?\})\??/.exec(rest);
    if (!found) return part;
    this.at += found[0].length;
    if (found[0][0] === '*') return { kind: 'repeat', part, least: 0, most: Infinity };
    if (found[0][0] === '+') return { kind: 'repeat', part, least: 1, most: Infinity };
    if (found[0][0] === '?') return { kind: 'repeat', part, least: 0, most: 1 };
    const least = Number(found[1]);
    return {
      kind: 'repeat',
      part,
      least,
      most: found[2] === undefined ? least : found[3] === '' ? Infinity : Number(found[3])
    };
  }

  term() {
    const { source } = this;
    if (this.taken('^')) return { kind: 'edge', edge: '^' };
    if (this.taken('$')) return { kind: 'edge', edge: '$' };
    if (this.taken('\\b')) return { kind: 'edge', edge: 'b' };
    if (this.taken('\\B')) return { kind: 'edge', edge: 'B' };
    if (this.taken('(')) {
      let look = null;
      const around = /^\?(?:<?[=!])/.exec(source.slice(this.at, this.at + 3));
      if (around) look = around[0];
      else if (this.peek('?') && !this.peek('?:') && !/^\?<[^=!]/.test(source.slice(this.at, this.at + 3)))
        throw refusePattern(source, 'changes its flags in a group, which is not read here');
      this.at += look
        ? look.length
        : this.peek('?:')
          ? 2
          : this.peek('?<')
            ? source.indexOf('>', this.at) + 1 - this.at
            : 0;
      const part = this.alternatives();
      this.taken(')');
      return look ? { kind: 'look', part, behind: look.includes('<'), not: look.endsWith('!') } : part;
    }
    const from = this.at;
    if (this.taken('[')) {
      for (; this.at < source.length && !this.peek(']'); this.at++) if (this.peek('\\')) this.at++;
      this.at++;
    } else if (this.taken('\\')) {
      if (/^[1-9]/.test(source[this.at]) || (this.peek('k') && (this.unicode || this.source.includes('(?<'))))
        throw refusePattern(source, 'has a back reference; the time that one takes has no bound');
      const escape = this.unicode
        ? /^(?:[pPu]\{[^}]*\}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|[^])/u
        : /^(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|0[0-7]{0,2}|[^])/;
      this.at += escape.exec(source.slice(this.at, this.at + 60))[0].length;
    } else {
      this.at += this.unicode ? String.fromCodePoint(source.codePointAt(this.at)).length : 1;
    }
    return { kind: 'one', test: this.character(source.slice(from, this.at)) };
  }

  /** character makes a test of one character. What was asked of it before is remembered. */
  character(source) {
    let test = this.known.get(source);
    if (test) return test;
    const native = new RegExp('^(?:' + (/^[\]{}]$/.test(source) ? '\\' + source : source) + ')$', this.one);
    const answers = new Map();
    test = (char) => {
      let answer = answers.get(char);
      if (answer === undefined) {
        answer = native.test(char);
        if (answers.size < 5000) answers.set(char, answer);
      }
      return answer;
    };
    this.known.set(source, test);
    return test;
  }

  /**
   * compiled is the list of states of a part, which ends in one that says it was found. behind: the text is read
   * towards its start.
   */
  compiled(tree, behind) {
    const reader = this;
    const list = [];
    const add = (state) => {
      if (++reader.size > maxPatternStates) throw refusePattern(reader.source, 'is too large');
      return list.push(state) - 1;
    };
    const emit = (node) => {
      switch (node.kind) {
        case 'one': add({ test: node.test }); break;
        case 'edge': add({ edge: node.edge, multiline: reader.multiline, one: reader.one }); break;
        case 'look': add({ look: reader.compiled(node.part, node.behind), behind: node.behind, not: node.not }); break;
        case 'all': for (const part of behind ? [...node.parts].reverse() : node.parts) emit(part); break;
        case 'either': {
          const ends = [];
          node.parts.forEach((part, i) => {
            if (i === node.parts.length - 1) return emit(part);
            const fork = add({ fork: [0, 0] });
            emit(part);
            ends.push(add({ fork: [0] }));
            list[fork].fork = [fork + 1, list.length];
          });
          for (const end of ends) list[end].fork = [list.length];
          break;
        }
        case 'repeat': {
          for (let i = 0; i < node.least; i++) emit(node.part);
          if (node.most === Infinity) {
            const fork = add({ fork: [0, 0] });
            emit(node.part);
            add({ fork: [fork] });
            list[fork].fork = [fork + 1, list.length];
          } else {
            const forks = [];
            for (let i = node.least; i < node.most; i++) {
              forks.push(add({ fork: [0, 0] }));
              emit(node.part);
            }
            for (const fork of forks) list[fork].fork = [fork + 1, list.length];
          }
          break;
        }
      }
    };
    emit(tree);
    add({ found: true });
    return { list, behind, unicode: reader.unicode };
  }
}

const lineEdge = /[\n\r\u2028\u2029]/;

/** holdsEdge: an assertion of a place in the text holds there. */
function holdsEdge(state, text, at) {
  if (state.edge === '^') return at === 0 || state.multiline && lineEdge.test(text[at - 1]);
  if (state.edge === '$') return at === text.length || state.multiline && lineEdge.test(text[at]);
  state.word ||= new RegExp('^\\w$', state.one);
  const before = at > 0 && state.word.test(text[at - 1]);
  const after = at < text.length && state.word.test(text[at]);
  return (before !== after) === (state.edge === 'b');
}

/**
 * runsOn reads the text from a place on, and answers whether the states come to their end: at that place, or from any
 * later one.
 */
function runsOn({ list, behind, unicode }, text, start, here, spent) {
  const stamps = new Uint32Array(list.length);
  let stamp = 1;
  let now = [];
  const enter = (first, at) => {
    const open = [first];
    while (open.length > 0) {
      const state = open.pop();
      if (stamps[state] === stamp) continue;
      stamps[state] = stamp;
      if (--spent.left < 0) throw refusePattern(spent.source, 'takes too many steps on a text of the page');
      const { test, fork, edge, look, found } = list[state];
      if (found) return true;
      if (test) now.push(state);
      else if (fork) for (const next of fork) open.push(next);
      else if (edge ? holdsEdge(list[state], text, at) : runsOn(look, text, at, true, spent) !== list[state].not)
        open.push(state + 1);
    }
    return false;
  };
  for (let at = start; ; stamp++) {
    if ((!here || at === start) && enter(0, at)) return true;
    if (behind ? at === 0 : at >= text.length) return false;
    if (here && now.length === 0) return false;
    const char = characterAt(text, at, behind, unicode);
    at += behind ? -char.length : char.length;
    const from = now;
    now = [];
    stamp++;
    for (const state of from) {
      spent.left--;
      if (list[state].test(char) && enter(state + 1, at)) return true;
    }
    stamp--;
  }
}

/** characterAt is what stands behind a place, or before it: one code unit, or a code point. */
function characterAt(text, at, behind, unicode) {
  const from = behind ? at - 1 : at;
  if (unicode && behind && from > 0 && /[\ud800-\udbff]/.test(text[from - 1]) && /[\udc00-\udfff]/.test(text[from]))
    return text.slice(from - 1, at);
  return unicode ? String.fromCodePoint(text.codePointAt(from)) : text[from];
}
