// observe lists the elements that match a selector: what the viewport shows of
// them, or all of them with attributes. Answers over their byte budget are
// refused in the answer itself, so that nothing is cut silently.

const bounded = (value, fallback, least, most) =>
  Math.min(most, Math.max(least, value === undefined || value === null ? fallback : Math.trunc(value)));

/** withinBudget is the payload as JSON, or the soft failure when it is too large. */
function withinBudget(payload, budget, evidence) {
  const json = JSON.stringify(payload);
  const bytes = utf8Length(json);
  if (bytes <= budget) return new Raw(json);
  return {
    ok: false,
    error: {
      code: 'payload_too_large', message: 'the answer exceeds max_payload_bytes', recoverable: true,
      evidence: {
        ...evidence,
        match_count: payload.match_count,
        approximate_bytes: bytes,
        max_payload_bytes: budget,
        narrowing_hints: [
          'use a more specific selector',
          'filter with text_contains',
          'lower max_matches',
          'raise max_payload_bytes (at most 256000)'
        ]
      }
    }
  };
}

const query = (args) => ({
  selector: cut(selectorOr(args.selector, '*'), 200),
  text_contains: args.text_contains === undefined ? null : cut(args.text_contains, 200)
});

/** select yields the matches of a selector list, in document order, that have the text. */
function* select(args) {
  for (const node of queryList(document, selectorOr(args.selector, '*'))) {
    if (!args.text_contains || hasFolded(textOrLabel(node), args.text_contains)) yield node;
  }
}

function observed(node, seen, view) {
  const m = measure(node, view);
  const out = {
    tag_name: tagOf(node),
    text: textOrLabel(node),
    bounding_box: box(m.rect, view),
    visible_center: pointOut(middleOf(seen), view),
    clickable: m.clickable,
    receives_events: m.receives,
    occluded_by: occluder(m, view),
    visible_rect: edges(seen, view)
  };
  if (m.clickable && m.receives) out.clickable_center = pointOut(m.point, view);
  return out;
}

/** unobserved is the row of an element that cannot be read. */
function unobserved(node, view) {
  const rect = ownRectOf(node);
  return {
    tag_name: tagOf(node),
    text: unreadText,
    bounding_box: box(rect, view),
    visible_center: pointOut(middleOf(rect), view),
    clickable: false,
    receives_events: false,
    occluded_by: null,
    visible_rect: edges(rect, view)
  };
}

queries.observe_visible = (args) => {
  const view = viewOf(args.view);
  const most = bounded(args.max_matches, 50, 1, 200);
  const budget = bounded(args.max_payload_bytes, 16000, 1000, 256000);
  const clips = new Map();
  const matches = [];
  // Visibility first: it is cheaper than text, and most of a page is not visible.
  for (const node of queryList(document, selectorOr(args.selector, '*'))) {
    const seen = readable(node, () => visibleRect(node, view, clips), undefined);
    if (seen === null || !hasFolded(args.text_contains ? textOrLabel(node) : '', args.text_contains)) continue;
    matches.push(seen && readable(node, () => observed(node, seen, view), null) || unobserved(node, view));
    if (matches.length === most) break;
  }
  return withinBudget({ matches, match_count: matches.length }, budget, query(args));
};

queries.observe_attributes = (args) => {
  const view = viewOf(args.view);
  const names = args.attributes.map((name) => norm(name)).filter((name) => name !== '');
  if (names.length === 0)
    throw new Fault('invalid_arguments', 'attributes names no attribute', { attributes: args.attributes.slice(0, 20) });
  const most = bounded(args.max_matches, 50, 1, 200);
  const budget = bounded(args.max_payload_bytes, 16000, 1000, 256000);
  const clips = new Map();
  const matches = [];
  let visibleCount = 0;
  for (const node of select(args)) {
    const visible = isVisible(node, view, clips);
    const attributes = {};
    for (const name of names) attributes[name] = name === 'text' ? norm(textOf(node)) : attributeOf(node, name);
    matches.push({ tag_name: tagOf(node), attributes, visible });
    if (visible) visibleCount++;
    if (matches.length === most) break;
  }
  return withinBudget({ matches, match_count: matches.length, visible_count: visibleCount }, budget, {
    ...query(args),
    attributes: names.slice(0, 20)
  });
};
