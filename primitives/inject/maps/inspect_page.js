// inspect_page describes what a page offers, so that a first map of it can be written: its
// controls, its forms, what repeats, and what stands out. It reads; what a map says
// of it is decided elsewhere.

const controlSelector =
  'a[href], button, input, select, textarea, summary, [contenteditable], [role=button], [role=link], [role=tab], ' +
  '[role=checkbox], [role=switch], [role=radio], [role=combobox], [role=textbox], [role=searchbox], ' +
  '[role=spinbutton], [role=slider], [role=menuitem]';
const markSelector =
  'h1, h2, h3, h4, h5, h6, main, nav, header, footer, aside, section, dialog, output, search, [role], [aria-live], ' +
  '[id], [data-testid]';
const markRoles =
  /^(?:heading|main|navigation|banner|contentinfo|complementary|region|search|form|dialog|alertdialog|alert|status|log|tabpanel|progressbar)$/;
const placeRoles =
  /^(?:navigation|banner|contentinfo|complementary|main|dialog|alertdialog|search|toolbar|menu|menubar|tablist|listbox|grid|tree)$/;
const maxInspected = { controls: 400, marks: 300, texts: 100, lists: 40, items: 12, leaves: 30, options: 200 };

/** surroundings are the nearest landmark or composite around a node, and how far out of its tree it is drawn. */
function surroundings(node) {
  const places = [];
  for (let at = flatParentElement(node); at; at = flatParentElement(at)) {
    const role = roleOf(at);
    if (placeRoles.test(role)) places.push(role);
  }
  return places;
}

/** groupOf is the form of a control, or the smallest container that has a button too. */
function groupOf(node) {
  const form = protoGet(node, 'form') || closestCSS(node, 'form, [role=form], [role=search]');
  if (form) return form;
  for (
    let at = flatParentElement(node), steps = 0;
    at && steps < 5 && !/^(?:body|main|html)$/.test(tagOf(at));
    at = flatParentElement(at), steps++
  ) {
    if (queryIn(at, 'button, [role=button], input[type=submit], input[type=button]').some((each) => rendered(each)))
      return at;
  }
  return null;
}

/** choicesOf are the options of a list, or those that a datalist suggests. */
function choicesOf(node) {
  const from = tagOf(node) === 'select' ? node : protoGet(node, 'list');
  if (!from) return undefined;
  return queryIn(from, 'option')
    .slice(0, maxInspected.options)
    .map((option) => ({
      value: protoGet(option, 'value'),
      label: norm(protoGet(option, 'label')),
      disabled: matchesCSS(option, ':disabled') || undefined
    }));
}

/** legendOf names the group that a control is in. */
function legendOf(node) {
  const group = closestCSS(node, 'fieldset, [role=radiogroup], [role=group]');
  if (!group) return '';
  const legend = queryIn(group, 'legend')[0];
  return norm(legend ? textOf(legend) : nameOf(group, new Map()));
}

function describeControl(node, known, groups, repeated) {
  const tag = tagOf(node);
  const group = groupOf(node);
  const type = tag === 'input' ? protoGet(node, 'type') : tag === 'button' ? protoGet(node, 'type') : '';
  const out = {
    ...appearance(node, known),
    handle: keep(node),
    type,
    group: group ? groups(group) : -1,
    places: surroundings(node),
    legend: legendOf(node),
    label: labelTexts(node, known)[0] || '',
    disabled: isDisabled(node) || undefined,
    required: protoGet(node, 'required') === true || attributeOf(node, 'aria-required') === 'true' || undefined,
    readonly: protoGet(node, 'readOnly') === true || undefined,
    checked: ariaChecked(node) ?? undefined,
    multiple: protoGet(node, 'multiple') === true || undefined,
    editable:
      (attributeOf(node, 'contenteditable') !== null && protoGet(node, 'isContentEditable') === true) || undefined,
    choices: choicesOf(node),
    repeated: repeated(node) || undefined,
    shadow: rootOf(node) !== document || undefined
  };
  if (
    /^(?:input|select|textarea)$/.test(tag) &&
    !out.label &&
    !hasAttribute(node, 'aria-label') &&
    !hasAttribute(node, 'title')
  )
    out.beside = fieldText(node, roleOf(node)) || undefined;
  if (tag === 'a') out.href = withoutUser(String(protoGet(node, 'href')));
  if (tag === 'summary') out.limits = { open: String(hasAttribute(parentElementOf(node), 'open')) };
  for (const name of [
    'pattern',
    'min',
    'max',
    'step',
    'minlength',
    'maxlength',
    'aria-expanded',
    'aria-haspopup',
    'aria-selected',
    'aria-pressed',
    'aria-invalid',
    'accept',
    'target'
  ]) {
    const value = attributeOf(node, name);
    if (value !== null && value !== '') (out.limits ||= {})[name] = value;
  }
  return out;
}

/** undescribed is what is said of a control that cannot be read. */
const undescribed = (node, known) =>
  ({ ...appearance(node, known), handle: keep(node), type: '', group: -1, places: [], legend: '', label: '' });

/** leavesOf are what an item shows: texts of its own, links, pictures, times and controls, each with the way to it. */
function leavesOf(item) {
  const leaves = [];
  const walk = (node, way) => {
    if (leaves.length >= maxInspected.leaves || unseenTags.has(tagOf(node)) && tagOf(node) !== 'br') return;
    const tag = tagOf(node);
    let own = '';
    for (const child of Array.from(childNodesOf(node))) if (nodeType(child) === 3) own += nodeValueOf(child) || '';
    const attributes = {};
    for (const name of ['href', 'src', 'datetime', 'alt', 'itemprop', 'data-field', 'headers', 'aria-label']) {
      const value = attributeOf(node, name);
      if (value !== null && value !== '') attributes[name] = cut(value, 300);
    }
    if (
      node !== item &&
      (norm(own) !== '' || /^(?:a|img|time|input|select|textarea|td|th)$/.test(tag) || roleOf(node) === 'gridcell')
    ) {
      leaves.push({
        way,
        tag,
        class: attributeOf(node, 'class') || '',
        text: cut(norm(textOf(node)), 200),
        attributes,
        own: norm(own) !== '' || undefined,
        control: /^(?:input|select|textarea|button)$/.test(tag) ? protoGet(node, 'type') || tag : undefined
      });
    }
    if (tag === 'svg' || tag === 'button' || tag === 'select') return;
    const counts = {};
    for (const child of Array.from(childNodesOf(node)).filter(isElement)) {
      const name = localNameOf(child);
      counts[name] = (counts[name] || 0) + 1;
      walk(child, [...way, name + ':nth-of-type(' + counts[name] + ')']);
    }
  };
  walk(item, []);
  return leaves;
}

/**
 * repeatedIn are the repeated children of a container: rows, entries, or siblings of one shape; null when nothing
 * repeats.
 */
function repeatedIn(node) {
  const tag = tagOf(node);
  const role = roleOf(node);
  const own = (selector) => queryIn(node, selector).filter((each) => rendered(each));
  if (tag === 'table') {
    const rows = own('tr').filter((row) => closestCSS(row, 'table') === node && queryIn(row, 'td').length > 0);
    return rows.length > 0
      ? { kind: 'table', items: rows, selector: queryIn(node, ':scope > tbody > tr').length > 0 ? 'tbody > tr' : 'tr' }
      : null;
  }
  if (role === 'grid' || role === 'treegrid' || role === 'table') {
    const rows = own('[role=row]').filter(
      (row) => queryIn(row, '[role=gridcell], [role=cell], [role=rowheader]').length > 0
    );
    return rows.length > 0
      ? { kind: 'table', items: rows, selector: '[role=row]:has([role=gridcell], [role=cell])' }
      : null;
  }
  const children = Array.from(childNodesOf(node)).filter(
    (child) => isElement(child) && !unseenTags.has(tagOf(child)) && rendered(child)
  );
  if (tag === 'ul' || tag === 'ol' || /^(?:list|listbox|feed|tree)$/.test(role)) {
    const entries = children.filter(
      (child) => /^(?:listitem|option|article|treeitem)$/.test(roleOf(child)) || tagOf(child) === 'li'
    );
    if (entries.length === 0) return null;
    return {
      kind: 'list',
      items: entries,
      selector: tagOf(entries[0]) === 'li' ? 'li' : '[role=' + roleOf(entries[0]) + ']'
    };
  }
  if (children.length < 3 || /^(?:tr|tbody|thead|select|form|fieldset|p|dl|label|svg|nav)$/.test(tag)) return null;
  const shapes = new Map();
  for (const child of children) {
    const shape = tagOf(child) + '.' + [...classesOf(child)].sort().join('.');
    shapes.set(shape, [...(shapes.get(shape) || []), child]);
  }
  const most = [...shapes.values()].sort((a, b) => b.length - a.length)[0];
  if (
    most.length < 3 ||
    most.length < children.length * 0.6 ||
    /^(?:button|input|option|span|br|h[1-6]|label|p|section|header|footer|main|nav|aside)$/.test(tagOf(most[0]))
  )
    return null;
  if (
    most.some(
      (item) =>
        matchesCSS(item, 'form, fieldset') ||
        queryIn(item, 'form, fieldset, table, h1, h2, textarea, select, input:not([type=checkbox])').length > 0
    )
  )
    return null;
  return { kind: 'list', items: most, selector: tagOf(most[0]), class: attributeOf(most[0], 'class') || '' };
}

function describeList(node, found, known) {
  const headers =
    found.kind !== 'table'
      ? []
      : queryIn(node, 'th, [role=columnheader]')
          .filter((cell) => /^columnheader$/.test(roleOf(cell)))
          .map((cell) => norm(textOf(cell)) || norm(attributeOf(cell, 'aria-label')));
  let title = '';
  const caption = queryIn(node, 'caption')[0];
  if (caption) title = norm(textOf(caption));
  for (
    let at = node, steps = 0;
    title === '' && at && steps < 4 && tagOf(at) !== 'body';
    steps++, at = flatParentElement(at)
  ) {
    for (
      let before = previousElementOf(at), n = 0;
      title === '' && before && n < 6;
      before = previousElementOf(before), n++
    )
      if (/^h[1-6]$/.test(tagOf(before))) title = norm(textOf(before));
  }
  return {
    ...appearance(node, known),
    handle: keep(node),
    kind: found.kind,
    item: found.selector,
    itemClass: found.class,
    count: found.items.length,
    headers,
    title: cut(title, 100),
    places: surroundings(node),
    items: found.items.slice(0, maxInspected.items).map((item) => {
      const attributes = {};
      for (const name of attributeNames(item))
        if (name === 'id' || name.startsWith('data-')) attributes[name] = cut(attributeOf(item, name) || '', 200);
      return {
        text: cut(norm(textOf(item)), 200),
        attributes,
        leaves: leavesOf(item),
        class: attributeOf(item, 'class') || ''
      };
    })
  };
}

queries.inspect_page = () => {
  const known = new Map();
  const groupNodes = [];
  const groups = (node) => {
    const at = groupNodes.indexOf(node);
    return at >= 0 ? at : groupNodes.push(node) - 1;
  };
  const lists = [];
  const inItems = new Set();
  const repeated = (node) => {
    for (let at = node; at; at = parentElementOf(at)) if (inItems.has(at)) return true;
    return false;
  };
  for (const node of queryIn(document, 'body *')) {
    if (lists.length >= maxInspected.lists) break;
    if (unseenTags.has(tagOf(node)) || !rendered(node) || (parentElementOf(node) && repeated(parentElementOf(node))))
      continue;
    const found = readable(node, repeatedIn, null);
    if (
      !found ||
      /^(?:menu|menubar|tablist|toolbar)$/.test(roleOf(node)) ||
      surroundings(node).some((role) => /^(?:navigation|banner|contentinfo|menu|menubar|tablist|toolbar)$/.test(role))
    )
      continue;
    const list = readable(node, () => describeList(node, found, known), null);
    if (!list) continue;
    lists.push(list);
    for (const item of found.items) inItems.add(item);
  }
  const controls = [];
  const marks = [];
  let complete = true;
  for (const root of withShadows(document)) {
    for (const node of queryIn(root, controlSelector)) {
      const type = tagOf(node) === 'input' ? protoGet(node, 'type') : '';
      const hiddenChoice =
        (type === 'checkbox' || type === 'radio' || type === 'file') && labelsOf(node).some((each) => rendered(each));
      if (type === 'hidden' || (!rendered(node) && !hiddenChoice && !unreadableHere(node))) continue;
      if (controls.length >= maxInspected.controls) {
        complete = false;
        break;
      }
      controls.push(readable(node, () => describeControl(node, known, groups, repeated), undescribed(node, known)));
    }
    const plainTexts = queryIn(root, 'p, div, span, strong, small, pre')
      .filter((node) => queryIn(node, '*').length === 0 && norm(textOf(node)) !== '' && idOf(node) === '')
      .slice(0, maxInspected.texts);
    for (const node of [...queryIn(root, markSelector), ...plainTexts]) {
      if (marks.length >= maxInspected.marks) { complete = false; break; }
      if (unseenTags.has(tagOf(node)) || !rendered(node) || repeated(node)) continue;
      const role = safeRole(node);
      const live = attributeOf(node, 'aria-live') !== null;
      const plain = !markRoles.test(role) && !live;
      const text = shortText(node);
      if (
        plain &&
        (text === '' ||
          closestCSS(node, 'label, button, a, select, legend, summary, td, th') ||
          text.length > 120 ||
          matchesCSS(node, controlSelector) ||
          queryIn(node, '*').length > 3)
      )
        continue;
      marks.push({
        ...appearance(node, known),
        handle: keep(node),
        level: /^h[1-6]$/.test(tagOf(node)) ? Number(tagOf(node)[1]) : undefined,
        live: live || undefined,
        shadow: root !== document || undefined
      });
    }
  }
  return {
    url: documentURLOf(document), title: norm(documentTitleOf(document)), complete, controls, marks, lists,
    groups: groupNodes.map((node) => ({
      ...appearance(node, known),
      handle: keep(node),
      method: tagOf(node) === 'form' ? protoGet(node, 'method') : '',
      action: tagOf(node) === 'form' ? String(protoGet(node, 'action')) : '',
      title: norm(queryIn(node, 'h1, h2, h3, h4, legend').map((each) => textOf(each))[0] || '')
    }))
  };
};
