// element_info answers where a press on the target of a locator would land:
// it resolves, scrolls into view, waits until the element is still, and
// hit-tests, in one call.

const maxCandidates = 50;
const maxCandidateText = 4000;

function describeCandidate(m, view) {
  return {
    tag_name: tagOf(m.node), text: cut(norm(textOf(m.node)), maxCandidateText), bounding_box: box(m.rect, view),
    clickable_center: m.seen && pointOut(m.point || middleOf(m.seen), view), clickable: m.clickable, visibility: publicVisibility(m, view),
  };
}

/** renderedCandidates resolves a locator to what has a box. */
function renderedCandidates(locator) {
  const { nodes, trace } = locate(locator);
  const kept = nodes.filter((node) => rendered(node));
  if (kept.length === 0) {
    if (nodes.length > 0) trace.rendered_matches = 0;
    throw notFound(locator, trace);
  }
  return kept;
}

/** Milliseconds that an element may take to come to rest before it is reported as moving. */
const restBudget = 300;

/**
 * element_info takes locator, auto_scroll, timeout_ms (how long to wait while
 * the element is covered or moving), stable_ms, and, from a caller that composes
 * frames, view, partial (answer also when not clickable), initial and performed
 * (what an earlier round saw and did).
 */
questions.element_info = async (args) => {
  const view = viewOf(args.view);
  const { locator } = args;
  const deadline = performance.now() + (args.timeout_ms || 0);
  let initial = args.initial || null;
  const performed = args.performed || [];
  for (let round = 0; ; round++) {
    const nodes = renderedCandidates(locator);
    const target = nodes[0];
    const remeasure = () => measure(target, view);
    let m = remeasure();
    initial ||= publicVisibility(m, view);
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
      await scroll();
    } else {
      remember(target, m.rect);
    }
    const gone = !m.rendered || !isConnected(target);
    if (!gone && (m.clickable || args.partial && performance.now() >= deadline)) return elementInfo(args, nodes.filter(isConnected), m, initial, performed, still, view);
    if (performance.now() >= deadline && !(gone && round < 2)) {
      throw new Fault('target_not_actionable', reasonNot(m), {
        locator, initial_visibility: initial, visibility: publicVisibility(m, view), scroll_operations_performed: performed.slice(0, 8),
      });
    }
    await nextFrame();
  }
};

function reasonNot(m) {
  if (!m.rendered) return 'the element is not rendered';
  if (!m.seen) return 'the element is outside the viewport and nothing scrolls it in';
  if (!m.point) return 'less than 8 by 8 pixels of the element are visible';
  return 'another element receives a press at the middle of the element';
}

function elementInfo({ locator, partial }, nodes, m, initial, performed, still, view) {
  const clips = new Map();
  const seen = nodes.filter((node) => node === m.node || isVisible(node, view, clips));
  const listed = seen.slice(0, maxCandidates);
  const info = {
    locator, tag_name: tagOf(m.node), text: norm(textOf(m.node)), bounding_box: box(m.rect, view),
    clickable_center: m.point && pointOut(m.point, view), clickable: m.clickable, visibility: publicVisibility(m, view),
    ambiguous: seen.length > 1, candidate_count: seen.length, initial_visibility: initial, scroll_operations_performed: performed,
    candidates: listed.map((node) => describeCandidate(node === m.node ? m : measure(node, view), view)),
  };
  if (listed.length < seen.length) info.candidates_truncated = true;
  if (!still) info.moving = true;
  return partial ? { info, usable: usable(m), clickable: m.clickable, reason: m.clickable ? '' : reasonNot(m), part: plain(m.rect) } : info;
}
