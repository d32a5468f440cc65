// enabled answers whether a control takes input.

/** isDisabled: the control itself, its fieldset, or an ancestor's aria-disabled refuses input. */
function isDisabled(node) {
  if (matchesCSS(node, ':disabled')) return true;
  for (let at = node; at; at = flatParentElement(at)) {
    const value = attributeOf(at, 'aria-disabled');
    if (value === 'true') return true;
    if (value === 'false') return false;
  }
  return false;
}
