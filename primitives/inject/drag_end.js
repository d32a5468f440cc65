// drag_end answers where one end of a drag is, and whether a press there would
// reach the element. It does not scroll: the other end has been measured, or
// will be, and both must be in the viewport at once.

const maxDragText = 240;

questions.drag_end = async ({ locator, view: given }) => {
  const view = viewOf(given);
  const node = actedOn(locator, view);
  const first = rectOf(node);
  if (mayMove(node, first)) await settled(node, restBudget);
  else remember(node, first);
  const m = measure(node, view);
  const seen = publicVisibility(m, view);
  if (!m.clickable) {
    throw new Fault('target_not_actionable', reasonNot(m), {
      locator, actionability: {
        state: seen.state, visible: seen.visible, fully_visible: seen.fully_visible, clickable: seen.clickable, receives_events: seen.receives_events,
        visible_rect: seen.visible_rect, occluded_by: seen.occluded_by || null, scroll_operation: seen.scroll_operation,
      },
    });
  }
  return {
    source: 'locator', locator, tag_name: tagOf(node), text: cut(norm(textOf(node)), maxDragText), bounding_box: box(m.rect, view), point: pointOut(m.point, view),
    actionability: { clickable: true, receives_events: true, fully_visible: m.fully, occluded_by: null },
  };
};
