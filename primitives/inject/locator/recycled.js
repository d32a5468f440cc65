// recycled answers whether the element of a ref stands for another record than
// when the ref was told. Lists that show a part of many rows, and lists without
// keys, keep their elements and write other records into them: the button of the
// third row is then that of the fifty-eighth, and looks the same.
//
// A record is known by what its row says and the rows beside it do not. When none
// of that is left, and the rows beside it tell of something else than an edit (one
// of them says it now, they changed as well, or they are gone), it is another one.

const maxItemLevels = 3; // repeated elements around an element that are looked at
const maxItemRows = 200; // a larger one is not an item of a list
const maxBesides = 3; // items that are looked at on either side

let snapshotNumber = 0; // snapshots that told refs; what one of them told belongs together

/** recordSnapshot keeps what a snapshot said of an element and around it. */
function recordSnapshot(record, place) {
  record.near = place;
  record.telling = snapshotNumber;
}

const cellTags = new Set(['td', 'th']);
const cellRoles = /^(?:cell|gridcell|columnheader|rowheader)$/;

/** isRepeated: elements of the same kind stand beside the element. Cells are parts of a record, not records. */
function isRepeated(node) {
  const tag = localNameOf(node);
  if (cellTags.has(tag) || cellRoles.test(attributeOf(node, 'role') || '')) return false;
  return kin(node, tag, previousElementOf) !== null || kin(node, tag, nextElementOf) !== null || itemRoles.test(roleOf(node));
}

const itemRoles = /^(?:row|listitem|option|treeitem|article)$/;
const previousElementOf = getterOf(Element.prototype, 'previousElementSibling');

/** kin is the next element of the same tag in one direction, or null. */
function kin(node, tag, step) {
  for (let at = step(node), looked = 0; at && looked < 10; at = step(at), looked++) if (localNameOf(at) === tag) return at;
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
 * itemSays is what an item said when the snapshot named telling was taken and
 * what it says now, both as sets, or null when it is too large to be an item.
 */
function itemSays(item, telling) {
  const walk = walkTree(item, { interactive: false, urls: false, refs: true, places: true, limit: maxItemRows, bytes: 100000, overdue: () => true }); // asked after every 1,024 elements
  if (walk.leftOut > 0 || walk.stopped) return null;
  const then = new Set();
  const now = new Set();
  const note = (set, said) => {
    if (said) set.add(said);
  };
  const told = (number) => {
    const record = number && refRecords.get(number);
    return record && record.near && record.telling === telling ? record : null;
  };
  const around = told(refNumbers.get(item));
  for (const [i, { role, name, place, number }] of walk.named.entries()) {
    const named = name === '' || name === undefined ? '' : role + ' ' + cut(name, 80);
    note(now, named);
    if (place === null) continue; // an option of a native list
    for (const said of [place.prev, place.first, place.next]) note(now, said);
    const record = told(number);
    if (!record) continue;
    note(then, record.name === '' || record.name === undefined ? '' : record.role + ' ' + cut(record.name, 80));
    note(then, record.near.first);
    // What was said before the first part of an item belongs to the one before, and the same at its end.
    if (place.prev !== '' && !(around && record.near.prev === around.near.prev)) note(then, record.near.prev);
    const next = walk.named[i + 1];
    if (place.next !== '' && !(around && record.near.next === around.near.next) && !(next && !told(next.number))) note(then, record.near.next);
  }
  return { item, then, now };
}

/** saidOften is what more than one of several sets say, which tells none of them apart. */
function saidOften(sets) {
  const often = new Set();
  const seen = new Set();
  for (const set of sets) for (const said of set) (seen.has(said) ? often : seen).add(said);
  return often;
}

/** verdict is 'same', 'changed' or 'unknown'. often is what several items said then, and say now. */
function verdict({ then, now }, often) {
  let lost = false;
  for (const said of then) {
    if (!now.has(said)) lost ||= !often.then.has(said);
    else if (!often.now.has(said)) return 'same';
  }
  return lost ? 'changed' : then.size === 0 ? 'unknown' : 'same';
}

/** standsForAnother compares what an item around an element says with what was told of it; null when it is the same. */
function standsForAnother(mine, telling) {
  if ([...mine.then].every((said) => mine.now.has(said))) return null;
  const { item } = mine;
  const others = besides(item).map((each) => itemSays(each, telling)).filter((each) => each !== null);
  const all = [mine, ...others];
  const often = { then: saidOften(all.map((each) => each.then)), now: saidOften(all.map((each) => each.now)) };
  if (others.length === 0) for (const said of repeatedNames()) often.now.add(said);
  if (verdict(mine, often) !== 'changed') return null;
  const lost = [...mine.then].filter((said) => !mine.now.has(said) && !often.then.has(said));
  const told = { was: lost.slice(0, 5), is: [...mine.now].filter((said) => !mine.then.has(said)).slice(0, 5) };
  for (const other of others) if (lost.some((said) => other.now.has(said))) return { ...told, stands_in: refOf(other.item) };
  let changed = 0;
  let same = 0;
  for (const other of others) {
    const said = verdict(other, often);
    if (said === 'changed') changed++;
    else if (said === 'same') same++;
  }
  // One other that changed can be another counter.
  return changed >= same && (changed > 1 && changed > same || lostBeside(item)) ? told : null;
}

/** repeatedNames is what the newest snapshot of the whole document called more than one element. */
function repeatedNames() {
  const often = new Set();
  const seen = new Set();
  for (const { role, name } of lastGiven) {
    if (name) (seen.has(role + ' ' + cut(name, 80)) ? often : seen).add(role + ' ' + cut(name, 80));
  }
  return often;
}

/** lostBeside: an element that stood beside the item when the newest snapshot was taken is gone. */
function lostBeside(item) {
  const record = refRecords.get(refNumbers.get(item));
  if (!record || !record.place) return false;
  return lastGiven.some((other) => {
    if (other.tag !== record.tag || !other.place || other.place.path !== record.place.path) return false;
    const node = other.node.deref();
    return !node || !inThisDocument(node);
  });
}

/** refuseRecycled fails when the element of a ref stands for another record than when it was told. */
function refuseRecycled(node, ref) {
  const record = refRecords.get(refNumbers.get(node));
  if (!record || !record.near) return;
  const body = bodyOf();
  let levels = 0;
  for (let at = node, depth = 0; at && at !== body && depth < 12 && levels < maxItemLevels; at = flatParentElement(at), depth++) {
    if (!isRepeated(at)) continue;
    levels++;
    const mine = itemSays(at, record.telling);
    if (mine === null) return; // and what is around it is larger still
    const other = standsForAnother(mine, record.telling);
    if (other) throw staleRef(ref, 'recycled', 'the element is there, but shows another record than when the ref was told; look again', { role: record.role, name: record.name, ...other });
  }
}
