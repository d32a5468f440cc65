// text_control puts text into an input or a textarea.

/**
 * refusedValue reports whether the control kept something else than the value it
 * was given. Line breaks that an input drops, a colour in lower case and a
 * reordered date are the same value; an emptied or moved one is not.
 */
function refusedValue(type, wanted, kept) {
  if (wanted === kept) return false;
  switch (type) {
    case 'number': case 'date': case 'month': case 'week': case 'time': case 'datetime-local':
      return kept === '' && wanted.trim() !== '';
    case 'color':
      return kept.toLowerCase() !== wanted.trim().toLowerCase();
    case 'range':
      return wanted.trim() === '' || Number(wanted) !== Number(kept);
  }
  return false;
}

/** Types of which a person picks the value: its change comes with the choice, not when the control is left. */
const pickedTypes = new Set(['date', 'month', 'week', 'time', 'datetime-local', 'color', 'range']);

/** Controls that a script wrote into while they had the focus -> the value of their last change. */
const changesDue = new WeakMap();

/**
 * announceChange fires the change of a control that a script wrote into when that of a person would come: at once for
 * what is picked and for what has no focus to lose, else when the focus leaves it or Enter is pressed. The browser
 * fires its own only for what it inserted itself.
 */
function announceChange(target, before) {
  const fire = () => dispatchOf(target, new Event('change', { bubbles: true }));
  if (quirk('change_at_once') || pickedTypes.has(protoGet(target, 'type')) || activeElement() !== target) {
    fire();
    return;
  }
  if (changesDue.has(target)) return;
  changesDue.set(target, before);
  const end = () => {
    changesDue.delete(target);
    unlistenOf(target, 'blur', leave, true);
    unlistenOf(target, 'change', onChange, true);
    unlisten(globalThis, 'keypress', onKey);
  };
  const leave = () => {
    end();
    if (protoGet(target, 'value') !== before) fire();
  };
  const onChange = (event) => {
    if (event.isTrusted) end();
  };
  const onKey = (event) => {
    const enters = event.isTrusted && event.key === 'Enter' && !event.defaultPrevented;
    if (enters && pathOf(event)[0] === target && tagOf(target) === 'input') leave();
  };
  listenOf(target, 'blur', leave, true);
  listenOf(target, 'change', onChange, true);
  listen(globalThis, 'keypress', onKey);
}

/**
 * insertIntoControl selects what the text replaces and has the browser insert it. A control
 * without a selection, such as a date, one that is not drawn, and one for which the browser is
 * not asked (pressed is null) gets its value through the prototype's setter, so frameworks that watch the property of
 * the instance notice, with the events of an edit. Append goes to the caret or over the
 * selection; a control that was not being edited has no caret anybody put there, and appending
 * means its end.
 * maxlength binds the browser's insertion. A script's is not bound: it is reported.
 */
function insertIntoControl(target, text, replace, editing, pressed, watch) {
  const type = protoGet(target, 'type');
  const before = protoGet(target, 'value');
  // One that is not drawn cannot have the focus, which is where the browser inserts.
  const byBrowser = pressed !== null && !quirk('pastes_only') && (pressed.length > 0 || activeElement() === target);
  const cleared = byBrowser && pressed.includes('delete');
  if (cleared && before === '') return { inserted: true, inserted_length: 0, input_method: 'keys' };
  let start = 0;
  let end = before.length;
  const caret = protoGet(target, 'selectionStart'); // null: this type has no selection
  const selects = Number.isInteger(caret) || type === 'email' || type === 'number';
  if (replace && text === '' && before !== '' && !cleared && selects && byBrowser) {
    // A mask puts back what is written away, not what is deleted.
    protoCall(target, 'select');
    return pressFirst('delete');
  }
  if (!replace) {
    start = Number.isInteger(caret) ? caret : before.length;
    end = Number.isInteger(caret) ? protoGet(target, 'selectionEnd') : start;
    if (!editing && start === end && !quirk('append_at_caret')) start = end = before.length;
  }
  const wanted = before.slice(0, start) + text + before.slice(end);
  const none = { inserted: true, inserted_length: text.length };
  // A field of a date can hold a part that is no value: writing nothing takes that away.
  const partly = protoGet(target, 'validity').badInput;
  if (text === '' && wanted === before && !partly && !quirk('change_at_once')) return none;
  if (
    text !== '' &&
    byBrowser &&
    (Number.isInteger(caret) || type === 'email' || (type === 'number' && Number.isFinite(Number(wanted))))
  ) {
    // The browser inserts as it does for a person, with events that a page can trust.
    if (Number.isInteger(caret)) {
      protoCall(target, 'setSelectionRange', start, end);
    } else {
      protoCall(target, 'select');
      if (!replace) selectionOf(document).modify('move', 'forward', 'line');
    }
    const oneLine = tagOf(target) === 'input' ? text.replace(/[\r\n]+/g, '') : text;
    // A sink empties itself: nothing is to be read in it.
    if (!isTextSink(target))
      watchInsertion(watch.id, { target, text, oneLine, replace, before, wanted, report: watch.report });
    return { ...pressFirst('insert'), text: oneLine, watched: !isTextSink(target) };
  }
  dispatchOf(target, new InputEvent('beforeinput', {
    bubbles: true, cancelable: true, composed: true,
    inputType: replace ? 'insertReplacementText' : 'insertText', data: text,
  }));
  if (!Number.isInteger(caret) && quirk('typed_input_throws')) {
    if (type !== 'file') protoSet(target, 'value', wanted);
    throw new Fault('handler_failed', 'the control has no selection to place the caret in', {
      tag_name: tagOf(target),
      type
    });
  }
  protoSet(target, 'value', wanted);
  const kept = protoGet(target, 'value');
  if (refusedValue(type, wanted, kept)) {
    protoSet(target, 'value', before);
    throw notEditable(target, 'value_rejected', 'the control does not accept this value');
  }
  if (Number.isInteger(caret)) {
    const after = start + text.length;
    protoCall(target, 'setSelectionRange', after, after);
  }
  dispatchOf(target, new InputEvent('input', { bubbles: true, composed: true, inputType: 'insertText', data: text }));
  announceChange(target, before);
  const value = { inserted: true, inserted_length: text.length, input_method: 'native-value-setter+input' };
  if (kept !== wanted || !quirk('pastes_only') && protoGet(target, 'value') !== wanted) value.sanitized = true;
  const max = protoGet(target, 'maxLength');
  if (max >= 0 && kept.length > max) value.exceeds_maxlength = true;
  return value;
}

/** framesWhile waits while something holds, for as long as an editor has to show what it took. */
async function framesWhile(holds, start = performance.now()) {
  while (holds() && performance.now() - start < longestShowing) await nextFrame();
}
