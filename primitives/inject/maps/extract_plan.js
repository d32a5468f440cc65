// extract_plan answers the records of a state projection: every extractor of the
// plan, each with its fields, read from the live document in one go. It changes
// nothing and waits for nothing.
//
// Most of the time of a large answer goes into carrying it out of the page, by
// the character. So it has no names, only values: one flat list, in the order of
// the plan, that Go makes records of. It holds
//
//   an entry with fields       count, the records
//   the same, many: false      1, the record    or 0, null
//   an entry without fields    count, the texts
//   a record                   its fields
//   a field                    its value
//   a field with fields        1, the record    or 0, its value
//   the same, many: true       count, the records
//
// A list of more than planPart is handed out in parts, so that what other tabs
// have to say is not kept waiting for megabytes: the first with the answer, the
// others to extract_part.

const queryFirstElement = methodOf(Element.prototype, 'querySelector');
const queryFirstDocument = methodOf(Document.prototype, 'querySelector');
const queryFirstFragment = methodOf(DocumentFragment.prototype, 'querySelector');
const xpathExpression = methodOf(Document.prototype, 'createExpression');
const xpathEvaluate = methodOf(XPathExpression.prototype, 'evaluate');
const innerTextGetter = getterOf(HTMLElement.prototype, 'innerText');

/** The properties a field may read besides text and rectangle. */
const planProperties = new Set(['value', 'checked', 'ariaLabel']);

/** What one extraction has used, and where it must stop. */
class PlanBudget {
  constructor(limits) {
    this.limits = limits;
    this.bytes = limits.bytes;
    this.nodes = 0;
    this.units = 0;
    this.seen = performance.now();
    this.ends = this.seen + limits.time_ms;
    this.stride = 1;
    this.due = 1;
  }

  /** exceeded is the failure at a limit. needed is the least that the whole takes, where that is known. */
  exceeded(limit, max, needed) {
    return new Fault('state_extract_limit_exceeded', 'reading the page used up its limit of ' + limit, {
      limit, max, needed, nodes_visited: this.nodes, text_units: this.units,
    });
  }

  /** visit counts nodes that are visited, and watches the clock. */
  visit(count) {
    if ((this.nodes += count) > this.limits.nodes) throw this.exceeded('nodes', this.limits.nodes);
    if ((this.due -= count) <= 0) this.tick();
  }

  /**
   * tick reads the clock: before every node while nodes take long, else only at
   * intervals, since reading it costs as much as a node.
   */
  tick() {
    const now = performance.now();
    if (now > this.ends) throw this.exceeded('time', this.limits.time_ms);
    this.stride = now - this.seen < 1 ? Math.min(this.stride * 2, 32) : 1;
    this.due = this.stride;
    this.seen = now;
  }

  /** fits refuses a list that cannot be visited to its end, each of which takes so many nodes or more. */
  fits(count, each = 1) {
    const needed = this.nodes + count * each;
    if (needed > this.limits.nodes) throw this.exceeded('nodes', this.limits.nodes, needed);
  }

  /** text counts a string of the answer: at least as many bytes as units. */
  text(value) {
    if ((this.units += value.length) > this.bytes) throw this.exceeded('bytes', this.bytes);
    return value;
  }
}

/** planFault is a selector that the browser does not take. */
const planFault = (selector, pointer) =>
  new Fault('state_projection_failed', 'a selector of the extract plan does not parse', {
    selector: cut(selector, 500),
    pointer
  });

/**
 * rawQuery is querySelectorAll on whatever root is; null when it is nothing that
 * can be queried. Nearly all roots are elements, so that is tried before it is
 * examined.
 */
function rawQuery(root, selector) {
  try {
    return queryElement(root, selector);
  } catch (error) {
    return otherRoot(root, selector, queryDocument, queryFragment, error);
  }
}

function otherRoot(root, selector, ofDocument, ofFragment, error) {
  switch (nodeType(root)) {
    case 1: throw error;
    case 9: return ofDocument(root, selector);
    case 11: return ofFragment(root, selector);
  }
  return null;
}

/** pierced lists what matches below root, open shadow trees included, each right after its host. */
function pierced(root, selector, budget) {
  const found = [];
  const walk = (tree) => {
    const wanted = new Set(rawQuery(tree, selector) || []);
    const all = rawQuery(tree, '*') || [];
    budget.visit(all.length);
    for (let i = 0; i < all.length; i++) {
      if (wanted.has(all[i])) found.push(all[i]);
      const shadow = shadowOf(all[i]);
      if (shadow) walk(shadow);
    }
  };
  if (nodeType(root) === 1 && shadowOf(root)) walk(shadowOf(root));
  walk(root);
  return found;
}

/**
 * planLocator prepares the way from a root to its matches; null when the
 * declaration has none. all gives a list with length, first a node or null.
 */
function planLocator({ selector, xpath }, shadow, budget, pointer) {
  if (selector) {
    const at = pointer + '/selector';
    const guarded = (query) => (root) => {
      try {
        return query(root);
      } catch (error) {
        throw error instanceof Fault ? error : planFault(selector, at);
      }
    };
    if (shadow) {
      const all = guarded((root) => pierced(root, selector, budget));
      return { all, first: (root) => all(root)[0] || null };
    }
    const firstElsewhere = guarded((root) => otherRoot(root, selector, queryFirstDocument, queryFirstFragment, null));
    return {
      all: guarded((root) => rawQuery(root, selector) || []),
      first(root) { // the inmost step of a large extraction: no call more than it needs
        try {
          return queryFirstElement(root, selector);
        } catch {
          return firstElsewhere(root);
        }
      },
    };
  }
  if (!xpath) return null;
  let expression = null;
  try {
    expression = xpathExpression(document, xpath, null);
  } catch {
    // An expression that does not parse finds nothing.
  }
  const run = (root, type) => {
    try {
      return expression && xpathEvaluate(expression, root, type, null);
    } catch {
      return null; // not a set of nodes
    }
  };
  return {
    all(root) {
      const result = run(root, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
      const found = [];
      if (!result) return found;
      budget.fits(result.snapshotLength);
      for (let i = 0; i < result.snapshotLength; i++) found.push(result.snapshotItem(i));
      return found;
    },
    first(root) {
      const result = run(root, XPathResult.FIRST_ORDERED_NODE_TYPE);
      return result && result.singleNodeValue;
    },
  };
}

/** shownText is innerText where there is such a thing, else textContent, else null. */
function shownText(node) {
  if (node instanceof HTMLElement) return innerTextGetter(node);
  return textContentOf(node);
}

/** planRectangle is the bounding box in pixels of the tab's viewport. */
function planRectangle(node, view) {
  if (nodeType(node) !== 1) return null;
  const { x, y, width, height, top, left, right, bottom } = box(rectOf(node), view);
  return { x, y, width, height, top, left, right, bottom };
}

function planLeaf(field, view) {
  const { attribute, property } = field;
  if (attribute) {
    return (node) => {
      try {
        return attributeOf(node, attribute);
      } catch {
        return null; // no element
      }
    };
  }
  if (!property || property === 'innerText') return shownText;
  if (property === 'textContent') return textContentOf;
  if (property === 'boundingClientRect') return (node) => planRectangle(node, view);
  if (!planProperties.has(property)) return () => null;
  return (node) => {
    const value = protoGet(node, property);
    const type = typeof value;
    return type === 'string' || type === 'boolean' || type === 'number' ? value : null;
  };
}

/**
 * PlanTrail is where in the records the reader is. Only diagnostics want to
 * know it, so its steps are kept apart and joined on demand. A place in the plan
 * is always equally deep: an entry is at 0, and each record and nested field one
 * deeper than what holds it.
 */
class PlanTrail {
  steps = [];

  path(depth, name) {
    let text = this.steps[0];
    for (let i = 1; i < depth; i++) text += '.' + this.steps[i];
    return name === undefined ? text : text + '.' + name;
  }
}

/** planFields makes the reader of a record whose path has depth steps, and says how many nodes each takes at least. */
function planFields(fields, shadow, run, pointer, depth) {
  const { budget } = run;
  const readers = Object.entries(fields).map(([name, field]) => planField(field, name, shadow, run,
    pointer + '/' + name.replace(/~/g, '~0').replace(/\//g, '~1'), depth));
  const size = readers.length;
  const record = (root) => {
    budget.visit(1);
    for (let i = 0; i < size; i++) {
      if ((i & 7) === 0) budget.visit(Math.min(8, size - i));
      readers[i](root);
    }
  };
  return { record, nodes: 1 + size };
}

/** planField makes the reader of a field of a record. */
function planField(field, name, inherited, run, pointer, depth) {
  const { budget, diagnostics, trail, values } = run;
  const shadow = field.shadow === undefined ? inherited : field.shadow;
  const locate = planLocator(field, shadow, budget, pointer);
  if (field.fields && locate && field.many) {
    const reader = planFields(field.fields, shadow, run, pointer + '/fields', depth + 2);
    return (root) => {
      const nodes = locate.all(root);
      trail.steps[depth] = name;
      planRecords(nodes, reader, run, depth + 1);
    };
  }
  const { closest: up, trim, required } = field;
  const first = locate && locate.first;
  const missing = field.default === undefined || field.default === null ? null : field.default;
  const find = up ? (root) => {
    const found = first ? first(root) : root;
    return found && planClosest(found, up, shadow, pointer);
  } : first;
  if (field.fields) {
    const { record } = planFields(field.fields, shadow, run, pointer + '/fields', depth + 1);
    return (root) => {
      const target = find ? find(root) : root;
      if (!target) {
        if (required) diagnostics.missed(trail, depth, name);
        values.push(0, missing);
        return;
      }
      if (locate) diagnostics.counted(1, trail, depth, name);
      trail.steps[depth] = name;
      values.push(1);
      record(target);
    };
  }
  const read = planLeaf(field, run.view);
  return (root) => {
    const target = find ? find(root) : root;
    let value = target ? read(target) : null;
    if (typeof value === 'string') {
      if (trim) value = value.trim();
      budget.text(value);
    } else if (value === undefined) {
      value = null;
    }
    if (value === null || value === '') {
      if (required) diagnostics.missed(trail, depth, name);
      if (value === null) value = missing;
    }
    values.push(value);
  };
}

/** planClosest is closest, through shadow hosts where the plan searches shadow roots. */
function planClosest(node, selector, shadow, pointer) {
  try {
    for (let at = node; at && nodeType(at) === 1;) {
      const found = closestCSS(at, selector);
      if (found || !shadow) return found;
      const tree = rootOf(at);
      at = tree instanceof ShadowRoot ? hostOf(tree) : null;
    }
    return null;
  } catch {
    throw planFault(selector, pointer + '/closest');
  }
}

/** planRecords reads one record per node of a list whose path has depth steps. */
function planRecords(nodes, { record, nodes: each }, { budget, diagnostics, trail, values }, depth) {
  const count = nodes.length;
  budget.fits(count, each);
  diagnostics.counted(count, trail, depth);
  values.push(count);
  const { steps } = trail;
  for (let i = 0; i < count; i++) {
    steps[depth] = i;
    record(nodes[i]);
  }
}

/** Diagnostics of one extraction: the first of each kind. */
class PlanDiagnostics {
  constructor(max) {
    this.max = max;
    this.counts = Object.create(null);
    this.countsKept = 0;
    this.missing = [];
    this.missingCount = 0;
    this.truncated = false;
  }

  counted(count, trail, depth, name) {
    if (this.countsKept++ < this.max) this.counts[trail.path(depth, name)] = count;
    else this.truncated = true;
  }

  missed(trail, depth, name) {
    this.missingCount++;
    if (this.missing.length < this.max) this.missing.push(trail.path(depth, name));
    else this.truncated = true;
  }
}

/** planExtractor reads one entry of the plan. */
function planExtractor(extractor, run, pointer) {
  const { budget, diagnostics, trail, values } = run;
  trail.steps[0] = extractor.id;
  const locate = planLocator(extractor, extractor.shadow, budget, pointer);
  const nodes = locate ? locate.all(document) : [document];
  const count = nodes.length;
  if (extractor.fields) {
    const reader = planFields(extractor.fields, extractor.shadow, run, pointer + '/fields', 2);
    if (extractor.many !== false) {
      planRecords(nodes, reader, run, 1);
      return;
    }
    diagnostics.counted(count, trail, 1);
    trail.steps[1] = 0;
    if (count === 0) {
      values.push(0, null);
    } else {
      values.push(1);
      reader.record(nodes[0]);
    }
    return;
  }
  diagnostics.counted(count, trail, 1);
  budget.fits(count);
  values.push(count);
  for (let i = 0; i < count; i++) {
    budget.visit(1);
    values.push(budget.text(shownText(nodes[i]) || ''));
  }
}

/** The size of a part in units of text, and how long parts wait to be fetched. */
const planPart = 1 << 20;
const planPartsWait = 30_000;
const planParts = new Map(); // answer -> the parts that were not fetched yet
let planAnswers = 0;

/** planTexts is the list of values as JSON, in parts. */
function planTexts(values, units) {
  if (units + 4 * values.length <= planPart) return [JSON.stringify(values)];
  const texts = [];
  for (let from = 0, to = 0; from < values.length; from = to) {
    for (let size = 0; to < values.length && size < planPart; to++)
      size += typeof values[to] === 'string' ? values[to].length + 3 : 8;
    texts.push(JSON.stringify(values.slice(from, to)));
  }
  return texts;
}

/**
 * extract_plan runs extractors, pairs of their place in the declaration and
 * their text, and answers [head, values]. The head is short and comes first; it
 * says of how many parts the values are.
 */
queries.extract_plan = ({ extract, limits, view }) => {
  if (!rootElement()) throw new Fault('state_document_unavailable', 'the page has no document element');
  const run = {
    budget: new PlanBudget(limits),
    diagnostics: new PlanDiagnostics(limits.diagnostics),
    trail: new PlanTrail(),
    view: viewOf(view),
    values: []
  };
  for (const [index, extractor] of extract) planExtractor(extractor, run, '/snapshot/extract/' + index);
  const texts = planTexts(run.values, run.budget.units);
  let size = texts.reduce((sum, text) => sum + text.length, 0);
  if (size <= limits.bytes && size * 3 > limits.bytes) size = texts.reduce((sum, text) => sum + utf8Length(text), 0);
  if (size > limits.bytes) throw run.budget.exceeded('bytes', limits.bytes, size);
  const parts = texts.length;
  const answer = parts > 1 ? ++planAnswers : 0;
  if (answer) {
    planParts.set(answer, texts);
    setTimeout(() => planParts.delete(answer), planPartsWait);
  }
  const { counts, missing, missingCount, truncated } = run.diagnostics;
  const head = JSON.stringify({
    url: documentURLOf(document),
    title: documentTitleOf(document),
    counts,
    missing,
    missing_count: missingCount,
    truncated,
    nodes: run.budget.nodes,
    answer,
    parts
  });
  return new Raw('[' + head + ',' + texts[0] + ']');
};

/** extract_part answers a further part of the values of an answer, each once and in order. */
queries.extract_part = ({ answer, part }) => {
  const texts = planParts.get(answer);
  if (!texts || !texts[part])
    throw new Fault('page_navigated', 'the document was replaced while its answer was fetched', { part });
  const text = texts[part];
  texts[part] = '';
  if (part === texts.length - 1) planParts.delete(answer);
  return new Raw(text);
};
