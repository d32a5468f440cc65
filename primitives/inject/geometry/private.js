// private answers where a picture of this document would show a secret: in fields, and in texts.

/**
 * private_boxes lists the rectangles of fields that hold a secret, of password fields that
 * hold anything, and of texts with a secret in them, in pixels of the tab's viewport.
 */
queries.private_boxes = ({ secrets, view: given }) => {
  const view = viewOf(given);
  const boxes = [];
  const cache = new Map();
  const plain = (text) => text.replace(/\s+/g, ' ').trim();
  const count = (text, part) => (part ? text.split(part).length - 1 : 0);
  const spaced = secrets.map(plain);
  const holds = (text) => {
    const drawn = plain(text);
    return secrets.reduce((n, secret, i) => n + Math.max(count(text, secret), count(drawn, spaced[i])), 0);
  };
  const cover = (node, rect) => {
    const parent = flatParentElement(node);
    const clip = () => contentClip(parent, cache)[slotOfPosition(styleOf(node).position)];
    let seen = parent ? readable(node, clip, everything) : everything;
    seen = seen && intersect(rect, seen);
    if (seen && view.clip) seen = intersect(seen, view.clip);
    if (seen) boxes.push(edges(seen, view));
  };
  for (const root of withShadows(document)) {
    for (const field of queryIn(root, 'input, textarea')) {
      const value = String(protoGet(field, 'value') || '');
      if (value !== '' && protoGet(field, 'type') === 'password' || holds(value) > 0) cover(field, rectOf(field));
    }
    const top = root === document ? rootElement() : root;
    if (top) privateTexts(top, holds, cover);
  }
  const seen = visualViewport;
  return {
    boxes,
    width: innerWidth / seen.scale,
    left: seen.offsetLeft,
    top: seen.offsetTop,
    scroll_x: scrollX,
    scroll_y: scrollY
  };
};

/** privateTexts covers the smallest elements below node that have a secret in their text; holds counts them. */
function privateTexts(node, holds, cover) {
  const all = holds(textOf(node));
  if (all === 0) return;
  const children = Array.from(childNodesOf(node)).filter((child) => holds(textOf(child)) > 0);
  const inside = children.reduce((n, child) => n + holds(textOf(child)), 0);
  if (inside < all) { // one is spread over several children
    coverText(node, isElement(node) ? node : null, cover);
    return;
  }
  for (const child of children) {
    if (isElement(child)) privateTexts(child, holds, cover);
    else coverText(child, parentElementOf(child), cover);
  }
}

function coverText(node, owner, cover) {
  const range = new Range();
  range.selectNodeContents(node);
  const rects = Array.from(range.getClientRects()).filter((rect) => rect.width > 0 && rect.height > 0);
  const at = owner || (isElement(node) ? node : hostOf(rootOf(node)));
  const list = at && closestCSS(at, 'select');
  if (list) cover(list, rectOf(list)); // an option has no place of its own while the list is closed
  for (const rect of rects) if (at) cover(at, rect);
}
