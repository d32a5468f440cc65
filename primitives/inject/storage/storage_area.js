// storage_area reads and writes what the document's origin has in localStorage, or in
// sessionStorage of this tab.

const storageMethods = Storage.prototype;

/** storageArea is the area 'local' or 'session', or a failure: a sandboxed or opaque origin has none. */
function storageArea(area) {
  try {
    return area === 'session' ? sessionStorage : localStorage;
  } catch (error) {
    throw new Fault('capability_unavailable', `this document has no ${area}Storage`, { capability: `storage.${area}` });
  }
}

queries.storage_read = ({ area: which }) => {
  const area = storageArea(which);
  const items = [];
  for (let i = 0; i < area.length; i++) {
    const name = storageMethods.key.call(area, i);
    items.push({ name, value: storageMethods.getItem.call(area, name) });
  }
  return { items: items.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)) };
};

queries.storage_write = ({ area: which, items, replace }) => {
  const area = storageArea(which);
  if (replace) storageMethods.clear.call(area);
  for (const { name, value } of items || []) {
    try {
      storageMethods.setItem.call(area, name, value);
    } catch (error) {
      throw new Fault('payload_too_large', 'the origin has no room for this item', {
        name: cut(name, 100),
        length: value.length
      });
    }
  }
  return { written: (items || []).length };
};

const cookieOf = getterOf(Document.prototype, 'cookie');

// cookies_written answers when the browser has the cookies that this document wrote:
// a write is not waited for, a read is, and it comes after the writes.
queries.cookies_written = () => {
  try {
    return { any: cookieOf(document) !== '' };
  } catch {
    return { any: false }; // a sandboxed or opaque origin has none
  }
};
