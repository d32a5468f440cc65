// extract_rows answers rows and columns, however they are drawn: tables of data, tables that lay out, lists of
// definitions, grids of boxes. All have one form: as Markdown a table, as text lines with tabs, or data.

const mostCell = 300; // characters of a cell of what is no table of data
const mostSpan = 50;

/** writeTable writes rows as the walk wants them. One that collects keeps them as data. */
function writeTable(walk, ctx, { node, kind, head, lines, of }) {
  if (walk.tables !== null && !ctx.inRows) {
    walk.tables.push({ ref: refOf(node), kind, head, rows: lines, of: of || 0 });
    return [];
  }
  if (walk.plain) {
    const all = head.length > 0 ? [head, ...lines] : lines;
    return [all.map((row) => row.join('\t').trimEnd()).join('\n')];
  }
  const width = lines.reduce((most, row) => Math.max(most, row.length), head.length);
  const line = (row) =>
    '| ' + Array.from({ length: width }, (_, i) => (row[i] ?? '').replace(/\|/g, '\\|')).join(' | ') + ' |';
  return [[line(head), '|' + ' --- |'.repeat(width), ...lines.map(line)].join('\n')];
}

/** spannedRows are the texts of cells in their columns: a cell that spans several has its text in the first. */
function spannedRows(rows, textOfCell) {
  const held = []; // rows that a cell from above still takes, by column
  const lines = rows.map((row) => {
    const line = [];
    const blank = () => {
      while (held[line.length] > 0) {
        held[line.length]--;
        line.push('');
      }
    };
    for (const cell of row) {
      blank();
      const down = Math.min(protoGet(cell, 'rowSpan') || 1, 1000) - 1;
      const span = Math.min(mostSpan, protoGet(cell, 'colSpan') || 1);
      for (let i = 0; i < span; i++) {
        held[line.length] = down;
        line.push(i === 0 ? textOfCell(cell) : '');
      }
    }
    blank();
    return line;
  });
  const width = lines.reduce((most, line) => Math.max(most, line.length), 0);
  for (const line of lines) while (line.length < width) line.push('');
  return lines;
}

/** oneLiner: the blocks of a cell are at most one line of text, so that the cell can stand in a row. */
const oneLiner = (blocks) =>
  blocks.length === 0 ||
  (blocks.length === 1 && blocks[0].length <= mostCell && !/\n|^(?:#{1,6} |> |```|\| |[-*] )/.test(blocks[0]));

/**
 * layoutRows reads a table that lays out. Rows of several short cells are rows; what is in a cell with more is read
 * as if there were no table.
 */
function layoutRows(walk, node, rows, ctx) {
  const blocks = [];
  const inner = { ...ctx, depth: ctx.depth + 1 };
  let run = [];
  const end = () => {
    if (run.length > 1) blocks.push(...writeTable(walk, ctx, { node, kind: 'table', head: [], lines: run }));
    else if (run.length > 0 && walk.plain) blocks.push(run[0].join('\t').trimEnd());
    else for (const row of run) blocks.push(...row.filter((text) => text !== ''));
    run = [];
  };
  for (const row of rows) {
    const parts = row.filter((cell) => walk.wanted(cell, 'td')).map((cell) => walk.flow(cell, inner));
    const said = parts.filter((part) => part.length > 0).length;
    if (said >= 2 && parts.every(oneLiner)) run.push(parts.map((part) => part[0] ?? ''));
    else if (said > 0) {
      end();
      for (const part of parts) blocks.push(...part);
    }
  }
  end();
  return blocks;
}

/** definitionRows are the pairs of a list of definitions as rows, null where one of them is longer than a line. */
function definitionRows(walk, node, ctx) {
  const pairs = [];
  const read = (parent, depth) => {
    for (const child of walk.drawn(parent)) {
      if (nodeType(child) !== 1) continue;
      const tag = tagOf(child);
      if (tag === 'div' && depth === 0) {
        if (!read(child, 1)) return false;
        continue;
      }
      if (tag !== 'dt' && tag !== 'dd') continue;
      if (!drawnNow(child)) continue;
      if (queryIn(child, 'p + p, ul, ol, table, pre, blockquote, dl, h1, h2, h3, h4, h5, h6').length > 0) return false;
      if (norm(textOf(child)).length > mostCell) return false;
      const last = pairs[pairs.length - 1];
      if (tag === 'dt') {
        if (last && last.is.length === 0) last.terms.push(child);
        else pairs.push({ terms: [child], is: [] });
      } else if (last) last.is.push(child);
      else return false;
    }
    return true;
  };
  if (!read(node, 0) || pairs.length < 2 || pairs.every(({ is }) => is.length === 0)) return null;
  const said = (cells) => cells.map((cell) => walk.cell(cell, { ...ctx, heavy: true })).filter((text) => text !== '');
  const lines = pairs.map(({ terms, is }) => [said(terms).join(', '), said(is).join('; ')]);
  return writeTable(walk, ctx, { node, kind: 'table', head: [], lines });
}

const mostDrawnRows = 5000;
const tallestRow = 160; // CSS pixels
const cellsOfBlocks = 'h1, h2, h3, h4, h5, h6, ul, ol, table, pre, blockquote, dl, article, form, iframe, p + p';

/** boxesIn are the element children of a node that have a box; null where it has a text of its own. */
function boxesIn(node) {
  const found = [];
  for (const child of flatChildren(node)) {
    const type = nodeType(child);
    if (type === 3 && norm(nodeValueOf(child)) !== '') return null;
    if (type !== 1 || silentTags.has(tagOf(child)) || !drawnNow(child)) continue;
    found.push(child);
    if (found.length > mostDrawnRows) return null;
  }
  return found;
}

/** besideEachOther: boxes stand in one line, one after the other. */
function besideEachOther(boxes) {
  const rects = boxes.map(rectOf);
  return rects.every((rect, i) => {
    if (rect.height > tallestRow) return false;
    const before = rects[i - 1];
    return !before || rect.left >= before.right - 2 && rect.top < before.bottom && before.top < rect.bottom;
  });
}

/** rowsOfBoxes are the rows below a node, each the boxes of its cells; parts of a grid may hold some of them. */
function rowsOfBoxes(children, deep) {
  const rows = [];
  for (const child of children) {
    if (inlineMarks[tagOf(child)] || wholeTags.has(tagOf(child)) || tagOf(child) === 'a') return null;
    const cells = boxesIn(child);
    if (!cells || cells.length === 0) return null;
    if (cells.length >= 2 && cells.length <= mostSpan && besideEachOther(cells)) rows.push(cells);
    else {
      const inner = deep ? rowsOfBoxes(cells, false) : null;
      if (!inner) return null;
      rows.push(...inner);
    }
  }
  return rows;
}

/** alignedRows: rows have the same columns, and stand below each other. */
function alignedRows(rows) {
  const first = rows[0].map(rectOf);
  let bottom = -Infinity;
  for (const row of rows) {
    if (row.length !== first.length) return false;
    const rects = row.map(rectOf);
    const fits = rects.every(
      (rect, i) => Math.abs(rect.left - first[i].left) <= 3 || Math.abs(rect.right - first[i].right) <= 3
    );
    if (!fits || rects[0].top < bottom - 2) return false;
    bottom = Math.max(...rects.map((rect) => rect.bottom)) - 1;
  }
  return true;
}

/** linesOfGrid groups the children of a CSS grid by the line that they stand in. */
function linesOfGrid(children, style) {
  if (!/grid$/.test(style.display) || children.length < 6) return null;
  const columns = style.gridTemplateColumns.split(' ').length;
  if (columns < 2 || children.length % columns !== 0) return null;
  const rows = [];
  for (let i = 0; i < children.length; i += columns) rows.push(children.slice(i, i + columns));
  return rows.every(besideEachOther) ? rows : null;
}

const gridTags = new Set(['div', 'section', 'ul', 'main', 'form', 'fieldset', 'article', 'span']);

/** drawnRows reads boxes that stand in rows and columns without saying so, null for what is no such grid. */
function drawnRows(walk, node, tag, style, ctx) {
  if (!gridTags.has(tag) && !tag.includes('-') || ctx.inRows || style === null || ctx.depth > 100) return null;
  const children = boxesIn(node);
  if (!children || children.length < 2) return null;
  const rows = rowsOfBoxes(children, true) || linesOfGrid(children, style);
  if (!rows || rows.length < 2 || rows.length * rows[0].length < 6 || !alignedRows(rows)) return null;
  const cells = rows.flat();
  const simple = cells.every(
    (cell) =>
      norm(textOf(cell)).length <= mostCell &&
      queryIn(cell, cellsOfBlocks).length === 0 &&
      !matchesCSS(cell, cellsOfBlocks)
  );
  if (!simple || cells.filter((cell) => norm(textOf(cell)) !== '').length * 2 < cells.length) return null;
  if (cells.filter((cell) => walk.main && isChrome(cell, tagOf(cell), styleOf(cell))).length > 0) return null;
  const read = (cell) => {
    const control = walk.refs ? controlMark(walk, cell, tagOf(cell), styleOf(cell), ctx) : null;
    if (control !== null) return control;
    if (tagOf(cell) === 'a') return walk.link(cell, walk.cell(cell, ctx));
    if (/^(?:img|input|select|textarea)$/.test(tagOf(cell))) return walk.inline(cell, tagOf(cell), ctx).trim();
    return walk.wanted(cell, tagOf(cell)) ? walk.cell(cell, ctx) : '';
  };
  const lines = rows.map((row) => row.map(read));
  const headed = rows[0].every(isHeavy) && !rows[1].every(isHeavy) && lines[0].every((text) => text !== '');
  const head = headed ? lines.shift().map((text) => text.replace(/^\*\*(.*)\*\*$/, '$1')) : [];
  return writeTable(walk, ctx, { node, kind: 'table', head, lines });
}

/** collectList keeps the items of a list, each on one line, and then the lists and tables in them. */
function collectList(walk, node, ctx) {
  const rows = [];
  if (closestCSS(node, pagerPlaces) !== null) return [];
  for (const child of walk.drawn(node)) {
    if (nodeType(child) !== 1 || !walk.wanted(child, tagOf(child))) continue;
    const text = walk.oneLine(child, { ...ctx, depth: ctx.depth + 1, inRows: true });
    if (text !== '') rows.push([text]);
  }
  if (rows.length > 0) walk.tables.push({ ref: refOf(node), kind: 'list', head: [], rows, of: 0 });
  return [];
}

/** page_tables answers the tables and lists of this document, or of a part of it, as data, and its frames. */
queries.page_tables = ({ ref, locator, refs, links, time_ms }) => {
  let root;
  let why = 'part';
  if (ref !== undefined) root = elementOfRef(ref);
  else if (locator !== undefined) root = drawnPart(locator);
  else ({ root, why } = contentRoot());
  if (!root) return { tables: [], frames: [], stopped: false, hosts: [], more_hosts: false, next: null };
  const options = { plain: false, links: links === true, images: false, refs: refs === true, collect: true };
  let walk = new MarkdownWalk({ ...options, main: why !== 'part', time: time_ms });
  joined(walk, root);
  if (walk.tables.length === 0 && why !== 'part' && why !== 'body') {
    walk = new MarkdownWalk({ ...options, main: true, time: time_ms });
    joined(walk, bodyOf() || root);
  }
  return {
    tables: walk.tables,
    frames: walk.frames,
    stopped: walk.stopped,
    hosts: takeHosts(walk.hosts),
    more_hosts: walk.hosts.size >= maxHosts,
    next: nextPage(root)
  };
};

/** What the control is called that leads to the next page, in the languages of large sites. */
const nextWords = new RegExp(
  '^(?:next(?: page)?|go to (?:the )?next page|older(?: entries)?|weiter|nächste(?: seite)?|suivante?|siguiente|' +
    'próxim[oa]|successiv[oa]|volgende|nästa|neste|næste|seuraava|następn[ay]|další|далее|следующая|' +
    '下一页|下一頁|次へ|次のページ|다음)(?:\\s*[›»→>▶]+)?$',
  'iu'
);
const nextSigns = /^(?:[›»→▶❯⟩]|>{1,2})$/u;
const pagerPlaces =
  'nav, [class*="pagin" i], [class*="pager" i], [aria-label*="pagin" i], [aria-label*="pages" i], [role="navigation"]';

/** nextPage is the control that leads to the next page of a list, null without one that can be used. */
function nextPage(root) {
  const found = [];
  const places = [root, ...(root === bodyOf() ? [] : [bodyOf() || root])];
  for (const place of places) {
    for (const node of queryIn(place, 'a, button, [role="button"], [role="link"], input[type="submit"], li[title]')) {
      if (!drawnNow(node)) continue;
      const rel = /(?:^|\s)next(?:\s|$)/i.test(attributeOf(node, 'rel') || '');
      const name = norm(safeName(node) || attributeOf(node, 'title'));
      const pager = closestCSS(node, pagerPlaces) !== null;
      if (!rel && !nextWords.test(name) && !(pager && (nextSigns.test(name) || /\bnext\b/i.test(name)))) continue;
      if (!rel && !pager && !/next|older|下|次/i.test(name)) continue;
      found.push(node);
    }
    if (found.length > 0) break;
  }
  const off = (node) =>
    isDisabled(node) ||
    closestCSS(node, '[aria-disabled="true"], .disabled, .is-disabled, [disabled]') !== null ||
    /(?:^|[\s_-])disabled(?:$|\s)/.test(attributeOf(node, 'class') || '');
  if (found.length === 0) return null;
  const usable = found.filter((node) => !off(node));
  if (usable.length === 0) return { last: true };
  return { ref: refOf(usable[0]), name: cut(norm(safeName(usable[0])) || norm(textOf(usable[0])), 60) };
}
