// drag_end answers where one end of a drag is, and whether a click there would
// hit the element. It does not scroll: the other end has been measured, or
// will be, and both must be in the viewport at once.

const maxDragText = 240;

queries.drag_end = async ({ locator, handle, position, path, view: given }) => {
  const view = viewOf(given);
  const node = handle ? elementOf(handle) : actedOn(understood(locator), view);
  const first = rectOf(node);
  const strict = !quirk('drag_ends_as_they_are');
  let moving = false;
  // An animation may have begun and not have moved anything yet.
  if (mayMove(node, first) || strict && runningTime(node) > 0) moving = !await settled(node, restBudget) && strict;
  else remember(node, first);
  let m = measure(node, view);
  if (m.seen && !m.clickable && strict) {
    const drawing = drawingAround(node);
    const dm = drawing && measure(drawing, view);
    if (dm && dm.seen) m = dm;
    const place = clickPoint(node, m.seen);
    if (place.arrived) Object.assign(m, { point: place.point, hit: place.hit, receives: true, clickable: true });
  }
  if (m.seen && position) {
    requireInside({ locator, position }, node);
    const { point, hit, arrived } = pointAt(node, position);
    Object.assign(m, { point, hit, receives: arrived, clickable: arrived });
  }
  const seen = publicVisibility(m, view);
  const disabled = isDisabled(node) && strict;
  if (!m.clickable || disabled || moving) {
    const reason = disabled
      ? 'disabled'
      : !m.rendered
        ? 'hidden'
        : !m.seen
          ? 'outside'
          : !m.clickable
            ? 'covered'
            : 'moving';
    throw new Fault('target_not_actionable', disabled || m.clickable ? actReasons[reason] : reasonNot(m), {
      locator,
      reason,
      actionability: {
        state: seen.state,
        visible: seen.visible,
        fully_visible: seen.fully_visible,
        clickable: seen.clickable,
        receives_events: seen.receives_events,
        visible_rect: seen.visible_rect,
        occluded_by: seen.occluded_by || null,
        scroll_operation: seen.scroll_operation
      }
    });
  }
  const point = pointOut(m.point, view);
  return {
    seen: {
      source: 'locator',
      locator,
      tag_name: tagOf(node),
      text: cut(norm(textOf(node)), maxDragText),
      bounding_box: box(m.rect, view),
      point,
      actionability: { clickable: true, receives_events: true, fully_visible: m.fully, occluded_by: null }
    },
    target: actedTarget(node, view, point),
    path: path && path.map((at) => pointOut(pointAt(node, at).point, view)),
  };
};

/**
 * drag_both scrolls the document, or what scrolls both elements, so that the
 * smallest box around them lies in the middle: ends that are shown one by one
 * may be far from each other.
 */
queries.drag_both = async ({ handles }) => {
  const nodes = handles.map(elementOf);
  const around = (node) => {
    const list = [];
    for (let at = flatParentElement(node); at; at = flatParentElement(at))
      if (scrolls(at, false) || scrolls(at, true)) list.push(at);
    return list;
  };
  const shared = around(nodes[0]).filter((at) => flatContains(at, nodes[1]));
  let moved = false;
  for (const scroller of [...shared, null]) {
    const [a, b] = nodes.map((node) => rectOf(node));
    const area = scroller ? rectOf(scroller) : { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    const by = {
      left: (Math.min(a.left, b.left) + Math.max(a.right, b.right) - area.left - area.right) / 2,
      top: (Math.min(a.top, b.top) + Math.max(a.bottom, b.bottom) - area.top - area.bottom) / 2, behavior: 'instant',
    };
    const before = offsetsOf(scroller);
    if (scroller) elementScrollBy(scroller, by);
    else scrollBy(by);
    const after = offsetsOf(scroller);
    moved ||= before.scroll_x !== after.scroll_x || before.scroll_y !== after.scroll_y;
  }
  if (moved) await nextFrame();
  return { moved };
};

/** Longest time, in milliseconds, that making way for what is dragged takes. */
const longestWay = 1000;

/**
 * makingWay is how long what the page set in motion will go on: lists that are sorted by dragging move their elements
 * aside.
 */
function makingWay() {
  let left = 0;
  for (const animation of documentAnimationsOf(document)) {
    if (!moves(animation) || !(animation.effect instanceof KeyframeEffect)) continue;
    const rest = timeLeft(animation);
    if (rest > 0 && rest <= longestWay) left = Math.max(left, rest);
  }
  return left;
}

/** drag_rest waits until nothing is making way, and reports whether something did. */
queries.drag_rest = async () => {
  await nextFrame(); // what the last movement set off has begun
  const start = performance.now();
  const moved = makingWay() > 0;
  for (let left = makingWay(); left > 0 && performance.now() - start < longestWay; left = makingWay()) {
    await new Promise((done) => setTimeout(done, Math.ceil(left)));
    await nextFrame();
  }
  return { moved };
};
