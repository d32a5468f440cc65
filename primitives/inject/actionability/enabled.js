// enabled answers whether a control takes input.

/** isDisabled: the control itself, its fieldset, or an ancestor's aria-disabled refuses input. */
function isDisabled(node) {
  if (matchesCSS(node, ':disabled')) return true;
  for (let at = node; at; at = flatParentElement(at)) {
    const said = attributeOf(at, 'aria-disabled');
    if (said === 'true') return true;
    if (said === 'false') return false;
  }
  return false;
}
