// locate turns a locator into candidate elements, and reports where a locator that
// finds nothing lost its matches.

const defaultCandidates =
  'button, a, input, textarea, select, [role], [aria-label], [data-testid], [data-test], [data-actions-json-target]';

/** hasText is the text filter of locators; needle is what is sought, and case matters. */
function hasText(node, needle, equal) {
  const parts = [
    textOf(node),
    attributeOf(node, 'aria-label'),
    attributeOf(node, 'title'),
    attributeOf(node, 'value')
  ].filter(Boolean);
  const whole = comparable(parts.join(' '));
  if (!equal) return whole.includes(needle);
  return whole === needle || !quirk('joined_text_equals') && parts.some((part) => comparable(part) === needle);
}

/** Elements whose text nobody reads. */
const unread = /^(?:head|script|style|template|noscript|title)$/;

/** innermostSaying lists the innermost elements that have a text: root itself, or what is in it. */
function innermostSaying(root, needle, equal, textIn = (node) => comparable(textOf(node))) {
  const found = [];
  const enter = (node, depth) => {
    const inside =
      depth > deepestName
        ? []
        : Array.from(childNodesOf(node)).filter(
            (child) => isElement(child) && !unread.test(tagOf(child)) && textIn(child).includes(needle)
          );
    for (const child of inside) enter(child, depth + 1);
    if (inside.length === 0 && isElement(node) && (!equal || textIn(node) === needle)) found.push(node);
  };
  enter(root, 0);
  return found;
}

/**
 * saying lists the innermost elements that have a text, where no control has it: rows, cards and whatever
 * else takes a click.
 */
function saying(needle, equal, textIn = (node) => comparable(textOf(node))) {
  const found = [];
  for (const root of withShadows(document)) {
    const top = root === document ? rootElement() : root;
    if (top && textIn(top).includes(needle)) found.push(...innermostSaying(root, needle, equal, textIn));
  }
  return found.filter((node) => !unread.test(tagOf(node)) && node !== rootElement() && node !== bodyOf());
}

/** Roles of what holds a text that a person writes. */
const writtenRoles = /^(?:textbox|searchbox|combobox|spinbutton)$/;

/**
 * wholeTakes: a click anywhere on the node is one on what has its text. That is so of a control, unless there is
 * another control in it. A container with a role or a test id only surrounds the text, and other controls with it.
 */
function wholeTakes(node) {
  if (isTextControl(node) || protoGet(node, 'isContentEditable') === true || writtenRoles.test(roleOf(node)))
    return true;
  return matchesCSS(node, interactive) && queryIn(node, interactive).length === 0;
}

/** wordsOf is what has the text of a candidate: itself, or what says it inside. */
function wordsOf(node, needle, equal) {
  if (wholeTakes(node) || !comparable(textOf(node)).includes(needle)) return [node];
  const said = innermostSaying(node, needle, equal);
  return said.length > 0 ? said : [node];
}

/** textAlone is the text of a locator that has nothing else, '' for every other locator. */
function textAlone(locator) {
  const more = locator.selector !== undefined && locator.selector !== null || locator.retarget || isExtended(locator);
  if (more || quirk('text_finds_controls')) return '';
  return sought(locator.text || locator.text_contains || locator.text_equals);
}

/**
 * innermost leaves out what contains another of the nodes, which are in document order: a toolbar has the text of its
 * buttons.
 */
const innermost = (nodes) => nodes.filter((node, i) => i + 1 === nodes.length || !contains(node, nodes[i + 1]));

/** unparsedCode is the code for a selector that does not parse where upstream has none of its own. */
const unparsedCode = () => quirk('unparsed_finds_nothing') ? 'handler_failed' : 'invalid_selector';

/** retargeted maps identity matches to their controls. */
function retargeted(nodes, retarget) {
  const selector = retarget.selector;
  if (!selector || norm(selector) === '') return [];
  const found = new Set();
  for (const node of nodes) {
    let from = node;
    if (retarget.closest && norm(retarget.closest) !== '') {
      try {
        from = closestCSS(node, retarget.closest);
      } catch {
        throw new Fault(unparsedCode(), 'retarget.closest does not parse', { selector: cut(retarget.closest, 500) });
      }
    }
    if (from) for (const control of queryParts(from, selector).nodes) found.add(control);
  }
  return [...found];
}

/** upstreamMembers are the members of a locator that upstream reads. */
const upstreamMembers = ['selector', 'text', 'text_contains', 'text_equals', 'frame', 'retarget'];

/**
 * understood is what is read of a locator where upstream takes one: all of it,
 * or only what upstream knows. As JSON it is still the whole, since answers and
 * evidence repeat what was requested. Page calls that are this host's own read
 * locators as they are.
 */
function understood(locator) {
  if (!locator || !quirk('known_members_only')) return locator;
  const known = {};
  for (const member of upstreamMembers) if (locator[member] !== undefined) known[member] = locator[member];
  return Object.defineProperty(known, 'toJSON', { value: () => locator });
}

/** Members of a locator that say what its element is called, or what it says. */
const namingMembers = ['name', 'label', 'near', 'placeholder', 'text', 'text_contains', 'text_equals', 'has_text'];

/**
 * confirmedBy: the element of a fallback has all names and texts of the locator, and it has some. A role alone says
 * nothing, and neither does a fallback of a locator that counts matches or searches in another.
 */
function confirmedBy(locator, selector, node) {
  for (const member of ['within', 'nth', 'retarget', 'ref'])
    if (locator[member] !== undefined && locator[member] !== null) return false;
  const narrow = { selector, pierce: locator.pierce !== false, exact: locator.exact };
  const given = namingMembers.filter(
    (member) => locator[member] !== undefined && locator[member] !== null && locator[member] !== ''
  );
  for (const member of given) narrow[member] = locator[member];
  return given.length > 0 && locateOnce(narrow).nodes.includes(node);
}

/**
 * locate resolves everything of a locator but its frame. trace counts what each stage left; notFound reports it. A
 * fallback that several elements match is a guess. One whose element is called what the locator says comes first.
 */
function locate(locator) {
  const found = locateOnce(locator);
  if (found.nodes.length > 0 || !Array.isArray(locator.fallback)) return found;
  let guess = null;
  for (let i = 0; i < locator.fallback.length; i++) {
    const selector = String(locator.fallback[i]);
    const { nodes } = queryParts(document, selector, locator.pierce !== false);
    if (nodes.length !== 1) continue;
    const confirmed = confirmedBy(locator, selector, nodes[0]);
    const match = { nodes, trace: { fallback: { selector, candidate: 'fallback/' + i, confirmed } } };
    if (confirmed) return match;
    guess ||= match;
  }
  return guess || found;
}

/** locateToAct is locate for what acts: a fallback that is not confirmed may be read, and never acted on. */
function locateToAct(locator) {
  const found = locate(locator);
  const { fallback } = found.trace;
  if (!fallback || fallback.confirmed) return found;
  return { nodes: [], trace: { guessed: found.nodes[0], fallback } };
}

/** drifted is the failure of an act whose locator only a fallback finds that is not confirmed. */
function drifted(locator, { guessed, fallback }) {
  return new Fault(
    'drift_detected',
    'only a fallback of the locator finds something, and it is not called what the locator says; nothing was done',
    {
      locator,
      fallback: cut(fallback.selector, 500),
      candidate: fallback.candidate,
      found: { tag_name: tagOf(guessed), role: roleOf(guessed) || null, name: cut(nameOf(guessed), 200) }
    }
  );
}

/** fallback_of answers by which fallback a locator is found, null when by none. */
queries.fallback_of = ({ locator }) => {
  try {
    const { fallback } = locate(understood(locator)).trace;
    return fallback ? { selector: cut(fallback.selector, 500), candidate: fallback.candidate } : null;
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
};

/** locateOnce is locate without the fallbacks. */
function locateOnce(locator) {
  if (isExtended(locator)) return locateExtended(locator);
  const trace = {};
  let nodes;
  if (
    locator.selector === undefined ||
    locator.selector === null ||
    (quirk('blank_selector') && norm(locator.selector) === '')
  ) {
    nodes = locator.pierce ? queryParts(document, defaultCandidates, true).nodes : queryIn(document, defaultCandidates);
  } else {
    const result = queryParts(document, String(locator.selector), locator.pierce === true);
    nodes = result.nodes;
    trace.selector_parts = result.counts;
  }
  trace.selector_matches = nodes.length;
  const needle = sought(locator.text || locator.text_contains || locator.text_equals);
  if (needle !== '') {
    nodes = nodes.filter((node) => hasText(node, needle, Boolean(locator.text_equals)));
    if (trace.selector_parts === undefined && !quirk('text_finds_controls')) {
      nodes = [...new Set(innermost(nodes).flatMap((node) => wordsOf(node, needle, Boolean(locator.text_equals))))];
    }
    if (trace.selector_parts === undefined && !quirk('text_finds_controls') && !nodes.some((node) => rendered(node))) {
      // No control that a person sees has it: some lists keep their options apart from what they draw.
      const said = saying(needle, Boolean(locator.text_equals));
      if (nodes.length === 0 || said.some((node) => rendered(node))) nodes = said;
    }
    trace.text_matches = nodes.length;
  }
  if (locator.retarget) {
    nodes = retargeted(nodes, locator.retarget);
    trace.retarget_matches = nodes.length;
  }
  return { nodes, trace };
}

/** notFound is the failure of a locator with no usable candidate. */
function notFound(locator, trace) {
  if (trace.guessed) return drifted(locator, trace);
  const evidence = { locator };
  if (trace.selector_parts) evidence.selector_parts = trace.selector_parts.slice(0, 20);
  for (const key of Object.keys(trace)) {
    if (!key.endsWith('_matches')) continue;
    evidence[key] = trace[key];
    if (trace[key] === 0 && evidence.unmatched === undefined) evidence.unmatched = key.slice(0, -'_matches'.length);
  }
  if (trace.unreadable) evidence.unreadable = trace.unreadable;
  if (trace.nearest && trace.nearest.length > 0) evidence.nearest = trace.nearest;
  const body = bodyOf();
  evidence.frame_count = queryIn(document, 'iframe, frame').length;
  evidence.body_text_length = body ? textOf(body).length : 0;
  let message = unmatched[evidence.unmatched] || 'nothing matches the locator';
  const virtual = virtualRows();
  if (virtual) {
    evidence.virtual_rows = virtual;
    message += '; a list on the page has more rows than are in the document, and scrolling it brings others';
  }
  if (trace.unreadable) message += '; elements that cannot be read: ' + trace.unreadable;
  if (overlayShown()) {
    evidence.overlay_menu_visible = true;
  }
  return new Fault('target_not_found', message, evidence);
}

/** virtualRows is what declares more rows than the document has, or null. */
function virtualRows() {
  for (const node of queryIn(document, '[aria-rowcount]').slice(0, 5)) {
    const rows = parseInt(attributeOf(node, 'aria-rowcount'), 10);
    const present = queryIn(node, '[role="row"], tr').length;
    if (present > 0 && rows > present) return { target_label: label(node), rows, in_document: present };
  }
  return null;
}

const unmatched = {
  within: 'nothing matches the locator that within names',
  xpath: 'nothing matches the XPath expression',
  selector: 'nothing matches the selector',
  role: 'no exposed element has the role',
  label: 'no control has the label',
  near: 'no control without a name is called so',
  placeholder: 'no control has the placeholder',
  test_id: 'no element has the test id',
  name: 'elements match, but none has the name',
  text: 'elements match, but none has the text',
  has_text: 'elements match, but none contains the text',
  nth: 'fewer elements match than nth asks for',
  retarget: 'elements match, but none has the control that retarget names',
  rendered: 'elements match, but none is rendered',
  visible: 'elements match, but none is visible in the viewport',
};

/** actedOn is the visible element that an action is meant for. */
function actedOn(locator, view) {
  if (!refusesSeveral(locator)) return locateVisible(locator, view, locateToAct);
  const { nodes, trace } = locateToAct(locator);
  if (nodes.length > 0) {
    const { node } = oneOf(locator, nodes, view);
    if (isVisible(node, view, new Map())) return node;
    trace.visible_matches = 0;
  }
  throw notFound(locator, trace);
}

/** locateVisible is the first visible candidate, or the failure. */
function locateVisible(locator, view, by = locate) {
  const { nodes, trace } = by(locator);
  const clips = new Map();
  for (const node of nodes) if (isVisible(node, view, clips)) return node;
  if (nodes.length > 0) trace.visible_matches = 0;
  throw notFound(locator, trace);
}

/**
 * locateToRead is the candidate whose text or value is read: the first that the viewport shows,
 * or else the first that is rendered, since a reader asks for what the page has.
 */
function locateToRead(locator, view) {
  if (quirk('reads_in_view')) return locateVisible(locator, view);
  const { nodes, trace } = locate(locator);
  const clips = new Map();
  const read = nodes.find((node) => isVisible(node, view, clips)) || nodes.find((node) => rendered(node));
  if (read) return read;
  if (nodes.length > 0) trace.rendered_matches = 0;
  throw notFound(locator, trace);
}
