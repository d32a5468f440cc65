// frame answers which element shows a child document, how that document lies
// in the viewport of the tab, and whether a click at a point gets into it.

/** frameView is the view of a frame element's document, cut to what can be seen of it. */
function frameView(node, view) {
  const inner = contentView(node, topView);
  const seen = visibleRect(node, view, new Map());
  const clip = seen ? around(seen, (x, y) => local(x, y, inner)) : { left: 0, top: 0, right: 0, bottom: 0 };
  return { ...within(view, inner), clip };
}

function frameElement(handle) {
  const node = element(handle);
  if (!node || !isConnected(node))
    throw new Fault('frame_not_found', 'the frame is no longer in the document', { handle });
  return node;
}

/** frame_view resolves one step of a frame chain: the first frame element that the selector matches. */
queries.frame_view = ({ selector, handle, view: given }) => {
  const view = viewOf(given);
  if (handle) return { handle, view: frameView(frameElement(handle), view) };
  const node = findFrame(selector);
  if (!node) throw frameNotFound(selector);
  if (quirk('frames_unseen') && !protoGet(node, 'contentDocument')) {
    throw new Fault('frame_cross_origin', 'the document of the frame cannot be reached', { frame: cut(selector, 500) });
  }
  return { handle: keep(node), view: frameView(node, view) };
};

/** findFrame is the first frame element that matches, in the document itself before its shadow roots. */
function findFrame(selector) {
  if (norm(selector) === '') throw new Fault('invalid_selector', 'the frame selector is blank', { frame: selector });
  try {
    for (const root of inLightFirst()) {
      const found = queryIn(root, selector).find(showsDocument);
      if (found) return found;
    }
    return null;
  } catch {
    throw new Fault(unparsedCode(), 'the frame selector does not parse', { frame: cut(selector, 500) });
  }
}

/** inLightFirst gives the document, then the roots below it: those cost a walk. */
function* inLightFirst() {
  yield document;
  if (!quirk('frames_unseen')) yield* withShadows(document).slice(1);
}

function frameNotFound(selector) {
  return new Fault('frame_not_found', 'no frame element matches the frame selector', {
    frame: cut(selector, 500), frame_count: queryIn(document, 'iframe, frame').length,
  });
}

/** frame_wait is frame_view for a frame that may still have to appear. */
queries.frame_wait = ({ selector, view: given, timeout_ms }) => waitUntil(() => {
  const node = findFrame(selector);
  return node && { handle: keep(node), view: frameView(node, viewOf(given)) };
}, { timeout: timeout_ms, silent: () => false, pierce: true }).then((found) => {
  if (!found) throw frameNotFound(selector);
  return found;
});

/**
 * frame_hit says whether a click at a point of the tab's viewport reaches the frame element. With guard, a click that
 * comes to this document and not to the frame is kept from the page, until click_verdict ends that.
 */
queries.frame_hit = ({ handle, x, y, view: given, guard }) => {
  if (guard) guardClick(guard, null);
  const view = viewOf(given);
  const node = frameElement(handle);
  const point = local(x, y, view);
  const hit = deepHit(point.x, point.y);
  if (hit && flatContains(node, hit)) return { receives: true, occluded_by: null };
  return {
    receives: false,
    occluded_by: hit && { target_label: label(hit), tag_name: tagOf(hit), rect: box(rectOf(hit), view) }
  };
};

/**
 * frame_reveal scrolls this document until a part of the child document, given
 * in the child's pixels, is usable. It answers the child's new view.
 */
queries.frame_reveal = async ({ handle, part, view: given }) => {
  const view = viewOf(given);
  const node = frameElement(handle);
  const remeasure = () => {
    const inner = contentView(node, topView);
    return measure(node, view, withSize(mapped(part, inner)));
  };
  const { m, performed } = await reveal(remeasure(), view, remeasure);
  return {
    view: frameView(node, view),
    performed,
    fully_visible: m.fully,
    part: { left: m.rect.left, top: m.rect.top, right: m.rect.right, bottom: m.rect.bottom }
  };
};

const withSize = (rect) => ({ ...rect, width: widthOf(rect), height: heightOf(rect) });
