// extended resolves what locators of this host can say beyond those of the
// dictionary: role and name, label, placeholder, test id, XPath, a ref, text
// patterns, a position, and a locator to search within. An element must
// match all members.

const extensions = [
  'ref', 'xpath', 'role', 'name', 'label', 'near', 'placeholder', 'test_id', 'has_text', 'within', 'has',
  'nearest_to', 'nth', 'fallback'
];

/** isExtended: the locator has a member that upstream's do not know. */
function isExtended(locator) {
  for (const field of extensions) if (locator[field] !== undefined && locator[field] !== null) return true;
  return false;
}

const labelled =
  'input, textarea, select, button, meter, output, progress, [aria-label], [aria-labelledby], [contenteditable]';
const testIDs = ['data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa'];
const testIDPlaces = testIDs.map((name) => '[' + name + ']').join(', ');

const maxMatchedText = 10000; // patterns and parts are searched in no more
const maxWithin = 500; // elements of within that are searched

/**
 * textTest makes a test of what a text field wants: {regex, flags}, {contains}, or a string that is the whole, or a
 * part of the text.
 */
function textTest(want, exact, part) {
  const fold = (text) => exact ? text : text.toLowerCase();
  if (typeof want === 'object' && want !== null) {
    if (want.regex !== undefined) {
      const matches = patternOf(String(want.regex), String(want.flags || ''));
      // An expression may name what nobody sees.
      return (text) => matches(cut(text, maxMatchedText)) || matches(cut(comparable(text), maxMatchedText));
    }
    return textTest(String(want.contains ?? ''), exact, true);
  }
  const needle = fold(sought(String(want)));
  return part
    ? (text) => fold(cut(comparable(text), maxMatchedText)).includes(needle)
    : (text) => fold(comparable(text)) === needle;
}

/** nameTest is textTest for names and labels, which have no characters of private use: those of want do not count. */
function nameTest(want, exact, part) {
  if (typeof want === 'object' && want !== null) {
    return want.regex !== undefined ? textTest(want, exact, part) : nameTest(String(want.contains ?? ''), exact, true);
  }
  const text = worded(want);
  return text === '' && norm(want) !== '' ? () => false : textTest(text, exact, part);
}

/** labelTexts lists what labels an element: label elements and the ARIA attributes. */
function labelTexts(node, known) {
  const texts = [];
  for (const label of labelsOf(node)) {
    texts.push(worded(textOfLabel(label, node, known, false)));
    texts.push(worded(textOfLabel(label, node, known, true))); // without the asterisk or the colon that a style adds
  }
  const referred = byIds(node, 'aria-labelledby');
  if (referred.length > 0) texts.push(nameOf(node, known));
  texts.push(worded(attributeOf(node, 'aria-label')));
  return texts.filter((text) => text !== '');
}

/** textOfLabel is the text of a label besides the control in it. */
const textOfLabel = (label, control, known, bare) =>
  contentText(label, { ...contentContext(known), bare, inside: 'label', visited: new Set([control]) }) || textOf(label);

/** evaluated lists the elements of an XPath expression; an absolute one stays inside root. */
function evaluated(root, expression) {
  let found;
  try {
    const path = root !== document && expression.startsWith('/') ? '.' + expression : expression;
    found = evaluateXPath(document, path, root, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
  } catch {
    throw new Fault('invalid_selector', 'the XPath expression does not parse or gives no nodes', {
      xpath: cut(expression, 500)
    });
  }
  const nodes = [];
  for (let i = 0; i < found.snapshotLength; i++) {
    const node = found.snapshotItem(i);
    if (isElement(node)) nodes.push(node);
  }
  return nodes;
}

const evaluateXPath = methodOf(Document.prototype, 'evaluate');
const positionOf = methodOf(Node.prototype, 'compareDocumentPosition');

/**
 * inFlatOrder sorts elements of several trees as a reader meets them: what is in a shadow root comes where its host is.
 */
function inFlatOrder(nodes) {
  const roots = new Set(nodes.map((node) => rootOf(node)));
  if (roots.size < 2) return nodes;
  // paths: from the document down, one node for each tree.
  const paths = new Map(nodes.map((node) => {
    const path = [node];
    for (let root = rootOf(node); root instanceof ShadowRoot; root = rootOf(path[0])) path.unshift(hostOf(root));
    return [node, path];
  }));
  return nodes.sort((a, b) => {
    const left = paths.get(a);
    const right = paths.get(b);
    let i = 0;
    while (i < left.length - 1 && i < right.length - 1 && left[i] === right[i]) i++;
    if (left[i] === right[i]) return left.length - right.length;
    return positionOf(left[i], right[i]) & 4 ? -1 : 1;
  });
}

/** startingPlaces is where to search: the document, or what within finds. */
function startingPlaces(locator, trace) {
  if (!locator.within) return [document];
  const inner = locate(locator.within);
  trace.within_matches = inner.nodes.length;
  const seen = inner.nodes.filter((node) => rendered(node));
  return (seen.length > 0 ? seen : inner.nodes).slice(0, maxWithin);
}

function gathered(locator, trace) {
  if (locator.ref !== undefined && locator.ref !== null) {
    const node = elementOfRef(locator.ref);
    refuseRecycled(node, locator.ref);
    return [node];
  }
  const pierce = locator.pierce !== false;
  const places = startingPlaces(locator, trace);
  const found = new Set();
  let stage = 'selector';
  let findIn;
  if (locator.selector !== undefined && locator.selector !== null) {
    findIn = (root) => {
      const result = queryParts(root, String(locator.selector), pierce);
      trace.selector_parts ||= result.counts;
      return result.nodes;
    };
  } else if (locator.xpath) {
    stage = 'xpath';
    findIn = (root) => evaluated(root, String(locator.xpath));
  } else {
    let css = defaultCandidates;
    stage = 'candidate';
    if (locator.test_id !== undefined && locator.test_id !== null) css = testIDPlaces;
    else if (locator.placeholder !== undefined && locator.placeholder !== null)
      css = '[placeholder], [aria-placeholder]';
    else if (locator.label !== undefined && locator.label !== null) css = labelled;
    else if (locator.role) css = placesOfRole(String(locator.role).toLowerCase());
    else if (locator.name !== undefined && locator.name !== null)
      css += ', h1, h2, h3, h4, h5, h6, img, summary, [title], [contenteditable], [tabindex]';
    findIn = (root) => {
      const nodes = [];
      for (const at of pierce ? withShadows(root) : [root]) for (const node of queryIn(at, css)) nodes.push(node);
      if (root !== document && isElement(root) && matchesCSS(root, css)) nodes.push(root);
      if (css === labelled) for (const node of labelledComponents(root, pierce)) nodes.push(node);
      return nodes;
    };
  }
  for (const root of places) {
    for (const node of findIn(root)) if (node !== root || locator.xpath) found.add(node);
    const own = pierce && root !== document && shadowOf(root);
    if (own) for (const node of findIn(own)) found.add(node);
    if (pierce && root !== document)
      for (const given of givenToSlots(root)) for (const node of findIn(given)) found.add(node);
  }
  if (stage !== 'candidate') trace[stage + '_matches'] = found.size;
  else for (const node of sayingIn(places, locator, [...found])) found.add(node);
  return [...found];
}

/**
 * sayingIn lists the innermost elements that have the text of a locator that names nothing else, where no control has
 * it.
 */
function sayingIn(places, locator, controls) {
  const needle = sought(locator.text || locator.text_contains || locator.text_equals);
  const more = ['name', 'label', 'placeholder', 'test_id'].some((field) => (locator[field] ?? null) !== null);
  if (needle === '' || more || locator.role) return [];
  const equal = Boolean(locator.text_equals);
  if (controls.some((node) => readable(node, () => hasText(node, needle, equal), false))) return [];
  return places.flatMap((root) =>
    root === document ? saying(needle, equal) : innermostSaying(root, needle, equal).filter((node) => node !== root)
  );
}

/**
 * innerTextControl is the one control in a custom element that takes text, null for none and for several. A label names
 * such an element as its control, and what is written to it is written there.
 */
function innerTextControl(node) {
  const shadow = localNameOf(node).includes('-') && shadowOf(node);
  if (!shadow || whyNotEditable(node) === null) return null;
  const found = withShadows(shadow)
    .flatMap((root) => queryIn(root, textTakers))
    .filter((each) => isTextControl(each) && !typesWithoutText.has(protoGet(each, 'type')) && rendered(each));
  return found.length === 1 ? found[0] : null;
}

/** labelledComponents lists the custom elements that a label names as its control. */
function labelledComponents(root, pierce) {
  const found = [];
  for (const at of pierce ? withShadows(root) : [root]) {
    for (const label of queryIn(at, 'label')) {
      const control = protoGet(label, 'control');
      if (
        control &&
        localNameOf(control).includes('-') &&
        !hasAttribute(control, 'aria-label') &&
        !hasAttribute(control, 'aria-labelledby')
      )
        found.push(control);
    }
  }
  return found;
}

/**
 * givenToSlots lists what the slots inside an element draw and what is not below it
 * otherwise: a row of a grid is in its shadow root, what its cells show is not.
 */
function givenToSlots(root) {
  const given = new Set();
  const waiting = [root];
  while (waiting.length > 0 && given.size < maxWithin) {
    const at = waiting.pop();
    for (const tree of withShadows(at).concat(shadowOf(at) || [])) {
      for (const slot of queryIn(tree, 'slot')) {
        if (!(slot instanceof HTMLSlotElement)) continue;
        for (const node of assignedTo(slot)) {
          if (!isElement(node) || given.has(node) || contains(at, node)) continue;
          given.add(node);
          waiting.push(node);
        }
      }
    }
  }
  return given;
}

/**
 * leavesOut: an element in a control whose inside the tree does not distinguish, or that is not exposed, has no role to
 * be found by.
 */
function leavesOut(node, known) {
  if (unexposed(node, known)) return true;
  for (let at = flatParentElement(node), depth = 0; at && depth < 8; at = flatParentElement(at), depth++) {
    if (leafRoles.test(roleOf(at)) && !isFocusable(node)) return true;
  }
  return false;
}

/** Names of elements that have the role but another name are reported, at most this many. */
const maxNearest = 8;

/**
 * locateExtended is locate for a locator with extensions. Most elements have
 * another name than the one that is wanted, and show it at once: the others
 * alone are examined closely. What was counted on the way matters only when
 * nothing is found, and then everything is examined.
 */
function locateExtended(locator) {
  const trace = {};
  const nodes = gathered(locator, trace);
  if (typeof locator.name === 'string' && nodes.length > 1) {
    const fold = locator.exact ? (text) => text : (text) => text.toLowerCase();
    const needle = fold(sought(worded(locator.name)));
    const styled = styleHints(false).conceals;
    const likely = nodes.filter((node) => !readable(node, () => hasAnotherName(node, needle, fold, styled), false));
    if (likely.length > 0 && likely.length < nodes.length) {
      const found = narrowed(locator, likely, { ...trace });
      if (found.nodes.length > 0) return found;
    }
  }
  return narrowed(locator, nodes, trace);
}

/** nearMark is what a control without a name is called, as a snapshot shows it. */
const nearMark = (words) => words && '≈' + words;

/** roleWord is a role as roleOf answers it. */
function roleWord(role) {
  const word = String(role).trim().toLowerCase();
  return { image: 'img', presentation: 'none' }[word] || word;
}

/** narrowed leaves of nodes what all fields of a locator hold for. */
function narrowed(locator, nodes, trace) {
  const known = new Map();
  const given = (field) => locator[field] !== undefined && locator[field] !== null;
  const keepOnly = (stage, test) => {
    nodes = nodes.filter((node) => {
      const holds = readable(node, test, undefined);
      if (holds === undefined) trace.unreadable = (trace.unreadable || 0) + 1;
      return holds;
    });
    trace[stage + '_matches'] = nodes.length;
  };
  if (given('xpath') && given('selector')) {
    const matching = new Set(startingPlaces(locator, {}).flatMap((root) => evaluated(root, String(locator.xpath))));
    keepOnly('xpath', (node) => matching.has(node));
  }
  if (given('test_id')) {
    const test = textTest(locator.test_id, true, false);
    keepOnly('test_id', (node) => testIDs.some((name) => hasAttribute(node, name) && test(attributeOf(node, name))));
  }
  if (given('placeholder')) {
    const test = nameTest(locator.placeholder, locator.exact, false);
    keepOnly('placeholder', (node) => {
      const text = placeholderOf(node) || worded(attributeOf(node, 'placeholder'));
      return text !== '' && test(text);
    });
    // A component repeats its placeholder on the control inside; that is the one that shows it.
    if (nodes.length > 1)
      nodes = nodes.filter(
        (node) => placeholderOf(node) !== '' || !nodes.some((inner) => inner !== node && flatContains(node, inner))
      );
  }
  if (given('label')) {
    const test = nameTest(locator.label, locator.exact, false);
    keepOnly('label', (node) => labelTexts(node, known).some(test));
    nodes = [...new Set(nodes.map((node) => innerTextControl(node) || node))];
  }
  if (locator.role) {
    const role = roleWord(locator.role);
    keepOnly('role', (node) => (roleOf(node) === role || writtenPart(node) === role) && !leavesOut(node, known));
  }
  if (given('near')) {
    const test = nameTest(locator.near, locator.exact, false);
    keepOnly('near', (node) => {
      const words = besideOf(node, known);
      return words !== '' && test(words);
    });
  }
  if (given('name')) {
    const test = nameTest(locator.name, locator.exact, false);
    const before = nodes;
    keepOnly('name', (node) => {
      const name = nameOf(node, known);
      return name !== '' && test(name);
    });
    if (nodes.length === 0) {
      const names = new Set(
        before
          .slice(0, 200)
          .map((node) => cut(safeName(node, known) || nearMark(besideOf(node, known)), 80))
          .filter((name) => name !== '')
      );
      trace.nearest = [...names].slice(0, maxNearest);
    }
  }
  const needle = sought(locator.text || locator.text_contains || locator.text_equals);
  if (needle !== '') keepOnly('text', (node) => hasText(node, needle, Boolean(locator.text_equals)));
  if (given('has_text')) {
    const test = textTest(locator.has_text, locator.exact, true);
    keepOnly('has_text', (node) => test(norm(textOf(node))) || test(norm(flatText(node, { left: maxNameNodes }))));
  }
  if (given('has')) {
    const inner = locate(locator.has).nodes;
    keepOnly('has', (node) => inner.some((each) => each !== node && flatContains(node, each)));
  }
  if (locator.retarget) {
    nodes = retargeted(nodes, locator.retarget);
    trace.retarget_matches = nodes.length;
  }
  if (!given('selector')) nodes = inFlatOrder(nodes);
  if (given('nearest_to')) {
    const places = locate(locator.nearest_to).nodes.filter((node) => rendered(node)).map((node) => rectOf(node));
    trace.nearest_to_matches = places.length;
    nodes = places.length > 0 ? nearestTo(places, nodes) : [];
  }
  if (given('nth')) {
    const at = locator.nth < 0 ? nodes.length + locator.nth : locator.nth;
    trace.nth_of = nodes.length;
    nodes = at >= 0 && at < nodes.length ? [nodes[at]] : [];
    trace.nth_matches = nodes.length;
  }
  return { nodes, trace };
}

/** distance is how far two boxes are apart, by their edges first and by their centres where edges tell nothing. */
function distance(a, b) {
  const dx = Math.max(a.left - b.right, b.left - a.right, 0);
  const dy = Math.max(a.top - b.bottom, b.top - a.bottom, 0);
  const centre = Math.hypot(a.left + a.right - b.left - b.right, a.top + a.bottom - b.top - b.bottom);
  return [Math.hypot(dx, dy), centre];
}

/** nearestTo is the drawn node that is nearest to one of the places: a list of one, or of none. */
function nearestTo(places, nodes) {
  let found = [];
  let least = [Infinity, Infinity];
  for (const node of nodes) {
    if (!rendered(node)) continue;
    const rect = rectOf(node);
    for (const place of places) {
      const [edge, centre] = distance(rect, place);
      if (edge > least[0] || edge === least[0] && centre >= least[1]) continue;
      least = [edge, centre];
      found = [node];
    }
  }
  return found;
}

/** flatText is the text as it is drawn: with that of open shadow roots and slots. */
function flatText(node, budget, depth = 0) {
  if (depth > deepestName) return textOf(node);
  let text = '';
  for (const child of flatChildren(node)) {
    if (budget.left-- <= 0) break;
    const type = nodeType(child);
    if (type === 3) text += nodeValueOf(child) || '';
    else if (type === 1 && !/^(?:script|style|template|noscript)$/.test(tagOf(child)))
      text += flatText(child, budget, depth + 1);
  }
  return text;
}

/** refusesSeveral: with an extension, or when it asks for that, a locator must resolve to one element only. */
const refusesSeveral = (locator) =>
  typeof locator.strict === 'boolean'
    ? locator.strict
    : isExtended(locator) && (locator.nth === undefined || locator.nth === null);

const maxDescribed = 10;

/** described names an element in evidence: role, name, tag and place. */
function described(node, view) {
  return {
    tag_name: tagOf(node),
    role: safeRole(node) || null,
    name: cut(safeName(node, new Map()), 120),
    target_label: label(node),
    bounding_box: box(rectOf(node), view)
  };
}

/**
 * nearText is the text of the nearest element around node that has more text than node itself, which distinguishes
 * equal ones.
 */
function nearText(node) {
  const own = norm(textOf(node));
  for (let at = flatParentElement(node), i = 0; at && i < 6; at = flatParentElement(at), i++) {
    const text = norm(textOf(at));
    if (text !== own && text !== '') return cut(text, 60);
  }
  return '';
}

const candidateBytes = 1600; // evidence that is longer would be cut to a string

/** candidatesOf names elements that a caller has to choose from: each by its ref, and by what is around it. */
function candidatesOf(nodes) {
  const known = new Map();
  const out = [];
  let bytes = 0;
  for (const node of nodes.slice(0, maxDescribed)) {
    const one = {
      ref: refOf(node),
      role: safeRole(node) || tagOf(node),
      name: cut(safeName(node, known), 60),
      target_label: cut(label(node), 60)
    };
    const near = nearText(node);
    if (near !== '') one.near = near;
    bytes += new TextEncoder().encode(JSON.stringify(one)).length;
    if (bytes > candidateBytes && out.length > 0) break;
    out.push(one);
  }
  return out;
}

/** severalTargets is the failure of a locator that an action cannot decide by. */
function severalTargets(locator, nodes, view) {
  return new Fault('multiple_targets', 'several elements match the locator; say which', {
    locator, candidate_count: nodes.length, candidates: candidatesOf(nodes),
  });
}

/**
 * oneOf picks the element that an action is meant for: the first that the
 * viewport shows, or that is drawn somewhere, or that is there. A locator that
 * must be sure fails when several are drawn, also outside the viewport.
 */
function oneOf(locator, nodes, view) {
  if (nodes.length === 1) return { node: nodes[0], count: 1 };
  const drawn = nodes.filter((node) => rendered(node));
  if (drawn.length > 1 && refusesSeveral(locator)) throw severalTargets(locator, drawn, view);
  const clips = new Map();
  const seen = drawn.filter((node) => isVisible(node, view, clips));
  const list = seen.length > 0 ? seen : drawn.length > 0 ? drawn : nodes;
  return { node: list[0], count: list.length };
}
