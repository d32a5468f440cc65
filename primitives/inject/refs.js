// refs names elements for callers: the same element has the same ref in every
// answer, and a ref of a document that is gone is never given to another one.
//
// A ref is the prefix of its frame ("" for the main frame, "f3" for another),
// an "e" and a number. Numbers are given in order and go on where the frame's
// last document ended; the runtime knows where that was, since each answer
// tells how far the numbers have come. The page sees none of this.

const maxRefs = 200000;
const refRecords = new Map(); // number -> what is known of the element, oldest first
const refNumbers = new WeakMap();
const numbering = { prefix: '', from: 1, next: 1, told: 1, set: false };

/** numberRefs sets where the refs of this document begin; only the first call counts. */
outrider.numberRefs = (prefix, from) => {
  if (numbering.set) return;
  Object.assign(numbering, { prefix, from, next: from, told: from, set: true });
};

/** refsTold is the part of an answer that tells how far the numbers have come. */
function refsTold() {
  if (numbering.next === numbering.told) return '';
  numbering.told = numbering.next;
  return ',"refs":' + numbering.next;
}

/** refRecord is what is kept of an element with a ref, and gives it one. */
function refRecord(node) {
  let number = refNumbers.get(node);
  let record = number && refRecords.get(number);
  if (record) return record;
  if (!number) {
    number = numbering.next++;
    refNumbers.set(node, number);
  }
  record = { ref: numbering.prefix + 'e' + number, node: new WeakRef(node), tag: tagOf(node), role: undefined, name: undefined, place: null };
  refRecords.set(number, record);
  if (refRecords.size > maxRefs) refRecords.delete(refRecords.keys().next().value);
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
  if (!parts || parts[1] !== numbering.prefix) throw staleRef(ref, 'unknown', 'no element of this document was given this ref');
  const number = Number(parts[2]);
  if (number < numbering.from) throw staleRef(ref, 'document_replaced', 'the document in which the ref was given has been replaced');
  const record = refRecords.get(number);
  if (!record) {
    if (number < numbering.next) throw staleRef(ref, 'forgotten', 'too many refs were given since this one');
    throw staleRef(ref, 'unknown', 'no element was given this ref');
  }
  const node = record.node.deref();
  if (node && inThisDocument(node)) return node;
  const again = renderedAgain(record);
  record.node = new WeakRef(again);
  return again;
}

/** ref_of names an element that a handle names. */
questions.ref_of = ({ handle }) => ({ ref: refOf(elementOf(handle)) });

/** ref_handle is the reverse, for callers that use an element more than once. */
questions.ref_handle = ({ ref }) => {
  const node = elementOfRef(ref);
  return { handle: keep(node), label: label(node) };
};

/** renderedAgain finds the element that took the place of a removed one. */
function renderedAgain(record) {
  throw staleRef(record.ref, 'removed', 'the element was removed from the document');
}
