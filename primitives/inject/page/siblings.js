// siblings answers what a repeated control belongs to: of twelve buttons "Add to basket" each
// is told from the others by the shortest text of its own card or row.

const mostRepeated = 400; // controls that are looked at
const mostCardTexts = 24;
const mostCardNodes = 400;
const mostOf = 80;
const rowPlaces = 'tr, li, article, [role=row], [role=listitem], [role=article]';

/** cardOf is the largest element around a control that holds no other of the same name. */
function cardOf(node, before, after) {
  let card = node;
  for (let at = flatParentElement(node), depth = 0; at && depth < 30; at = flatParentElement(at), depth++) {
    if (before && flatContains(at, before) || after && flatContains(at, after)) break;
    card = at;
  }
  return card;
}

/** cardTexts are the texts of a card outside of the control, those of headings and heads of rows first. */
function cardTexts(card, node) {
  const first = [];
  const others = [];
  let left = mostCardNodes;
  let line = '';
  const end = (list) => {
    const words = worded(line);
    line = '';
    if (wordInside.test(words) && words.length <= mostOf && !list.includes(words)) list.push(words);
  };
  const enter = (at, list) => {
    if (left-- <= 0 || first.length + others.length > mostCardTexts) return;
    if (nodeType(at) === 3) {
      line += nodeValueOf(at);
      return;
    }
    if (nodeType(at) !== 1 || at === node) return;
    const tag = tagOf(at);
    if (skippedTags.has(tag) || tag === 'select' || tag === 'textarea' || !checkVisibility(at, visibilityOptions))
      return;
    const heads = matchesCSS(at, headingPlaces) || isHead(at);
    const into = heads ? first : list;
    const apart = tag === 'br' || tag === 'button' || tag === 'a' || !inLine(at);
    if (apart) end(list);
    if (tag === 'img' && attributeOf(at, 'alt')) line += ' ' + attributeOf(at, 'alt') + ' ';
    for (const child of flatChildren(at)) enter(child, into);
    if (apart) end(into);
  };
  const label = worded(attributeOf(card, 'aria-label'));
  if (label !== '' && label.length <= mostOf) first.push(label);
  enter(card, others);
  end(others);
  return first.concat(others);
}

/** textBefore is the text before a card that holds nothing else, up to the control before it. */
function textBefore(card, before) {
  for (let at = card, depth = 0; at && depth < 4; at = flatParentElement(at), depth++) {
    let i = 0;
    for (let beside = previousNodeOf(at); beside && i < 6; beside = previousNodeOf(beside), i++) {
      if (!isElement(beside) || !checkVisibility(beside, visibilityOptions)) continue;
      if (before && flatContains(beside, before)) return '';
      const words = worded(textOf(beside));
      if (wordInside.test(words) && words.length <= mostOf) return words;
    }
  }
  return '';
}

/** addSiblings gives repeated controls the text that tells them from each other. */
function addSiblings(walk) {
  const groups = new Map();
  for (const each of walk.named) {
    const { row, role, node } = each;
    if (!interactiveRoles.has(role) || role === 'option' || tagOf(node) === 'option') continue;
    const key = role + '\n' + (row.name ?? row.near ?? '');
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(each);
  }
  let left = mostRepeated;
  for (const group of groups.values()) {
    if (group.length < 2 || (left -= group.length) < 0) {
      for (const { row } of group) said(row, 'of', '');
      continue;
    }
    // Of a control that is called nothing only the row of a table or list is certain.
    const called = group[0].row.name !== undefined || group[0].row.near !== undefined;
    const cards = group.map(({ node }, i) => cardOf(node, group[i - 1]?.node, group[i + 1]?.node));
    const texts = group.map(({ node }, i) =>
      called || matchesCSS(cards[i], rowPlaces) ? cardTexts(cards[i], node) : []
    );
    const count = new Map();
    for (const list of texts) for (const text of list) count.set(text, (count.get(text) || 0) + 1);
    group.forEach(({ row }, i) => {
      const own = texts[i].filter((text) => count.get(text) === 1 && text !== row.name);
      const text = own.find((each) => letterInside.test(each)) || own[0];
      said(row, 'of', text || (texts[i].length > 0 || !called ? '' : textBefore(cards[i], group[i - 1]?.node)));
    });
  }
}
