// focus_held answers whether keys go to an element that was given the focus. A listener of the page can have
// moved the focus on, at once or in the next frame.

/** Elements that keys are meant for, by the key that the caller gave: a key is known in one document alone. */
const keyTargets = new Map();

/** Milliseconds after which an element that nobody asks for is forgotten. */
const keyTargetLife = 10000;

function expectKeys(key, node) {
  keyTargets.set(key, node);
  setTimeout(() => keyTargets.delete(key), keyTargetLife);
}

/** holdsKeys: what is typed goes into node. */
function holdsKeys(node) {
  const active = activeElement();
  return active !== null && isConnected(node) && flatContains(node, active);
}

/** It is asked of the document that has the focus; another than that of the element does not know the key. */
queries.focus_held = async ({ key, view: given }) => {
  await nextFrame();
  const active = activeElement();
  if (active && isFrameElement(active) && !keyTargets.has(key)) return descended(active, viewOf(given));
  const node = keyTargets.get(key);
  return { held: node !== undefined && holdsKeys(node) };
};

/** keys_held answers the same of an element that is kept under a handle, and of what it is edited in. */
queries.keys_held = ({ handle }) => {
  const node = element(handle);
  const host = node && protoGet(node, 'isContentEditable') === true ? editingHost(node) : node;
  return { held: Boolean(host) && (holdsKeys(host) || host === bodyOf() || host === rootElement()) };
};
