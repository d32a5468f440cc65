// indexed_db answers what the document's origin has in IndexedDB, in the form of Playwright's
// storageState: values that JSON has stand as they are, others encoded by their kind.

const maxDatabaseRecords = 20000;

/** finished is a promise of the result of a request. */
const finished = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(databaseFault(request.error));
  request.onblocked = () => reject(new Fault('timeout', 'a page keeps the database open', {}));
});

const databaseFault = (error) =>
  new Fault('handler_failed', 'IndexedDB refuses: ' + cut(String((error && error.message) || error), 200), {});

function databases() {
  if (typeof indexedDB === 'undefined' || indexedDB === null) {
    throw new Fault('capability_unavailable', 'this document has no IndexedDB', { capability: 'storage.indexed_db' });
  }
  return indexedDB;
}

/** keyPathMembers is a key path under the name that its form has. */
const keyPathMembers = (path) =>
  path === null
    ? {}
    : Array.isArray(path)
      ? { keyPathArray: path }
      : typeof path === 'string'
        ? { keyPath: path }
        : { keyPathArray: Array.from(path) };

const typedArrays = {
  i8: Int8Array,
  ui8: Uint8Array,
  ui8c: Uint8ClampedArray,
  i16: Int16Array,
  ui16: Uint16Array,
  i32: Int32Array,
  ui32: Uint32Array,
  f32: Float32Array,
  f64: Float64Array,
  bi64: BigInt64Array,
  bui64: BigUint64Array
};

const bytesToText = (bytes) => btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(''));
const textToBytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** isPlainValue: JSON has the value as it is. */
function isPlainValue(value, depth) {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || depth > 50) return false;
  if (Array.isArray(value)) return value.every((each) => isPlainValue(each, depth + 1));
  const proto = Object.getPrototypeOf(value);
  if (proto !== Object.prototype && proto !== null) return false;
  return Object.keys(value).every((name) => isPlainValue(value[name], depth + 1));
}

/** encodeValue is a value that JSON does not have; undefined for what cannot be stored in a file. */
function encodeValue(value, seen) {
  if (value === undefined) return { v: 'undefined' };
  if (value === null) return { v: 'null' };
  if (typeof value === 'number') {
    if (Number.isNaN(value)) return { v: 'NaN' };
    if (value === Infinity) return { v: 'Infinity' };
    if (value === -Infinity) return { v: '-Infinity' };
    return Object.is(value, -0) ? { v: '-0' } : value;
  }
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return { bi: value.toString() };
  if (typeof value !== 'object') return undefined;
  if (seen.has(value)) return { ref: seen.get(value) };
  if (value instanceof Date) return { d: Number.isNaN(value.getTime()) ? '' : value.toJSON() };
  if (value instanceof RegExp) return { r: { p: value.source, f: value.flags } };
  if (value instanceof ArrayBuffer) return { ab: { b: bytesToText(new Uint8Array(value)) } };
  if (ArrayBuffer.isView(value)) {
    const kind = Object.keys(typedArrays).find((k) => value instanceof typedArrays[k]);
    return (
      kind && { ta: { b: bytesToText(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)), k: kind } }
    );
  }
  const id = seen.size + 1;
  seen.set(value, id);
  if (Array.isArray(value)) {
    const a = [];
    for (const each of value) {
      const encoded = encodeValue(each, seen);
      if (encoded === undefined) return undefined;
      a.push(encoded);
    }
    return { a, id };
  }
  const proto = Object.getPrototypeOf(value);
  if (proto !== Object.prototype && proto !== null) return undefined;
  const o = [];
  for (const k of Object.keys(value)) {
    const v = encodeValue(value[k], seen);
    if (v === undefined) return undefined;
    o.push({ k, v });
  }
  return { o, id };
}

const namedValues = { undefined, null: null, NaN, Infinity, '-Infinity': -Infinity, '-0': -0 };

/** decodeValue is the inverse of encodeValue. */
function decodeValue(value, seen) {
  if (value === null || typeof value !== 'object') return value;
  if ('ref' in value) return seen.get(value.ref);
  if ('v' in value) return namedValues[value.v];
  if ('d' in value) return new Date(value.d);
  if ('bi' in value) return BigInt(value.bi);
  if ('r' in value) return new RegExp(value.r.p, value.r.f);
  if ('ab' in value) return textToBytes(value.ab.b).buffer;
  if ('ta' in value) return new typedArrays[value.ta.k](textToBytes(value.ta.b).buffer);
  if ('a' in value) {
    const out = [];
    seen.set(value.id, out);
    for (const each of value.a) out.push(decodeValue(each, seen));
    return out;
  }
  const out = {};
  seen.set(value.id, out);
  for (const { k, v } of value.o || []) out[k] = decodeValue(v, seen);
  return out;
}

/** kindNotKept is the kind of what in a value no file can hold. */
function kindNotKept(value, seen = new Set()) {
  if (value === null || typeof value !== 'object' || seen.has(value)) return '';
  seen.add(value);
  if (encodeValue(value, new Map()) !== undefined) return '';
  for (const name of Object.keys(value)) {
    const inside = kindNotKept(value[name], seen);
    if (inside !== '') return inside;
  }
  return cut(Object.prototype.toString.call(value).slice(8, -1), 60);
}

/** member is a value under name, or encoded under nameEncoded. */
function valueMember(out, name, value) {
  if (isPlainValue(value, 0)) {
    out[name] = value;
    return true;
  }
  const encoded = encodeValue(value, new Map());
  if (encoded !== undefined) out[name + 'Encoded'] = encoded;
  return encoded !== undefined;
}

const memberValue = (record, name) =>
  name in record
    ? record[name]
    : name + 'Encoded' in record
      ? decodeValue(record[name + 'Encoded'], new Map())
      : undefined;

async function readDatabase({ name, version }) {
  const db = await finished(databases().open(name));
  try {
    const stores = [];
    for (const storeName of Array.from(db.objectStoreNames)) {
      const store = db.transaction(storeName, 'readonly').objectStore(storeName);
      const indexes = Array.from(store.indexNames, (each) => store.index(each));
      const [keys, values] = await Promise.all([
        finished(store.getAllKeys(null, maxDatabaseRecords + 1)),
        finished(store.getAll(null, maxDatabaseRecords + 1))
      ]);
      if (keys.length > maxDatabaseRecords)
        throw new Fault('payload_too_large', 'the database has too many records', {
          database: cut(name, 100),
          store: cut(storeName, 100),
          limit: maxDatabaseRecords
        });
      const records = [];
      const kinds = new Set();
      values.forEach((value, i) => {
        const record = {};
        if ((store.keyPath !== null || valueMember(record, 'key', keys[i])) && valueMember(record, 'value', value))
          records.push(record);
        else kinds.add(kindNotKept(value) || 'key');
      });
      const lost = values.length - records.length;
      stores.push({
        name: storeName,
        ...keyPathMembers(store.keyPath),
        autoIncrement: store.autoIncrement,
        indexes: indexes.map((each) => ({
          name: each.name,
          ...keyPathMembers(each.keyPath),
          multiEntry: each.multiEntry,
          unique: each.unique
        })),
        records,
        leftOut: lost > 0 ? { records: lost, kinds: [...kinds].sort().slice(0, 10) } : undefined
      });
    }
    return { name, version, stores };
  } finally {
    db.close();
  }
}

queries.indexed_db_read = async () => {
  const list = await databases().databases();
  const out = [];
  for (const each of list) if (each.version > 0) out.push(await readDatabase(each));
  return { databases: out.sort((a, b) => (a.name < b.name ? -1 : 1)) };
};

async function writeDatabase({ name, version, stores }) {
  await finished(databases().deleteDatabase(name));
  const opening = databases().open(name, version);
  opening.onupgradeneeded = () => {
    for (const s of stores || []) {
      const store = opening.result.createObjectStore(s.name, {
        keyPath: s.keyPath ?? s.keyPathArray ?? null,
        autoIncrement: s.autoIncrement
      });
      for (const i of s.indexes || [])
        store.createIndex(i.name, i.keyPath ?? i.keyPathArray, { unique: i.unique, multiEntry: i.multiEntry });
    }
  };
  const db = await finished(opening);
  try {
    for (const s of stores || []) {
      if (!s.records || s.records.length === 0) continue;
      const transaction = db.transaction(s.name, 'readwrite');
      const done = new Promise((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(databaseFault(transaction.error));
      });
      const store = transaction.objectStore(s.name);
      const inline = s.keyPath !== undefined || s.keyPathArray !== undefined;
      for (const record of s.records)
        store.put(memberValue(record, 'value'), inline ? undefined : memberValue(record, 'key'));
      await done;
    }
  } finally {
    db.close();
  }
}

queries.indexed_db_write = async ({ databases: list }) => {
  for (const each of list || []) await writeDatabase(each);
  return { written: (list || []).length };
};
