// selectors finds elements. A list is split at its top-level commas and the
// results keep the order of its parts: authors write fallbacks that way.

/** splitSelector cuts a selector list at commas outside strings, brackets and comments. */
function splitSelector(list) {
  if (quirk('comma_split')) return list.split(',').map((part) => part.trim()).filter((part) => part !== '');
  const parts = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < list.length; i++) {
    const c = list[i];
    if (c === '\\') {
      i++;
    } else if (c === '"' || c === "'") {
      for (i++; i < list.length && list[i] !== c; i++) if (list[i] === '\\') i++;
    } else if (c === '/' && list[i + 1] === '*') {
      const end = list.indexOf('*/', i + 2);
      i = end < 0 ? list.length : end + 1;
    } else if (c === '(' || c === '[' || c === '{') {
      depth++;
    } else if (c === ')' || c === ']' || c === '}') {
      depth = Math.max(0, depth - 1);
    } else if (c === ',' && depth === 0) {
      parts.push(list.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(list.slice(start));
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/**
 * withShadows lists root and the open shadow roots below it, and closed ones that
 * were adopted. Every query that enters shadow roots visits all elements, so it
 * reads each only once. A form with a control named shadowRoot returns that control,
 * and shadowOf knows better.
 */
function withShadows(root) {
  const roots = [root];
  for (let i = 0; i < roots.length && roots.length < 5000; i++) {
    const walker = walkerOf(document, roots[i], NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.shadowRoot === null && !memory.closedShadowsKnown) continue;
      const shadow = shadowOf(node);
      if (shadow && !memory.attachmentHosts.has(node)) roots.push(shadow);
    }
  }
  return roots;
}

/** queryPart is one part of a relative query; null when it does not parse. */
function queryPart(root, part, pierce) {
  if (part === ':scope') return [root === document ? rootElement() : root];
  try {
    if (root === document && !pierce) return queryIn(root, part);
    const found = isElement(root) && matchesCSS(root, part) ? [root] : [];
    for (const at of pierce ? withShadows(root) : [root]) for (const node of queryIn(at, part)) found.push(node);
    return found;
  } catch {
    return null;
  }
}

/**
 * queryParts runs a relative query: root itself counts, order is that of the
 * parts, duplicates are dropped. Parts that do not parse are skipped unless
 * none does. counts has how many each part found.
 */
function queryParts(root, list, pierce) {
  const parts = splitSelector(list);
  if (parts.length === 0 && !quirk('comma_split'))
    throw new Fault('invalid_selector', 'the selector is blank', { selector: cut(list, 500) });
  const counts = [];
  const found = new Set();
  for (const part of parts) {
    const nodes = queryPart(root, part, pierce);
    counts.push({ selector: cut(part, 200), count: nodes ? nodes.length : null });
    if (nodes && parts.length === 1 && !pierce) return { nodes, counts };
    if (nodes) for (const node of nodes) found.add(node);
  }
  if (counts.every((c) => c.count === null) && !quirk('comma_split')) {
    throw new Fault('invalid_selector', 'the selector does not parse', {
      selector: cut(list, 500),
      part: counts[0].selector
    });
  }
  return { nodes: [...found], counts };
}

/** selectorOr is a selector, or what stands for one that is not given. */
const selectorOr = (selector, fallback) =>
  selector === undefined || selector === null || quirk('blank_selector') && norm(selector) === '' ? fallback : selector;

/** queryList passes the whole selector to the browser: document order. */
function queryList(root, selector) {
  try {
    return queryIn(root, selector);
  } catch {
    throw new Fault('invalid_selector', 'the selector does not parse', { selector: cut(String(selector), 500) });
  }
}
