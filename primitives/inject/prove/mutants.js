// mutants makes what a person would notice if a page were broken, and undoes it within the same task: nothing of the
// page runs while it is there. What cannot be undone, such as moving a frame, is not made.

/** What an element that is asserted stands in: a row, a list, a message; and of a page that is new, a part of it. */
const closeParts =
  'tr, li, [role=row], [role=listitem], dialog, [role=dialog], form, fieldset, table, ul, ol, dl, ' +
  '[role=status], [role=alert], [role=group]';
const wideParts = closeParts + ', article, section, [role=region], nav, aside, main, [role=main]';

/** What is lost when it is taken out of the document and put back. */
const losesByMoving = 'iframe, object, embed, video, audio, canvas, script, style, link';

/** Times, and what is drawn by chance, differ from run to run. */
const someTime = /\d{1,2}:\d{2}|\b\d{4}-\d{2}-\d{2}|\bago\b|just now/i;
const someId = /[0-9a-f]{8}-[0-9a-f]{4}|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{10,}\b/i;
const changesByItself = (text) => someTime.test(text) || someId.test(text);

const longestProved = 80;
const mostProved = 4000; // elements that are looked at
const ownTexts = (node) =>
  Array.from(childNodesOf(node)).filter((child) => nodeType(child) === 3 && norm(nodeValueOf(child)) !== '');
const ownText = (node) => norm(ownTexts(node).map(nodeValueOf).join(' '));
const isField = (node) => ['input', 'textarea', 'select'].includes(tagOf(node));
const isBox = (node) => tagOf(node) === 'input' && ['checkbox', 'radio'].includes(protoGet(node, 'type'));
const secretTypes = ['password', 'hidden', 'file'];
const holdsSecret = (node) => tagOf(node) === 'input' && secretTypes.includes(protoGet(node, 'type'));
const quoting = (text) => JSON.stringify(cut(text, 60));
const lookOf = (node) => ({
  text: ownText(node),
  value: isBox(node) ? String(protoGet(node, 'checked')) : isField(node) ? String(protoGet(node, 'value')) : ''
});

/** provable are the drawn elements that say something. */
function provable() {
  const out = [];
  const body = bodyOf();
  if (!body) return out;
  for (const node of queryIn(body, '*').slice(0, mostProved)) {
    if (skippedTags.has(tagOf(node)) || namespaceOf(node) !== htmlNamespace) continue;
    if ((isField(node) || ownTexts(node).length > 0) && rendered(node)) out.push(node);
  }
  return out;
}

/** mutants_before notes how the page looks before a step. */
queries.mutants_before = () => {
  const looks = new Map();
  for (const node of provable()) {
    const around = [];
    for (let at = parentElementOf(node); at; at = parentElementOf(at)) around.push(at);
    looks.set(node, { ...lookOf(node), around });
  }
  memory.proof = { looks, made: new Map() };
  return { elements: true };
};

/** altered is a text as it could be by mistake: an old number, or what is shown of nothing. */
function altered(text, before) {
  if (before && before !== text) return before;
  const last = text.match(/\d(?=\D*$)/);
  if (last) return text.slice(0, last.index) + (Number(last[0]) + 1) % 10 + text.slice(last.index + 1);
  return 'undefined';
}

/** withText writes a text into the text nodes of an element, and returns what undoes it. */
function withText(node, text) {
  const nodes = ownTexts(node);
  const was = nodes.map(nodeValueOf);
  nodes.forEach((child, i) => protoSet(child, 'data', i === 0 ? text : ''));
  return () => nodes.forEach((child, i) => protoSet(child, 'data', was[i]));
}

function withAttribute(node, name, value) {
  const was = attributeOf(node, name);
  if (value === null) protoCall(node, 'removeAttribute', name);
  else protoCall(node, 'setAttribute', name, value);
  return () => was === null ? protoCall(node, 'removeAttribute', name) : protoCall(node, 'setAttribute', name, was);
}

const without = (node) => {
  const style = protoGet(node, 'style');
  const had = attributeOf(node, 'style');
  style.setProperty('display', 'none', 'important');
  return () => {
    if (had === null) protoCall(node, 'removeAttribute', 'style');
    else protoCall(node, 'setAttribute', 'style', had);
  };
};

/** movable: an element can be taken out and put back, and nothing is lost. */
function movable(node) {
  if (contains(node, activeElement()) && activeElement() !== bodyOf()) return false;
  const all = [node, ...queryIn(node, '*')];
  const loses = (one) => localNameOf(one).includes('-') || matchesCSS(one, losesByMoving) || scrollTopOf(one) > 0;
  return all.length < 500 && !all.some((one) => loses(one) || shadowOf(one) !== null);
}

function removed(node) {
  const parent = parentOf(node);
  const next = protoGet(node, 'nextSibling');
  protoCall(parent, 'removeChild', node);
  return () => protoCall(parent, 'insertBefore', node, next);
}

function addedTwice(node) {
  const copy = protoCall(node, 'cloneNode', true);
  for (const one of [copy, ...queryIn(copy, '[id]')]) protoCall(one, 'removeAttribute', 'id');
  protoCall(parentOf(node), 'insertBefore', copy, protoGet(node, 'nextSibling'));
  return () => protoCall(parentOf(copy), 'removeChild', copy);
}

function exchangedPlaces(a, b) {
  const parent = parentOf(a);
  const after = protoGet(b, 'nextSibling');
  const mark = protoGet(a, 'nextSibling');
  protoCall(parent, 'insertBefore', a, after);
  if (mark !== b) protoCall(parent, 'insertBefore', b, mark);
  return () => {
    protoCall(parent, 'insertBefore', b, after);
    protoCall(parent, 'insertBefore', a, mark === b ? b : mark);
  };
}

function exchangedTexts(a, b) {
  const [x, y] = [ownText(a), ownText(b)];
  const one = withText(a, y);
  const two = withText(b, x);
  return () => {
    two();
    one();
  };
}

function withValue(node, value) {
  const was = protoGet(node, 'value');
  const [from, to] = [protoGet(node, 'selectionStart'), protoGet(node, 'selectionEnd')];
  protoSet(node, 'value', value);
  return () => {
    protoSet(node, 'value', was);
    if (typeof from === 'number' && activeElement() === node) protoCall(node, 'setSelectionRange', from, to);
  };
}

function withChecked(node, checked) {
  const group = protoGet(node, 'type') === 'radio' && protoGet(node, 'name');
  const others = queryIn(rootOf(node), 'input[type=radio]').filter(
    (one) => group && protoGet(one, 'name') === group && protoGet(one, 'checked')
  );
  const was = protoGet(node, 'checked');
  protoSet(node, 'checked', checked);
  return () => {
    protoSet(node, 'checked', was);
    for (const one of others) protoSet(one, 'checked', true);
  };
}

const generatedWord = /\d{3,}|__|[a-z]\d[a-z]|^(?:css|sc|jsx|ember|react|mui)-/i;
const lasting = (word) => /^[a-z][\w-]{1,40}$/i.test(word) && !generatedWord.test(word);
const lastingIds = ['data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa', 'name'];

/** selectorOf names an element of the document so that it names nothing else. */
function selectorOf(node) {
  const only = (selector) => {
    const found = queryIn(document, selector);
    return found.length === 1 && found[0] === node;
  };
  const tag = tagOf(node);
  const id = idOf(node);
  if (id && lasting(id) && only('#' + CSS.escape(id))) return '#' + CSS.escape(id);
  for (const name of lastingIds) {
    const value = attributeOf(node, name);
    const selector = '[' + name + '=' + JSON.stringify(value) + ']';
    if (value && value.length < 60 && only(selector)) return selector;
  }
  for (const word of Array.from(classesOf(node)).filter(lasting)) {
    const selector = tag + '.' + CSS.escape(word);
    if (only(selector)) return selector;
  }
  if (['h1', 'main', 'table', 'form', 'nav', 'output', 'legend'].includes(tag) && only(tag)) return tag;
  const parent = parentElementOf(node);
  if (!parent || node === bodyOf()) return tag;
  return selectorOf(parent) + ' > ' + localPart(node, parent);
}

function localPart(node, parent) {
  const tag = tagOf(node);
  const siblings = Array.from(protoGet(parent, 'children'));
  for (const word of Array.from(classesOf(node)).filter(lasting)) {
    const part = tag + '.' + CSS.escape(word);
    if (siblings.filter((one) => matchesCSS(one, part)).length === 1) return part;
  }
  const same = siblings.filter((one) => tagOf(one) === tag);
  return same.length === 1 ? tag : tag + ':nth-of-type(' + (same.indexOf(node) + 1) + ')';
}

/** itemsSelector names all items of a list. */
const itemsSelector = (node) => selectorOf(parentElementOf(node)) + ' > ' + tagOf(node);

/** What assertions may say of an element's text, the strictest first. */
function ofText(node) {
  const target = selectorOf(node);
  const whole = norm(protoGet(node, 'innerText') ?? textOf(node));
  const out = [];
  if (whole.length > 0 && whole.length <= longestProved) out.push({ target, text_equals: whole });
  const own = ownText(node);
  if (own.length > 0 && own !== whole) out.push({ target, text_contains: own });
  return out;
}

/** Siblings that are of one kind: the rows of a table, the items of a list. */
function alike(node) {
  const parent = parentElementOf(node);
  if (!parent) return [];
  const tag = tagOf(node);
  const all = Array.from(protoGet(parent, 'children')).filter((one) => tagOf(one) === tag && rendered(one));
  if (['li', 'tr', 'option', 'article', 'dt', 'dd'].includes(tag)) return all;
  const classOf = (one) => (attributeOf(one, 'class') || '').split(' ')[0];
  return classOf(node) !== '' && all.every((one) => classOf(one) === classOf(node)) ? all : [];
}

/**
 * mutants lists what can be made: of what changed since mutants_before, and of the parts that hold what is asserted,
 * which locators and texts name. all takes the whole page.
 */
queries.mutants = ({ locators, texts, all, most }) => {
  const proof = memory.proof || (memory.proof = { looks: null, made: new Map() });
  proof.made.clear();
  const nodes = provable();
  const changed = new Set();
  if (proof.looks)
    for (const node of nodes) {
      const was = proof.looks.get(node);
      const is = lookOf(node);
      if (!was || was.text !== is.text || was.value !== is.value) changed.add(node);
    }
  for (const node of inAnotherOrder(nodes, proof.looks)) changed.add(node);
  const asserted = new Set();
  for (const locator of locators || []) {
    try {
      for (const node of locate(locator).nodes.slice(0, 20)) asserted.add(node);
    } catch {
      // of another document
    }
  }
  for (const text of texts || [])
    for (const node of nodes) if (norm(textOf(node)).includes(norm(text))) asserted.add(node);
  const parts = new Set();
  for (const node of asserted) {
    parts.add(node);
    const part = closestCSS(node, proof.looks ? closeParts : wideParts);
    if (part) parts.add(part);
    const above = part && parentElementOf(part);
    const around = above && closestCSS(above, 'table, ul, ol, dl, form, dialog');
    if (around) parts.add(around);
  }
  const heads = proof.looks ? [] : nodes.filter((node) => matchesCSS(node, 'h1, h2'));
  const zone = (node) => {
    if (changed.has(node)) return 'changed';
    if (heads.includes(node)) return 'asserted'; // a page that is new is known by its headings
    for (const part of parts) if (contains(part, node)) return 'asserted';
    return all ? 'page' : '';
  };
  const found = [];
  const seen = new Map(); // kind -> elements
  const offer = (kind, node, where, says, assertions, make) => {
    if (!seen.has(kind)) seen.set(kind, new Set());
    if (seen.get(kind).has(node)) return;
    seen.get(kind).add(node);
    found.push({ kind, node, zone: where, says, assertions, make });
  };
  const headings = nodes.filter((node) => /^h[1-3]$/.test(tagOf(node)));
  for (const node of nodes) {
    const where = zone(node);
    if (where === '' || holdsSecret(node)) continue;
    const before = proof.looks && proof.looks.get(node);
    if (isField(node)) fieldMutants(node, where, before, offer);
    else textMutants(node, where, before, offer, headings);
    if (where !== 'page') disabledMutant(node, where, offer);
  }
  items(nodes, zone, offer);
  if (proof.looks) left(proof.looks, offer);
  const order = { changed: 0, asserted: 1, page: 2 };
  const rank = (one) => 2 * order[one.zone] + (matchesCSS(one.node, naming) ? 0 : 1);
  found.sort((a, b) => rank(a) - rank(b));
  const out = [];
  for (const one of spread(found).slice(0, most)) {
    const id = 'm' + (proof.made.size + 1);
    proof.made.set(id, one.make);
    const key = one.kind + ' ' + selectorOf(one.node);
    out.push({ id, key, kind: one.kind, zone: one.zone, says: one.says, assertions: one.assertions() });
  }
  const fresh = Array.from(changed);
  if (fresh.length > 0) proof.made.set('unchanged', () => unchanged(fresh, proof.looks));
  const known = heads.filter((node) => !changesByItself(ownText(node))).slice(0, 2);
  const stays = (look) => !changesByItself(look.text + look.value);
  const plain = fresh.filter((node) => !holdsSecret(node) && stays(lookOf(node)));
  const effects = known.flatMap(ofText).concat(plain.slice(0, 8).flatMap(ofLook));
  return { mutants: out, of: found.length, effects, navigated: !proof.looks };
};

/** ofLook are the assertions of an element that a step changed. */
function ofLook(node) {
  if (!isField(node)) return ofText(node);
  const target = selectorOf(node);
  if (isBox(node)) return [{ target, checked: protoGet(node, 'checked') }];
  const value = String(protoGet(node, 'value'));
  return value === '' ? [] : [{ target, value_equals: value }];
}

function textMutants(node, where, before, offer, headings) {
  const text = ownText(node);
  if (text === '' || text.length > longestProved || changesByItself(text)) return;
  const other = altered(text, before && before.text);
  const kind = before && before.text !== '' && before.text !== text ? 'stale_text' : 'wrong_text';
  const assertions = () => ofText(node);
  offer(kind, node, where, 'shows ' + quoting(other) + ' in place of ' + quoting(text), assertions,
    () => withText(node, other));
  if (where === 'changed') {
    offer('missing_text', node, where, quoting(text) + ' is missing', assertions, () => without(node));
    const elsewhere = headings.find((one) => one !== node && !contains(one, node) && ownText(one) !== text);
    if (elsewhere)
      offer('misplaced_text', node, where, quoting(text) + ' stands in another place', assertions,
        () => exchangedTexts(node, elsewhere));
  }
  if (!matchesCSS(node, 'button, a, label, th, [role=tab], dt')) return;
  const twin = Array.from(protoGet(parentElementOf(node), 'children')).find((one) => {
    const its = one !== node && tagOf(one) === tagOf(node) ? ownText(one) : '';
    return its !== '' && its !== text && rendered(one);
  });
  if (twin)
    offer('swapped_labels', node, where, quoting(text) + ' and ' + quoting(ownText(twin)) + ' are swapped', assertions,
      () => exchangedTexts(node, twin));
}

function fieldMutants(node, where, before, offer) {
  if (where === 'page') return;
  const target = selectorOf(node);
  if (isBox(node)) {
    const checked = protoGet(node, 'checked');
    offer('wrong_check', node, where, 'the box ' + quoting(nameOf(node)) + ' is ' + (checked ? 'not ' : '') + 'checked',
      () => [{ target, checked }], () => withChecked(node, !checked));
    return;
  }
  const value = String(protoGet(node, 'value'));
  const typed = where === 'changed' && tagOf(node) !== 'select' && value !== '' && value.length <= longestProved;
  if (!typed || changesByItself(value)) return;
  const other = altered(value, before && before.value);
  offer('wrong_value', node, where, 'the field ' + quoting(nameOf(node)) + ' holds another value',
    () => [{ target, value_equals: value }], () => withValue(node, other));
}

function disabledMutant(node, where, offer) {
  if (!matchesCSS(node, 'button, input, select, textarea') || protoGet(node, 'disabled') !== false) return;
  const name = nameOf(node);
  const role = roleOf(node);
  if (name === '' || name.length > 60) return;
  offer('disabled', node, where, role + ' ' + quoting(name) + ' is disabled',
    () => [{ target: { role, name }, enabled: true }, { target: selectorOf(node), enabled: true }],
    () => withAttribute(node, 'disabled', ''));
}

/** inAnotherOrder are the elements that stand in another order than before. */
function inAnotherOrder(nodes, looks) {
  if (!looks) return [];
  const now = new Set(nodes);
  const was = Array.from(looks.keys()).filter((node) => now.has(node));
  return nodes.filter((node) => looks.has(node)).filter((node, i) => was[i] !== node);
}

/** left offers what can be wrong with what remains where a step took something away. */
function left(looks, offer) {
  const lists = new Set();
  for (const [node, look] of looks) {
    if (isConnected(node)) continue;
    const parent = look.around.find(isConnected);
    if (!parent || lists.has(parent)) continue;
    lists.add(parent);
    const rest = Array.from(protoGet(parent, 'children')).filter((one) => rendered(one));
    const one = rest[0];
    if (!one || !rest.every((other) => tagOf(other) === tagOf(one)) || !movable(one)) continue;
    const count = () => [{ target: itemsSelector(one), count: protoGet(parent, 'children').length }];
    const named = quoting(norm(protoGet(one, 'innerText') || textOf(one)));
    offer('missing_item', one, 'changed', 'the item ' + named + ' is missing too', count, () => removed(one));
  }
}

/** Parts that name others are what people see first. */
const naming = 'h1, h2, h3, th, label, legend, caption, button, summary';

/** spread has of each kind one after the other, so that a bound leaves some of each. */
function spread(found) {
  const kinds = new Map();
  for (const one of found) {
    const of = one.zone + one.kind;
    if (!kinds.has(of)) kinds.set(of, []);
    kinds.get(of).push(one);
  }
  const out = [];
  for (const zone of ['changed', 'asserted', 'page']) {
    const lists = Array.from(kinds).filter(([of]) => of.startsWith(zone)).map(([, list]) => list);
    for (let i = 0; lists.some((list) => i < list.length); i++)
      for (const list of lists) if (i < list.length) out.push(list[i]);
  }
  return out;
}

/** items offers what can be wrong with the items of lists and the rows of tables. */
function items(nodes, zone, offer) {
  const lists = new Set();
  for (const node of nodes) {
    for (let at = node; at && at !== bodyOf(); at = parentElementOf(at)) {
      const where = zone(node);
      const all = where === '' ? [] : alike(at);
      if (all.length === 0 || lists.has(parentOf(at)) || all.length === 1 && where !== 'changed') continue;
      lists.add(parentOf(at));
      const last = where === 'changed' ? at : all[all.length - 1];
      const named = quoting(norm(protoGet(last, 'innerText') || textOf(last)));
      const count = () => [{ target: itemsSelector(last), count: all.length }];
      if (!movable(last)) continue;
      offer('missing_item', last, where, 'the item ' + named + ' is missing', count, () => removed(last));
      offer('doubled_item', last, where, 'the item ' + named + ' is there twice', count, () => addedTwice(last));
      const other = all.find((one) => one !== last && norm(textOf(one)) !== norm(textOf(last)));
      if (!other || !movable(other)) continue;
      const [a, b] = all.indexOf(other) < all.indexOf(last) ? [other, last] : [last, other];
      const its = quoting(norm(protoGet(other, 'innerText') || textOf(other)));
      offer('wrong_order', last, where, 'the items ' + named + ' and ' + its + ' have changed places',
        () => ofText(a).concat(ofText(b)), () => exchangedPlaces(a, b));
    }
  }
}

/** unchanged makes what a step changed as it was before: what is new is not shown. */
function unchanged(nodes, looks) {
  const undo = [];
  for (const node of nodes) {
    const was = looks.get(node);
    if (!was) undo.push(without(node));
    else if (isBox(node)) undo.push(withChecked(node, was.value === 'true'));
    else if (isField(node)) undo.push(withValue(node, was.value));
    else undo.push(withText(node, was.text));
  }
  return () => {
    for (const one of undo.reverse()) one();
  };
}

/** underMutant is what read answers while a mutant is there. */
function underMutant(id, read) {
  const make = memory.proof && memory.proof.made.get(id);
  if (!make) return read(); // the document was replaced: nothing is another
  const undo = make();
  try {
    return read();
  } finally {
    undo();
  }
}
