// attest answers whether a click at the middle of a node hits it, as things
// are: it scrolls nothing, and the middle is that of the whole box.

/** plainAttest is upstream's: of elements only, at the middle of the box, without a look into shadow roots. */
function plainAttest(node) {
  const none = {
    visible_center: null,
    visible_rect: null,
    clickable: false,
    receives_events: null,
    actionability_attested: false,
    occluded_by: null
  };
  if (!node) return none;
  if (nodeType(node) !== 1) {
    const range = new Range();
    range.selectNodeContents(node);
    const r = range.getBoundingClientRect();
    return r.width > 0 && r.height > 0
      ? { ...none, visible_center: { x: Math.round((r.left + r.right) / 2), y: Math.round((r.top + r.bottom) / 2) } }
      : none;
  }
  const r = rectOf(node);
  const x = r.left + r.width / 2;
  const y = r.top + r.height / 2;
  const hit = r.width > 0 && r.height > 0 ? hitDocument(document, x, y) : null;
  const receives = hit !== null && (hit === node || contains(node, hit));
  const center = { x: Math.round(x), y: Math.round(y) };
  const answer = {
    visible_center: center,
    visible_rect: { left: r.left, top: r.top, right: r.right, bottom: r.bottom, width: r.width, height: r.height },
    clickable: receives,
    receives_events: receives,
    actionability_attested: true,
    occluded_by:
      hit && !receives ? { tag_name: tagOf(hit), id: idOf(hit) || null, text: cut(norm(textOf(hit)), 160) } : null
  };
  if (receives) answer.clickable_center = center;
  return answer;
}

queries.attest = ({ handle, view: given }) => {
  const view = viewOf(given);
  let node = elementOf(handle);
  if (quirk('whole_ax_tree')) return plainAttest(node);
  while (node && nodeType(node) !== 1) node = parentOf(node);
  const none = {
    visible_center: null,
    visible_rect: null,
    clickable: false,
    receives_events: null,
    actionability_attested: false,
    occluded_by: null
  };
  if (!node) return none;
  const rect = rectOf(node);
  if (!(rect.width > 0 && rect.height > 0)) return none;
  const r = mapped(rect, view);
  const center = { x: Math.round((r.left + r.right) / 2), y: Math.round((r.top + r.bottom) / 2) };
  const at = local(center.x, center.y, view);
  const viewport = viewportRect(view);
  const inside =
    viewport !== null &&
    at.x >= viewport.left &&
    at.y >= viewport.top &&
    at.x <= viewport.right &&
    at.y <= viewport.bottom;
  const hit = inside ? deepHit(at.x, at.y) : null;
  const receives = hit !== null && flatContains(node, hit);
  const answer = {
    visible_center: center,
    visible_rect: {
      left: r.left,
      top: r.top,
      right: r.right,
      bottom: r.bottom,
      width: widthOf(r),
      height: heightOf(r)
    },
    clickable: receives,
    receives_events: receives,
    actionability_attested: true,
    occluded_by:
      hit && !receives ? { tag_name: tagOf(hit), id: idOf(hit) || null, text: cut(norm(textOf(hit)), 160) } : null
  };
  if (receives) answer.clickable_center = center;
  return answer;
};
