// extract_markdown answers the content of a page, as Markdown or as plain text:
// headings, paragraphs, lists, tables, code, links and quotes in the order in
// which they are drawn, shadow roots included. What is not drawn is left out.

const inlineMarks = { strong: '**', b: '**', em: '*', i: '*', del: '~~', s: '~~', strike: '~~' };
const silentTags = new Set([
  'script', 'style', 'template', 'noscript', 'head', 'meta', 'link', 'base', 'title', 'svg', 'canvas', 'datalist',
  'source', 'track', 'param', 'col', 'colgroup', 'rp', 'object', 'embed', 'map', 'area'
]);
const controlTags = new Set(['button', 'input', 'select', 'textarea', 'progress', 'meter']);
const maxExtract = 24e6; // characters of one document

/** escaped keeps text from being read as Markdown. */
const escaped = (text) =>
  text.replace(
    /[\\`]|\*(?=\S)|(?<=\S)\*|(?<![\p{L}\p{N}])_(?=\S)|(?<=\S)_(?![\p{L}\p{N}])|<(?=[a-zA-Z/!?])|\](?=[(\[:])|~(?=~)/gu,
    '\\$&'
  );

/** blockStart keeps the beginning of a block from being read as a heading, a list or a quote. */
const blockStart = (text) =>
  text
    .replace(/^(#{1,6}(?=\s|$)|[-+](?=\s|$)|>|=+$|-{3,}$|```|~~~)/, '\\$1')
    .replace(/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2');

const collapse = (text) => text.replace(/[\t\n\f\r ]+/g, ' ');

/** trimmed puts marks around text, its outer spaces outside. */
function marked(text, mark) {
  const inner = text.trim();
  if (inner === '') return text;
  const start = text.slice(0, text.indexOf(inner));
  const end = text.slice(start.length + inner.length);
  return start + mark + inner + mark + end;
}

const gridRoles = /^(?:table|grid|treegrid)$/;
const cellSelector = '[role="gridcell"], [role="cell"], [role="columnheader"], [role="rowheader"]';

/** closestAcross is the nearest element around one whose role attribute fits, shadow hosts included. */
function closestAcross(node, roles) {
  for (let at = flatParentElement(node); at; at = flatParentElement(at))
    if (roles.test(attributeOf(at, 'role') || '')) return at;
  return null;
}

/** MarkdownWalk turns drawn elements into blocks of text. */
class MarkdownWalk {
  constructor({ plain, main, links, images, refs, last, collect, time }) {
    this.plain = plain;
    this.main = main;
    this.links = links && !plain;
    this.refs = refs && !plain; // what can be acted on is marked
    this.later = last ? [] : null; // chrome, which is read after the rest
    this.skip = null; // an element that was read already
    this.tables = collect ? [] : null; // tables and lists as data
    this.images = images;
    this.frames = [];
    this.around = null; // rows of a grid that were written already
    this.hosts = new Set(); // that may have a closed shadow root
    this.deadline = performance.now() + time;
    this.count = 0;
    this.size = 0;
    this.stopped = false;
  }

  /** drawn lists what is drawn inside a node. */
  drawn(node) {
    return shadowOf(node) || tagOf(node) === 'slot' ? flatChildren(node) : childNodesOf(node);
  }

  /** style is the style of an element that is drawn and wanted, or null. */
  wanted(node, tag) {
    if (silentTags.has(tag) && !showsDocument(node) || this.around !== null && this.around.has(node)) return null;
    if ((++this.count & 255) === 0 && performance.now() > this.deadline || this.size > maxExtract) this.stopped = true;
    if (this.stopped || node === this.skip) return null;
    const style = getComputedStyle(node);
    if (style.display === '') this.hides(parentElementOf(node));
    if (style.display === 'none' || style.display === '') return null;
    if (!drawnAtAll(node)) return null;
    if (!this.plain && attributeOf(node, 'aria-hidden') === 'true') return null;
    if (this.main && isChrome(node, tag, style)) return null;
    if (!this.plain && !this.refs && controlTags.has(tag)) return null;
    if (this.later !== null && isChrome(node, tag, style)) {
      this.later.push(node);
      return null;
    }
    if (!shadowOf(node) && mayHideShadow(node, tag)) this.hides(node);
    return style;
  }

  hides(node) {
    if (node && this.hosts.size < maxHosts && !memory.examinedHosts.has(node)) this.hosts.add(node);
  }

  text(value) {
    const text = collapse(value);
    this.size += text.length;
    return this.plain ? text : escaped(text);
  }

  /** flow turns the contents of a node into blocks. */
  flow(node, ctx) {
    const blocks = [];
    let line = '';
    const end = () => {
      const text = line.replace(/ *\n */g, '\n').replace(/ {2,}/g, ' ').trim();
      line = '';
      if (text === '') return;
      const shown = this.plain || ctx.raw ? text : blockStart(text);
      blocks.push(ctx.lineMark && !shown.includes('\n') ? marked(shown, ctx.lineMark) : shown);
    };
    const visit = (parent) => {
      for (const child of this.drawn(parent)) {
        const type = nodeType(child);
        if (type === 3) {
          if (!ctx.unseen && showsOwnText(parent)) line += ctx.pre ? nodeValueOf(child) : this.text(nodeValueOf(child));
          continue;
        }
        if (type !== 1) continue;
        const tag = tagOf(child);
        if (tag === 'br') {
          line += '\n';
          continue;
        }
        if (!readable(child, () => visitElement(child, tag), false)) line += ' ' + unreadText + ' ';
      }
    };
    const visitElement = (child, tag) => {
      const style = this.wanted(child, tag);
      if (!style) return true;
      const control = this.refs ? controlMark(this, child, tag, style, ctx) : null;
      if (control !== null) {
        line += style.display.startsWith('inline') ? control : ' ' + control + ' ';
      } else if (style.display === 'contents') {
        visit(child);
      } else if (
        style.display.startsWith('inline') &&
        tag !== 'pre' &&
        tag !== 'iframe' &&
        tag !== 'object' &&
        tag !== 'embed' &&
        !this.holdsBlocks(child, tag)
      ) {
        const text = this.inline(child, tag, ctx);
        line += style.display === 'inline' ? text : text.trim() === '' ? text : ' ' + text + ' ';
      } else if (ctx.depth < 400) {
        end();
        for (const block of this.block(child, tag, style, { ...ctx, depth: ctx.depth + 1 })) blocks.push(block);
      } else {
        line += this.text(textOf(child));
      }
      return true;
    };
    visit(node);
    end();
    return blocks;
  }

  /** holdsBlocks: an inline element has something of blocks in it. */
  holdsBlocks(node, tag) {
    if (tag === 'img' || tag === 'code') return false;
    return queryIn(
      node,
      'p, div, ul, ol, table, pre, h1, h2, h3, h4, h5, h6, blockquote, section, article, iframe'
    ).some((inner) => !getComputedStyle(inner).display.startsWith('inline') && drawnNow(inner));
  }

  /** inline turns an inline element into text with marks. */
  inline(node, tag, ctx) {
    if (tag === 'img') return this.image(node);
    if (tag === 'math') return this.formula(node);
    if (tag === 'input' || tag === 'select' || tag === 'textarea') return this.control(node, tag);
    if (tag === 'video' || tag === 'audio') return this.plain ? '' : '[' + tag + ']';
    if (ctx.depth > 400) return this.text(textOf(node));
    const marks = this.plain || ctx.unmarked ? [] : emphasis(node, tag, ctx);
    const inside = { ...ctx, depth: ctx.depth + 1, raw: true, lineMark: '', marks: [ctx.marks, ...marks].join(' ') };
    if (!this.plain && (tag === 'code' || tag === 'kbd' || tag === 'samp')) {
      const text = norm(this.lines(node));
      if (text === '') return '';
      const fence = '`'.repeat(1 + Math.max(0, ...[...text.matchAll(/`+/g)].map((run) => run[0].length)));
      const space = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
      this.size += text.length;
      return fence + space + text + space + fence;
    }
    let text = this.spaced(node, inside);
    if (tag === 'a') text = this.link(node, text);
    if (marks.length > 0) return marks.reduceRight(marked, text);
    if (tag === 'a') return text;
    if (!this.plain && tag === 'q') return '“' + text.trim() + '”';
    if (tag === 'sup' && !this.plain && /^\s*\d+\s*$/.test(text)) return '^' + text.trim();
    return text;
  }

  /** spaced is flow for inline contents: one run, outer spaces kept. */
  spaced(node, ctx) {
    const blocks = this.flow(node, ctx);
    if (blocks.length === 0) return /^\s+$/.test(textOf(node)) ? ' ' : '';
    const own = textOf(node);
    return (/^\s/.test(own) ? ' ' : '') + blocks.join(' ') + (/\s$/.test(own) ? ' ' : '');
  }

  link(node, text) {
    let shown = text.trim();
    if (this.plain || !this.links && !this.refs) return text;
    if (/^[#¶§]$/.test(shown)) return '';
    if (shown === '') shown = escaped(norm(attributeOf(node, 'aria-label')) || norm(attributeOf(node, 'title')));
    if (shown === '') return '';
    const target = this.target(node);
    if (target === '') return text;
    const start = /^\s/.test(text) ? ' ' : '';
    const end = /\s$/.test(text) ? ' ' : '';
    return start + '[' + shown.replace(/\n+/g, ' ') + ']' + target + end;
  }

  /** target is what follows the text of a link: its address, or where those are not wanted its ref. */
  target(node) {
    if (this.links) {
      const url = this.address(protoGet(node, 'href'));
      return url === '' ? '' : '(' + url + ')';
    }
    if (!this.refs || !hasAttribute(node, 'href')) return '';
    return '[' + refOf(node) + (isDisabled(node) ? ' disabled' : '') + ']';
  }

  /** address is a URL that can be reported, '' for one that runs script or holds data. */
  address(url) {
    if (
      typeof url !== 'string' ||
      url === '' ||
      !/^(?:https?|mailto|tel|ftp|file|about):/i.test(url) ||
      url.length > 2000
    )
      return '';
    const here = documentURLOf(document).replace(/#.*$/, '');
    const whole = withoutUser(url);
    const shown = whole.startsWith(here + '#') ? whole.slice(here.length) : whole;
    return shown.replace(/[\s()<>\\]/g, (c) => '%' + c.charCodeAt(0).toString(16).padStart(2, '0'));
  }

  image(node) {
    const alt = norm(attributeOf(node, 'alt'));
    if (this.plain) return '';
    const url = this.images ? this.address(protoGet(node, 'currentSrc') || protoGet(node, 'src')) : '';
    if (alt === '' && url === '') return '';
    return '![' + escaped(alt) + ']' + (url ? '(' + url + ')' : '');
  }

  formula(node) {
    const tex = queryIn(node, 'annotation[encoding="application/x-tex"]')[0];
    const text = norm(tex ? textOf(tex) : attributeOf(node, 'alttext') || textOf(node));
    return this.plain || text === '' ? text : '$' + text + '$';
  }

  /** control is what plain text shows of a control: never what a password field holds. */
  control(node, tag) {
    if (tag === 'select') return norm(selectedOf(node).map((option) => protoGet(option, 'label')).join(', '));
    if (tag === 'textarea') return protoGet(node, 'value') || '';
    const type = protoGet(node, 'type');
    return /^(?:text|search|email|tel|url|number|submit|button|reset|date|time|month|week|datetime-local)$/.test(type)
      ? String(protoGet(node, 'value') || '')
      : '';
  }

  /** block turns a block into the blocks of its text. */
  block(node, tag, style, ctx) {
    switch (tag) {
      case 'hr': return this.plain ? [] : ['---'];
      case 'pre': return this.code(node);
      case 'img': case 'math': case 'video': case 'audio': case 'input': case 'select': case 'textarea': {
        const text = this.inline(node, tag, ctx).trim();
        return text === '' ? [] : [text];
      }
      case 'iframe': case 'frame': return this.frame(node);
      case 'object': case 'embed': return this.frame(node);
      case 'table': return this.table(node, ctx);
      case 'code': case 'kbd': case 'samp': {
        const text = this.inline(node, tag, ctx);
        return text === '' ? [] : [text];
      }
    }
    if (gridRoles.test(attributeOf(node, 'role') || '')) {
      const blocks = this.grid(node, ctx);
      if (blocks) return blocks;
    }
    if (tag === 'dl') {
      const blocks = definitionRows(this, node, ctx);
      if (blocks) return blocks;
    }
    const drawn = drawnRows(this, node, tag, style, ctx);
    if (drawn) return drawn;
    const listed = /^(?:ul|ol|menu)$/.test(tag) || /^(?:list|listbox)$/.test(attributeOf(node, 'role') || '');
    if (this.plain && !(listed && this.tables !== null)) return this.flow(node, ctx);
    if (listed) return this.list(node, tag === 'ol', ctx);
    const heading = /^h([1-6])$/.exec(tag);
    if (heading || attributeOf(node, 'role') === 'heading') {
      const text = this.oneLine(node, { ...ctx, unmarked: true });
      const level = heading
        ? Number(heading[1])
        : Math.min(6, Math.max(1, Number(attributeOf(node, 'aria-level')) || 2));
      return text === '' ? [] : ['#'.repeat(level) + ' ' + text];
    }
    switch (tag) {
      case 'li': return this.item(node, '- ', ctx);
      case 'blockquote': {
        const blocks = this.flow(node, ctx);
        return blocks.length === 0
          ? []
          : [
              blocks
                .join('\n\n')
                .split('\n')
                .map((line) => (line === '' ? '>' : '> ' + line))
                .join('\n')
            ];
      }
      case 'a': return this.card(node, ctx);
      case 'dt': case 'summary': {
        const text = this.oneLine(node, { ...ctx, marks: ctx.marks + ' **', heavy: true });
        return text === '' ? [] : ['**' + text + '**'];
      }
      case 'dd': {
        const blocks = this.flow(node, ctx);
        return blocks.length === 0 ? [] : [indent(blocks.join('\n\n'), ': ')];
      }
      case 'figcaption': case 'caption': {
        const text = this.oneLine(node, { ...ctx, marks: ctx.marks + ' *', slanted: true });
        return text === '' ? [] : ['*' + text + '*'];
      }
    }
    return this.flow(node, boldBlock(node, style, ctx));
  }

  /** oneLine is the text of a heading or a cell. */
  oneLine(node, ctx) {
    return this.flow(node, { ...ctx, raw: true, lineMark: '' }).join(' ').replace(/\s*\n\s*/g, ' ').trim();
  }

  /** card is a link around blocks: the heading in it, or else its first line, carries the address. */
  card(node, ctx) {
    const blocks = this.flow(node, ctx);
    const target = this.target(node);
    if (target === '' || blocks.length === 0) return blocks;
    let at = blocks.findIndex((block) => /^#{1,6} /.test(block));
    if (at < 0)
      at = blocks.findIndex((block) => !block.includes('\n') && !/^[>|`-]/.test(block) && !block.includes(']('));
    if (at < 0) return blocks;
    const [, start, text] = /^(#{1,6} )?(.*)$/s.exec(blocks[at]);
    blocks[at] = (start || '') + '[' + text + ']' + target;
    return blocks;
  }

  /** lines is the text of code as it is written, as far as it is drawn. */
  lines(node) {
    let text = '';
    const read = (at, depth) => {
      if (depth > deepestName) {
        text += textOf(at);
        return;
      }
      const shown = showsOwnText(at);
      for (const child of this.drawn(at)) {
        if (nodeType(child) === 3) text += shown ? nodeValueOf(child) : '';
        else if (nodeType(child) === 1 && tagOf(child) === 'br') text += '\n';
        else if (nodeType(child) === 1 && !unwritten(child) && drawnAtAll(child)) read(child, depth + 1);
      }
    };
    read(node, 0);
    return text;
  }

  code(node) {
    let text = this.lines(node);
    text = text.replace(/\r\n?/g, '\n').replace(/^\n+|\s+$/g, '');
    if (text === '') return [];
    this.size += text.length;
    if (this.plain) return [text];
    const code = queryIn(node, 'code')[0];
    const named = [node, code, parentElementOf(node)]
      .map(
        (each) =>
          each &&
          /(?:^|\s)(?:language|lang|highlight-source|brush:)[-: ]?([\w+#-]{1,20})/.exec(
            attributeOf(each, 'class') || ''
          )
      )
      .find(Boolean);
    const fence = '`'.repeat(Math.max(3, 1 + Math.max(0, ...[...text.matchAll(/`+/g)].map((run) => run[0].length))));
    return [fence + (named ? named[1] : '') + '\n' + text + '\n' + fence];
  }

  list(node, ordered, ctx) {
    if (this.tables !== null && !ctx.inRows) return collectList(this, node, ctx);
    const lines = [];
    let number = ordered ? protoGet(node, 'start') ?? 1 : 0;
    let loose = false;
    for (const child of this.drawn(node)) {
      if (nodeType(child) !== 1) continue;
      const tag = tagOf(child);
      const style = this.wanted(child, tag);
      if (!style) continue;
      if (tag !== 'li' && !/^(?:listitem|option)$/.test(attributeOf(child, 'role') || '')) {
        const blocks = this.block(child, tag, style, { ...ctx, depth: ctx.depth + 1 });
        if (blocks.length > 0)
          lines.push(lines.length > 0 ? indent(blocks.join('\n\n'), '  ', '  ') : blocks.join('\n\n'));
        continue;
      }
      if (ordered && hasAttribute(child, 'value')) number = protoGet(child, 'value');
      const item = this.item(child, ordered ? number + '. ' : '- ', { ...ctx, depth: ctx.depth + 1 });
      if (item.length === 0) continue;
      number++;
      if (item[0].includes('\n\n')) loose = true;
      lines.push(item[0]);
    }
    return lines.length === 0 ? [] : [lines.join(loose ? '\n\n' : '\n')];
  }

  item(node, marker, ctx) {
    if (ctx.depth > 400) return [];
    const box = firstElementOf(node);
    const tick =
      box && tagOf(box) === 'input' && protoGet(box, 'type') === 'checkbox'
        ? protoGet(box, 'checked')
          ? '[x] '
          : '[ ] '
        : '';
    const blocks = this.flow(node, ctx);
    if (blocks.length === 0) return [];
    // A list directly below the text of its item needs no empty line.
    let text = blocks[0];
    for (let i = 1; i < blocks.length; i++) text += (/^(?:[-*] |\d+\. )/.test(blocks[i]) ? '\n' : '\n\n') + blocks[i];
    return [indent(text, marker + tick, ' '.repeat(marker.length))];
  }

  /** table is a table of data as rows; one that only lays out is read cell by cell. */
  table(node, ctx) {
    const role = explicitRole(node);
    const rows = Array.from(protoGet(node, 'rows') || []).filter(
      (row) => drawnNow(row) && !(this.around !== null && this.around.has(row))
    );
    const cells = rows.map((row) => Array.from(protoGet(row, 'cells') || []).filter((cell) => drawnNow(cell)));
    const width = cells.reduce(
      (most, row) =>
        Math.max(
          most,
          row.reduce((sum, cell) => sum + Math.min(50, protoGet(cell, 'colSpan') || 1), 0)
        ),
      0
    );
    const layout =
      role === 'none' ||
      (role !== '' && role !== 'table' && role !== 'grid' && role !== 'treegrid') ||
      width < (this.tables !== null && queryIn(node, 'th').length > 0 ? 1 : 2) ||
      queryIn(node, 'table').length > 0 ||
      (rows.length < 2 && queryIn(node, 'th').length === 0);
    const caption = queryIn(node, ':scope > caption')[0];
    const out = [];
    if (caption && this.wanted(caption, 'caption'))
      out.push(...this.block(caption, 'caption', null, { ...ctx, depth: ctx.depth + 1 }));
    if (layout) return out.concat(layoutRows(this, node, cells, ctx));
    const first = cells[0];
    const headed =
      first.length > 0 &&
      (first.every((cell) => tagOf(cell) === 'th') || tagOf(parentElementOf(rows[0]) || rows[0]) === 'thead');
    const lines = spannedRows(cells, (cell) => this.cell(cell, ctx));
    const head = headed ? lines.shift() : [];
    return out.concat(writeTable(this, ctx, { node, kind: 'table', head, lines }));
  }

  /** cell is the text of a cell, on one line. What the head of a table makes heavy is no emphasis. */
  cell(node, ctx) {
    const head = tagOf(node) === 'th' || /header$/.test(attributeOf(node, 'role') || '');
    const bold = !ctx.heavy && !head && !this.plain && isHeavy(node) && norm(textOf(node)).length <= mostBold;
    const text = this.oneLine(node, {
      ...ctx,
      depth: ctx.depth + 1,
      inRows: true,
      heavy: ctx.heavy || head || bold,
      marks: bold ? ctx.marks + ' **' : ctx.marks
    });
    return bold ? marked(text, '**') : text;
  }

  /**
   * grid is a table that is drawn with other elements than those of tables, or with
   * several: parts that stand still have rows of their own with the same index. null
   * when it has no two columns.
   */
  grid(node, ctx) {
    const inside = (selector, around) => withShadows(around).flatMap((root) => Array.from(queryIn(root, selector)));
    const rows = inside('[role="row"]', node).filter((row) => drawnNow(row) && closestAcross(row, gridRoles) === node);
    if (rows.length < 2) return null;
    let lines = rows
      .map((row) => ({
        index: Number(attributeOf(row, 'aria-rowindex')) || 0,
        cells: inside(cellSelector, row)
          .filter((cell) => drawnNow(cell) && closestAcross(cell, /^row$/) === row)
          .map((cell) => ({
            cell,
            head: attributeOf(cell, 'role') === 'columnheader',
            index: Number(attributeOf(cell, 'aria-colindex')) || 0
          }))
      }))
      .filter(({ cells }) => cells.length > 0);
    if (lines.every(({ index }) => index > 0)) {
      const byIndex = new Map();
      for (const line of lines) {
        const known = byIndex.get(line.index);
        if (!known) byIndex.set(line.index, line);
        else
          for (const each of line.cells)
            if (each.index === 0 || !known.cells.some(({ index }) => index === each.index)) known.cells.push(each);
      }
      lines = [...byIndex.values()].sort((a, b) => a.index - b.index);
    }
    const columns = lines.every(({ cells }) => cells.every(({ index }) => index > 0))
      ? [...new Set(lines.flatMap(({ cells }) => cells.map(({ index }) => index)))].sort((a, b) => a - b)
      : null;
    const width = columns ? columns.length : Math.max(...lines.map(({ cells }) => cells.length));
    if (width < 2 || lines.length < 2) return null;
    const texts = lines.map(({ cells }) => {
      const line = new Array(width).fill('');
      cells.forEach((each, i) => {
        line[columns ? columns.indexOf(each.index) : i] = this.cell(each.cell, ctx);
      });
      return line;
    });
    const head = lines[0].cells.every((each) => each.head) ? texts.shift() : [];
    const rest = this.around;
    this.around = new Set(rows);
    const blocks = this.flow(node, { ...ctx, depth: ctx.depth + 1 });
    this.around = rest;
    const total = Number(attributeOf(node, 'aria-rowcount')) || 0;
    const of = Math.max(0, total - (head.length > 0 ? 1 : 0));
    return [...writeTable(this, ctx, { node, kind: 'table', head, lines: texts, of }), ...blocks];
  }

  /** frame leaves a place for the document of a frame. */
  frame(node) {
    const rect = rectOf(node);
    if (rect.width < 2 || rect.height < 2 || this.main && rect.width * rect.height < 40000) return [];
    this.frames.push(keep(node));
    return [frameMark + (this.frames.length - 1) + frameMark];
  }
}

/** Stands where a frame's text belongs. No page can know it. */
const frameMark = '\uE0F8' + token + '\uE0F9';

/** unwritten: an element is no part of the code that it stands in. */
const unwritten = (node) => silentTags.has(tagOf(node)) || tagOf(node) === 'button';

/** drawnAtAll: an element has a box, or what is in it may have one. */
const drawnAtAll = (node) =>
  checkVisibility(node) || getComputedStyle(node).display === 'contents' && contentsPlaced(node);

/** showsOwnText: the text of an element that is walked is drawn, also where the element around it is not visible. */
const showsOwnText = (node) =>
  nodeType(node) !== 1 || getComputedStyle(node).visibility === 'visible' && !skipsContent(node, null);

/** indent puts first before the first line of a text and rest, as wide, before the others. */
const indent = (text, first, rest = ' '.repeat(first.length)) =>
  text
    .split('\n')
    .map((line, i) => (i === 0 ? first + line : line === '' ? '' : rest + line))
    .join('\n');

function joined(walk, root) {
  const tag = tagOf(root);
  const ctx = {
    depth: 0, raw: false, marks: '', unmarked: false, pre: false, lineMark: '', inRows: false,
    heavy: readable(root, () => isHeavy(root), false), slanted: readable(root, () => isSlanted(root), false)
  };
  const whole = () => {
    const style = getComputedStyle(root);
    if (style.display === 'none') return [];
    return tag === 'body' || tag === 'html' ? walk.flow(root, ctx) : walk.block(root, tag, style, ctx);
  };
  const chrome = () => {
    const blocks = [];
    while (walk.later !== null && walk.later.length > 0 && !walk.stopped) {
      const late = walk.later;
      walk.later = null;
      for (const node of late) {
        const style = walk.wanted(node, tagOf(node));
        if (style) blocks.push(...walk.block(node, tagOf(node), style, ctx));
      }
    }
    return blocks;
  };
  return readable(root, () => [...whole(), ...chrome()], [unreadText]).join(walk.plain ? '\n' : '\n\n');
}

/**
 * page_text answers the text of this document, or of a part of it, in pieces
 * between which frames stand: {text} and {frame: handle}.
 */
queries.page_text = ({ ref, locator, format, whole, links, images, refs, main_first, max_chars, time_ms }) => {
  const plain = format === 'text';
  let root;
  let why = 'part';
  if (ref !== undefined) root = elementOfRef(ref);
  else if (locator !== undefined) root = drawnPart(locator);
  else if (plain || whole) [root, why] = [bodyOf() || rootElement(), 'body'];
  else ({ root, why } = contentRoot());
  if (!root) return { pieces: [], why: 'empty', left: 0, stopped: false, hosts: [], more_hosts: false };
  const last = main_first === true && (plain || whole === true) && ref === undefined && locator === undefined;
  const options = { plain, links: links !== false, images: images === true, refs: refs === true, last, time: time_ms };
  let walk = new MarkdownWalk({ ...options, main: !plain && !whole && why !== 'part' });
  let text = joined(walk, root);
  if (walk.main && text.length < 200 && !walk.stopped) {
    // Hardly anything is left without the chrome: then that is the page.
    const body = bodyOf() || root;
    const all = new MarkdownWalk({ ...options, main: false });
    const everything = joined(all, body);
    if (everything.length > 3 * text.length + 100) [walk, text, why] = [all, everything, 'whole'];
  }
  const left = Math.max(0, text.length - max_chars);
  const shown = left > 0 ? cut(text, max_chars) : text;
  const pieces = [];
  shown.split(frameMark).forEach((part, i) => {
    if (i % 2 === 0) {
      if (part !== '') pieces.push({ text: part });
    } else if (walk.frames[Number(part)] !== undefined) {
      pieces.push({ frame: walk.frames[Number(part)] });
    }
  });
  const file = why === 'part' ? undefined : fileHere();
  if (file !== undefined) {
    const end = pieces.length > 0 ? '\n\n' : '';
    pieces.unshift({ text: '[' + file.name + ': ' + fileWords(file) + ']' + end });
  }
  return {
    pieces,
    why,
    left,
    stopped: walk.stopped,
    hosts: takeHosts(walk.hosts),
    more_hosts: walk.hosts.size >= maxHosts
  };
};
