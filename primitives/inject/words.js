// words compares text as the dictionary does: runs of JavaScript white space
// are one space, and text of hidden descendants counts.

/** norm collapses white space and trims. */
function norm(text) {
  return text ? String(text).replace(/\s+/g, ' ').trim() : '';
}

/** textOrLabel is the normalised text of an element, or else its aria-label. */
function textOrLabel(node) {
  return norm(textOf(node)) || norm(attributeOf(node, 'aria-label'));
}

/** labelOrText prefers the aria-label. */
function labelOrText(node) {
  return norm(attributeOf(node, 'aria-label')) || norm(textOf(node));
}

/** cut shortens text to max UTF-16 units. */
function cut(text, max) {
  return text.length > max ? text.slice(0, max) : text;
}

/** hasFolded is a substring test that ignores case and white space; no needle matches all. */
function hasFolded(text, needle) {
  const wanted = norm(needle).toLowerCase();
  return wanted === '' || text.toLowerCase().includes(wanted);
}
