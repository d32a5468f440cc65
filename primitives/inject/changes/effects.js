// effects answers what happened in a document between two page calls: nodes,
// values, focus. It is kept to one watch at a time; a new one ends the old.

const effectEvents = ['input', 'change', 'invalid', 'toggle'];
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
  return { tag_name: tagOf(node), id: cut(idOf(node) || '', 200) || null, role, name };
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

/** What a page lays over itself, or says beside itself. */
const layers =
  'dialog, [role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"], [role="tooltip"], [popover]';

/** layersShown are the layers that a person can see now, and what they are: one that closes may lose its role. */
function layersShown() {
  const found = new Map();
  for (const root of withShadows(document))
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

queries.effects_begin = ({ id }) => {
  if (effectsNow) effectsNow.end();
  const layersBefore = layersShown();
  const animationsBefore = new Set(documentAnimationsOf(document));
  const dom = { added: 0, removed: 0, attributes: 0, text: 0 };
  const values = new Map();
  const texts = new Set(); // nodes that came, and texts that changed
  const refused = new Set(); // fields that a form found invalid
  const note = (node) => {
    if (nodeType(node) !== 1 && nodeType(node) !== 3) return; // frameworks mark places by comments
    texts.delete(node); // the newest is the last
    texts.add(node);
    if (texts.size > mostTextNodes) texts.delete(texts.values().next().value);
  };
  const passed = []; // texts of nodes that came and went
  const passing = (node) => {
    if (!texts.delete(node) || isConnected(node) || passed.length >= mostTexts) return;
    const tag = nodeType(node) === 1 ? tagOf(node) : '';
    const text = skippedTags.has(tag) ? '' : cut(norm(textOf(node)), mostTextLength);
    if (text !== '') passed.push(text);
  };
  let last = 0;
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
  const take = (records) => {
    if (records.length > 0) last = performance.now();
    for (const record of records) {
      if (record.type === 'childList') {
        dom.added += count(record.addedNodes);
        for (const node of record.addedNodes) note(node);
        dom.removed += count(record.removedNodes);
        for (const node of record.removedNodes) passing(node);
      } else if (record.type === 'attributes') {
        dom.attributes++;
      } else {
        dom.text++;
        note(record.target);
      }
    }
  };
  const observer = new MutationObserver(take);
  const onEvent = (event) => {
    const path = pathOf(event);
    const node = path.length > 0 ? path[0] : null;
    if (event.type === 'invalid') {
      if (node instanceof Element && refused.size < mostTexts) refused.add(node);
    } else if (event.type !== 'toggle' && node instanceof Element && values.size < 50) {
      values.set(node, tagOf(node));
    }
    last = performance.now(); // a page may judge what was written a moment later
  };
  for (const root of withShadows(document))
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  for (const name of effectEvents) listen(globalThis, name, onEvent, { capture: true, passive: true });
  const focused = focusedNode();
  const before = effectTarget(focused);
  effectsNow = {
    id, dom, values,
    /**
     * quiet resolves when the document has not changed for quiet_ms, or after timeout_ms. One
     * that has not changed at all has none_ms: what an action makes a page do at once is done by then.
     * What the change fades in or moves has moving_ms more to come to rest.
     */
    quiet: (quietMS, noneMS, timeoutMS, movingMS) => new Promise((resolve) => {
      const start = performance.now();
      const check = () => {
        const now = performance.now();
        const until = Math.min(last === 0 ? start + noneMS : Math.max(last, start) + quietMS, start + timeoutMS);
        const most = start + timeoutMS + movingMS;
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
      observer.disconnect();
      for (const name of effectEvents) unlisten(globalThis, name, onEvent, true);
      effectsNow = null;
    },
    report: () => {
      const now = focusedNode();
      const layersNow = layersShown();
      const only = (some, others) =>
        [...some]
          .filter(([node]) => !others.has(node))
          .slice(0, mostTexts)
          .map(([, what]) => what);
      return {
        opened: only(layersNow, layersBefore),
        closed: only(layersBefore, layersNow),
        dom,
        texts: textsOf(texts),
        passed,
        invalid: Array.from(refused, (node) => ({
          target: effectTarget(node),
          message: cut(norm(protoGet(node, 'validationMessage')), mostTextLength)
        })),
        focus: now === focused ? null : { from: before, to: effectTarget(now) },
        values: Array.from(values.keys(), (node) => {
          const value = protoGet(innerTextControl(node) || node, 'value');
          const kind = tagOf(node) === 'input' ? protoGet(node, 'type') : '';
          const checked = kind === 'checkbox' || kind === 'radio' ? protoGet(node, 'checked') === true : undefined;
          return {
            target: effectTarget(node),
            length: typeof value === 'string' ? value.length : textOf(node).length,
            checked,
            ...chosenWords(node)
          };
        })
      };
    },
  };
  return { watching: true };
};

queries.effects_quiet = ({ id, quiet_ms, none_ms, timeout_ms, moving_ms }) => {
  if (!effectsNow || effectsNow.id !== id) return { quiet: true };
  return effectsNow.quiet(quiet_ms, none_ms, timeout_ms, moving_ms);
};

queries.effects_end = ({ id }) => {
  if (!effectsNow || effectsNow.id !== id) return { known: false };
  const watch = effectsNow;
  watch.end();
  const report = watch.report();
  messagesTold(report.texts.concat(report.passed));
  return { known: true, ...report };
};
