// acted answers what an action was done to: the element's role, accessible name,
// tag and place. It is asked before the action, which may change or remove the
// element, and never tells what was typed or what a control holds.

const maxActedName = 240;

/** actedTarget reports an element; null when there is none. point, of the tab's viewport, is where it was clicked. */
function actedTarget(node, view, point) {
  if (!node) return null;
  const out = { tag_name: tagOf(node), role: roleOf(node) || null, name: actedName(node), bounding_box: box(rectOf(node), view) };
  if (point) out.point = point;
  return out;
}

/** actedName is the accessible name, less what somebody may have typed: of what is edited, its content is none of its name. */
function actedName(node) {
  const control = isTextControl(node) && !typesWithoutText.has(protoGet(node, 'type'));
  if (control || protoGet(node, 'isContentEditable') === true) {
    const referred = (attributeOf(node, 'aria-labelledby') || '').split(/\s+/);
    const content = !control && !namedByAttribute(node) && namedByContent.test(roleOf(node));
    if (content || idOf(node) && referred.includes(idOf(node))) return cut(norm(attributeOf(node, 'aria-label') || attributeOf(node, 'title')), maxActedName);
  }
  return cut(nameOf(node), maxActedName);
}

/** descended sends the question on into the document that a frame element shows. */
const descended = (node, view) => ({ descend: keep(node), view: contentView(node, view) });

/** focused_target answers what a key click would go to. */
queries.focused_target = ({ view: given }) => {
  const view = viewOf(given);
  const node = activeElement() || bodyOf() || rootElement();
  if (node && isFrameElement(node)) return descended(node, view);
  return { target: actedTarget(node, view) };
};
