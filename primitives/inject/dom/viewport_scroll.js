// viewport_scroll moves the viewport, or the scroller that belongs to a scope,
// at once, and reports what really moved.

const elementScrollBy = methodOf(Element.prototype, 'scrollBy');

/** hasRange: there is more content along the axis than the box shows. */
const hasRange = (node, horizontal) => horizontal
  ? scrollWidthOf(node) > clientWidthOf(node) + 1
  : scrollHeightOf(node) > clientHeightOf(node) + 1;

/** userScrolls: a wheel would scroll the box along the axis; overflow:hidden moves for scripts only. */
function userScrolls(node, horizontal) {
  const overflow = horizontal ? styleOf(node).overflowX : styleOf(node).overflowY;
  return overflow === 'auto' || overflow === 'scroll' || overflow === 'overlay';
}

const scrollingRoot = () => protoGet(document, 'scrollingElement') || rootElement();

/** viewportHasRange: the document is larger than the viewport and the page does not forbid scrolling it. */
function viewportHasRange(horizontal) {
  const root = scrollingRoot();
  if (!root || !hasRange(root, horizontal)) return false;
  const owner = bodyOf() && viewportOwnsBody() ? bodyOf() : rootElement();
  const overflow = horizontal ? styleOf(owner).overflowX : styleOf(owner).overflowY;
  return overflow !== 'hidden' && overflow !== 'clip';
}

const isDocumentScroller = (node) => node === rootElement() || node === bodyOf();

/** scrolls reports whether node is a scroller of the axis; body and root stand for the viewport. */
function scrolls(node, horizontal) {
  if (node === rootElement() || (node === bodyOf() && !(userScrolls(node, horizontal) && !viewportOwnsBody())))
    return false;
  return hasRange(node, horizontal) && userScrolls(node, horizontal);
}

/** scopedScroller is the first scroller in root, then around it; null stands for the viewport, undefined for none. */
function scopedScroller(root, horizontal, view) {
  const clips = new Map();
  const fits = (node) => scrolls(node, horizontal) && isVisible(node, view, clips);
  if (fits(root)) return root;
  if (isDocumentScroller(root) && viewportHasRange(horizontal)) return null;
  const own = shadowOf(root);
  for (const at of own ? [...withShadows(own), ...withShadows(root)] : withShadows(root)) {
    for (const node of queryIn(at, '*')) if (fits(node)) return node;
  }
  if (quirk('scrolls_inward_only')) return undefined;
  for (let at = flatParentElement(root); at; at = flatParentElement(at)) if (fits(at)) return at;
  return viewportHasRange(horizontal) ? null : undefined;
}

/** largestScroller is the scroller that shows most, or null. */
function largestScroller(horizontal, view) {
  const clips = new Map();
  let best = null;
  let most = 0;
  for (const at of withShadows(document)) {
    for (const node of queryIn(at, '*')) {
      if (!scrolls(node, horizontal)) continue;
      const seen = visibleRect(node, view, clips);
      if (seen && areaOf(seen) > most) {
        best = node;
        most = areaOf(seen);
      }
    }
  }
  return best;
}

const windowOffsets = () => ({ scroll_x: scrollX, scroll_y: scrollY });
const offsetsOf = (node) => node ? { scroll_x: scrollLeftOf(node), scroll_y: scrollTopOf(node) } : windowOffsets();
const viewportNow = () => ({ width: innerWidth, height: innerHeight, ...windowOffsets() });
const placed = (node, view) => ({ ...box(rectOf(node), view), ...offsetsOf(node) });

const listen = methodOf(EventTarget.prototype, 'addEventListener');
const unlisten = methodOf(EventTarget.prototype, 'removeEventListener');

/**
 * scrolledBy runs move and, if it moved anything, waits until the page has
 * received the scroll event, or 50 ms where no frames are made.
 */
async function scrolledBy(node, move, moved) {
  const source = node || document;
  let resolveReceived;
  const received = new Promise((resolve) => { resolveReceived = resolve; });
  listen(source, 'scroll', resolveReceived);
  try {
    move();
    if (!moved()) return;
    const timer = setTimeout(resolveReceived, 50);
    await received;
    clearTimeout(timer);
  } finally {
    unlisten(source, 'scroll', resolveReceived);
  }
}

queries.viewport_scroll = async ({ dx, dy, scope, item_selector, handle, view: given }) => {
  const view = viewOf(given);
  if (dx === 0 && dy === 0) {
    return { moved: false, target: 'viewport', target_element: null, before: windowOffsets(), after: windowOffsets() };
  }
  const horizontal = Math.abs(dx) >= Math.abs(dy);
  let node = null;
  let anchor = null;
  let fallback;
  if (scope || handle) {
    const found = handle
      ? { scope: elementOf(handle), root: elementOf(handle) }
      : resolveScope(scope, item_selector, view);
    anchor = found.scope;
    node = scopedScroller(found.root, horizontal, view);
    if (node === undefined) {
      throw new Fault('target_not_scrollable', 'nothing in or around the scope scrolls along that axis', {
        scope, axis: horizontal ? 'x' : 'y', root: label(found.root),
      });
    }
    if (!node) fallback = 'viewport';
    else if (node !== found.root && !flatContains(found.root, node)) fallback = 'ancestor';
  } else if (!viewportHasRange(horizontal) && !quirk('scrolls_inward_only')) {
    node = largestScroller(horizontal, view);
    if (node) fallback = 'largest_scroller';
  }
  const before = offsetsOf(node);
  const viewportBefore = viewportNow();
  const anchorBefore = anchor && placed(anchor, view);
  const nodeBefore = node && placed(node, view);
  const element = actedTarget(node, view);
  const by = { left: dx, top: dy, behavior: 'instant' };
  const moved = () => {
    const now = offsetsOf(node);
    return now.scroll_x !== before.scroll_x || now.scroll_y !== before.scroll_y;
  };
  await scrolledBy(node, () => node ? elementScrollBy(node, by) : scrollBy(by), moved);
  const end = offsetsOf(node);
  const kind = node ? 'element' : 'viewport';
  const scrollTarget = { kind, before: nodeBefore || before, after: node ? placed(node, view) : end };
  if (node) scrollTarget.target_label = label(node);
  if (fallback) scrollTarget.fallback = fallback;
  return {
    moved: moved(),
    target: kind, target_element: element, before, after: end, delta_x: dx, delta_y: dy,
    diagnostics: {
      viewport: viewportNow(),
      viewport_before: viewportBefore,
      target_element: anchor && {
        tag_name: tagOf(anchor),
        text: cut(norm(textOf(anchor)), 240),
        before: anchorBefore,
        after: placed(anchor, view)
      },
      scroll_target: scrollTarget
    }
  };
};
