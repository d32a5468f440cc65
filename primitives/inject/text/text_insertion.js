// text_insertion watches the browser insert a text into a control: whether it went there,
// and when the page has handled it.

/** What the browser is about to insert: id that the caller gave -> watch. */
const insertions = new Map();

/** Milliseconds after which a watch that nobody reads ends by itself. */
const insertionLife = 5000;

/**
 * watchInsertion expects a text in its target, which has the focus and a selection. Text that would go
 * elsewhere, because the page has moved the focus since, is kept from the page. handled resolves when the page
 * has handled the insertion, or with conclude; with true where the watch was dropped. Insertions follow each other,
 * so an earlier watch is one of a call that is over.
 */
function watchInsertion(id, insertion) {
  dropInsertions();
  const { target, oneLine } = insertion;
  const watch = { ...insertion, strayed: false, awaited: false };
  watch.handled = new Promise((resolve) => { watch.conclude = resolve; });
  const onBefore = (event) => {
    if (!event.isTrusted || event.data === null || !oneLine.startsWith(event.data) || activeElement() === target)
      return;
    watch.strayed = true;
    stopEvent(event);
    preventEvent(event);
    watch.conclude();
  };
  // The last listener comes after those of the page, and microtasks of theirs have run. Where one of them
  // has stopped the event, a call without wait concludes.
  const onInput = (event) => { if (event.isTrusted) watch.conclude(); };
  listen(globalThis, 'beforeinput', onBefore, true);
  listen(globalThis, 'input', onInput);
  const timer = setTimeout(() => watch.end(), insertionLife);
  watch.end = (dropped) => {
    clearTimeout(timer);
    unlisten(globalThis, 'beforeinput', onBefore, true);
    unlisten(globalThis, 'input', onInput);
    insertions.delete(id);
    watch.conclude(dropped);
  };
  insertions.set(id, watch);
}

/** dropInsertions ends all watches. Nothing comes of a text that one of them was for. */
function dropInsertions() {
  for (const watch of [...insertions.values()]) watch.end(true);
}

/**
 * text_inserted reports what came of an insertion. With wait it answers when the page has handled it, or when a
 * call without wait comes, which is itself answered with nothing. It also is when nothing is inserted. drop ends the
 * watch of a call that was given up.
 * A page that takes the text away may put it there itself a moment later.
 */
queries.text_inserted = ({ id, wait, drop, focused, view }) => {
  const watch = insertions.get(id);
  if (!watch) {
    const active = focused ? activeElement() : null;
    return active && isFrameElement(active) ? descended(active, viewOf(view)) : {};
  }
  if (drop) {
    watch.end(true);
    return {};
  }
  if (wait && !watch.awaited) {
    watch.awaited = true;
    return watch.handled.then((dropped) => (dropped ? {} : insertionOf(watch)));
  }
  watch.conclude();
  return {};
};

/** insertionOf ends a watch and says what the control has kept. */
async function insertionOf(watch) {
  const { target, text, replace, before, wanted, report } = watch;
  watch.end();
  // The selection is the one that was made for the browser.
  if (watch.strayed) return { ...insertIntoControl(target, text, replace, true, null), target: report };
  const refused = () => protoGet(target, 'value') === before && before !== wanted;
  if (refused()) await framesWhile(refused);
  const value = { inserted: true, inserted_length: text.length, input_method: 'insert-text', target: report };
  if (refusedValue(protoGet(target, 'type'), wanted, protoGet(target, 'value'))) {
    protoSet(target, 'value', before);
    throw notEditable(target, 'value_rejected', 'the control does not accept this value');
  }
  if (protoGet(target, 'value') !== wanted) value.sanitized = true;
  if (refused()) value.unchanged = true;
  const max = protoGet(target, 'maxLength');
  if (max >= 0 && wanted.length > max) value.exceeds_maxlength = true;
  return value;
}
