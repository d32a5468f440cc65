// follow reports what a person does on a page: trusted events only, before the page gets them. It is no part of the
// library that calls use: it runs before the first script of every document, with the library's functions, in a world
// of its own, while somebody records. Reports go through the binding outriderPerson as JSON text.

const followed = {
  kept: [],
  patience: 10,
  gesture: null,
  drag: null,
  dragged: null,
  passed: [], // what the pointer was over while something is dragged
  keyed: false,
  tabbed: false,
  enter: null,
  clicked: null,
  swallow: false,
};
const longestPatience = 20000;
const maxReports = 500;
const clickSlack = 6; // pixels that the pointer may move within a click
const maxFileReport = 256 << 10;
const { top: topWindow } = globalThis;
const isTopWindow = topWindow === globalThis;
const hitAll = methodOf(Document.prototype, 'elementsFromPoint');

/**
 * tell sends a report. The binding comes a moment after the document: until then reports are kept. They are sent in
 * their order, so those that follow one that is not complete wait for it.
 */
function reportStep(report, complete = true) {
  flushEnter();
  const kept = {
    complete,
    report: { doc: token, top: isTopWindow, url: documentURLOf(document).slice(0, 4000), ...report }
  };
  followed.kept.push(kept);
  if (followed.kept.length > maxReports) followed.kept.shift();
  deliverReports();
  return kept;
}

function deliverReports() {
  try {
    while (followed.kept.length > 0 && followed.kept[0].complete) {
      Reflect.get(globalThis, 'outriderPerson')(JSON.stringify(followed.kept[0].report));
      followed.kept.shift();
    }
    followed.patience = 10;
  } catch {
    if (followed.patience > longestPatience) followed.kept = [];
    else pageSetTimeout(deliverReports, followed.patience);
    followed.patience *= 2;
  }
}

const actedTags = /^(?:button|select|textarea|input|summary|option)$/;
const actedRoles =
  /^(?:button|link|checkbox|menuitem|menuitemcheckbox|menuitemradio|option|radio|switch|tab|treeitem|combobox|textbox|searchbox|spinbutton|slider|gridcell|columnheader)$/;
const writtenTypes = /^(?:button|submit|reset|image|checkbox|radio|file|hidden)$/;

const isEditable = (node) => node instanceof HTMLElement && protoGet(node, 'isContentEditable') === true;
const isWritten = (node) =>
  node instanceof HTMLTextAreaElement ||
  (node instanceof HTMLInputElement && !writtenTypes.test(protoGet(node, 'type')));

/** isSink: a field that only takes keys for what is drawn elsewhere, as editors on a canvas have one. */
function isSink(node) {
  if (!isWritten(node)) return false;
  const rect = ownRectOf(node);
  if (rect.width <= 3 || rect.height <= 3 || styleOf(node).opacity === '0') return true;
  for (let at = flatParentElement(node), n = 0; at && n < 3; at = flatParentElement(at), n++) {
    if (styleOf(at).overflow === 'visible') continue;
    const box = ownRectOf(at);
    if (box.width <= 3 || box.height <= 3) return true;
  }
  return false;
}

/** The element below a label, or the label where its control is not drawn. */
const controlOrLabel = (control, label) =>
  rendered(control) && !isSink(control) && styleOf(control).opacity !== '0' && ownRectOf(control).width > 3
    ? control
    : label;

/** controlAt is the control that somebody means who points at a node. */
function controlAt(node) {
  const start = isElement(node) ? node : flatParentElement(node);
  for (let at = start, n = 0; at && n < 12; at = flatParentElement(at), n++) {
    const tag = tagOf(at);
    if (tag === 'body' || tag === 'html') break;
    if (tag === 'label') {
      const control = protoGet(at, 'control');
      if (control) return controlOrLabel(control, at);
    }
    if (actedTags.test(tag) || (tag === 'a' && attributeOf(at, 'href') !== null) || actedRoles.test(roleOf(at)))
      return at;
    if (isEditable(at)) return editingHost(at);
  }
  let at = start;
  while (at && namespaceOf(at) === svgNamespace && tagOf(at) !== 'svg') at = flatParentElement(at);
  if (at && styleOf(at).cursor === 'pointer') {
    for (
      let above = flatParentElement(at);
      above && tagOf(above) !== 'body' && styleOf(above).cursor === 'pointer';
      above = flatParentElement(above)
    )
      at = above;
  }
  return at;
}

/** reportOf is an element as it is reported. What an editor or a secret field holds is not. */
function reportOf(node) {
  if (!node) return { element: null };
  const out = { element: appearance(node, new Map()), handle: keep(node) };
  const secret = (node instanceof HTMLInputElement || node instanceof HTMLTextAreaElement) && isSecretField(node);
  if (secret) out.secret = true;
  if (secret || isEditable(node) || isWritten(node)) out.element.text = '';
  if (isEditable(node)) out.editable = true;
  if (isWritten(node)) out.field = true;
  if (isSink(node)) out.sink = true;
  return out;
}

/** choiceOf says what an option or a radio button is a choice of, and what else there is. */
function choiceOf(node) {
  const role = roleOf(node);
  if (role === 'radio') {
    const name = attributeOf(node, 'name');
    const group = closestCSS(node, 'fieldset, [role=radiogroup]');
    const all = group
      ? queryIn(group, 'input[type=radio], [role=radio]')
      : name
        ? queryIn(rootOf(node), `input[type=radio][name=${CSS.escape(name)}]`)
        : [];
    return {
      title: legendOf(node) || name || '',
      options: all
        .slice(0, 50)
        .map((each) => nameOf(each))
        .filter(Boolean)
    };
  }
  if (role !== 'option' && role !== 'menuitemradio') return undefined;
  const list = closestCSS(node, '[role=listbox], [role=menu], [role=group]') || parentElementOf(node);
  const id = attributeOf(list, 'id');
  const owner =
    id && queryIn(rootOf(node), `[aria-controls~="${CSS.escape(id)}"], [aria-owns~="${CSS.escape(id)}"]`)[0];
  const options = queryIn(list, '[role=option], [role=menuitemradio]')
    .filter((each) => rendered(each))
    .slice(0, 50)
    .map((each) => nameOf(each))
    .filter(Boolean);
  return { title: (owner && nameOf(owner)) || attributeOf(list, 'aria-label') || '', options };
}

const modifiersOf = (event) =>
  [
    ['Control', event.ctrlKey],
    ['Alt', event.altKey],
    ['Shift', event.shiftKey],
    ['Meta', event.metaKey]
  ]
    .filter(([, held]) => held)
    .map(([name]) => name);
const targetOf = (event) => event.composedPath()[0];
const buttonOf = (event) => ['left', 'middle', 'right'][event.button] || 'left';

function pressed(event) {
  if (!event.isTrusted || event.isPrimary === false) return;
  const target = targetOf(event);
  const node = isElement(target) ? controlAt(target) : null;
  const gesture = node && {
    node,
    x: event.clientX,
    y: event.clientY,
    report: { ...reportOf(node), choice: choiceOf(node) },
    there: false,
    places: placesAbove(node),
  };
  followed.gesture = gesture;
  if (gesture) pageSetTimeout(() => { gesture.there = isConnected(node); }, 0);
  followed.passed = [];
  followed.tabbed = false;
}

function released(event) {
  const from = followed.gesture;
  followed.gesture = null;
  if (!event.isTrusted || !from) return;
  if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > clickSlack) {
    const selected = selectionOf(document);
    // text was selected, or a slider moved
    if (
      isWritten(from.node) ||
      (selected && !selected.isCollapsed && textOf(from.node) !== '' && !dragsByItself(from.node))
    )
      return;
    const nodes = hitAll(document, event.clientX, event.clientY);
    const below = landedOn(heldBy(from, nodes), nodes);
    if (below && tagOf(below) !== 'html')
      reportStep({ what: 'drag', ...from.report, to: appearance(dropTargetAt(below), new Map()) });
    return;
  }
  followed.clicked = from.node;
  // What its own press takes away was used. What is taken away later gets no click.
  reportStep({
    what: 'click',
    ...from.report,
    missed: (from.there && !isConnected(from.node)) || undefined,
    button: buttonOf(event),
    modifiers: modifiersOf(event),
    field: isWritten(from.node) || undefined
  });
}

const depthOfHandle = 6; // elements between a handle and what it is on
const maxPassed = 20;

/** placesAbove are an element and those around it, with where they are. */
function placesAbove(node) {
  const out = [];
  for (let at = node; at && out.length < depthOfHandle; at = flatParentElement(at)) {
    if (/^(?:body|html)$/.test(tagOf(at))) break;
    const { x, y } = ownRectOf(at);
    out.push({ node: at, x, y });
  }
  return out;
}

const floats = (node) => /^(?:fixed|absolute)$/.test(styleOf(node).position);

/** carried: a node is what is dragged, in it, or the picture of it below the pointer. */
function carried(dragged, node) {
  if (flatContains(dragged, node)) return true;
  return (
    tagOf(node) === tagOf(dragged) && norm(textOf(dragged)) !== '' && textOf(node) === textOf(dragged) && floats(node)
  );
}

/**
 * heldBy is what is dragged by a handle, with the pictures of it: what is around the handle and has moved with it, or
 * is drawn below the pointer a second time.
 */
function heldBy(gesture, nodes) {
  const held = [gesture.node];
  for (const { node, x, y } of gesture.places) {
    const now = ownRectOf(node);
    if (Math.hypot(now.x - x, now.y - y) <= clickSlack) break;
    held.push(node);
  }
  for (const node of nodes.filter((each) => floats(each) && !flatContains(each, gesture.node))) {
    const shown = gesture.places.find((each) => carried(each.node, node));
    if (shown) held.push(shown.node, node);
  }
  return held;
}

/** holds: a node is what is dragged or in it. */
const holds = (held, node) => held.some((each) => carried(each, node));

/**
 * landedOn is what something was dropped on. A list that makes room while it is dragged has it below the pointer
 * itself: then it is what the pointer was over before that.
 */
function landedOn(held, nodes) {
  const node = nodes.find((each) => !holds(held, each));
  const over = followed.passed.findLast((each) => isConnected(each) && !holds(held, each));
  followed.passed = [];
  return over && (!node || flatContains(node, held[0])) ? over : node;
}

/** passed remembers what the pointer is over, unless it holds what is dragged. */
function passed(held, nodes) {
  const node = nodes.find((each) => !holds(held, each));
  if (!node || flatContains(node, held[0]) || followed.passed.at(-1) === node) return;
  followed.passed.push(node);
  if (followed.passed.length > maxPassed) followed.passed.shift();
}

function moved(event) {
  const from = followed.gesture;
  if (!event.isTrusted || !from || event.buttons === 0) return;
  if (Math.hypot(event.clientX - from.x, event.clientY - from.y) <= clickSlack) return;
  const nodes = hitAll(document, event.clientX, event.clientY);
  passed(heldBy(from, nodes), nodes);
}

function draggedOver(event) {
  if (event.isTrusted && followed.dragged && isElement(targetOf(event))) passed([followed.dragged], [targetOf(event)]);
}

/** dragsByItself: what is grabbed here moves, it is not text that is selected. */
const dragsByItself = (node) =>
  closestCSS(node, '[draggable=true]') !== null ||
  /^(?:grab|grabbing|move)$/.test(styleOf(node).cursor) ||
  styleOf(node).userSelect === 'none';

/** dropTargetAt is the place that something is dropped on: the nearest that can be told from others. */
function dropTargetAt(node) {
  for (let at = node, n = 0; at && n < 4; at = flatParentElement(at), n++) {
    if (tagOf(at) === 'body') break;
    if (
      /^(?:li|tr|td|th|dt|dd|option|article)$/.test(tagOf(at)) ||
      attributeOf(at, 'id') ||
      attributeOf(at, 'data-testid') ||
      attributeOf(at, 'aria-label') ||
      attributeOf(at, 'class') ||
      attributeOf(at, 'role')
    )
      return at;
  }
  return node;
}

function dragBegan(event) {
  const target = targetOf(event);
  if (!event.isTrusted || !isElement(target)) return;
  const node = closestCSS(target, '[draggable=true]') || target;
  followed.gesture = null;
  followed.passed = [];
  followed.dragged = node;
  followed.drag = reportOf(node);
}

function dropped(event) {
  const target = targetOf(event);
  if (!event.isTrusted || !isElement(target)) return;
  // The drag may have begun in another document: the recorder knows.
  const to = followed.dragged ? landedOn([followed.dragged], [target]) || target : target;
  reportStep({ what: 'drag', ...(followed.drag || { element: null }), to: appearance(dropTargetAt(to), new Map()) });
  followed.drag = null;
  followed.dragged = null;
}

/** focusedNow is the element that keys go to, through open shadow roots; null for the page itself. */
function focusedNow() {
  const node = activeElement();
  return node && !/^(?:body|html)$/.test(tagOf(node)) ? node : null;
}

const modifierKeys =
  /^(?:Shift|Control|Alt|Meta|AltGraph|CapsLock|NumLock|ScrollLock|Fn|Dead|Process|Unidentified|Compose)$/;
const editingKeys = /^(?:Backspace|Delete|Home|End|ArrowLeft|ArrowRight|PageUp|PageDown)$/;
const steppedTypes = /^(?:number|range|date|time|datetime-local|month|week|color)$/;

function keyDown(event) {
  if (!event.isTrusted || event.isComposing || modifierKeys.test(event.key)) return;
  const node = focusedNow();
  const chord = (event.ctrlKey || event.altKey || event.metaKey) && !event.getModifierState('AltGraph');
  const printable = !chord && [...event.key].length === 1;
  const sink = node && isSink(node);
  const editing = node && (isEditable(node) || sink);
  const field = node && isWritten(node) && !sink;
  if (event.key === 'Tab' && !chord) {
    followed.tabbed = true;
    reportStep({ what: 'key', key: event.shiftKey ? 'Shift+Tab' : 'Tab' });
    return;
  }
  if (printable && (field || node instanceof HTMLSelectElement)) return; // the field says what it holds
  if (printable && (event.key === ' ' || event.key === 'Enter') && node && !editing && pressesItself(node))
    return pressedByKey(node);
  if (printable) {
    followed.keyed = true;
    reportStep({
      what: 'chars',
      text: event.key,
      ...(editing && !sink ? reportOf(editingHost(node)) : {}),
      tabbed: followed.tabbed || undefined
    });
    return;
  }
  if (node instanceof HTMLSelectElement && !chord) return; // its change is reported
  const key = [
    ...modifiersOf(event).filter((name) => name !== 'Shift' || chord || event.key.length > 1),
    event.key
  ].join('+');
  if (event.key === 'Enter' && !chord && node && !editing && !field && pressesItself(node)) return pressedByKey(node);
  if (field) {
    const type = node instanceof HTMLInputElement ? protoGet(node, 'type') : 'textarea';
    if (chord && /^[acvxzy]$/i.test(event.key) || !chord && editingKeys.test(event.key)) return;
    if (/^Arrow/.test(event.key) && (type === 'textarea' || steppedTypes.test(type))) return;
    // a line end, or what sends: that shows when the field has changed
    if (event.key === 'Enter' && !chord && type === 'textarea') {
      followed.enter = { what: 'key', key };
      return;
    }
  }
  reportStep({ what: 'key', key, ...(followed.tabbed && node && !field && !editing ? reportOf(node) : {}) });
}

/** flushEnter reports an Enter that wrote no line end. */
function flushEnter() {
  const report = followed.enter;
  followed.enter = null;
  if (report) reportStep(report);
}

const pressesItself = (node) =>
  tagOf(node) === 'button' ||
  tagOf(node) === 'summary' ||
  tagOf(node) === 'a' ||
  (node instanceof HTMLInputElement && /^(?:button|submit|reset|checkbox|radio|file)$/.test(protoGet(node, 'type')));

function pressedByKey(node) {
  // its change is reported
  if (node instanceof HTMLInputElement && /^(?:checkbox|radio)$/.test(protoGet(node, 'type'))) return;
  reportStep({ what: 'click', ...reportOf(node), button: 'left', modifiers: [] });
}

function textInserted(event) {
  if (!event.isTrusted) return;
  const node = focusedNow();
  if (!node || isWritten(node) && !isSink(node)) return;
  const keyed = followed.keyed;
  followed.keyed = false;
  if (keyed && event.inputType === 'insertText') return;
  let text = '';
  if (event.inputType === 'insertText' || event.inputType === 'insertFromComposition') text = event.data || '';
  else if (event.inputType === 'insertFromPaste')
    text = event.data || (event.dataTransfer && event.dataTransfer.getData('text/plain')) || '';
  if (text !== '') reportStep({ what: 'chars', text, ...(isEditable(node) ? reportOf(editingHost(node)) : {}) });
}

function composed(event) {
  const node = focusedNow();
  if (event.isTrusted && event.data && node && (isEditable(node) || isSink(node)))
    reportStep({ what: 'chars', text: event.data, ...(isEditable(node) ? reportOf(editingHost(node)) : {}) });
}

function written(event) {
  const node = targetOf(event);
  if (!event.isTrusted || !isElement(node) || !isWritten(node) || isSink(node)) return;
  if (/^insert(?:LineBreak|Paragraph)$/.test(event.inputType || '')) followed.enter = null;
  const type = node instanceof HTMLInputElement ? protoGet(node, 'type') : 'textarea';
  const limits = {};
  for (const name of ['min', 'max', 'step', 'pattern', 'minlength', 'maxlength'])
    if (attributeOf(node, name) !== null) limits[name] = attributeOf(node, name).slice(0, 200);
  reportStep({ what: 'write', ...reportOf(node), text: protoGet(node, 'value').slice(0, 100000), type, limits });
}

const optionLabel = (option) => norm(protoGet(option, 'label') || protoGet(option, 'text'));

function changed(event) {
  const node = targetOf(event);
  if (!event.isTrusted || !isElement(node)) return;
  if (node instanceof HTMLSelectElement) {
    const all = queryIn(node, 'option');
    const labels = all.map(optionLabel);
    const said = (option) =>
      labels.filter((each) => each === optionLabel(option)).length === 1 && optionLabel(option) !== ''
        ? optionLabel(option)
        : protoGet(option, 'value');
    reportStep({
      what: 'select', ...reportOf(node), multiple: protoGet(node, 'multiple') === true || undefined,
      values: all.filter((option) => protoGet(option, 'selected')).map(said),
      options: all
        .filter((option) => !matchesCSS(option, ':disabled') && protoGet(option, 'value') !== '')
        .slice(0, 200)
        .map(said)
    });
    return;
  }
  if (!(node instanceof HTMLInputElement)) return;
  const type = protoGet(node, 'type');
  if (type === 'file') {
    chosenFiles(node);
    return;
  }
  if (type !== 'checkbox' && type !== 'radio') return;
  const by = followed.clicked;
  // the click is reported
  if (
    by &&
    (by === node ||
      (protoGet(node, 'labels') && [...protoGet(node, 'labels')].some((label) => label === by || contains(label, by))))
  )
    return;
  reportStep({ what: 'click', ...reportOf(node), choice: choiceOf(node), button: 'left', modifiers: [] });
}

/** chosenFiles reports the names of files, and what is in them where that is little: the trial uploads the same. */
async function chosenFiles(node) {
  const files = [...protoGet(node, 'files')].slice(0, 20);
  const entries = files.map((file) => ({ name: file.name, size: file.size }));
  const unread = [];
  let left = maxFileReport;
  for (const [i, file] of files.entries()) {
    if (file.size > left) continue;
    left -= file.size;
    entries[i].data = contentOf(file);
    if (entries[i].data === undefined) unread.push([file, entries[i]]);
  }
  const kept = reportStep(
    { what: 'files', ...reportOf(node), multiple: protoGet(node, 'multiple') === true || undefined, files: entries },
    unread.length === 0
  );
  for (const [file, entry] of unread) {
    try {
      entry.data = btoa(
        Array.from(new Uint8Array(await file.arrayBuffer()), (byte) => String.fromCharCode(byte)).join('')
      );
    } catch {
      /* it is gone: its name is enough */
    }
  }
  kept.complete = true;
  deliverReports();
}

/**
 * contentOf reads a file at once, because many a page goes on as soon as one is chosen. A policy of the page may forbid
 * it.
 */
function contentOf(file) {
  const address = URL.createObjectURL(file);
  try {
    const request = new XMLHttpRequest();
    request.open('GET', address, false);
    request.overrideMimeType('text/plain; charset=x-user-defined');
    request.send();
    return btoa(Array.from(request.responseText, (char) => String.fromCharCode(char.charCodeAt(0) & 255)).join(''));
  } catch {
    return undefined;
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** leaving sends what there is: of files their names, where the page goes before they were read. */
function leaving() {
  flushEnter();
  for (const kept of followed.kept) kept.complete = true;
  deliverReports();
}

function doubled(event) {
  if (event.isTrusted && isElement(targetOf(event))) reportStep({ what: 'double' });
}

const followers = {
  pointerdown: pressed,
  pointermove: moved,
  pointerup: released,
  dblclick: doubled,
  dragstart: dragBegan,
  dragover: draggedOver,
  drop: dropped,
  keydown: keyDown,
  keyup: flushEnter,
  beforeinput: textInserted,
  compositionend: composed,
  input: written,
  change: changed,
  pagehide: leaving
};

/**
 * follow begins. Opening the document anew takes every listener away, so they are put back when the root is another.
 */
function follow() {
  const all = () => {
    for (const [name, listener] of Object.entries(followers)) listen(globalThis, name, listener, true);
  };
  all();
  new MutationObserver(all).observe(document, { childList: true });
  if (!isTopWindow) return;
  const [entry] = performance.getEntriesByType('navigation');
  reportStep({ what: 'open', how: entry ? entry.type : 'navigate' });
}
