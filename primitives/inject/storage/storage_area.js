// storage_area answers what the document's origin has in localStorage.

const storageMethods = Storage.prototype;

/** localStorageArea is the area, or a failure: a sandboxed or opaque origin has none. */
function localStorageArea() {
  try {
    return localStorage;
  } catch (error) {
    throw new Fault('capability_unavailable', 'this document has no localStorage', { capability: 'storage.local' });
  }
}

queries.storage_read = () => {
  const area = localStorageArea();
  const items = [];
  for (let i = 0; i < area.length; i++) {
    const name = storageMethods.key.call(area, i);
    items.push({ name, value: storageMethods.getItem.call(area, name) });
  }
  return { items: items.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)) };
};

queries.storage_write = ({ items, replace }) => {
  const area = localStorageArea();
  if (replace) storageMethods.clear.call(area);
  for (const { name, value } of items || []) {
    try {
      storageMethods.setItem.call(area, name, value);
    } catch (error) {
      throw new Fault('payload_too_large', 'the origin has no room for this item', { name: cut(name, 100), length: value.length });
    }
  }
  return { written: (items || []).length };
};
