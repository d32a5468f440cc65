// page_wait answers when conditions about this document hold: text, the state
// of a locator, the address, how far the document has loaded.

const folded = (text) => text.toUpperCase(); // as text-transform makes it, ß too

/**
 * writtenIn reports whether a drawn part of an element has a text as the document has it. Styles show it in other
 * letters, so what is drawn is compared without their case.
 */
function writtenIn(node, needle) {
  let own = '';
  for (const child of childNodesOf(node)) {
    const type = nodeType(child);
    const text = type === 1 ? textOf(child) : type === 3 ? nodeValueOf(child) : '';
    // The text may be in several of them, and what has no box is a part of this one.
    if (type !== 1 || !comparable(text).includes(needle) || styleOf(child).display === 'contents') own += text;
    else if (writtenIn(child, needle)) return true;
    else own += ' ';
  }
  return (
    comparable(own).includes(needle) &&
    rendered(node) &&
    folded(comparable(protoGet(node, 'innerText') ?? '')).includes(folded(needle))
  );
}

/**
 * showsText reports whether some drawn part of the page has a text, shadow roots included: as it is drawn, or as it is
 * written, which is what snapshots and other reads of the page show.
 */
function showsText(needle) {
  const inAnyCase = folded(needle);
  for (const root of withShadows(document)) {
    const within = root === document ? [bodyOf() || rootElement()] : Array.from(childNodesOf(root));
    const texts = within.filter((child) => child && nodeType(child) === 3).map(nodeValueOf);
    if (comparable(texts.join(' ')).includes(needle) && drawsText(hostOf(root))) return true;
    for (const top of within.filter(isElement)) {
      const text = comparable(textOf(top));
      // This is cheaper than what follows, and never less.
      if (!text.includes(needle) && !folded(text).includes(inAnyCase)) continue;
      // What is drawn of an element that is not drawn would be all of its text.
      if (!drawnAtAll(top)) continue;
      if (comparable(protoGet(top, 'innerText') ?? textOf(top)).includes(needle)) return true;
      if (text.includes(needle) && writtenIn(top, needle)) return true;
    }
  }
  return false;
}

/** What has words that are drawn nowhere: names of controls, and values that are shown as texts. */
const namedPlaces =
  '[aria-label], [title], [alt], [placeholder], input[type=submit], input[type=button], input[type=reset]';

/** namesText reports whether the title of the document, or the name of something drawn, has a text. */
function namesText(needle) {
  const has = (text) => text !== null && text !== undefined && comparable(text).includes(needle);
  if (isTopDocument() && has(documentTitleOf(document))) return true;
  for (const root of withShadows(document))
    for (const node of queryIn(root, namedPlaces)) {
      const texts = ['aria-label', 'title', 'alt', 'placeholder', 'value'].map((name) => attributeOf(node, name));
      if (texts.some(has) && rendered(node) && has(nameOf(node))) return true;
    }
  return false;
}

/** What shows something without a text, and how many elements are looked at for one that does. */
const showing =
  'img, svg, math, canvas, video, audio, iframe, frame, object, embed, ' +
  'input, button, select, textarea, meter, progress';
const mostLookedAt = 5000;

/** showsAnything reports whether the document shows a text, a picture or a control. One that is too large does. */
function showsAnything() {
  let left = mostLookedAt;
  for (const root of withShadows(document)) {
    if (queryIn(root, showing).some((node) => rendered(node))) return true;
    for (const node of queryIn(root, '*')) {
      if (--left < 0) return true;
      if (skippedTags.has(tagOf(node))) continue;
      const texts = Array.from(childNodesOf(node)).filter((child) => nodeType(child) === 3);
      if (texts.some((text) => norm(nodeValueOf(text)) !== '') && rendered(node)) return true;
    }
  }
  return false;
}

/**
 * documentShown: the document is drawn somewhere; that of a frame element without a box is
 * not, nor that of one that is not visible, as far as the elements are accessible from here.
 */
function documentShown() {
  if (location.ancestorOrigins.length === 0) return true;
  if (!(innerWidth > 0 && innerHeight > 0)) return false;
  const shownBy = (doc) => protoGet(doc, 'defaultView').frameElement;
  for (let at = shownBy(document); at; at = shownBy(protoGet(at, 'ownerDocument'))) {
    if (getComputedStyle(at).visibility !== 'visible') return false;
  }
  return true;
}

/** addressTest makes a test of the document's address. */
function addressTest(want) {
  if (want.regex !== undefined) {
    const matches = patternFor(want.regex, 'invalid_arguments', 'regex');
    return () => matches(cut(documentURLOf(document), maxMatchedText));
  }
  if (want.equals !== undefined) return () => documentURLOf(document) === withoutUser(want.equals);
  if (want.contains !== undefined) return () => documentURLOf(document).includes(want.contains);
  // In a glob * is anything but a slash, ** is anything.
  const matches = patternFor(
    '^' +
      want.glob
        .split('**')
        .map((part) =>
          part
            .split('*')
            .map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
            .join('[^/]*')
        )
        .join('.*') +
      '$',
    'invalid_arguments',
    'glob'
  );
  return () => matches(cut(documentURLOf(document), maxMatchedText));
}

/** conditionTest makes a test of one condition; geometric ones change without a sign. */
function conditionTest(condition, view) {
  if (condition.text !== undefined) {
    const needle = sought(condition.text);
    return { holds: () => documentShown() && (showsText(needle) || condition.names === true && namesText(needle)) };
  }
  if (condition.text_gone !== undefined)
    return { holds: () => !documentShown() || !showsText(sought(condition.text_gone)) };
  if (condition.url !== undefined) return { holds: addressTest(condition.url) };
  if (condition.load === 'drawn') return { holds: showsAnything, geometric: false };
  if (condition.load !== undefined) {
    const enough = condition.load === 'load' ? ['complete'] : ['complete', 'interactive'];
    return { holds: () => enough.includes(protoGet(document, 'readyState')) };
  }
  const state = condition.state || 'visible';
  const locator = condition.ref !== undefined ? { ref: condition.ref } : condition.locator;
  const test = stateTest(locator, state, view);
  const absent = state === 'hidden' || state === 'detached';
  const holds = () => {
    try {
      return test.holds();
    } catch (error) {
      // The element of the ref is detached: that may be what is waited for.
      if (error instanceof Fault && error.code === 'element_stale' && absent && error.evidence.reason !== 'unknown')
        return true;
      throw error;
    }
  };
  return { holds, geometric: !absent && state !== 'attached' || state === 'hidden' };
}

queries.page_wait = async ({ conditions, mode, timeout_ms, view }) => {
  const tests = conditions.map((condition) => conditionTest(condition, viewOf(view)));
  const geometric = tests.some((test) => test.geometric);
  let met = [];
  const probe = () => {
    met = tests.map((test) => test.holds());
    return mode === 'any' ? met.includes(true) : !met.includes(false);
  };
  const matched = await waitUntil(probe, { timeout: timeout_ms, silent: () => geometric, pierce: true });
  return { matched: Boolean(matched), met };
};
