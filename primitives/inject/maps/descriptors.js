// descriptors resolves target descriptors of maps: many of them in one call,
// each by the first of its candidates that matches.

const maxFactText = 2000;

/** descriptorCandidates lists the locators of a descriptor, the preferred one first. */
function descriptorCandidates(d) {
  const narrow = {};
  for (const key of ['text_equals', 'text_contains', 'role', 'name']) if (d[key]) narrow[key] = d[key];
  const list = [];
  const add = (field, selectors) => (selectors || []).forEach((selector, i) => {
    list.push({ candidate: i === 0 && field === 'selector' ? field : field + '/' + i, locator: { ...narrow, selector } });
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

/** nearMiss says of the elements that only a predicate of the locator keeps from matching what they have in its place. */
function nearMiss(locator, lost) {
  const kept = { ...locator };
  for (const key of { role: ['role', 'name', 'text_equals', 'text_contains'], name: ['name', 'text_equals', 'text_contains'], text: ['text_equals', 'text_contains'] }[lost] || []) delete kept[key];
  if (Object.keys(kept).filter((key) => key !== 'pierce').every((key) => kept[key] === undefined)) return undefined;
  const { nodes } = locate({ ...kept, pierce: true });
  const has = { role: roleOf, name: nameOf, text: textOrLabel }[lost];
  if (!has || nodes.length === 0) return undefined;
  return { count: nodes.length, values: nodes.slice(0, 3).map((node) => cut(norm(String(has(node) || '')), 200)), box: boxOf(nodes[0]) };
}

/** boxOf is where an element is in the viewport, in CSS pixels. */
function boxOf(node) {
  const { left, top, right, bottom } = rectOf(node);
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** elementFacts is what probes report of an element. A password is never reported. */
function elementFacts(node, view) {
  const { value } = liveValue(node);
  const secret = tagOf(node) === 'input' && protoGet(node, 'type') === 'password';
  const checked = ariaChecked(node);
  return {
    tag_name: tagOf(node), visible: isVisible(node, view, new Map()), rendered: rendered(node), enabled: !isDisabled(node), checked,
    focused: activeElement() === node, value: typeof value === 'string' && !secret ? cut(value, maxFactText) : null, text: cut(textOrLabel(node), maxFactText),
  };
}

/** ariaChecked is whether a control is checked, null when it is nothing that can be. */
function ariaChecked(node) {
  const type = protoGet(node, 'type');
  if (tagOf(node) === 'input' && (type === 'checkbox' || type === 'radio')) return protoGet(node, 'checked') === true;
  const value = attributeOf(node, 'aria-checked') ?? attributeOf(node, 'aria-pressed');
  return value === null ? null : value === 'true';
}

function resolvedDescriptor(d, view) {
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
    found: true, candidate: found.candidate, count: found.nodes.length, visible_count: seen.length, relaxed, handle: keep(chosen),
    tried: tried.slice(0, 40), facts: elementFacts(chosen, view), box: d.explain ? boxOf(chosen) : undefined,
  };
}

queries.resolve_descriptors = ({ descriptors, view: given }) => {
  const view = viewOf(given);
  return { url: documentURLOf(document), matches: descriptors.map((d) => resolvedDescriptor(d, view)) };
};
