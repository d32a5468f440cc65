// snapshot_text answers what the visible containers of a page say, on one line.

questions.snapshot_text = (args) => {
  const view = viewOf(args.view);
  const max = bounded(args.max_chars, 12000, 1, 100000);
  const clips = new Map();
  const parts = [];
  let length = 0;
  for (const node of queryList(document, args.selector ?? 'body')) {
    if (!isVisible(node, view, clips)) continue;
    const text = norm(textOf(node));
    parts.push(text);
    length += text.length + 1;
    if (length > 2 * max + 2) break; // what follows would be cut
  }
  const text = norm(parts.join('\n'));
  return { text: cut(text, max), truncated: text.length > max };
};
