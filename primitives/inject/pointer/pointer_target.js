// pointer_target answers which element a click at a point of the tab's viewport
// would hit, through open shadow roots and into frames. Frames of this
// process that share the origin are entered here; another is answered with its
// handle in descend, and the caller queries that frame with the view given. With flat it
// is the target of dispatched events: the host of a shadow root, the frame element.

/** hitIn is the element at a point of a document or of a frame's document, through open shadow roots. */
function hitIn(doc, x, y) {
  let hit = hitDocument(doc, x, y);
  while (hit) {
    const shadow = shadowOf(hit);
    const inner = shadow && hitShadow(shadow, x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
}

/** contentView is the view of what the content box of an element shows: the document of a frame element. */
function contentView(node, view) {
  const style = styleOf(node);
  return boxView(
    node,
    view,
    clientLeftOf(node) + parseFloat(style.paddingLeft),
    clientTopOf(node) + parseFloat(style.paddingTop)
  );
}

/** boxView is the view of what begins left and top pixels within the border box of an element. */
function boxView(node, view, left, top) {
  const rect = rectOf(node);
  const width = protoGet(node, 'offsetWidth') || rect.width;
  const height = protoGet(node, 'offsetHeight') || rect.height;
  const turn = turned(node, width, height, rect);
  if (turn) {
    const at = pointOut({ x: left, y: top }, turn);
    return within(view, { ...turn, x: at.x, y: at.y });
  }
  const sx = width ? rect.width / width : 1;
  const sy = height ? rect.height / height : 1;
  return within(view, { x: rect.left + left * sx, y: rect.top + top * sy, sx, sy, kx: 0, ky: 0 });
}

/** linear is what the transforms of one element do to directions and lengths; null for nothing. */
function linear(style) {
  const { transform, rotate, scale } = style;
  if (transform === 'none' && (rotate || 'none') === 'none' && (scale || 'none') === 'none') return null;
  const m = new DOMMatrix();
  if (rotate && rotate !== 'none') {
    const parts = rotate.split(' ');
    const angle = parseFloat(parts.pop());
    const axis =
      parts.length === 3
        ? parts.map(Number)
        : parts.length === 1
          ? [Number(parts[0] === 'x'), Number(parts[0] === 'y'), Number(parts[0] === 'z')]
          : [0, 0, 1];
    m.rotateAxisAngleSelf(...axis, angle);
  }
  if (scale && scale !== 'none') {
    const [x, y = x, z = 1] = scale.split(' ').map(Number);
    m.scaleSelf(x, y, z);
  }
  return transform === 'none' ? m : m.multiplySelf(new DOMMatrix(transform));
}

/**
 * turned is the view of the border box of an element that is turned, skewed or
 * mirrored, by itself or by what it lies in; null where its sides are upright.
 * Perspective is taken for a scale.
 */
function turned(node, width, height, rect) {
  let m = null;
  for (let at = node; at; at = flatParentElement(at)) {
    const style = styleOf(at);
    if (style.display === 'contents' || style.display === 'inline' && at !== node) continue;
    const own = linear(style);
    if (!own) continue;
    // Only what an element draws flat is seen by what it lies in.
    m = m
      ? new DOMMatrix([own.a, own.b, own.c, own.d, 0, 0]).multiplySelf(m)
      : new DOMMatrix([own.a, own.b, own.c, own.d, 0, 0]);
  }
  if (
    !m ||
    (Math.abs(m.b) < 1e-6 && Math.abs(m.c) < 1e-6 && m.a > 0 && m.d > 0) ||
    !width ||
    !height ||
    m.a * m.d === m.b * m.c
  )
    return null;
  const across = Math.abs(m.a) * width + Math.abs(m.c) * height;
  const zoom = across > 0 && rect.width > 0 ? rect.width / across : 1;
  const sx = m.a * zoom;
  const ky = m.b * zoom;
  const kx = m.c * zoom;
  const sy = m.d * zoom;
  return {
    x: rect.left - Math.min(0, sx * width, kx * height, sx * width + kx * height),
    y: rect.top - Math.min(0, ky * width, sy * height, ky * width + sy * height), sx, sy, kx, ky,
  };
}

/** local converts a point of the tab's viewport to the document of a view. */
function local(x, y, view) {
  const dx = x - view.x;
  const dy = y - view.y;
  const size = view.sx * view.sy - view.kx * view.ky;
  return { x: (dx * view.sy - dy * view.kx) / size, y: (dy * view.sx - dx * view.ky) / size };
}

const windowsOf = {
  iframe: getterOf(HTMLIFrameElement.prototype, 'contentWindow'),
  frame: getterOf(HTMLFrameElement.prototype, 'contentWindow'),
  object: getterOf(HTMLObjectElement.prototype, 'contentWindow'),
};

/** Types of what an embed element shows that have no document. */
const embeddedFiles = /^(?:application|audio|font|image|video)\/(?!xhtml\+xml|xml|svg\+xml)/i;

/** embeddedWindow is the window that an embed element shows, null without one, undefined when that is not known. */
function embeddedWindow(node) {
  const around = protoGet(protoGet(node, 'ownerDocument'), 'defaultView');
  let unknown = false;
  for (let i = 0; around && i < around.length; i++) {
    try {
      if (around[i].frameElement === node) return around[i];
    } catch {
      unknown = true; // of another origin
    }
  }
  return unknown && !embeddedFiles.test(attributeOf(node, 'type') || '') ? undefined : null;
}

/** windowIn is the window that an element shows, as embeddedWindow says it. */
const windowIn = (node, tag) => tag === 'embed' ? embeddedWindow(node) : windowsOf[tag](node);

/** showsDocument: the node is a frame element, of whatever realm, or an object or embed that shows a document. */
function showsDocument(node) {
  const tag = tagOf(node);
  if (tag === 'iframe' || tag === 'frame') return true;
  return (tag === 'object' || tag === 'embed') && windowIn(node, tag) !== null;
}

/** clickTarget describes an element as pointer.click reports it. It never holds a value. */
function clickTarget(node, view, viewport, point) {
  const className = protoGet(node, 'className');
  const text = norm(textOf(node));
  const out = {
    tag_name: tagOf(node),
    id: idOf(node) || null,
    class_name: typeof className === 'string' ? cut(className, 240) : null,
    role: attributeOf(node, 'role'),
    data_testid: attributeOf(node, 'data-testid'),
    type: attributeOf(node, 'type'),
    text: cut(text, 240),
    disabled: protoGet(node, 'disabled') === true,
    aria_disabled: attributeOf(node, 'aria-disabled'),
    bounding_box: box(rectOf(node), view),
    viewport,
    computed_role: roleOf(node) || null,
    name: cut(nameOf(node), 240),
    point
  };
  if (text === '') addNear(out, node);
  return out;
}

const eventCountOf = methodOf(EventCounts.prototype, 'get');

/** clicksSoFar counts the clicks that the browser gave this document, also those that no listener received. */
const clicksSoFar = () => eventCountOf(performance.eventCounts, 'pointerdown') || 0;

/** keepsClicks: a click on the element goes to what it shows; this document receives no event. */
const keepsClicks = (tag) =>
  tag === 'iframe' || tag === 'frame' || tag === 'embed' || tag === 'object' || tag === 'fencedframe';

queries.pointer_target = ({ x, y, view, viewport, inside, flat, watch }) => {
  if (!inside) {
    viewport = { width: innerWidth, height: innerHeight, scroll_x: scrollX, scroll_y: scrollY };
    if (typeof x !== 'number' || typeof y !== 'number' || x < 0 || y < 0 || x > innerWidth || y > innerHeight) {
      throw new Fault('point_out_of_viewport', 'the point is outside the viewport', {
        viewport: { width: innerWidth, height: innerHeight }
      });
    }
  }
  let at = viewOf(view);
  let doc = document;
  let frame = null;
  for (;;) {
    const point = local(x, y, at);
    const hit = flat ? hitDocument(doc, point.x, point.y) : hitIn(doc, point.x, point.y);
    if (!hit) return { target: null, viewport, frame };
    if (!flat && showsDocument(hit)) {
      const inner = contentView(hit, at);
      const there = local(x, y, inner);
      const onContent = there.x >= 0 && there.y >= 0; // else the click is on the frame's own border
      const child = onContent ? protoGet(hit, 'contentDocument') : null;
      if (child && documentElementOf(child)) {
        frame = { url: documentURLOf(child), cross_origin: false };
        if (hitIn(child, there.x, there.y)) {
          at = inner;
          doc = child;
          continue;
        }
      } else if (onContent && !child) {
        return { descend: keep(hit), view: inner, target: clickTarget(hit, at, viewport, { x, y }), viewport, frame };
      }
    }
    // A frame around it, which is answered for here, shares the process: what comes there comes here.
    const watched = Boolean(inside && watch) && !keepsClicks(tagOf(hit));
    if (watched) watchArrival(watch, protoGet(doc, 'defaultView'), point);
    return { target: clickTarget(hit, at, viewport, { x, y }), viewport, frame, watched };
  }
};
