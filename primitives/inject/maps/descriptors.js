// descriptors resolves target descriptors of maps: many of them in one call,
// each by the first of its candidates that matches.

const maxFactText = 2000;

/** descriptorCandidates lists the locators of a descriptor, the preferred one first. */
function descriptorCandidates(d) {
  const narrow = {};
  for (const key of ['text_equals', 'text_contains', 'role', 'name']) if (d[key]) narrow[key] = d[key];
  const list = [];
  const add = (field, selectors) =>
    (selectors || []).forEach((selector, i) => {
      list.push({
        candidate: i === 0 && field === 'selector' ? field : field + '/' + i,
        locator: { ...narrow, selector }
      });
    });
  add('selector', d.selector);
  add('selectors', d.selectors);
  if (list.length === 0 && Object.keys(narrow).length > 0) list.push({ candidate: 'predicates', locator: narrow });
  add('fallback_selectors', d.fallback_selectors);
  return list;
}

/** triedCandidate probes one candidate once: in the document, then in open shadow roots too. */
function triedCandidate({ candidate, locator }, explain = false) {
  const tried = { candidate, count: 0 };
  try {
    let found = locate(locator);
    if (found.nodes.length === 0) found = locate({ ...locator, pierce: true });
    tried.count = found.nodes.length;
    const lost = Object.keys(unmatched).find((stage) => found.trace[stage + '_matches'] === 0);
    if (lost) tried.unmatched = lost;
    if (lost && explain) tried.near = nearMiss(locator, lost);
    return { tried, nodes: found.nodes };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    tried.code = error.code;
    return { tried, nodes: [] };
  }
}

/**
 * nearMiss says of the elements that only a predicate of the locator keeps from matching what they have in its place.
 */
function nearMiss(locator, lost) {
  const kept = { ...locator };
  for (const key of {
    role: ['role', 'name', 'text_equals', 'text_contains'],
    name: ['name', 'text_equals', 'text_contains'],
    text: ['text_equals', 'text_contains']
  }[lost] || [])
    delete kept[key];
  if (
    Object.keys(kept)
      .filter((key) => key !== 'pierce')
      .every((key) => kept[key] === undefined)
  )
    return undefined;
  const { nodes } = locate({ ...kept, pierce: true });
  const has = { role: roleOf, name: nameOf, text: textOrLabel }[lost];
  if (!has || nodes.length === 0) return undefined;
  return {
    count: nodes.length,
    values: nodes.slice(0, 3).map((node) => cut(norm(String(has(node) || '')), 200)),
    box: boxOf(nodes[0])
  };
}

/** boxOf is where an element is in the viewport, in CSS pixels. */
function boxOf(node) {
  const { left, top, right, bottom } = rectOf(node);
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** elementFacts is what probes report of an element. */
function elementFacts(node, view, texts) {
  const value = readableValue(node);
  return {
    tag_name: tagOf(node),
    visible: isVisible(node, view, new Map()),
    rendered: rendered(node),
    enabled: !isDisabled(node),
    checked: ariaChecked(node),
    focused: activeElement() === node,
    value: value === null ? null : cut(value, maxFactText),
    text: cut(texts(node), maxFactText)
  };
}

/** readableValue is the live value of a control, null without one. A password is never read. */
function readableValue(node) {
  if (tagOf(node) === 'input' && protoGet(node, 'type') === 'password') return null;
  const { value } = liveValue(node);
  return typeof value === 'string' ? value : null;
}

/** textReader reads whole texts. It keeps the last one: many probes are about one element, and a page can be long. */
function textReader() {
  let last = null;
  let text = '';
  return (node) => {
    if (node !== last) {
      text = textOrLabel(node);
      last = node;
    }
    return text;
  };
}

/** unlike lists the members of a comparison that an element does not meet. Texts are compared whole. */
function unlike(node, c, texts) {
  const out = [];
  const claim = (member, is) => {
    if (c[member] !== undefined && !is(c[member])) out.push(member);
  };
  claim('visible', (want) => rendered(node) === want);
  claim('enabled', (want) => !isDisabled(node) === want);
  claim('checked', (want) => (ariaChecked(node) === true) === want);
  claim('focused', (want) => (activeElement() === node) === want);
  claim('value_equals', (want) => readableValue(node) === want);
  claim('text_equals', (want) => comparable(texts(node)) === sought(want));
  claim('text_contains', (want) => comparable(texts(node)).includes(sought(want)));
  return out;
}

/**
 * compared compares an element with what a probe expects of it. With any, what must not be
 * is expected of every match: the answer is about the first drawn one that is so.
 */
function compared(nodes, chosen, c, view, texts, explain) {
  const about = c.any && c.visible !== false ? offender(nodes, chosen, c, texts) : chosen;
  const out = { failed: unlike(about, c, texts) };
  if (about !== chosen) {
    out.facts = elementFacts(about, view, texts);
    if (explain) out.box = boxOf(about);
  }
  if (!explain) return out;
  if (out.failed.includes('text_equals')) out.text = difference(comparable(texts(about)), sought(c.text_equals));
  else if (c.text_contains !== undefined && !out.failed.includes('text_contains')) {
    const shown = comparable(texts(about));
    const wanted = sought(c.text_contains);
    out.text = { found: excerpt(shown, shown.indexOf(wanted), wanted.length) };
  }
  if (out.failed.includes('value_equals') && readableValue(about) !== null)
    out.value = difference(readableValue(about), c.value_equals);
  return out;
}

/** offender is the first drawn match that is as c says, or else the one to say of that it is not. */
function offender(nodes, chosen, c, texts) {
  let without = null; // it does not have the text, and neither has what is inside of it
  for (const node of nodes) {
    if (without !== null && contains(without, node) && attributeOf(node, 'aria-label') === null) continue;
    const missing = unlike(node, c, texts);
    if (missing.length === 0 && rendered(node)) return node;
    if (missing.includes('text_contains')) without = node;
  }
  return rendered(chosen) ? chosen : nodes.find((node) => rendered(node)) || chosen;
}

/** difference shows two texts around the place where they part. */
function difference(found, wanted) {
  let at = 0;
  while (at < found.length && at < wanted.length && found[at] === wanted[at]) at++;
  return { found: excerpt(found, at, 0), wanted: excerpt(wanted, at, 0) };
}

const excerptWhole = 120; // shown whole
const excerptBefore = 30; // units shown in front of what counts
const excerptAfter = 60; // and behind it
const longWord = 200;

/**
 * excerpt is a short text, or of a long one what is around a place. It starts with a whole word: half of a secret would
 * not be known as one.
 */
function excerpt(text, at, length) {
  if (text.length <= excerptWhole) return text;
  let from = text.lastIndexOf(' ', at) + 1;
  if (at - from > longWord) from = at;
  const earlier = text.indexOf(' ', Math.max(0, at - excerptBefore)) + 1;
  if (at <= excerptBefore) from = 0;
  else if (earlier > 0 && earlier < from) from = earlier;
  const most = Math.min(text.length, at + length + excerptAfter, from + maxFactText);
  const space = text.lastIndexOf(' ', most);
  const to = most === text.length || space <= at + length ? most : space;
  return (from > 0 ? '... ' : '') + text.slice(from, to) + (to < text.length ? ' ...' : '');
}

/** ariaChecked is whether a control is checked, null when it is nothing that can be. */
function ariaChecked(node) {
  const type = protoGet(node, 'type');
  if (tagOf(node) === 'input' && (type === 'checkbox' || type === 'radio')) return protoGet(node, 'checked') === true;
  const value = attributeOf(node, 'aria-checked') ?? attributeOf(node, 'aria-pressed');
  return value === null ? null : value === 'true';
}

/** Controls have a name of their own, and so have headings: that one has none is worth a word. */
const namedRoles =
  /^(?:button|checkbox|combobox|heading|link|listbox|menuitem|menuitemcheckbox|menuitemradio|option|radio|searchbox|slider|spinbutton|switch|tab|textbox|treeitem)$/;

/**
 * departures says in what an element that was found without them departs from the role and
 * the name of a descriptor. A word that is no role, and a name of what has none, are words
 * for people. values are those of the first matches.
 */
function departures(node, nodes, d) {
  const out = [];
  const known = new Map();
  const depart = (predicate, of) =>
    out.push({
      predicate,
      values: [node, ...nodes.filter((other) => other !== node)].slice(0, 3).map((each) => cut(of(each), maxFactText))
    });
  const wanted = roleWord(d.role || '');
  const role = roleOf(node);
  if (knownRoles.has(wanted) && role !== wanted) depart('role', roleOf);
  const name = nameOf(node, known);
  const speaks =
    name !== '' || (knownRoles.has(wanted) && namedRoles.test(role) && rendered(node) && !unexposed(node, known));
  if (d.name && speaks && !nameTest(d.name, false, false)(name)) depart('name', (each) => nameOf(each, known));
  return out;
}

function resolvedDescriptor(d, view, texts) {
  const tried = [];
  const candidates = descriptorCandidates(d);
  const attempt = (list, loose) => {
    for (const candidate of list) {
      const one = triedCandidate(candidate, d.explain);
      tried.push(one.tried);
      // A fallback without its name is a guess where it matches several.
      if (loose && one.nodes.length > 1 && candidate.candidate.startsWith('fallback')) continue;
      if (one.nodes.length > 0) return { candidate: candidate.candidate, nodes: one.nodes };
    }
    return null;
  };
  let found = attempt(candidates);
  const relaxed = [];
  // A map's name may be one for people, and a role may be meant loosely: a
  // selector that finds something is better evidence. The answer reports it.
  const selected = candidates.filter((each) => each.candidate !== 'predicates');
  if (!found && selected.length > 0 && (d.name || d.role)) {
    const loose = d.name && d.role ? [['name'], ['name', 'role']] : [[d.name ? 'name' : 'role']];
    for (const dropped of loose) {
      found = attempt(selected.map(({ candidate, locator }) => {
        const rest = { ...locator };
        for (const key of dropped) delete rest[key];
        return { candidate, locator: rest };
      }), true);
      if (found) {
        relaxed.push(...dropped);
        break;
      }
    }
  }
  if (!found) return { found: false, tried: tried.slice(0, 40) };
  const clips = new Map();
  const seen = found.nodes.filter((node) => isVisible(node, view, clips));
  const chosen = seen[0] || found.nodes[0];
  return {
    found: true,
    named: Boolean(d.name) && nameTest(d.name, false, false)(nameOf(chosen)),
    candidate: found.candidate,
    count: found.nodes.length,
    visible_count: seen.length,
    relaxed,
    handle: keep(chosen),
    tried: tried.slice(0, 40),
    facts: elementFacts(chosen, view, texts),
    box: d.explain ? boxOf(chosen) : undefined,
    departures: relaxed.length > 0 ? departures(chosen, found.nodes, d) : undefined,
    compared: d.compare && d.compare.map((c) => compared(found.nodes, chosen, c, view, texts, d.explain))
  };
}

queries.resolve_descriptors = ({ descriptors, view: given }) => {
  const view = viewOf(given);
  const texts = textReader();
  const unread = { found: false, tried: [{ candidate: 'selector', count: 0, code: 'handler_failed' }] };
  const matches = descriptors.map((d) => readable(d, () => resolvedDescriptor(d, view, texts), unread));
  return { url: documentURLOf(document), matches };
};
