// snapshot_text answers what the visible containers of a page say, on one line.

queries.snapshot_text = (args) => {
  const view = viewOf(args.view);
  const max = bounded(args.max_chars, 12000, 1, 100000);
  const clips = new Map();
  const parts = [];
  let length = 0;
  for (const node of queryList(document, selectorOr(args.selector, 'body'))) {
    const seen = isVisible(node, view, clips);
    if (!seen && !unreadableHere(node)) continue;
    const text = seen ? norm(textOf(node)) : unreadText;
    if (text === '') continue; // leaves no trace in the answer, not even a space
    parts.push(text);
    length += text.length + 1;
    if (length > max + 1) break; // what follows would be cut
  }
  const text = parts.join(' ');
  return { text: cut(text, max), truncated: text.length > max };
};
