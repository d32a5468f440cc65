// text_editable answers whether an element takes text, and if not, why.

/** Input types that have a value but take no text. */
const typesWithoutText = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'file', 'hidden']);

const isTextControl = (node) => node instanceof HTMLInputElement || node instanceof HTMLTextAreaElement;

const isFrameElement = (node) => showsDocument(node);

/** hasEditContext: the element takes text by the EditContext interface and draws it itself, somewhere else. */
const hasEditContext = (node) => Boolean(node) && !quirk('pastes_only') && Boolean(protoGet(node, 'editContext'));

/**
 * isTextSink: nobody sees this textarea or editable; an editor that draws its own text takes
 * out what arrives in it. Its value is not what the editor holds.
 */
function isTextSink(node) {
  const control = tagOf(node) === 'textarea';
  if (!control && protoGet(node, 'isContentEditable') !== true || quirk('pastes_only')) return false;
  if (!checkVisibility(node, visibilityOptions)) return false; // nobody types into it either
  const small = (box) => box.width <= 3 || box.height <= 3;
  if (styleOf(node).opacity === '0' || control && small(rectOf(node))) return true;
  for (let at = flatParentElement(node), i = 0; at && i < 3; at = flatParentElement(at), i++) {
    if (clipping(styleOf(at).overflowX) && small(rectOf(at))) return true;
  }
  return false;
}

/** whyNotEditable is null for an element that takes text, else one word for the reason. */
function whyNotEditable(node) {
  if (!node) return 'not_found';
  if (isTextControl(node)) {
    if (matchesCSS(node, ':disabled')) return 'disabled';
    if (protoGet(node, 'readOnly')) return 'read_only';
    return tagOf(node) === 'input' && typesWithoutText.has(protoGet(node, 'type')) && !quirk('typed_input_throws')
      ? 'type'
      : null;
  }
  return protoGet(node, 'isContentEditable') === true || hasEditContext(node) ? null : 'not_editable';
}

/** What may stand for a control that is not drawn. */
const textTakers =
  'input, textarea, [contenteditable]:not([contenteditable="false"]), [role="textbox"], [role="searchbox"], ' +
  '[role="combobox"], iframe';

/** So far up, and so many elements, a stand-in is looked for. */
const standInReach = { ancestors: 4, elements: 200 };

/** drawnInstead is the drawn control nearest to one that is not drawn, null for none. */
function drawnInstead(node) {
  let at = flatParentElement(node);
  for (let i = 0; at && at !== bodyOf() && i < standInReach.ancestors; i++, at = flatParentElement(at)) {
    const other = queryIn(at, textTakers)
      .slice(0, standInReach.elements)
      .find((each) => each !== node && rendered(each));
    if (other)
      return {
        target_label: label(other),
        tag_name: tagOf(other),
        role: roleOf(other) || null,
        name: cut(nameOf(other), 120)
      };
  }
  return null;
}

/**
 * requireDrawn fails for a control that no person sees; one that an editor types into is seen by what the editor draws.
 */
function requireDrawn(node) {
  if (rendered(node) || isTextSink(node) || hasEditContext(node)) return;
  const instead = drawnInstead(node);
  const next = instead
    ? 'act on drawn_instead, which stands for it'
    : 'do first what makes the page show it, such as opening its section or dialog';
  const evidence = { reason: 'hidden', tag_name: tagOf(node) };
  if (instead) evidence.drawn_instead = instead;
  throw new Fault('target_not_actionable', 'the control is not drawn; ' + next, evidence);
}

/** notEditable is the failure for node; it names the element, never its content. */
function notEditable(node, reason, message) {
  const evidence = { tag_name: node ? tagOf(node) : null, reason };
  if (node && isTextControl(node)) evidence.type = protoGet(node, 'type');
  return new Fault('target_not_editable', message || 'the element does not take text', evidence);
}
