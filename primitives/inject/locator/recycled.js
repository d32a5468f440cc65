// recycled answers whether the element of a ref stands for another record than
// when a snapshot gave the ref. Lists that show a part of many rows, and lists without
// keys, keep their elements and write other records into them. The button of the
// third row is then that of the fifty-eighth, and has the same appearance.
//
// A record is known by the texts of its row that the rows beside it do not have. It is
// another record when none of them is left and the rows beside it show that this is no
// edit: one of them has the text, they changed as well, or they are detached.

const maxItemLevels = 3; // repeated elements around an element that are compared
const maxItemRows = 200; // a larger one is not an item of a list
const maxBesides = 3; // items that are compared on either side

/** recordSnapshot keeps the texts that a snapshot had of an element and around it. */
function recordSnapshot(record, place) {
  record.near = place;
  record.snapshot = memory.snapshots;
}

const cellTags = new Set(['td', 'th']);
const cellRoles = /^(?:cell|gridcell|columnheader|rowheader)$/;

/** isRepeated: elements of the same kind stand beside the element. Cells are parts of a record, not records. */
function isRepeated(node) {
  const tag = localNameOf(node);
  if (cellTags.has(tag) || cellRoles.test(attributeOf(node, 'role') || '')) return false;
  return (
    kin(node, tag, previousElementOf) !== null || kin(node, tag, nextElementOf) !== null || itemRoles.test(roleOf(node))
  );
}

const itemRoles = /^(?:row|listitem|option|treeitem|article)$/;
const previousElementOf = getterOf(Element.prototype, 'previousElementSibling');

/** kin is the next element of the same tag in one direction, or null. */
function kin(node, tag, step) {
  for (let at = step(node), steps = 0; at && steps < 10; at = step(at), steps++) if (localNameOf(at) === tag) return at;
  return null;
}

/** besides lists the nearest elements of the same kind. */
function besides(node) {
  const tag = localNameOf(node);
  const found = [];
  for (const step of [previousElementOf, nextElementOf]) {
    let at = node;
    for (let i = 0; i < maxBesides && (at = kin(at, tag, step)); i++) found.push(at);
  }
  return found;
}

/**
 * itemTexts is the texts of an item in the snapshot of this number (then) and in the
 * document (now), both as sets, or null when it is too large to be an item.
 */
function itemTexts(item, snapshot) {
  // called after every 1,024 elements
  const walk = walkTree(item, {
    interactive: false,
    urls: false,
    refs: true,
    places: true,
    limit: maxItemRows,
    bytes: 100000,
    overdue: () => true
  });
  if (walk.leftOut > 0 || walk.stopped) return null;
  const then = new Set();
  const now = new Set();
  const note = (set, text) => {
    if (text) set.add(text);
  };
  const recordOf = (number) => {
    const record = number && memory.refRecords.get(number);
    return record && record.near && record.snapshot === snapshot ? record : null;
  };
  const around = recordOf(memory.refNumbers.get(item));
  for (const [i, { role, name, place, number }] of walk.named.entries()) {
    const named = name === '' || name === undefined ? '' : role + ' ' + cut(name, 80);
    note(now, named);
    if (place === null) continue; // an option of a native list
    for (const text of [place.prev, place.first, place.next]) note(now, text);
    const record = recordOf(number);
    if (!record) continue;
    note(then, record.name === '' || record.name === undefined ? '' : record.role + ' ' + cut(record.name, 80));
    note(then, record.near.first);
    // A text before the first part of an item belongs to the item before, and the same at its end.
    if (place.prev !== '' && !(around && record.near.prev === around.near.prev)) note(then, record.near.prev);
    const next = walk.named[i + 1];
    if (place.next !== '' && !(around && record.near.next === around.near.next) && !(next && !recordOf(next.number)))
      note(then, record.near.next);
  }
  return { item, then, now };
}

/** repeatedTexts is what more than one of several sets have, which distinguishes none of them. */
function repeatedTexts(sets) {
  const often = new Set();
  const seen = new Set();
  for (const set of sets) for (const text of set) (seen.has(text) ? often : seen).add(text);
  return often;
}

/** verdict is 'same', 'changed' or 'unknown'. often has the texts of several items, then and now. */
function verdict({ then, now }, often) {
  let lost = false;
  for (const text of then) {
    if (!now.has(text)) lost ||= !often.then.has(text);
    else if (!often.now.has(text)) return 'same';
  }
  return lost ? 'changed' : then.size === 0 ? 'unknown' : 'same';
}

/**
 * standsForAnother compares the texts of an item around an element with those of the snapshot; null when it is the same
 * record.
 */
function standsForAnother(mine, snapshot) {
  if ([...mine.then].every((text) => mine.now.has(text))) return null;
  const { item } = mine;
  const others = besides(item).map((each) => itemTexts(each, snapshot)).filter((each) => each !== null);
  const all = [mine, ...others];
  const often = { then: repeatedTexts(all.map((each) => each.then)), now: repeatedTexts(all.map((each) => each.now)) };
  if (others.length === 0) for (const text of repeatedNames()) often.now.add(text);
  if (verdict(mine, often) !== 'changed') return null;
  const lost = [...mine.then].filter((text) => !mine.now.has(text) && !often.then.has(text));
  const difference = { was: lost.slice(0, 5), is: [...mine.now].filter((text) => !mine.then.has(text)).slice(0, 5) };
  for (const other of others)
    if (lost.some((text) => other.now.has(text))) return { ...difference, stands_in: refOf(other.item) };
  let changed = 0;
  let same = 0;
  for (const other of others) {
    const outcome = verdict(other, often);
    if (outcome === 'changed') changed++;
    else if (outcome === 'same') same++;
  }
  // One other that changed can be another counter.
  return changed >= same && (changed > 1 && changed > same || lostBeside(item)) ? difference : null;
}

/** repeatedNames is what the newest snapshot of the whole document called more than one element. */
function repeatedNames() {
  const often = new Set();
  const seen = new Set();
  for (const { role, name } of memory.lastGiven) {
    if (name) (seen.has(role + ' ' + cut(name, 80)) ? often : seen).add(role + ' ' + cut(name, 80));
  }
  return often;
}

/** lostBeside: an element that stood beside the item when the newest snapshot was taken is detached. */
function lostBeside(item) {
  const record = memory.refRecords.get(memory.refNumbers.get(item));
  if (!record || !record.place) return false;
  return memory.lastGiven.some((other) => {
    if (other.tag !== record.tag || !other.place || other.place.path !== record.place.path) return false;
    const node = other.node.deref();
    return !node || !inThisDocument(node);
  });
}

/** refuseRecycled fails when the element of a ref stands for another record than when a snapshot gave the ref. */
function refuseRecycled(node, ref) {
  const record = memory.refRecords.get(memory.refNumbers.get(node));
  if (!record || !record.near) return;
  const body = bodyOf();
  let levels = 0;
  for (
    let at = node, depth = 0;
    at && at !== body && depth < 12 && levels < maxItemLevels;
    at = flatParentElement(at), depth++
  ) {
    if (!isRepeated(at)) continue;
    levels++;
    const mine = itemTexts(at, record.snapshot);
    if (mine === null) return; // and what is around it is larger still
    const other = standsForAnother(mine, record.snapshot);
    if (other)
      throw staleRef(
        ref,
        'recycled',
        'the element is there, but shows another record than when the ref was given; take another snapshot',
        { role: record.role, name: record.name, ...other }
      );
  }
}
