// element_info answers where a click on the target of a locator would land:
// it resolves, scrolls into view, waits until the element is still, and
// hit-tests, in one call.

const maxCandidates = 50;
const maxCandidateText = 4000;

/** describe is the members of the target or a candidate as JSON text. */
const describe = (m, text, point, view, visibility) =>
  '"tag_name":' +
  JSON.stringify(tagOf(m.node)) +
  ',"text":' +
  JSON.stringify(text) +
  ',"bounding_box":' +
  JSON.stringify(box(m.rect, view)) +
  ',"clickable_center":' +
  JSON.stringify(point && pointOut(point, view)) +
  ',"clickable":' +
  m.clickable +
  ',"visibility":' +
  visibility;

const describeCandidate = (m, text, view, visibility) =>
  describe(m, cut(text, maxCandidateText), m.seen && (m.point || middleOf(m.seen)), view, visibility);

/** renderedCandidates resolves a locator to what has a box, and measures the first of it. */
function renderedCandidates(locator, view) {
  const { nodes, trace } = locateToAct(locator);
  const kept = [];
  let first = null;
  for (const node of nodes) {
    const rect = rectOf(node);
    if (!rendered(node, rect)) continue;
    first ||= rect;
    kept.push(node);
  }
  if (kept.length === 0) {
    if (nodes.length > 0) trace.rendered_matches = 0;
    throw notFound(locator, trace);
  }
  return { nodes: kept, m: measureRendered(kept[0], first, view) };
}

/** Milliseconds that an element may take to come to rest before it is reported as moving. */
const restBudget = 300;

/**
 * element_info takes locator, auto_scroll, timeout_ms (how long to wait while
 * the element is covered or moving), stable_ms, and, from a caller that composes
 * frames, view, partial (answer also when not clickable), initial and performed
 * (what an earlier round observed and did).
 */
queries.element_info = (args) => {
  const request = {
    args,
    locator: understood(args.locator),
    view: viewOf(args.view),
    deadline: performance.now() + (args.timeout_ms || 0),
    initial: args.initial || null,
    performed: args.performed || []
  };
  // The ordinary case, an element that lies there and rests, needs no frame and
  // so no promise.
  const { nodes, m } = renderedCandidates(request.locator, request.view);
  request.initial ||= publicVisibility(m, request.view);
  if (!(args.auto_scroll === false ? m.clickable : usable(m)) || mayMove(m.node, m.rect))
    return elementInfoInTime(request, nodes, m);
  remember(m.node, m.rect);
  return elementInfo(request, nodes, m, true);
};

async function elementInfoInTime(request, nodes, m) {
  const { args, view, deadline, performed } = request;
  for (let round = 0; ; round++) {
    const target = nodes[0];
    const remeasure = () => measure(target, view);
    const scroll = async () => {
      if (args.auto_scroll === false || usable(m)) return;
      const shown = await reveal(m, view, remeasure);
      m = shown.m;
      performed.push(...shown.performed);
      if (shown.performed.length > 0) lately.delete(target);
    };
    await scroll();
    let still = true;
    if (mayMove(target, m.rect)) {
      still = await settled(target, args.stable_ms ?? restBudget);
      m = remeasure();
      if (!quirk('plain_hit_test')) await scroll();
    } else {
      remember(target, m.rect);
    }
    const detached = !m.rendered || !isConnected(target);
    if (!detached && (m.clickable || (args.partial && performance.now() >= deadline)))
      return elementInfo(request, nodes.filter(isConnected), m, still);
    if (performance.now() >= deadline && !(detached && round < 2)) {
      throw new Fault('target_not_actionable', reasonNot(m), {
        locator: args.locator,
        initial_visibility: request.initial,
        visibility: publicVisibility(m, view),
        scroll_operations_performed: performed.slice(0, 8)
      });
    }
    await nextFrame();
    ({ nodes, m } = renderedCandidates(request.locator, view));
  }
}

function reasonNot(m) {
  if (!m.rendered) return 'the element is not rendered';
  if (!m.seen) return 'the element is outside the viewport and nothing scrolls it in';
  if (!m.point) return 'less than 8 by 8 pixels of the element are visible';
  return 'another element receives a click at the middle of the element';
}

/**
 * elementInfo writes its answer as JSON text. The same measure and box stand in it
 * up to three times: they are encoded and sent once.
 */
function elementInfo({ args: { locator, partial }, view, initial, performed }, nodes, m, still) {
  const clips = new Map();
  const seen =
    nodes.length === 1 && nodes[0] === m.node
      ? nodes
      : nodes.filter((node) => node === m.node || isVisible(node, view, clips));
  const listed = seen.slice(0, maxCandidates);
  const others = (node) => {
    const other = measure(node, view);
    return describeCandidate(other, norm(textOf(node)), view, JSON.stringify(publicVisibility(other, view)));
  };
  // candidates show less of a long text, and a middle also where nothing is worth clicking
  const whole = norm(textOf(m.node));
  const top =
    whole.length <= maxCandidateText && (m.point || !m.seen) ? '\x01' : describe(m, whole, m.point, view, '\x02');
  const info =
    '{"locator":' +
    JSON.stringify(locator) +
    ',' +
    top +
    ',"ambiguous":' +
    (seen.length > 1) +
    ',"candidate_count":' +
    seen.length +
    ',"initial_visibility":' +
    (initial === m.shown ? '\x02' : JSON.stringify(initial)) +
    ',"scroll_operations_performed":' +
    JSON.stringify(performed) +
    ',"candidates":[' +
    listed.map((node) => '{' + (node === m.node ? '\x01' : others(node)) + '}').join(',') +
    ']' +
    (listed.length < seen.length ? ',"candidates_truncated":true' : '') +
    (still ? '}' : ',"moving":true}');
  const lines = [describeCandidate(m, whole, view, '\x02'), JSON.stringify(publicVisibility(m, view))];
  if (!partial) return new Raw(info, lines);
  return new Raw(
    '{"info":' +
      info +
      ',"usable":' +
      usable(m) +
      ',"clickable":' +
      m.clickable +
      ',"reason":' +
      JSON.stringify(m.clickable ? '' : reasonNot(m)) +
      ',"part":' +
      JSON.stringify(plain(m.rect)) +
      '}',
    lines
  );
}
