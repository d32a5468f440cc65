// scope answers which part of the page an extraction or a scroll is about: a
// scope element found by selector and text, and the root derived from it.

const maxScopeDepth = 20;

/** visibleItems lists the visible matches of a selector below root; none when it does not parse. */
function visibleItems(root, selector, view, clips) {
  try {
    return queryIn(root, selector).filter((node) => isVisible(node, view, clips));
  } catch {
    return [];
  }
}

/** scopeCandidates lists what the scope's selectors match, in their order. */
function scopeCandidates(selectors) {
  let parsed = false;
  const found = new Set();
  for (const selector of selectors) {
    try {
      for (const node of queryIn(document, selector)) found.add(node);
      parsed = true;
    } catch { /* an alternative that does not parse is skipped */ }
  }
  if (!parsed && !quirk('unparsed_finds_nothing'))
    throw new Fault('invalid_selector', 'the scope selector does not parse', {
      selector: cut(String(selectors[0]), 500)
    });
  return [...found];
}

function scopeRoot(scope, node, itemSelector, view, clips) {
  if (scope.root_selector) {
    try {
      const root = closestCSS(node, scope.root_selector);
      if (root) return root;
    } catch {
      if (!quirk('unparsed_finds_nothing'))
        throw new Fault('invalid_selector', 'scope.root_selector does not parse', {
          selector: cut(scope.root_selector, 500)
        });
    }
  }
  if (scope.root_strategy === 'nearest_ancestor_containing_items' && itemSelector) {
    const depth = Math.min(maxScopeDepth, Math.max(0, scope.max_ancestor_depth ?? 4));
    for (let at = node, i = 0; at && i <= depth; at = flatParentElement(at), i++) {
      if (visibleItems(at, itemSelector, view, clips).length > 0) return at;
    }
  }
  if (scope.root_strategy === 'parent') return flatParentElement(node) || node;
  return node;
}

/**
 * resolveScope finds the scope element: the first candidate with the text that the viewport shows, or, where
 * everywhere says that the whole page is read, the first that is rendered. Without a selector it is the body, also
 * one without a box of its own.
 */
function resolveScope(scope, itemSelector, view, everywhere = false) {
  const wanted = scope || {};
  const listed = (wanted.selectors || []).filter((s) => norm(s) !== '');
  const single = selectorOr(wanted.selector, null);
  const given = listed.length > 0 ? listed : single !== null ? [single] : quirk('flat_body_fails') ? ['body'] : [];
  if (given.length === 1 && norm(given[0]) === '')
    throw new Fault('invalid_selector', 'the scope selector is blank', { selector: given[0] });
  const clips = new Map();
  let nodes = given.length > 0 ? scopeCandidates(given) : [bodyOf() || rootElement()];
  const trace = { selector_matches: nodes.length };
  const equals = sought(wanted.text_equals).toLowerCase();
  if (given.length > 0) {
    const visible = nodes.filter((node) => isVisible(node, view, clips));
    const outside = everywhere ? nodes.filter((node) => rendered(node) && !visible.includes(node)) : [];
    nodes = [...visible, ...outside];
    trace.visible_matches = nodes.length;
  }
  const anyText = equals === '' && norm(wanted.text_contains) === '';
  const scoped = nodes.find((node) => {
    if (anyText) return true;
    const text = textOrLabel(node);
    return (equals === '' || comparable(text).toLowerCase() === equals) && hasFolded(text, wanted.text_contains);
  });
  if (!scoped) {
    if (trace.visible_matches !== 0) trace.text_matches = 0;
    const fault = notFound(undefined, trace);
    fault.message = 'no visible element matches the scope';
    fault.evidence.scope = wanted;
    throw fault;
  }
  return {
    scope: scoped,
    root: scopeRoot(wanted, scoped, itemSelector, view, clips),
    selectorCount: Math.max(1, given.length)
  };
}
