// attest answers whether a click at the middle of a node hits it, as things
// are: it scrolls nothing, and the middle is that of the whole box.

queries.attest = ({ handle, view: given }) => {
  const view = viewOf(given);
  let node = elementOf(handle);
  while (node && nodeType(node) !== 1) node = parentOf(node);
  const none = { visible_center: null, visible_rect: null, clickable: false, receives_events: null, actionability_attested: false, occluded_by: null };
  if (!node) return none;
  const rect = rectOf(node);
  if (!(rect.width > 0 && rect.height > 0)) return none;
  const r = mapped(rect, view);
  const center = { x: Math.round((r.left + r.right) / 2), y: Math.round((r.top + r.bottom) / 2) };
  const at = local(center.x, center.y, view);
  const viewport = viewportRect(view);
  const inside = viewport !== null && at.x >= viewport.left && at.y >= viewport.top && at.x <= viewport.right && at.y <= viewport.bottom;
  const hit = inside ? deepHit(at.x, at.y) : null;
  const receives = hit !== null && flatContains(node, hit);
  const answer = {
    visible_center: center, visible_rect: { left: r.left, top: r.top, right: r.right, bottom: r.bottom, width: widthOf(r), height: heightOf(r) },
    clickable: receives, receives_events: receives, actionability_attested: true,
    occluded_by: hit && !receives ? { tag_name: tagOf(hit), id: idOf(hit) || null, text: cut(norm(textOf(hit)), 160) } : null,
  };
  if (receives) answer.clickable_center = center;
  return answer;
};
