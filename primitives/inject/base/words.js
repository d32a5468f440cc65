// words reads and compares text as the dictionary does: runs of JavaScript white space
// are one space, and text of hidden descendants counts. Where texts are compared, characters
// that nobody sees or types do not count.

const untidy = /[^\S ]| {2}/;

/** norm collapses white space and trims. Most text is tidy, and to see that costs less than to write it anew. */
function norm(text) {
  if (!text) return '';
  let trimmed = String(text).trim();
  if (trimmed.includes('\ufeff') && !quirk('ignorable_counts')) trimmed = trimmed.replaceAll('\ufeff', '');
  return untidy.test(trimmed) ? trimmed.replace(/\s+/g, ' ') : trimmed;
}

const privateUse = /[\ue000-\uf8ff]|[\udb80-\udbff][\udc00-\udfff]/;
const allPrivateUse = new RegExp(privateUse.source, 'g');

/** worded is norm without characters of private use: an icon font draws them, nobody reads or says them. */
function worded(text) {
  const all = norm(text);
  return privateUse.test(all) ? norm(all.replace(allPrivateUse, ' ')) : all;
}

/** Soft hyphens, zero-width spaces and others that Unicode says to leave out where a text is drawn or looked for. */
const ignorable = /\p{Default_Ignorable_Code_Point}/u;
const allIgnorable = new RegExp(ignorable.source, 'gu');

/** comparable is a text without characters that nobody sees, as one is compared with another. */
function comparable(text) {
  const all = norm(text);
  return ignorable.test(all) && !quirk('ignorable_counts') ? norm(all.replace(allIgnorable, '')) : all;
}

/** sought is what is looked for in comparable texts. Where it is of such characters alone, nothing has it. */
const sought = (text) => comparable(text) || norm(text);

/** textOrLabel is the normalised text of an element, or else its aria-label. */
function textOrLabel(node) {
  if (quirk('blank_text_counts')) return norm(textOf(node) || attributeOf(node, 'aria-label'));
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
  const wanted = sought(needle).toLowerCase();
  return wanted === '' || comparable(text).toLowerCase().includes(wanted);
}
