// reveal scrolls an element to where a click hits it: out from under sticky
// headers, into its scrollers, into the viewport. It does not scroll what is
// usable already: that can unmount it.

const padding = 8;
const maxScrolls = 4;

/**
 * nextFrame resolves with the next animation frame, or after some milliseconds where no frames are made; true means
 * that there was one.
 */
function nextFrame(longest = 50) {
  return new Promise((resolve) => {
    const done = (at) => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      resolve(at !== undefined);
    };
    const frame = requestAnimationFrame(done);
    const timer = setTimeout(done, longest);
  });
}

const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** scrollerOf describes what can scroll: an element, or the window when node is null. */
function scrollerOf(node, rect, view) {
  const at = node || scrollingElementOf(document) || rootElement();
  const style = styleOf(at);
  const x = node ? scrollLeftOf(at) : scrollX;
  const y = node ? scrollTopOf(at) : scrollY;
  const rangeX = Math.max(0, scrollWidthOf(at) - clientWidthOf(at));
  const rangeY = Math.max(0, scrollHeightOf(at) - clientHeightOf(at));
  const backX = x < 0 || style.direction === 'rtl';
  const backY = y < 0;
  return {
    node, x, y, maxX: rangeX, maxY: rangeY, bounds: node && rect ? besideBars(node, rect) : rect || viewportRect(view),
    low: { x: backX ? -rangeX : 0, y: backY ? -rangeY : 0 }, high: { x: backX ? 0 : rangeX, y: backY ? 0 : rangeY },
  };
}

/** besideBars is the part of a scroller's box that its scroll bars leave. */
function besideBars(node, rect) {
  const width = protoGet(node, 'offsetWidth');
  const height = protoGet(node, 'offsetHeight');
  if (!width || !height) return rect;
  const style = styleOf(node);
  const across = width - clientWidthOf(node) - parseFloat(style.borderLeftWidth) - parseFloat(style.borderRightWidth);
  const down = height - clientHeightOf(node) - parseFloat(style.borderTopWidth) - parseFloat(style.borderBottomWidth);
  if (across < 1 && down < 1) return rect;
  const before = across >= 1 && clientLeftOf(node) - parseFloat(style.borderLeftWidth) >= 1; // in a right-to-left page
  const x = (across * widthOf(rect)) / width;
  const y = (down * heightOf(rect)) / height;
  return {
    left: rect.left + (before ? x : 0),
    top: rect.top,
    right: rect.right - (before ? 0 : x),
    bottom: rect.bottom - y
  };
}

function operation(scroller, dx, dy, reason) {
  return { scroller, dx, dy, reason };
}

/** pastOccluder is the least movement that brings the element out from under what covers it. */
function pastOccluder(m, scroller) {
  const over = rectOf(m.hit);
  const bounds = scroller.bounds;
  if (!bounds) return null;
  const moves = [
    { axis: 'x', by: over.right + padding - m.rect.left }, { axis: 'x', by: over.left - padding - m.rect.right },
    { axis: 'y', by: over.bottom + padding - m.rect.top }, { axis: 'y', by: over.top - padding - m.rect.bottom },
  ];
  let best = null;
  for (const { axis, by } of moves) {
    const range = axis === 'x' ? scroller.maxX : scroller.maxY;
    const offset = (axis === 'x' ? scroller.x : scroller.y) - by;
    if (range <= 0 || by === 0 || offset < scroller.low[axis] || offset > scroller.high[axis]) continue;
    const start = (axis === 'x' ? m.rect.left : m.rect.top) + by;
    const end = (axis === 'x' ? m.rect.right : m.rect.bottom) + by;
    const low = (axis === 'x' ? bounds.left : bounds.top) + padding;
    const high = (axis === 'x' ? bounds.right : bounds.bottom) - padding;
    if (start < low || end > high) continue;
    if (!best || Math.abs(by) < Math.abs(best.by)) best = { axis, by };
  }
  return best && operation(scroller, best.axis === 'x' ? -best.by : 0, best.axis === 'y' ? -best.by : 0, 'occluded');
}

/** intoBounds is the distance that brings the nearer edge to the padded boundary, 0 when nothing sticks out. */
function intoBounds(start, end, low, high, offset, least, most) {
  const before = start - (low + padding);
  const behind = end - (high - padding);
  let by = 0;
  if (before < 0 && behind > 0) by = Math.abs(before) <= Math.abs(behind) ? before : behind;
  else if (before < 0) by = before;
  else if (behind > 0) by = behind;
  const to = Math.min(most, Math.max(least, offset + by));
  return Math.abs(to - offset) < 0.5 ? 0 : to - offset;
}

function inward(m, scroller) {
  const bounds = scroller.bounds;
  if (!bounds) return null;
  const dx = intoBounds(
    m.rect.left,
    m.rect.right,
    bounds.left,
    bounds.right,
    scroller.x,
    scroller.low.x,
    scroller.high.x
  );
  const dy = intoBounds(
    m.rect.top,
    m.rect.bottom,
    bounds.top,
    bounds.bottom,
    scroller.y,
    scroller.low.y,
    scroller.high.y
  );
  return dx || dy ? operation(scroller, dx, dy) : null;
}

/** plainScroller is upstream's view of what can scroll: the whole box of an element, and the viewport with its bars. */
function plainScroller(clip) {
  const at = clip ? clip.node : rootElement();
  const width = clip ? clientWidthOf(at) : innerWidth;
  const height = clip ? clientHeightOf(at) : innerHeight;
  const maxX = Math.max(0, scrollWidthOf(at) - width);
  const maxY = Math.max(0, scrollHeightOf(at) - height);
  return {
    node: clip ? at : null,
    x: clip ? scrollLeftOf(at) : scrollX,
    y: clip ? scrollTopOf(at) : scrollY,
    maxX,
    maxY,
    bounds: clip ? clip.rect : { left: 0, top: 0, right: innerWidth, bottom: innerHeight },
    low: { x: 0, y: 0 },
    high: { x: maxX, y: maxY }
  };
}

/** outBy is how far the first edge that is not inside of the padded bounds is from there. */
const outBy = (start, end, low, high) =>
  start < low + padding ? start - low - padding : end > high - padding ? end - high + padding : 0;

/**
 * plainScrollOperation is upstream's: the window is scrolled whether it can or not, and edges are brought in one by
 * one.
 */
function plainScrollOperation(m) {
  const scrollers = [...m.clips, null].map(plainScroller);
  if (!m.receives && m.point && m.hit) {
    for (const scroller of scrollers) {
      const past = pastOccluder(m, scroller);
      if (past) return past;
    }
  }
  for (const s of scrollers) {
    let dx = outBy(m.rect.left, m.rect.right, s.bounds.left, s.bounds.right);
    let dy = outBy(m.rect.top, m.rect.bottom, s.bounds.top, s.bounds.bottom);
    if (s.node && s.maxX <= 0) dx = 0;
    if (s.node && s.maxY <= 0) dy = 0;
    if (dx || dy) return operation(s, dx, dy);
  }
  return null;
}

/** scrollOperation is the next scroll that would help, or null. */
function scrollOperation(m, view) {
  if (!m.rendered) return null;
  if (quirk('plain_hit_test')) return plainScrollOperation(m);
  const scrollers = m.clips.map((clip) => scrollerOf(clip.node, clip.rect, view));
  if (!m.fixed) scrollers.push(scrollerOf(null, null, view));
  if (m.hit && !m.receives) {
    for (const scroller of scrollers) {
      const past = pastOccluder(m, scroller);
      if (past) return past;
    }
  }
  for (const scroller of scrollers) {
    const move = inward(m, scroller);
    if (move) return move;
  }
  return null;
}

function publicOperation(op) {
  if (!op) return null;
  const s = op.scroller;
  const out = { target: s.node ? 'element' : 'window' };
  if (s.node) out.target_label = label(s.node);
  Object.assign(out, {
    delta_x: op.dx,
    delta_y: op.dy,
    current_scroll_x: s.x,
    current_scroll_y: s.y,
    max_scroll_x: s.maxX,
    max_scroll_y: s.maxY
  });
  if (op.reason) out.reason = op.reason;
  return out;
}

/** performScroll scrolls at once and reports whether anything moved. */
function performScroll(op) {
  const s = op.scroller;
  const to = { left: s.x + op.dx, top: s.y + op.dy, behavior: 'instant' };
  if (s.node) elementScrollTo(s.node, to);
  else scrollTo(to);
  return s.node ? scrollLeftOf(s.node) !== s.x || scrollTopOf(s.node) !== s.y : scrollX !== s.x || scrollY !== s.y;
}

/** usable means that the element needs no scrolling. */
const usable = (m) => m.fully && m.clickable;

/**
 * reveal scrolls until the element is usable or nothing helps, at most four
 * times, and measures after each frame. It resolves with the last measure and
 * the operations that were performed. remeasure takes the element's measure.
 */
async function reveal(first, view, remeasure) {
  let m = first;
  const performed = [];
  while (performed.length < maxScrolls && !usable(m)) {
    const op = scrollOperation(m, view);
    if (!op) break;
    const moved = performScroll(op);
    performed.push(publicOperation(op));
    await nextFrame();
    m = remeasure();
    if (!moved && !quirk('plain_hit_test')) break;
  }
  return { m, performed };
}
