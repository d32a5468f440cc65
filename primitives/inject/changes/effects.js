// effects answers what happened in a document between two page calls: nodes,
// values, focus. It is kept to one watch at a time; a new one ends the old.

const effectEvents = ['input', 'change', 'invalid', 'toggle'];
/** What is heard of an action where it brought nothing else. */
const inputEvents = ['click', 'keyup', 'input', 'change'];
let effectsNow = null;

/** New texts and refused fields that are reported, and how many nodes are kept to find texts in. */
const mostTexts = 3;
const mostTextLength = 120;
const mostTextNodes = 60;

/** textsOf are the texts that nodes show, one in another reported once, the newest first where there are too many. */
function textsOf(nodes) {
  const found = [];
  for (const node of [...nodes].reverse()) {
    const shown = nodeType(node) === 3 ? flatParentElement(node) : node;
    if (
      !shown ||
      !isConnected(shown) ||
      found.some((other) => other.node !== shown && contains(other.node, shown)) ||
      found.some((other) => other.node === shown)
    )
      continue;
    if (skippedTags.has(tagOf(shown)) || unexposed(shown) || tagOf(shown) === 'input' || tagOf(shown) === 'textarea')
      continue;
    const text = cut(norm(protoGet(shown, 'innerText') ?? textOf(shown)), mostTextLength);
    if (text === '') continue;
    for (let i = found.length - 1; i >= 0; i--) if (contains(shown, found[i].node)) found.splice(i, 1);
    found.push({ node: shown, text });
    if (found.length > mostTexts) break;
  }
  return found.slice(0, mostTexts).reverse().map(({ text }) => text);
}

/** Nodes that are counted below one that came or went; more is reported as at least so many. */
const mostCounted = 5000;

function effectTarget(node) {
  if (!node) return null;
  let role = null;
  let name = '';
  try {
    role = roleOf(node) || null;
    name = cut(norm(actedName(node)), 120);
    if (name === '' && hasAttribute(node, 'popover')) name = cut(norm(protoGet(node, 'innerText') ?? ''), 120);
  } catch (error) {
    name = '';
  }
  const out = { tag_name: tagOf(node), id: cut(idOf(node) || '', 200) || null, role, name };
  addNear(out, node);
  return out;
}

/** chosenWords are the options that a list holds now. */
function chosenWords(node) {
  if (tagOf(node) !== 'select') return {};
  return { chosen: cut(selectedOf(node).map((option) => norm(protoGet(option, 'label'))).join(', '), mostTextLength) };
}

const focusedNode = () => {
  const active = activeElement();
  return active && active !== bodyOf(document) && active !== documentElementOf(document) ? active : null;
};

/** Milliseconds by which a check comes too late where the page was busy: it may come before timers of the page then. */
const lateCheck = 5;

/** What a page lays over itself, or says beside itself. */
const layers =
  'dialog, [role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"], [role="tooltip"], [popover]';

/** layersShown are the layers that a person can see now, and what they are: one that closes may lose its role. */
function layersShown(roots = withShadows(document)) {
  const found = new Map();
  for (const root of roots)
    for (const node of queryIn(root, layers))
      if (rendered(node) && !unexposed(node)) found.set(node, effectTarget(node));
  return found;
}

/** covers: the node is as large as what is laid behind a dialog. */
function covers(node) {
  const rect = rectOf(node);
  return 4 * rect.width * rect.height >= innerWidth * innerHeight;
}

const finishedOf = getterOf(Animation.prototype, 'finished');

/**
 * appearing lists the animations that began after the action, and that end, and that
 * show or move something with a text, or what lies behind a dialog. What a button does under the pointer is none of it.
 */
function appearing(before) {
  const found = [];
  for (const animation of documentAnimationsOf(document)) {
    const effect = animation.effect;
    if (
      before.has(animation) ||
      animation.playState !== 'running' ||
      !(effect instanceof KeyframeEffect) ||
      !effect.target
    )
      continue;
    const rest = timeLeft(animation);
    if (!(rest > 0) || rest === Infinity) continue;
    if (
      !effect
        .getKeyframes()
        .some(
          (frame) =>
            'opacity' in frame ||
            'visibility' in frame ||
            'transform' in frame ||
            'height' in frame ||
            'maxHeight' in frame
        )
    )
      continue;
    const focused = focusedNode();
    if ((focused && contains(focused, effect.target)) || (norm(textOf(effect.target)) === '' && !covers(effect.target)))
      continue;
    found.push(animation);
  }
  return found;
}

/** How long a document goes on to be watched after its action was answered. */
const longestLater = 10000;

/** laterOf is what came in the watched document since the answer, null where nothing is kept. */
function laterOf(watch, roots) {
  if (!watch || !watch.answered()) return null;
  const report = watch.later(roots);
  markReported(report.texts.concat(report.passed));
  return report;
}

/** What controls held when that was told last: leaving a control commits what was told when it was written. */
const heldWhenTold = new WeakMap();

/** committed: this event says nothing new of a field of text. */
function committed(event, node) {
  if (event.type !== 'change' || !matchesCSS(node, 'input, textarea')) return false;
  const now = String(protoGet(node, 'value'));
  return heldWhenTold.get(node) === now + protoGet(node, 'checked');
}

/** formName is what the form of a control is called, {} where the document has one form only. */
function formName(node) {
  const places = 'form, [role="form"], dialog, [role="dialog"]';
  const form = closestCSS(node, places);
  if (!form || queryIn(rootOf(node), places).filter((other) => queryIn(other, fieldPlaces).length > 0).length < 2)
    return {};
  const heading = queryIn(form, 'legend, h1, h2, h3, h4')[0];
  const name = safeName(form) || (heading ? norm(textOf(heading)) : '');
  return name === '' ? {} : { form: cut(name, 60) };
}

/** noted is what was noted since a moment, at which these layers were shown and this node had the focus. */
const noted = (layersThen, focused) => ({
  dom: { added: 0, removed: 0, attributes: 0, text: 0 },
  values: new Set(),
  texts: new Set(), // nodes that came, and texts that changed
  refused: new Set(), // fields that a form found invalid
  passed: [], // texts of nodes that came and went
  layers: layersThen,
  focused,
  before: effectTarget(focused)
});

/** valueHeldBy is what a control holds, without its text. */
function valueHeldBy(node) {
  const value = protoGet(innerTextControl(node) || node, 'value');
  const kind = tagOf(node) === 'input' ? protoGet(node, 'type') : '';
  return {
    length: typeof value === 'string' ? value.length : textOf(node).length,
    checked: kind === 'checkbox' || kind === 'radio' ? protoGet(node, 'checked') === true : undefined,
    ...chosenWords(node)
  };
}

queries.effects_begin = ({ id, keep }) => {
  const roots = withShadows(document); // to find them is most of the work on a large page
  const earlier = laterOf(effectsNow, roots);
  if (effectsNow) effectsNow.end();
  const animationsBefore = new Set(documentAnimationsOf(document));
  const all = noted(layersShown(roots), focusedNode());
  let since = null; // the answer
  let open = false; // the answer may be taken back
  let shown = null; // the layers of the newest report
  let ends = Infinity;
  const told = new Map(); // control -> what it held when that was told: a page takes values back without an event
  const note = (to, node) => {
    if (nodeType(node) !== 1 && nodeType(node) !== 3) return; // frameworks mark places by comments
    to.texts.delete(node); // the newest is the last
    to.texts.add(node);
    if (to.texts.size > mostTextNodes) to.texts.delete(to.texts.values().next().value);
  };
  const passing = (to, node) => {
    if (!to.texts.delete(node) || isConnected(node) || to.passed.length >= mostTexts) return;
    const tag = nodeType(node) === 1 ? tagOf(node) : '';
    const text = skippedTags.has(tag) ? '' : cut(norm(textOf(node)), mostTextLength);
    if (text !== '') to.passed.push(text);
  };
  let last = 0;
  let acted = 0;
  let counted = 0;
  const count = (nodes) => {
    let n = 0;
    for (const node of nodes) {
      n++;
      if (counted < mostCounted && node instanceof Element) {
        const below = queryIn(node, '*').length;
        n += below;
        counted += below + 1;
      }
    }
    return n;
  };
  const add = (to, record) => {
    if (record.type === 'childList') {
      to.dom.added += count(record.addedNodes);
      for (const node of record.addedNodes) note(to, node);
      to.dom.removed += count(record.removedNodes);
      for (const node of record.removedNodes) passing(to, node);
    } else if (record.type === 'attributes') {
      to.dom.attributes++;
    } else {
      to.dom.text++;
      note(to, record.target);
    }
  };
  const take = (records) => {
    if (records.length > 0) last = performance.now();
    if (last > ends) stop();
    for (const record of records) add(since ?? all, record);
  };
  const observer = new MutationObserver(take);
  const onEvent = (event) => {
    const path = pathOf(event);
    const node = path.length > 0 ? path[0] : null;
    const to = since ?? all;
    if (event.type === 'invalid') {
      if (node instanceof Element && to.refused.size < mostTexts) to.refused.add(node);
    } else if (event.type !== 'toggle' && node instanceof Element && to.values.size < 50 && !committed(event, node)) {
      to.values.add(node);
    }
    // A page may judge what was written a moment later. Of a watch that is kept, that comes with a later answer.
    if (!keep || event.type === 'invalid' || event.type === 'toggle') last = performance.now();
  };
  const onInput = () => {
    if (keep) acted = performance.now();
  };
  const stop = () => {
    observer.disconnect();
    for (const name of effectEvents) unlisten(globalThis, name, onEvent, true);
    for (const name of inputEvents) unlisten(globalThis, name, onInput, true);
  };
  const reported = (from, within) => {
    const now = focusedNode();
    const layersNow = layersShown(within);
    shown = layersNow;
    const only = (some, others) =>
      [...some]
        .filter(([node]) => !others.has(node))
        .slice(0, mostTexts)
        .map(([, what]) => what);
    return {
      opened: only(layersNow, from.layers),
      closed: only(from.layers, layersNow),
      dom: from.dom,
      texts: textsOf(from.texts),
      passed: from.passed,
      invalid: Array.from(from.refused, (node) => ({
        target: effectTarget(node),
        message: cut(norm(protoGet(node, 'validationMessage')), mostTextLength)
      })),
      focus: now === from.focused ? null : { from: from.before, to: effectTarget(now) },
      values: Array.from(from.values, (node) => {
        const holds = valueHeldBy(node);
        told.set(node, JSON.stringify(holds));
        heldWhenTold.set(node, String(protoGet(node, 'value')) + protoGet(node, 'checked'));
        return { target: effectTarget(node), ...holds, ...formName(node) };
      })
    };
  };
  for (const root of roots)
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  for (const name of effectEvents) listen(globalThis, name, onEvent, { capture: true, passive: true });
  for (const name of inputEvents) listen(globalThis, name, onInput, { capture: true, passive: true });
  effectsNow = {
    id,
    /**
     * quiet resolves when the document has not changed for quiet_ms, or after timeout_ms. One
     * that has not changed at all has none_ms: what an action makes a page do at once is done by then.
     * What the change fades in or moves has moving_ms more to come to rest. Where the page was busy meanwhile, what it
     * had due by then has its turn first.
     */
    quiet: (quietMS, noneMS, timeoutMS, movingMS) => new Promise((resolve) => {
      const start = performance.now();
      let turned = 0; // the newest change after which the page has had that turn
      const check = () => {
        const now = performance.now();
        const calm = last === 0 ? (acted || start) + noneMS : Math.max(last, start) + quietMS;
        const until = Math.min(calm, start + timeoutMS);
        const most = start + timeoutMS + movingMS;
        if (last > turned && now > until + lateCheck) {
          turned = last;
          setTimeout(check, noneMS);
          return;
        }
        if (now >= until - 1 && last > 0 && now < most) {
          const moving = appearing(animationsBefore);
          if (moving.length > 0) { // a page goes on when it hears of the end, in the frame of it
            Promise.race([Promise.allSettled(moving.map(finishedOf)), after(most - now)]).then(nextFrame).then(check);
            return;
          }
        }
        if (now < until - 1) setTimeout(check, until - now);
        else resolve({ quiet: now < start + timeoutMS });
      };
      check();
    }),
    end: () => {
      take(observer.takeRecords());
      stop();
      effectsNow = null;
    },
    report: () => {
      take(observer.takeRecords());
      return reported(all);
    },
    answered: () => since !== null,
    /** answer reports what followed. What comes then is noted as later, unless reopen is called. */
    answer: () => {
      take(observer.takeRecords());
      const report = reported(all);
      since = noted(shown, focusedNode());
      ends = performance.now() + longestLater;
      open = true;
      return report;
    },
    /** reopen takes the answer back: what came since is of the same action. */
    reopen: () => {
      if (!open) return;
      take(observer.takeRecords());
      const more = since;
      since = null;
      open = false;
      ends = Infinity;
      told.clear();
      for (const kind of Object.keys(all.dom)) all.dom[kind] += more.dom[kind];
      for (const kind of ['values', 'texts', 'refused']) for (const node of more[kind]) all[kind].add(node);
      all.passed = all.passed.concat(more.passed).slice(0, mostTexts);
      for (const node of all.texts) if (!isConnected(node)) passing(all, node);
    },
    /** later is what came since the answer or the last report of it, and notes anew from then on. */
    later: (within) => {
      take(observer.takeRecords());
      open = false;
      for (const [node, held] of told) {
        if (since && JSON.stringify(valueHeldBy(node)) !== held) since.values.add(node);
      }
      const report = since && reported(since, within);
      since = noted(shown, focusedNode()); // a report was made just before
      ends = performance.now() + longestLater;
      return report;
    },
  };
  return { watching: true, earlier };
};

/**
 * effects_quiet waits until the document is quiet. With answer, the watch is one that is kept, and what followed is
 * reported as effects_end would: who needs no other wait saves that call.
 */
queries.effects_quiet = ({ id, quiet_ms, none_ms, timeout_ms, moving_ms, answer }) => {
  if (!effectsNow || effectsNow.id !== id) return { quiet: true };
  const watch = effectsNow;
  if (answer) watch.reopen();
  const waited = watch.quiet(quiet_ms, none_ms, timeout_ms, moving_ms);
  if (!answer) return waited;
  return waited.then((quiet) => {
    if (effectsNow !== watch) return quiet;
    const report = watch.answer();
    markReported(report.texts.concat(report.passed));
    return { ...quiet, known: true, ...report };
  });
};

/** effects_end reports what followed. A watch that is kept goes on, for what comes after the answer. */
queries.effects_end = ({ id, keep }) => {
  if (!effectsNow || effectsNow.id !== id) return { known: false };
  const watch = effectsNow;
  watch.reopen();
  const report = watch.report();
  if (keep) watch.later();
  else watch.end();
  markReported(report.texts.concat(report.passed));
  return { known: true, ...report };
};

queries.effects_later = ({ id }) => {
  const report = effectsNow && effectsNow.id === id ? laterOf(effectsNow) : null;
  return { known: report !== null, ...report };
};
