// geometry answers where an element is, how much of it can be seen, and whether
// a click at its middle would hit it.
//
// A view maps this document to the viewport of the tab: a point p lies there at
// (x + p.x * sx + p.y * kx, y + p.x * ky + p.y * sy), and clip, in this
// document's pixels, is the part that ancestor frames show. The main frame has
// no clip; kx and ky are 0 unless a frame on the way is turned or skewed. All
// functions compute in this document's pixels; box, edges, pointOut and
// publicVisibility convert.

const topView = Object.freeze({ x: 0, y: 0, sx: 1, sy: 1, kx: 0, ky: 0, clip: null });

/** viewOf completes the view that a call brought. */
function viewOf(view) {
  return view
    ? { x: view.x, y: view.y, sx: view.sx, sy: view.sy, kx: view.kx || 0, ky: view.ky || 0, clip: view.clip || null }
    : topView;
}

/** within composes views: that of a document whose place in another one is inner. */
function within(view, inner) {
  const at = pointOut(inner, view);
  return {
    x: at.x, y: at.y, clip: null,
    sx: view.sx * inner.sx + view.kx * inner.ky, kx: view.sx * inner.kx + view.kx * inner.sy,
    ky: view.ky * inner.sx + view.sy * inner.ky, sy: view.ky * inner.kx + view.sy * inner.sy,
  };
}

const intersect = (a, b) => {
  const left = Math.max(a.left, b.left);
  const top = Math.max(a.top, b.top);
  const right = Math.min(a.right, b.right);
  const bottom = Math.min(a.bottom, b.bottom);
  return right > left && bottom > top ? { left, top, right, bottom } : null;
};
const widthOf = (rect) => rect.right - rect.left;
const heightOf = (rect) => rect.bottom - rect.top;
const areaOf = (rect) => widthOf(rect) * heightOf(rect);
const middleOf = (rect) => ({ x: (rect.left + rect.right) / 2, y: (rect.top + rect.bottom) / 2 });

function viewportRect(view) {
  const whole = { left: 0, top: 0, right: here.innerWidth, bottom: here.innerHeight };
  return view.clip ? intersect(whole, view.clip) : whole;
}

/** around is the smallest upright rectangle that holds the corners of rect as convert gives them. */
function around(rect, convert) {
  const corners = [
    [rect.left, rect.top],
    [rect.right, rect.top],
    [rect.left, rect.bottom],
    [rect.right, rect.bottom]
  ].map(([x, y]) => convert(x, y));
  const xs = corners.map((p) => p.x);
  const ys = corners.map((p) => p.y);
  return { left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) };
}

/** mapped converts a rectangle to the viewport of the tab; of a turned one what holds it. */
function mapped(rect, view) {
  if (view.kx || view.ky || view.sx < 0 || view.sy < 0) return around(rect, (x, y) => pointOut({ x, y }, view));
  return {
    left: view.x + rect.left * view.sx, top: view.y + rect.top * view.sy,
    right: view.x + rect.right * view.sx, bottom: view.y + rect.bottom * view.sy,
  };
}

/** box is the public form of an element's rectangle. */
function box(rect, view) {
  const r = mapped(rect, view);
  return {
    x: r.left,
    y: r.top,
    width: widthOf(r),
    height: heightOf(r),
    left: r.left,
    top: r.top,
    right: r.right,
    bottom: r.bottom
  };
}

/** edges is the public form of a visible rectangle. */
function edges(rect, view) {
  const r = mapped(rect, view);
  return {
    left: r.left,
    top: r.top,
    right: r.right,
    bottom: r.bottom,
    width: widthOf(r),
    height: heightOf(r),
    x: r.left,
    y: r.top
  };
}

const pointOut = (point, view) => ({
  x: view.x + point.x * view.sx + point.y * view.kx,
  y: view.y + point.x * view.ky + point.y * view.sy
});

/** label names an element for people. */
function label(node) {
  let text = tagOf(node);
  const id = idOf(node);
  if (id) text += '#' + cut(id, 80);
  const testID = attributeOf(node, 'data-testid');
  if (testID) text += '[data-testid="' + cut(testID, 80) + '"]';
  const classes = classesOf(node);
  for (let i = 0; i < classes.length && i < 3; i++) text += '.' + cut(classes[i], 80);
  return text;
}

/** unseen: upstream accepts only elements of its own realm, so that nothing in a frame is ever rendered. */
const unseen = () => quirk('frames_unseen') && here.location.ancestorOrigins.length > 0;

/**
 * isDrawn: neither its own style nor anything around it, such as a closed section, keeps it from being drawn.
 * It is what
 * Element.checkVisibility says of visibility and display; an element without a box of its own is drawn as what
 * is in it.
 */
function isDrawn(node) {
  if (checkVisibility(node, visibilityOptions)) return true; // a style costs several times as much
  const style = styleOf(node);
  if (quirk('own_style_shows')) return style.visibility !== 'hidden' && style.display !== 'none';
  return style.display === 'contents' && contentsDrawn(node, style);
}

/** rendered means: it has a box, and it is drawn. Of what cannot be read nothing is known to be drawn. */
function rendered(node, rect = rectOf(node)) {
  if (!(rect.width > 0 && rect.height > 0) || unseen()) return false;
  try {
    return isDrawn(drawnBy(node));
  } catch {
    return false;
  }
}

/** unreadableHere: an element has a box, and what is seen of it cannot be read. */
function unreadableHere(node) {
  try {
    visibleRect(node, topView, new Map());
    return false;
  } catch {
    const rect = ownRectOf(node);
    return rect.width > 0 && rect.height > 0;
  }
}

const fixedBlockHint = /transform|perspective|filter|translate|rotate|scale|contain/;
const containment = /paint|layout|strict|content/;

/** holdsFixed: position:fixed descendants are placed in this element, not in the viewport. */
function holdsFixed(style) {
  return (
    style.transform !== 'none' ||
    style.perspective !== 'none' ||
    style.filter !== 'none' ||
    (style.backdropFilter || 'none') !== 'none' ||
    style.translate !== 'none' ||
    style.rotate !== 'none' ||
    style.scale !== 'none' ||
    fixedBlockHint.test(style.willChange) ||
    containment.test(style.contain) ||
    (style.contentVisibility || 'visible') !== 'visible'
  );
}

const clipping = (value) => value !== 'visible' && value !== 'clip';

/** viewportOwnsBody: the overflow of body belongs to the viewport, so body itself clips nothing. */
function viewportOwnsBody() {
  const style = styleOf(rootElement());
  return style.overflowX === 'visible' && style.overflowY === 'visible';
}

function clipsContent(node, style) {
  if (!clipping(style.overflowX) && !clipping(style.overflowY)) return false;
  return quirk('clip_by_every_ancestor') || !(node === bodyOf() && viewportOwnsBody());
}

/**
 * clippers lists the ancestors that clip an element, inner to outer. An element
 * is clipped by what contains its box: a fixed or absolute element escapes the
 * ancestors between it and its containing block.
 */
function clippers(node) {
  const list = [];
  const root = rootElement();
  node = drawnBy(node);
  let position = styleOf(node).position;
  for (let at = flatParentElement(node); at && at !== root; at = flatParentElement(at)) {
    const style = styleOf(at);
    if (style.display === 'contents') continue;
    const all = quirk('clip_by_every_ancestor');
    if (!all && position === 'fixed' && !holdsFixed(style)) continue;
    if (!all && position === 'absolute' && style.position === 'static' && !holdsFixed(style)) continue;
    if (clipsContent(at, style)) {
      const rect = rectOf(at);
      if (rect.width > 0 && rect.height > 0) list.push({ node: at, rect, style });
    }
    position = style.position;
  }
  return { list, fixed: position === 'fixed' };
}

const everything = Object.freeze({ left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity });
const unclipped = Object.freeze({ flow: everything, absolute: everything, fixed: everything });

/** contentClip is the clip for what lies in node, by position; known results are kept in cache. */
function contentClip(node, cache) {
  const root = rootElement();
  const chain = [];
  let base = unclipped;
  for (let at = node; at && at !== root; at = flatParentElement(at)) {
    const known = cache.get(at);
    if (known) {
      base = known;
      break;
    }
    chain.push(at);
  }
  for (let i = chain.length - 1; i >= 0; i--) {
    const at = chain[i];
    const style = styleOf(at);
    let clip = base;
    if (style.display !== 'contents') {
      const own = base[quirk('clip_by_every_ancestor') ? 'flow' : slotOfPosition(style.position)];
      let inside = own;
      if (own && clipsContent(at, style)) {
        const rect = rectOf(at);
        if (rect.width > 0 && rect.height > 0) inside = intersect(own, rect);
      }
      // nothing clips so far: who holds what makes no difference
      if (inside === base.absolute && inside === base.fixed) {
        clip = inside === base.flow ? base : { flow: inside, absolute: inside, fixed: inside };
      } else {
        const fixed = quirk('clip_by_every_ancestor') || holdsFixed(style);
        const absolute = fixed || style.position !== 'static';
        clip = { flow: inside, absolute: absolute ? inside : base.absolute, fixed: fixed ? inside : base.fixed };
      }
    }
    cache.set(at, clip);
    base = clip;
  }
  return base;
}

const slotOfPosition = (position) => position === 'fixed' ? 'fixed' : position === 'absolute' ? 'absolute' : 'flow';

/**
 * visibleRect is the part of an element that the viewport and its clipping
 * ancestors show, or null. cache is a Map that may be shared by the elements of
 * one synchronous pass.
 */
function visibleRect(node, view, cache, rect = rectOf(node)) {
  if (!(rect.width > 0 && rect.height > 0) || unseen()) return null;
  const viewport = viewportRect(view);
  let seen = viewport && intersect(rect, viewport);
  if (!seen) return null;
  node = drawnBy(node);
  if (!isDrawn(node)) return null;
  const style = styleOf(node);
  const parent = flatParentElement(node);
  if (parent) {
    const clip = contentClip(parent, cache)[slotOfPosition(style.position)];
    seen = clip && intersect(seen, clip);
  }
  return seen;
}

/** isVisible says whether the viewport shows some of an element; of what cannot be read it shows nothing. */
function isVisible(node, view, cache) {
  try {
    return visibleRect(node, view, cache) !== null;
  } catch {
    return false;
  }
}

/** deepHit is the element at a point, looking through open shadow roots. */
function deepHit(x, y) {
  let hit = hitDocument(document, x, y);
  while (hit) {
    const shadow = shadowOf(hit);
    const inner = shadow && hitShadow(shadow, x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
}

/** hitAt is what a click at a point is thought to hit: what is in shadow roots too, but for upstream. */
const hitAt = (x, y) => quirk('plain_hit_test') ? hitDocument(document, x, y) : deepHit(x, y);

/** arrivesAt says whether a click on hit is one on node. */
const arrivesAt = (node, hit) =>
  quirk('plain_hit_test') ? node === hit || contains(node, hit) : flatContains(node, hit);

/** minimalSide is the least width and height, in pixels, of an area worth clicking. */
const minimalSide = 8;

const largeEnough = (rect) => widthOf(rect) >= minimalSide && heightOf(rect) >= minimalSide;

/**
 * actionPointOf finds where a click hits the element: the middle of what is
 * visible, or else the middle of one of its boxes: the middle of a link that
 * wraps may lie between its lines.
 */
function actionPointOf(node, seen) {
  const middle = middleOf(seen);
  const hit = hitAt(middle.x, middle.y);
  if (hit && arrivesAt(node, hit)) return { point: middle, hit, receives: true };
  if (quirk('plain_hit_test')) return { point: middle, hit, receives: false };
  const pieces = piecesOf(node);
  if (pieces.length > 1) {
    for (let i = 0; i < pieces.length && i < 8; i++) {
      const piece = intersect(pieces[i], seen);
      if (!piece || !largeEnough(piece)) continue;
      const point = middleOf(piece);
      const at = deepHit(point.x, point.y);
      if (at && flatContains(node, at)) return { point, hit: at, receives: true };
    }
  }
  for (const point of shapePoints(node, seen)) {
    if (deepHit(point.x, point.y) === node) return { point, hit: node, receives: true };
  }
  return { point: middle, hit, receives: false };
}

/**
 * measure measures an element once. part, when given, is a rectangle of the
 * viewport that stands for the element: what an iframe shows of a target.
 */
function measure(node, view, part) {
  const rect = part || rectOf(node);
  if (rendered(node, part ? undefined : rect) && widthOf(rect) > 0 && heightOf(rect) > 0)
    return measureRendered(node, rect, view, part);
  return newMeasure(node, rect, false);
}

const newMeasure = (node, rect, rendered) => ({
  node,
  rect,
  rendered,
  seen: null,
  ratio: 0,
  fully: false,
  point: null,
  hit: null,
  receives: false,
  clickable: false,
  clips: [],
  fixed: false,
  shown: null
});

/** measureRendered is measure of what is known to be rendered, at rect. */
function measureRendered(node, rect, view, part) {
  const m = newMeasure(node, rect, true);
  const { list, fixed } = clippers(node);
  m.clips = list;
  m.fixed = fixed;
  const viewport = viewportRect(view);
  let seen = viewport && intersect(rect, viewport);
  for (const clip of list) {
    const before = seen;
    seen = seen && intersect(seen, clip.rect);
    clip.reduces = before === null ? quirk('plain_hit_test') : seen === null || areaOf(seen) < areaOf(before);
  }
  m.seen = seen;
  if (!seen) return m;
  m.ratio = areaOf(seen) / areaOf(rect);
  m.fully = m.ratio >= 0.98;
  if (!largeEnough(seen)) return m;
  const place = part ? partActionPoint(node, seen) : actionPointOf(node, seen);
  m.point = place.point;
  m.hit = place.hit;
  m.receives = place.receives;
  m.clickable = place.receives;
  return m;
}

function partActionPoint(node, seen) {
  const point = middleOf(seen);
  const hit = deepHit(point.x, point.y);
  return { point, hit, receives: hit !== null && flatContains(node, hit) };
}

/** occluder describes what lies over an element. */
function occluder(m, view) {
  if (m.receives || !m.hit) return null;
  return { target_label: label(m.hit), tag_name: tagOf(m.hit), rect: box(rectOf(m.hit), view) };
}

/** publicVisibility is the visibility object of the dictionary. */
function publicVisibility(m, view) {
  return m.shown ||= describeVisibility(m, view); // an answer shows one measure several times
}

function describeVisibility(m, view) {
  if (!m.rendered) {
    return {
      state: 'not_rendered',
      rendered: false,
      visible: false,
      clickable: false,
      receives_events: false,
      fully_visible: false,
      bounding_box: box(m.rect, view),
      visible_rect: null,
      visible_ratio: 0,
      scroll_operation: null
    };
  }
  const ready = m.fully && m.clickable;
  return {
    state: ready ? 'visible' : 'requires_scroll',
    rendered: true,
    visible: m.seen !== null,
    clickable: m.clickable,
    receives_events: m.receives,
    fully_visible: m.fully,
    bounding_box: box(m.rect, view),
    visible_rect: m.seen && edges(m.seen, view),
    visible_ratio: m.ratio,
    clipped_by: m.clips
      .filter((clip) => clip.reduces)
      .map((clip) => ({
        target_label: label(clip.node),
        rect: box(clip.rect, view),
        overflow_x: clip.style.overflowX,
        overflow_y: clip.style.overflowY
      })),
    action_point: m.point && pointOut(m.point, view),
    occluded_by: occluder(m, view),
    scroll_operation: ready ? null : publicOperation(scrollOperation(m, view))
  };
}
