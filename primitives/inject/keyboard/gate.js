// gate answers what the accessibility layer reports, and whether that matches
// an expression: keyboard.press_gated presses on only when it does.

const maxSpoken = 10000;

/** announcementOf is what a screen reader would say of an element; never a password. */
function announcementOf(node) {
  const labelled = norm(attributeOf(node, 'aria-label'));
  if (labelled) return labelled;
  const text = norm(textOf(node));
  if (text) return text;
  if (tagOf(node) === 'input' && norm(protoGet(node, 'type')).toLowerCase() === 'password') return '';
  const value = protoGet(node, 'value');
  return typeof value === 'string' ? norm(value) : '';
}

/** current follows aria-activedescendant: the focused list speaks of its option. */
function currentOf(node) {
  const id = attributeOf(node, 'aria-activedescendant');
  if (!id) return node;
  const active = queryIn(document, '#' + CSS.escape(id))[0];
  return active || node;
}

const expression = (source) => patternFor(source, 'invalid_arguments', 'expect');

/** gate_check compiles expressions before any key is pressed. */
queries.gate_check = ({ expect }) => {
  for (const source of expect) expression(source);
  return {};
};

/**
 * gate_dwell gives the document with the focus a while on its own clock: where a timer of
 * the page comes late, on a busy machine, ours comes after it.
 */
queries.gate_dwell = async ({ ms, view }) => {
  const focused = activeElement();
  if (focused && isFrameElement(focused)) return descended(focused, viewOf(view));
  await after(ms);
  return {};
};

/** plainlySpoken is what upstream compares: the whole text of what has the focus, line breaks and passwords too. */
function plainlySpoken(fallback) {
  const region = queryIn(document, '#docs-aria-speakable')[0];
  const said = region && textOf(region).trim();
  if (said) return said;
  const focused = documentActiveOf(document);
  if (!focused) return fallback || '';
  const value = protoGet(focused, 'value');
  return (
    (attributeOf(focused, 'aria-label') || textOf(focused) || (typeof value === 'string' ? value : '')).trim() ||
    (fallback || '').trim()
  );
}

queries.gate = ({ expect, fallback, view }) => {
  if (quirk('gated_by_text')) {
    const said = plainlySpoken(fallback);
    return { spoken: said, matched: expect === undefined || expect === null ? null : expression(expect)(said) };
  }
  let spoken = '';
  const region = queryIn(document, '#docs-aria-speakable')[0];
  if (region) spoken = norm(textOf(region));
  if (!spoken) {
    const focused = activeElement();
    if (focused && isFrameElement(focused)) return descended(focused, viewOf(view));
    if (focused && focused !== bodyOf()) spoken = announcementOf(currentOf(focused));
  }
  spoken = cut(spoken || norm(fallback), maxSpoken);
  return { spoken, matched: expect === undefined || expect === null ? null : expression(expect)(spoken) };
};
