// What a script of run_javascript gets as helpers, in the page's own world.
const helpers = (() => {
  const normalizeText = (text) => (text ? String(text).replace(/\s+/g, ' ').trim() : '');
  const isElementVisible = (element) => {
    if (!element || element.nodeType !== 1) return false;
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    return box.width > 0 && box.height > 0 && style.visibility !== 'hidden' && style.display !== 'none' &&
      box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
  };
  const queryRelative = (root, selector) => {
    if (!selector || selector.trim() === ':scope') return root ? [root] : [];
    const from = root || document;
    const found = Array.from(from.querySelectorAll(selector));
    if (from.nodeType === 1 && from.matches(selector)) found.unshift(from);
    return found;
  };
  const visibleText = (element) =>
    isElementVisible(element) ? normalizeText(element.innerText || element.textContent) : '';
  return Object.freeze({ normalizeText, isElementVisible, queryRelative, visibleText });
})();
