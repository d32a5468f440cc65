// The same helpers under quirks.ScriptHelpers: a selector is cut at its commas, parts that do not parse are left out,
// and so is what is not visible unless the caller says otherwise.
const helpers = (() => {
  const normalizeText = (text) => String(text || '').replace(/\s+/g, ' ').trim();
  const isElementVisible = (element) => {
    if (!(element instanceof Element)) return false;
    const box = element.getBoundingClientRect();
    const { visibility, display } = getComputedStyle(element);
    return box.width > 0 && box.height > 0 && visibility !== 'hidden' && display !== 'none' &&
      box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
  };
  const partsOf = (root, part) => {
    if (part === ':scope') return [root];
    try {
      return [...root.matches && root.matches(part) ? [root] : [], ...root.querySelectorAll(part)];
    } catch {
      return [];
    }
  };
  const queryRelative = (root, selector, { visible_only: plain, visibleOnly = true } = {}) => {
    const parts = String(selector || '').split(',').map((part) => part.trim()).filter(Boolean);
    const found = [...new Set(parts.flatMap((part) => partsOf(root, part)))];
    return plain ?? visibleOnly ? found.filter(isElementVisible) : found;
  };
  const visibleText = (element) =>
    element ? normalizeText(element.textContent || element.getAttribute('aria-label')) : '';
  return { normalizeText, isElementVisible, queryRelative, visibleText };
})();
