// sections answers which parts a page has: their headings, where they are in
// the document, and how many items they hold.

const defaultSections = "section,[role='region']";
const defaultHeadings = "h1,h2,h3,h4,h5,h6,[role='heading'],[aria-label]";
const navigationWord = /\b(?:Forward|Back|See more)\b/i;

/** queryHere is node itself, when it matches, and its matching descendants. */
function queryHere(node, selector) {
  const below = queryList(node, selector);
  return matchesCSS(node, selector) ? [node, ...below] : below;
}

/** headings is queryHere; upstream's own failure for a selector that does not parse has no code. */
function headings(section, selector) {
  try {
    return queryHere(section, selector);
  } catch (error) {
    if (quirk('unparsed_finds_nothing'))
      throw new Fault('handler_failed', 'the heading selector does not parse', {
        heading_selector: cut(selector, 200)
      });
    throw error;
  }
}

function headingOf(section, selector, max) {
  for (const node of headings(section, selector)) {
    const text = labelOrText(node);
    if (text !== '' && text.length <= max) return text;
  }
  const text = labelOrText(section);
  const word = navigationWord.exec(text);
  return cut((word ? text.slice(0, word.index) : text).trim(), max);
}

function itemCount(section, selector) {
  if (!selector) return 0;
  try {
    return queryIn(section, selector).filter((node) => rendered(node)).length;
  } catch {
    return 0;
  }
}

queries.list_sections = (args) => {
  const view = viewOf(args.view);
  const most = bounded(args.max_sections, 100, 1, 500);
  const longest = bounded(args.max_heading_length, 120, 12, 500);
  const sections = [];
  const nodes = queryList(document, selectorOr(args.selector, defaultSections))
    .filter((node) => rendered(node) || unreadableHere(node));
  for (let index = 0; index < nodes.length && sections.length < most; index++) {
    const node = nodes[index];
    const heading = headingOf(node, selectorOr(args.heading_selector, defaultHeadings), longest);
    const text = rendered(node) ? cut(norm(textOf(node)), longest) : unreadText;
    if (!hasFolded(heading + ' ' + text, args.text_contains)) continue;
    const rect = rectOf(node);
    const r = mapped(rect, view);
    sections.push({
      index,
      tag_name: tagOf(node),
      heading,
      text,
      scroll_y: scrollY + rect.top,
      top: r.top,
      bottom: r.bottom,
      height: r.bottom - r.top,
      visible: rect.bottom > 0 && rect.top < innerHeight && rect.right > 0 && rect.left < innerWidth,
      item_count: itemCount(node, args.item_selector)
    });
  }
  return {
    sections,
    section_count: sections.length,
    scroll_y: scrollY,
    viewport_height: innerHeight,
    url: documentURLOf(document)
  };
};
