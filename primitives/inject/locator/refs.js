// refs names elements for callers: the same element has the same ref in every
// answer, and a ref of a document that was replaced is never given to another one.
//
// A ref is the prefix of its frame ("" for the main frame, "f3" for another),
// an "e" and a number. Numbers are given in order and go on where the frame's
// last document ended; the runtime knows where that was, since each answer
// reports how far the numbers have come. The page sees none of this.

const maxRefs = 200000;

/** numberRefs sets where the refs of this document begin; only the first call counts. */
outrider.numberRefs = (prefix, from) => {
  if (memory.numbering.set) return;
  Object.assign(memory.numbering, { prefix, from, next: from, reported: from, set: true });
};

/** newRefs is the part of an answer that reports how far the numbers have come. */
function newRefs() {
  if (memory.numbering.next === memory.numbering.reported) return '';
  memory.numbering.reported = memory.numbering.next;
  return ',"refs":' + memory.numbering.next;
}

/** refRecord is what is kept of an element with a ref, and gives it one. */
function refRecord(node, number = memory.refNumbers.get(node)) {
  let record = number && memory.refRecords.get(number);
  if (record) return record; // of this element, or of one that it took the place of
  if (!number) {
    number = memory.numbering.next++;
    memory.refNumbers.set(node, number);
  }
  record = {
    ref: memory.numbering.prefix + 'e' + number,
    node: new WeakRef(node),
    tag: localNameOf(node),
    role: undefined,
    name: undefined,
    place: null
  };
  memory.refRecords.set(number, record);
  if (memory.refRecords.size > maxRefs) memory.refRecords.delete(memory.refRecords.keys().next().value);
  return record;
}

/** refOf is the ref of an element of this document. */
const refOf = (node) => refRecord(node).ref;

const refForm = /^((?:f\d+)?)e(\d+)$/;

function staleRef(ref, reason, message, more) {
  return new Fault('element_stale', message, { ref: cut(String(ref), 40), reason, ...more });
}

const inThisDocument = (node) => isConnected(node) && protoGet(node, 'ownerDocument') === document;

/**
 * elementOfRef is the element that a ref names. One that was rendered again is
 * found when there is exactly one with its role, name and neighbours;
 * otherwise the failure says why not and names what came close.
 */
function elementOfRef(ref) {
  const parts = refForm.exec(String(ref));
  if (!parts || parts[1] !== memory.numbering.prefix)
    throw staleRef(ref, 'unknown', 'no element of this document was given this ref');
  const number = Number(parts[2]);
  if (number < memory.numbering.from)
    throw staleRef(ref, 'document_replaced', 'the document in which the ref was given has been replaced');
  const record = memory.refRecords.get(number);
  if (!record) {
    if (number < memory.numbering.next) throw staleRef(ref, 'forgotten', 'too many refs were given since this one');
    throw staleRef(ref, 'unknown', 'no element was given this ref');
  }
  const node = record.node.deref();
  if (node && inThisDocument(node)) return node;
  return renderedAgain(record);
}

/** ref_of names an element that a handle names. */
queries.ref_of = ({ handle }) => ({ ref: refOf(elementOf(handle)) });

/** ref_handle is the reverse, for callers that use an element more than once. */
queries.ref_handle = ({ ref }) => {
  const node = elementOfRef(ref);
  return { handle: keep(node), label: label(node) };
};

/** placeKey is all by which an element that was rendered again is known. */
const placeKey = (tag, role, name, place) =>
  [tag, role, name, place.path, place.prev, place.first, place.next].join('\n');

/** recognisable: something of an element distinguishes it from others of its kind. */
const recognisable = (role, name, place) =>
  place !== null && ((name !== '' && name !== undefined) || (role !== 'generic' && role !== undefined));

/**
 * giveRefs gives refs to the rows of a snapshot, each with its element and the
 * number that this had when the walk came to it, if any. An element that was not seen
 * before gets the ref of a detached one when it has its tag, role, name and
 * place, and neither of them has a double: it was rendered again.
 */
function giveRefs(named, whole) {
  let lost = null;
  const fresh = new Map(); // key -> element, null when there are several
  if (whole && memory.lastGiven.length > 0 && named.some(({ number }) => number === undefined)) {
    lost = new Map();
    for (const record of memory.lastGiven) {
      const node = record.node.deref();
      if (node && inThisDocument(node) || !recognisable(record.role, record.name, record.place)) continue;
      const key = placeKey(record.tag, record.role, record.name, record.place);
      lost.set(key, lost.has(key) ? null : record);
    }
    if (lost.size > 0) {
      for (const { node, tag, role, name, place } of named) {
        if (!recognisable(role, name, place) || memory.refNumbers.has(node)) continue;
        const key = placeKey(tag, role, name, place);
        fresh.set(key, fresh.has(key) ? null : node);
      }
    }
  }
  const given = [];
  memory.snapshots++;
  for (const each of named) {
    const { row, node, tag, role, name, place, number } = each;
    if (
      lost !== null &&
      lost.size > 0 &&
      number === undefined &&
      !memory.refNumbers.has(node) &&
      recognisable(role, name, place)
    ) {
      const key = placeKey(tag, role, name, place);
      const record = lost.get(key);
      if (record && fresh.get(key) === node) bindRef(record, node);
    }
    // A row that was taken over from an earlier snapshot has its record.
    const known = each.record !== undefined && memory.refRecords.size < maxRefs;
    const record = known ? each.record : refRecord(node, number);
    each.record = record;
    each.number = memory.refNumbers.get(node);
    row.ref = record.ref;
    record.role = role;
    record.name = name;
    recordSnapshot(record, place);
    if (whole) {
      record.place = place;
      given.push(record);
    }
  }
  if (whole) memory.lastGiven = given;
}

/** hasLostRefs: elements of the newest snapshot are detached. */
const hasLostRefs = () => memory.lastGiven.some((record) => {
  const node = record.node.deref();
  return !node || !inThisDocument(node);
});

/** bindRef makes an element the one that a ref names. */
function bindRef(record, node) {
  record.node = new WeakRef(node);
  if (!memory.refNumbers.has(node)) memory.refNumbers.set(node, Number(refForm.exec(record.ref)[2]));
}

/**
 * renderedAgain finds the element that took the place of a removed one: the
 * only one with its tag, role and name, in the same part of the page, with the
 * same beginning and between the same neighbours. What is known of the place was
 * noted when a snapshot of the whole document gave the ref.
 */
function renderedAgain(record) {
  const detached = (reason, message, more) =>
    staleRef(record.ref, reason, message, { role: record.role, name: record.name, ...more });
  if (!recognisable(record.role, record.name, record.place))
    throw detached('removed', 'the element was removed, and nothing is known by which to find it again');
  const alike = [];
  const whole = rootElement();
  if (whole) {
    walkTree(whole, {
      interactive: true, urls: false, refs: false, places: true, limit: 0, bytes: 0, overdue: overdueIn(5000),
      compare: (node, tag, role, name, place) => {
        if (tag === record.tag && role === record.role && name === record.name) alike.push({ node, place });
      },
    });
  }
  const was = record.place;
  const near = (place) => ['path', 'prev', 'first', 'next'].filter((part) => place[part] === was[part]).length;
  const same = alike.filter(({ place }) => near(place) === 4);
  if (same.length === 1) {
    bindRef(record, same[0].node);
    return same[0].node;
  }
  const candidates = alike
    .sort((a, b) => near(b.place) - near(a.place))
    .slice(0, 5)
    .map(({ node, place }) => ({
      ref: refOf(node),
      label: label(node),
      same_part: place.path === was.path,
      same_contents: place.first === was.first,
      same_before: place.prev === was.prev,
      same_after: place.next === was.next
    }));
  if (same.length > 1)
    throw detached('ambiguous', 'the element was rendered again, and several look and lie like it', { candidates });
  if (alike.length > 0)
    throw detached('moved', 'the element was removed; what has its role and name lies elsewhere', { candidates });
  throw detached('removed', 'the element was removed, and nothing has its role and name');
}
