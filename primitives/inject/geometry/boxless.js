// boxless answers where elements are that have no box of their own: those with
// display: contents, which are where their children are, and the areas of an
// image map, which are drawn by an image.

/**
 * drawnBy is the element whose box and style decide whether node is drawn: itself, but for the area of an image map.
 */
const drawnBy = (node) => tagOf(node) === 'area' && areaImage(node) || node;

/** areaImage is the image that shows an area, or null. */
function areaImage(area) {
  const map = closestCSS(area, 'map');
  const name = map && (attributeOf(map, 'name') || idOf(map));
  if (!name) return null;
  const images = queryIn(rootOf(area), 'img[usemap]').filter(
    (image) => attributeOf(image, 'usemap').replace(/^[^#]*#/, '') === name
  );
  return images.find((image) => rendered(image)) || images[0] || null;
}

/**
 * areaRect is the upright rectangle around the shape of an area, or null. Chromium counts from the border of the image,
 * not from its content.
 */
function areaRect(area) {
  const image = areaImage(area);
  if (!image) return null;
  const width = protoGet(image, 'offsetWidth');
  const height = protoGet(image, 'offsetHeight');
  const n = (attributeOf(area, 'coords') || '').split(/[\s,;]+/).filter(Boolean).map(parseFloat);
  const shape = (attributeOf(area, 'shape') || 'rect').toLowerCase();
  let part = null;
  if (shape === 'default') {
    part = { left: 0, top: 0, right: width, bottom: height };
  } else if (shape.startsWith('circ') && n.length >= 3) {
    part = { left: n[0] - n[2], top: n[1] - n[2], right: n[0] + n[2], bottom: n[1] + n[2] };
  } else if (shape.startsWith('poly') && n.length >= 6) {
    const xs = n.filter((_, i) => i % 2 === 0 && i + 1 < n.length);
    const ys = n.filter((_, i) => i % 2 === 1);
    part = { left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) };
  } else if (n.length >= 4) {
    part = {
      left: Math.min(n[0], n[2]),
      top: Math.min(n[1], n[3]),
      right: Math.max(n[0], n[2]),
      bottom: Math.max(n[1], n[3])
    };
  }
  const inside = part && intersect(part, { left: 0, top: 0, right: width, bottom: height });
  return inside && mapped(inside, boxView(image, topView, 0, 0));
}

/** So many children are measured for the place of an element without a box. */
const maxBoxlessChildren = 200;

/** contentsRects lists where the children of an element with display: contents are. */
function contentsRects(node) {
  const out = [];
  let measured = 0;
  for (const child of flatChildren(node)) {
    if (++measured > maxBoxlessChildren) break;
    if (nodeType(child) === 3) {
      if (textOf(child).trim() === '') continue;
      const range = new Range();
      range.selectNodeContents(child);
      out.push(...range.getClientRects());
    } else if (nodeType(child) === 1) {
      out.push(rectOf(child));
    }
  }
  return out.filter((rect) => rect.width > 0 && rect.height > 0);
}

/** How boxes are drawn that take no notice of content-visibility: those in a line of text and those of a table. */
const drawsContent = /^(?:contents|inline|none|ruby.*|(?:inline-)?table|table-(?!caption).*)$/;

/** conceals: a style keeps what is in its element from being drawn. */
const conceals = (style) => style.contentVisibility === 'hidden' && !drawsContent.test(style.display);

/** skipsContent: node is drawn, but not what lies in it by way of child, null for its text. */
function skipsContent(node, child) {
  if (conceals(styleOf(node))) return true;
  if (tagOf(node) !== 'details' || protoGet(node, 'open')) return false;
  const summary = child && Array.from(childNodesOf(node)).find((each) => isElement(each) && tagOf(each) === 'summary');
  return (child === null || child !== summary) && conceals(getComputedStyle(node, '::details-content'));
}

/** contentsPlaced: what is in an element with display: contents has a place in the nearest box around it. */
function contentsPlaced(node) {
  let child = node;
  for (let at = flatParentElement(node); at; child = at, at = flatParentElement(at)) {
    if (styleOf(at).display !== 'contents') return checkVisibility(at) && !skipsContent(at, child);
  }
  return true;
}

/** textDrawn: text right inside an element with display: contents is drawn by the nearest ancestor that has a box. */
function textDrawn(node, style) {
  return style.visibility === 'visible' && contentsPlaced(node);
}

/** drawsText: text right inside an element is drawn. */
function drawsText(node) {
  const style = styleOf(node);
  if (style.display === 'contents') return textDrawn(node, style);
  return checkVisibility(node, visibilityOptions) && !skipsContent(node, null);
}

/** contentsDrawn: some text or some element in one with display: contents is drawn. */
function contentsDrawn(node, style) {
  const children = flatChildren(node).slice(0, maxBoxlessChildren);
  if (children.some((child) => nodeType(child) === 3 && textOf(child).trim() !== '') && textDrawn(node, style))
    return true;
  return children.some((child) => nodeType(child) === 1 && isDrawn(child));
}

/** boxlessRect is where an element without a box is, or null when it is nowhere. */
function boxlessRect(node) {
  if (quirk('boxless_unseen')) return null;
  let rects = [];
  if (tagOf(node) === 'area') {
    const rect = areaRect(node);
    if (rect) rects = [rect];
  } else if (isConnected(node) && styleOf(node).display === 'contents') {
    rects = contentsRects(node);
  }
  if (rects.length === 0) return null;
  const left = Math.min(...rects.map((rect) => rect.left));
  const top = Math.min(...rects.map((rect) => rect.top));
  return new DOMRect(
    left,
    top,
    Math.max(...rects.map((rect) => rect.right)) - left,
    Math.max(...rects.map((rect) => rect.bottom)) - top
  );
}

/** piecesOf lists the boxes of an element: the lines of a link that wraps, the children of one without a box. */
function piecesOf(node) {
  const own = ownRectsOf(node);
  if (own.length > 0 || tagOf(node) === 'area' || quirk('boxless_unseen')) return own;
  return contentsRects(node);
}

/** shapePoints are points to try for an element whose shape is not its rectangle: the area of an image map. */
function shapePoints(node, seen) {
  if (tagOf(node) !== 'area') return [];
  const steps = [0.5, 0.3, 0.7, 0.1, 0.9, 0.4, 0.6, 0.2, 0.8];
  return steps.flatMap((y) =>
    steps.map((x) => ({ x: seen.left + x * widthOf(seen), y: seen.top + y * heightOf(seen) }))
  );
}
