// name_mismatch answers cheaply that an element cannot have an accessible name, without
// computing the name that it has.

/** Elements whose name, if they have one, comes from what they contain, unless an attribute or a label gives it. */
const plainlyNamed = /^(?:a|button|h[1-6]|summary|li|td|th|div|span)$/;

/** Elements that do nothing to a name but to contain a part of it. */
const plainParts = /^(?:span|div|b|i|strong|em|small|p)$/;

const otherNames = ['aria-labelledby', 'aria-label', 'title', 'placeholder', 'aria-placeholder', 'aria-owns'];

/**
 * hasAnotherName: the element shows text that is no part of needle, so needle
 * cannot be its whole name. false decides nothing. fold is what names are compared
 * by. styled: some style may conceal the text, which is looked up only then, as a style costs more than a name.
 */
function hasAnotherName(node, needle, fold, styled) {
  const tag = tagOf(node);
  if (!plainlyNamed.test(tag) || shadowOf(node)) return false;
  for (const name of otherNames) if (hasAttribute(node, name)) return false;
  if (tag === 'button') {
    const labels = protoGet(node, 'labels');
    if (labels && labels.length > 0) return false;
  }
  return showsOther(node, needle, fold, 0, styled || rootOf(node) !== document);
}

function showsOther(node, needle, fold, depth, styled) {
  if (styled && conceals(styleOf(node))) return false;
  let compared = 0;
  for (let child = firstChildOf(node); child; child = nextSiblingOf(child)) {
    if (compared++ >= 8) return false;
    const type = nodeType(child);
    if (type === 3) {
      const text = comparable(worded(nodeValueOf(child)));
      // A capital sigma in lower case depends on what follows it.
      if (text !== '' && text.length <= 2000 && !text.includes('\u03a3') && !needle.includes(fold(text))) return true;
    } else if (
      type === 1 &&
      depth < 3 &&
      plainParts.test(tagOf(child)) &&
      !shadowOf(child) &&
      !hasAttribute(child, 'role') &&
      !otherNames.some((name) => hasAttribute(child, name)) &&
      attributeOf(child, 'contenteditable') === null
    ) {
      if (
        showsOther(child, needle, fold, depth + 1, styled) &&
        attributeOf(child, 'aria-hidden') !== 'true' &&
        !hasAttribute(child, 'inert') &&
        !undrawn(child)
      )
        return true;
    }
  }
  return false;
}
