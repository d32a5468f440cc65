// extract_main answers which part of a page is its content, and what of a page
// is chrome around it: navigation, banners, footers, what floats over it.

const chromeRoles = new Set([
  'navigation', 'banner', 'contentinfo', 'complementary', 'search', 'menu', 'menubar', 'toolbar', 'sectionfooter'
]);
const goodNames = /article|body|content|entry|hentry|main|page|post|text|blog|story|column/i;
const badNames =
  /banner|breadcrumb|combx|comment|community|cookie|consent|disqus|extra|foot|gdpr|header|legends|menu|modal|nav|pager|pagination|popup|promo|related|remark|rss|share|shoutbox|sidebar|skyscraper|social|sponsor|subscribe|supplemental|widget/i;

/** isChrome: the element is about the site, not about this page. style is its computed style. */
function isChrome(node, tag, style) {
  if (tag === 'nav' || tag === 'aside') return !hasAttribute(node, 'role') || chromeRoles.has(roleOf(node));
  if (tag === 'header' || tag === 'footer' || hasAttribute(node, 'role')) {
    const role = roleOf(node);
    if (role === 'sectionfooter') return closestCSS(node, 'blockquote, figure') === null && textOf(node).length < 2000;
    if (chromeRoles.has(role)) return true;
  }
  if (style.position === 'fixed')
    return (
      tag !== 'dialog' &&
      !/^(?:dialog|alertdialog)$/.test(attributeOf(node, 'role') || '') &&
      !matchesCSS(node, ':modal') &&
      queryIn(node, 'main, [role=main], article, h1').length === 0
    );
  if (
    tag === 'a' &&
    (attributeOf(node, 'href') || '').startsWith('#') &&
    /^(?:skip|jump) (?:to|over)\b/i.test(norm(textOf(node)))
  )
    return true;
  return false;
}

/** drawnLength is how much text an element shows. */
const drawnLength = (node) => norm(protoGet(node, 'innerText') ?? textOf(node)).length;

const drawnNow = (node) => checkVisibility(node, visibilityOptions);

/** nameWeight is what id and class say for or against being content. */
function nameWeight(node) {
  const words = (idOf(node) || '') + ' ' + (attributeOf(node, 'class') || '');
  if (words === ' ') return 0;
  return (badNames.test(words) ? -25 : 0) + (goodNames.test(words) ? 25 : 0);
}

/** linkDensity is the part of an element's text that is links. */
function linkDensity(node) {
  const all = norm(textOf(node)).length;
  if (all === 0) return 0;
  let linked = 0;
  for (const link of queryIn(node, 'a[href]'))
    linked += norm(textOf(link)).length * ((attributeOf(link, 'href') || '').startsWith('#') ? 0.3 : 1);
  return Math.min(1, linked / all);
}

const initialWeight = {
  article: 8, section: 4, div: 5, main: 10, pre: 3, td: 3, blockquote: 3, form: -3, ul: -3, ol: -3, dl: -3, address: -3,
  th: -5
};

/**
 * contentRoot is the element that holds the page's content: what the page says
 * is main, or else where its paragraphs are. It is the body when nothing stands
 * out: a list of results, an application.
 */
function contentRoot() {
  const body = bodyOf() || rootElement();
  if (!body) return { root: null, why: 'empty' };
  const whole = drawnLength(body);
  const mains = queryIn(document, 'main, [role=main]').filter(drawnNow);
  if (mains.length === 1 && drawnLength(mains[0]) >= Math.min(200, whole / 4)) return { root: mains[0], why: 'main' };
  const articles = queryIn(document, 'article, [role=article]').filter(
    (node) =>
      drawnNow(node) && !closestCSS(parentElementOf(node) || node, 'article, [role=article], aside, nav, footer')
  );
  if (articles.length === 1 && drawnLength(articles[0]) >= Math.max(200, whole / 3))
    return { root: articles[0], why: 'article' };
  const scores = new Map();
  const add = (node, points) => {
    if (!node || node === rootElement()) return;
    if (!scores.has(node)) scores.set(node, (initialWeight[tagOf(node)] || 0) + nameWeight(node));
    scores.set(node, scores.get(node) + points);
  };
  let seen = 0;
  for (const node of queryIn(body, 'p, pre, td, blockquote, h2 + div, section > div')) {
    if (++seen > 5000) break;
    if (
      closestCSS(node, 'nav, aside, footer, [role=navigation], [role=complementary], [role=contentinfo]') ||
      !drawnNow(node)
    )
      continue;
    const text = norm(textOf(node));
    if (text.length < 25) continue;
    const points = 1 + text.split(/[,،、，]/).length - 1 + Math.min(Math.floor(text.length / 100), 3);
    let at = parentElementOf(node);
    for (let level = 0; at && level < 5; level++, at = parentElementOf(at))
      add(at, level === 0 ? points : level === 1 ? points / 2 : points / (level * 3));
  }
  let best = null;
  let most = 0;
  for (const [node, score] of scores) {
    const final = score * (1 - linkDensity(node));
    if (final > most) {
      most = final;
      best = node;
    }
  }
  if (!best || most < 20) return { root: body, why: 'body' };
  // What is written in several places beside each other belongs together.
  const parent = parentElementOf(best);
  if (parent && parent !== body) {
    let beside = 0;
    for (let at = firstElementOf(parent); at; at = nextElementOf(at))
      if (at !== best && (scores.get(at) || 0) * (1 - linkDensity(at)) >= Math.max(10, most * 0.2)) beside++;
    if (beside > 0) best = parent;
  }
  if (drawnLength(best) < whole * 0.3) return { root: body, why: 'body' };
  return { root: best, why: 'paragraphs' };
}

const nextElementOf = getterOf(Element.prototype, 'nextElementSibling');
