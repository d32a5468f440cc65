// extract_plan answers the records of a state projection: every extractor of the
// plan, each with its fields, read from the live document in one go. It changes
// nothing and waits for nothing.

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
    this.nodes = 0;
    this.units = 0;
    this.ends = performance.now() + limits.time_ms;
  }

  exceeded(limit, max) {
    return new Fault('state_extract_limit_exceeded', 'reading the page used up its limit of ' + limit, {
      limit, max, nodes_visited: this.nodes, text_units: this.units,
    });
  }

  /** visit counts nodes that are looked at, and watches the clock. */
  visit(count) {
    const before = this.nodes;
    this.nodes += count;
    if (this.nodes > this.limits.nodes) throw this.exceeded('nodes', this.limits.nodes);
    if ((before >> 5) !== (this.nodes >> 5) && performance.now() > this.ends) throw this.exceeded('time', this.limits.time_ms);
  }

  /** fits refuses a list of nodes that cannot be visited to its end. */
  fits(count) {
    if (this.nodes + count > this.limits.nodes) throw this.exceeded('nodes', this.limits.nodes);
  }

  /** text counts a string of the answer: at least as many bytes as units. */
  text(value) {
    this.units += value.length;
    if (this.units > this.limits.bytes) throw this.exceeded('bytes', this.limits.bytes);
    return value;
  }
}

/** planFault is a selector that the browser does not take. */
const planFault = (selector, pointer) => new Fault('state_projection_failed', 'a selector of the extract plan does not parse', {
  selector: cut(selector, 500), pointer,
});

/**
 * rawQuery and rawFirst are querySelectorAll and querySelector on whatever root
 * is; null when it is nothing that can be asked. Nearly all roots are elements,
 * so that is tried before it is looked at.
 */
function rawQuery(root, selector) {
  try {
    return queryElement(root, selector);
  } catch (error) {
    return otherRoot(root, selector, queryDocument, queryFragment, error);
  }
}

function rawFirst(root, selector) {
  try {
    return queryFirstElement(root, selector);
  } catch (error) {
    return otherRoot(root, selector, queryFirstDocument, queryFirstFragment, error);
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
    const all = guarded((root) => rawQuery(root, selector));
    return { all: (root) => all(root) || [], first: guarded((root) => rawFirst(root, selector)) };
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

/** put sets a member whatever its name. */
function put(record, name, value) {
  if (name === '__proto__') Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
  else record[name] = value;
}

/** planFields makes the reader of a record: (root, path) -> object. */
function planFields(fields, shadow, run, pointer) {
  const readers = Object.entries(fields).map(([name, field]) => [name, '.' + name, planField(field, shadow, run,
    pointer + '/' + name.replace(/~/g, '~0').replace(/\//g, '~1'))]);
  return (root, path) => {
    run.budget.visit(1);
    const record = {};
    for (const [name, step, read] of readers) put(record, name, read(root, path, step));
    return record;
  };
}

/** planField makes the reader of a field: (root, path of the record, ".name") -> value. */
function planField(field, inherited, run, pointer) {
  const { budget, diagnostics } = run;
  const shadow = field.shadow === undefined ? inherited : field.shadow;
  const locate = planLocator(field, shadow, budget, pointer);
  const record = field.fields && planFields(field.fields, shadow, run, pointer + '/fields');
  if (record && locate && field.many) {
    return (root, path, step) => {
      const at = path + step;
      return planRecords(locate.all(root), record, at, run);
    };
  }
  const { closest: up, trim, required } = field;
  const missing = field.default === undefined || field.default === null ? null : field.default;
  const read = planLeaf(field, run.view);
  return (root, path, step) => {
    budget.visit(1);
    let target = locate ? locate.first(root) : root;
    if (target && up) target = planClosest(target, up, shadow, pointer);
    if (!target) {
      if (required) diagnostics.missed(path + step);
      return missing;
    }
    if (record) {
      if (locate) diagnostics.counted(path + step, 1);
      return record(target, path + step);
    }
    let value = read(target);
    if (typeof value === 'string') {
      if (trim) value = value.trim();
      budget.text(value);
    }
    if (value === null || value === undefined || value === '') {
      if (required) diagnostics.missed(path + step);
      if (value !== '') return missing;
    }
    return value;
  };
}

/** planClosest is closest, through shadow hosts where the plan looks into shadows. */
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

/** planRecords reads one record per node. */
function planRecords(nodes, record, path, { budget, diagnostics }) {
  const count = nodes.length;
  budget.fits(count);
  diagnostics.counted(path, count);
  const records = new Array(count);
  for (let i = 0; i < count; i++) records[i] = record(nodes[i], path + '.' + i);
  return records;
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

  counted(path, count) {
    if (this.countsKept++ < this.max) this.counts[path] = count;
    else this.truncated = true;
  }

  missed(path) {
    this.missingCount++;
    if (this.missing.length < this.max) this.missing.push(path);
    else this.truncated = true;
  }
}

/** planExtractor reads one entry of the plan. */
function planExtractor(extractor, run, pointer) {
  const { budget, diagnostics } = run;
  const locate = planLocator(extractor, extractor.shadow, budget, pointer);
  const nodes = locate ? locate.all(document) : [document];
  if (extractor.fields) {
    const record = planFields(extractor.fields, extractor.shadow, run, pointer + '/fields');
    if (extractor.many !== false) return planRecords(nodes, record, extractor.id, run);
    diagnostics.counted(extractor.id, nodes.length);
    return nodes.length > 0 ? record(nodes[0], extractor.id + '.0') : null;
  }
  diagnostics.counted(extractor.id, nodes.length);
  budget.fits(nodes.length);
  const texts = [];
  for (let i = 0; i < nodes.length; i++) {
    budget.visit(1);
    texts.push(budget.text(shownText(nodes[i]) || ''));
  }
  return texts;
}

/**
 * extract_plan runs extractors, pairs of their place in the declaration and
 * their text, and answers [head, records]. The head is short and comes first,
 * so that the records need not be parsed to be passed on.
 */
questions.extract_plan = ({ extract, limits, view: given }) => {
  if (!rootElement()) throw new Fault('state_document_unavailable', 'the page has no document element');
  const run = { budget: new PlanBudget(limits), diagnostics: new PlanDiagnostics(limits.diagnostics), view: viewOf(given) };
  const records = {};
  for (const [index, extractor] of extract) put(records, extractor.id, planExtractor(extractor, run, '/snapshot/extract/' + index));
  const text = JSON.stringify(records);
  if (text.length > limits.bytes || (text.length * 3 > limits.bytes && utf8Length(text) > limits.bytes)) throw run.budget.exceeded('bytes', limits.bytes);
  const { counts, missing, missingCount, truncated } = run.diagnostics;
  const head = JSON.stringify({
    url: documentURLOf(document), title: documentTitleOf(document), counts, missing, missing_count: missingCount, truncated, nodes: run.budget.nodes,
  });
  return new Raw('[' + head + ',' + text + ']');
};
