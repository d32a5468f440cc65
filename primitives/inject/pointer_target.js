// pointer_target answers which element a press at a point of the tab's viewport
// would reach, through open shadow roots and into frames. Frames of this
// process that share the origin are entered here; another is answered with its
// handle in descend, and the caller asks there with the view given.

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

/** contentView is the view of the document that a frame element shows. Rotation is not taken apart. */
function contentView(node, view) {
  const rect = rectOf(node);
  const style = styleOf(node);
  const width = protoGet(node, 'offsetWidth') || rect.width;
  const height = protoGet(node, 'offsetHeight') || rect.height;
  const sx = width ? rect.width / width : 1;
  const sy = height ? rect.height / height : 1;
  return {
    x: view.x + (rect.left + (clientLeftOf(node) + parseFloat(style.paddingLeft)) * sx) * view.sx,
    y: view.y + (rect.top + (clientTopOf(node) + parseFloat(style.paddingTop)) * sy) * view.sy,
    sx: view.sx * sx, sy: view.sy * sy, clip: null,
  };
}

const local = (x, y, view) => ({ x: (x - view.x) / view.sx, y: (y - view.y) / view.sy });

/** showsDocument: the node is a frame element, of whatever realm. */
const showsDocument = (node) => tagOf(node) === 'iframe' || tagOf(node) === 'frame';

/** pressTarget describes an element as pointer.click reports it. It never holds a value. */
function pressTarget(node, view, viewport, point) {
  const className = protoGet(node, 'className');
  const text = norm(textOf(node));
  const type = protoGet(node, 'type');
  return {
    tag_name: tagOf(node), id: idOf(node) || null, class_name: typeof className === 'string' ? cut(className, 240) : null,
    role: attributeOf(node, 'role'), data_testid: attributeOf(node, 'data-testid'),
    type: typeof type === 'string' ? type : attributeOf(node, 'type'),
    text: cut(text, 240), disabled: protoGet(node, 'disabled') === true, aria_disabled: attributeOf(node, 'aria-disabled'),
    bounding_box: box(rectOf(node), view), viewport, computed_role: roleOf(node) || null, name: cut(nameOf(node), 240), point,
  };
}

questions.pointer_target = ({ x, y, view, viewport, inside }) => {
  if (!inside) {
    viewport = { width: innerWidth, height: innerHeight, scroll_x: scrollX, scroll_y: scrollY };
    if (typeof x !== 'number' || typeof y !== 'number' || x < 0 || y < 0 || x > innerWidth || y > innerHeight) {
      throw new Fault('point_out_of_viewport', 'the point is outside the viewport', { viewport: { width: innerWidth, height: innerHeight } });
    }
  }
  let at = viewOf(view);
  let doc = document;
  let frame = null;
  for (;;) {
    const point = local(x, y, at);
    const hit = hitIn(doc, point.x, point.y);
    if (!hit) return { target: null, viewport, frame };
    if (showsDocument(hit)) {
      const inner = contentView(hit, at);
      const there = local(x, y, inner);
      const onContent = there.x >= 0 && there.y >= 0; // else the press is on the frame's own border
      const child = onContent ? protoGet(hit, 'contentDocument') : null;
      if (child && documentElementOf(child)) {
        frame = { url: documentURLOf(child), cross_origin: false };
        if (hitIn(child, there.x, there.y)) {
          at = inner;
          doc = child;
          continue;
        }
      } else if (onContent && !child) {
        return { descend: keep(hit), view: inner, target: pressTarget(hit, at, viewport, { x, y }), viewport, frame };
      }
    }
    return { target: pressTarget(hit, at, viewport, { x, y }), viewport, frame };
  }
};
