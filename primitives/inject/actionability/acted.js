// acted answers what an action was done to: the element's role, accessible name,
// tag and place. It is queried before the action, which may change or remove the
// element, and never contains what was typed or what a control holds.

const maxActedName = 240;

/** actedTarget reports an element; null when there is none. point, of the tab's viewport, is where it was clicked. */
function actedTarget(node, view, point) {
  if (!node) return null;
  const out = {
    tag_name: tagOf(node),
    role: roleOf(node) || null,
    name: actedName(node),
    bounding_box: box(rectOf(node), view)
  };
  if (tagOf(node) === 'input' && protoGet(node, 'type') === 'file') out.type = 'file';
  addNear(out, node);
  if (point) out.point = point;
  return out;
}

/** addNear adds what a control without a name is called. */
function addNear(out, node) {
  if (out.name !== '' || quirk('known_members_only')) return;
  const near = besideOf(node);
  if (near !== '') out.near = near;
}

/**
 * actedName is the accessible name, less what somebody may have typed: of what is edited, its content is none of its
 * name.
 */
function actedName(node) {
  const control = isTextControl(node) && !typesWithoutText.has(protoGet(node, 'type'));
  if (control || protoGet(node, 'isContentEditable') === true) {
    const referred = (attributeOf(node, 'aria-labelledby') || '').split(/\s+/);
    const content = !control && !namedByAttribute(node) && namedByContent.test(roleOf(node));
    if (content || (idOf(node) && referred.includes(idOf(node))))
      return cut(worded(attributeOf(node, 'aria-label') || attributeOf(node, 'title')), maxActedName);
  }
  return cut(nameOf(node), maxActedName);
}

/** descended sends the page call on into the document that a frame element shows. */
const descended = (node, view) => ({ descend: keep(node), view: contentView(node, view) });

/** Roles of what is switched or followed: keys may do something there, text goes nowhere. */
const rolesWithoutText = new Set(['button', 'link', 'checkbox', 'switch']);

/** swallowsText: typing here fills nothing, and a space or a line break among the text clicks. */
function swallowsText(node) {
  if (whyNotEditable(node) === null || hasAttribute(node, 'aria-haspopup')) return false;
  return (
    rolesWithoutText.has(roleOf(node)) ||
    (tagOf(node) === 'input' && typesWithoutText.has(protoGet(node, 'type')) && !hasAttribute(node, 'role'))
  );
}

/** focused_target answers what a key press would go to. With for_text, one that takes no text is a failure. */
queries.focused_target = ({ view: given, for_text }) => {
  const view = viewOf(given);
  const node = activeElement() || bodyOf() || rootElement();
  if (node && isFrameElement(node)) return descended(node, view);
  const nothing =
    for_text &&
    !quirk('types_anywhere') &&
    (!node || node === bodyOf() || node === rootElement()) &&
    whyNotEditable(node) !== null;
  if (nothing) throw notEditable(node, 'nothing_focused', 'nothing has the focus, so the text would go nowhere');
  if (for_text && node && !quirk('types_anywhere') && swallowsText(node))
    throw notEditable(node, 'no_text', 'the focus is on an element that takes no text');
  return { target: actedTarget(node, view) };
};
