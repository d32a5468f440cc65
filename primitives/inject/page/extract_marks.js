// extract_marks answers what a reader is told of an element beside its text: the emphasis that styles make,
// and what can be done with it, as [text][role ref states].

const heavyWeight = 600;
const mostBold = 160; // characters of a block that is told as bold
const mostControlText = 200;

const isHeavy = (node) => Number(getComputedStyle(node).fontWeight) >= heavyWeight;
const isSlanted = (node) => getComputedStyle(node).fontStyle !== 'normal';

/** emphasis lists the marks of an inline element: those of its tag, and those that its style makes. */
function emphasis(node, tag, ctx) {
  const inForce = ctx.marks.split(' ');
  const found = [];
  const add = (mark, wanted) => {
    if (wanted && !inForce.includes(mark)) found.push(mark);
  };
  const own = inlineMarks[tag];
  add('**', own === '**' || !ctx.heavy && isHeavy(node));
  add('*', own === '*' || !ctx.slanted && isSlanted(node) && tag !== 'address');
  add('~~', own === '~~' || getComputedStyle(node).textDecorationLine.includes('line-through'));
  return found;
}

/** boldBlock is the context of a block: its lines are bold where its style makes them so, and it is short. */
function boldBlock(node, style, ctx) {
  if (ctx.heavy || ctx.unmarked || style === null || !(Number(style.fontWeight) >= heavyWeight)) return ctx;
  const short = norm(textOf(node)).length <= mostBold && !ctx.raw;
  return { ...ctx, heavy: true, lineMark: short ? '**' : '', marks: short ? ctx.marks + ' **' : ctx.marks };
}

/** Roles of what is acted on as a whole. */
const markedRoles = new Set([
  'button', 'textbox', 'searchbox', 'combobox', 'listbox', 'checkbox', 'radio', 'switch', 'slider', 'spinbutton',
  'menuitem', 'menuitemcheckbox', 'menuitemradio', 'tab', 'input', 'link'
]);
const valueRoles = /^(?:textbox|searchbox|combobox|listbox|slider|spinbutton|input)$/;
const wholeTags = new Set(['button', 'input', 'select', 'textarea']);

/** actingRole is the role of an element that is acted on as a whole, '' for any other. */
function actingRole(node, tag, style) {
  if (tag === 'input' && protoGet(node, 'type') === 'hidden') return '';
  if (wholeTags.has(tag)) {
    const role = roleOf(node) || 'input';
    return markedRoles.has(role) ? role : '';
  }
  if (tag === 'a' && hasAttribute(node, 'href')) return '';
  const written = attributeOf(node, 'role');
  if (written !== null && written !== '') {
    const role = roleOf(node);
    const editable = hasAttribute(node, 'contenteditable');
    return markedRoles.has(role) && !editable && queryIn(node, 'input, select, textarea, button').length === 0
      ? role
      : '';
  }
  if (tag === 'label' || tag === 'body' || tag === 'html') return '';
  if (hasAttribute(node, 'onclick')) return 'clickable';
  const parent = flatParentElement(node);
  const pointer = style.cursor === 'pointer' && (!parent || getComputedStyle(parent).cursor !== 'pointer');
  return pointer && closestCSS(node, 'a[href], button, label') === null ? 'clickable' : '';
}

/** controlWords is what stands in the brackets of a control: its name where none is drawn beside it, and its value. */
function controlWords(walk, node, tag, role, ctx) {
  if (!valueRoles.test(role) && tag !== 'input') {
    const text = walk.oneLine(node, { ...ctx, depth: ctx.depth + 1, unmarked: true, lineMark: '', inRows: true });
    if (text !== '') return text;
  }
  const drawn = labelsOf(node).some((label) => drawnNow(label)) || hasAttribute(node, 'aria-labelledby');
  const name = drawn ? '' : safeName(node);
  const near = name === '' && !drawn ? besideOf(node) : '';
  let value = '';
  if (valueRoles.test(role)) {
    if (tag === 'input' || tag === 'select' || tag === 'textarea') value = norm(walk.control(node, tag));
    else value = norm(controlText(node, role, contentContext(new Map())) || '') || norm(textOf(node));
  }
  const beside = valueRoles.test(role) || /^(?:checkbox|radio|switch)$/.test(role); // then it is drawn there
  const said = name !== '' ? name : near !== '' && !beside ? '≈' + near : '';
  return escaped(cut([said, value].filter((words) => words !== '').join(': '), mostControlText));
}

/** controlStates are the states that tell how an element can be acted on, each one word. */
function controlStates(node, tag, role) {
  const states = [];
  if (isDisabled(node)) states.push('disabled');
  const box = tag === 'input' ? protoGet(node, 'checked') === true : attributeOf(node, 'aria-checked') === 'true';
  if (/^(?:checkbox|radio|switch|menuitemcheckbox|menuitemradio)$/.test(role) && box) states.push('checked');
  if (attributeOf(node, 'aria-pressed') === 'true') states.push('pressed');
  if (attributeOf(node, 'aria-expanded') === 'true') states.push('expanded');
  if (attributeOf(node, 'aria-selected') === 'true') states.push('selected');
  if (attributeOf(node, 'aria-invalid') === 'true') states.push('invalid');
  if (tag === 'input' && protoGet(node, 'type') === 'password' && protoGet(node, 'value') !== '') states.push('filled');
  if ((tag === 'input' || tag === 'textarea') && protoGet(node, 'readOnly') === true && valueRoles.test(role))
    states.push('readonly');
  return states;
}

/** controlMark is an element that can be acted on, '' for one that shows nothing, null for any other element. */
function controlMark(walk, node, tag, style, ctx) {
  const role = actingRole(node, tag, style);
  if (role === '') return null;
  if (role === 'clickable') {
    const text = norm(textOf(node));
    const many = queryIn(node, 'a[href], button, input, select, textarea, [role], p, ul, table, h1, h2, h3, h4');
    if (text === '' || text.length > mostControlText || many.length > 0) return null;
  }
  const words = controlWords(walk, node, tag, role, ctx);
  return '[' + words + '][' + [role, refOf(node), ...controlStates(node, tag, role)].join(' ') + ']';
}
