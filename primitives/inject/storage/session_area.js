// session_area answers what the document's origin has in sessionStorage of this tab.

/** sessionStorageArea is the area, or a failure: a sandboxed or opaque origin has none. */
function sessionStorageArea() {
  try {
    return sessionStorage;
  } catch (error) {
    throw new Fault('capability_unavailable', 'this document has no sessionStorage', { capability: 'storage.session' });
  }
}

queries.session_read = () => {
  const area = sessionStorageArea();
  const items = [];
  for (let i = 0; i < area.length; i++) {
    const name = storageMethods.key.call(area, i);
    items.push({ name, value: storageMethods.getItem.call(area, name) });
  }
  return { items: items.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)) };
};

queries.session_write = ({ items, replace }) => {
  const area = sessionStorageArea();
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
