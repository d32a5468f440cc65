// actionable answers where a click on the target of a locator goes, as soon as
// it would arrive there: it resolves, scrolls into view, waits until the element
// is drawn, enabled and at rest, and hit-tests, all in one call. What may still
// come is waited for; an element that lies there and rests costs no frame.

const interactive =
  'a[href], area[href], button, input, select, textarea, summary, label, [role="button"], [role="link"], ' +
  '[role="checkbox"], [role="radio"], ' +
  '[role="switch"], [role="tab"], [role="option"], [role="menuitem"], [role="menuitemcheckbox"], ' +
  '[role="menuitemradio"], [role="treeitem"], [contenteditable=""], [contenteditable="true"]';

/** controlAround is the interactive element that a click on node is for: itself or the nearest around it. */
function controlAround(node) {
  for (let at = node; at; at = flatParentElement(at)) if (matchesCSS(at, interactive)) return at;
  return null;
}

const labelledControl = (label) => tagOf(label) === 'label' ? protoGet(label, 'control') : null;

/** clickedControl is the control that a click on node works on: of a label its control. */
function clickedControl(node) {
  const control = controlAround(node);
  return control && (labelledControl(control) || control);
}

/**
 * clickedThroughHost: the element lets clicks through to the component whose
 * shadow root it is in, which acts for it. There is no other way to click it.
 */
function clickedThroughHost(node, hit) {
  if (!shadowOf(hit) || styleOf(node).pointerEvents !== 'none') return false;
  for (let root = rootOf(node); root instanceof ShadowRoot; root = rootOf(hostOf(root)))
    if (hostOf(root) === hit) return true;
  return false;
}

/**
 * drawnBySlot: what the browser names as hit is the host of the shadow root that the element is in, whose own text
 * the element draws in a slot. A text has no element of its own there, so its parent is named.
 */
function drawnBySlot(node, hit) {
  if (!shadowOf(hit) || rootOf(node) !== shadowOf(hit)) return false;
  return queryIn(node, 'slot').some((slot) =>
    slotNodes(slot).some((part) => nodeType(part) === 3 && norm(textContentOf(part)) !== '')
  );
}

/**
 * arrives says whether a click that hits hit is one on node: the node or
 * something in it, another part of the same button or link, or its label, whose
 * click works on the same control.
 */
function arrives(node, hit) {
  if (!hit) return false;
  if (flatContains(node, hit)) {
    // A link or a button inside a label takes the click for itself.
    const control = labelledControl(node);
    const around = control && controlAround(hit);
    return !around || around === node || around === control;
  }
  if (clickedThroughHost(node, hit) || drawnBySlot(node, hit)) return true;
  const wanted = clickedControl(node);
  if (wanted !== null && clickedControl(hit) === wanted) return true;
  const drawing = drawingAround(node) || componentAround(node);
  return drawing !== null && flatContains(drawing, hit);
}

/** Longest side, in pixels, of what is drawn around a control that is clipped away: the thumb of a slider, a switch. */
const longestDrawing = 64;

/**
 * drawingAround is the parent of a control that is clipped away, where it is no
 * more than the drawing of it: small, and with no other control in it. It gets
 * the clicks for the control.
 */
function drawingAround(node) {
  if (tagOf(node) !== 'input' || drawnLabel(node)) return null;
  const style = styleOf(node);
  if (!/^rect\(0px,? 0px,? 0px,? 0px\)$/.test(style.clip) && !/^inset\((?:50|100)%/.test(style.clipPath)) return null;
  const parent = flatParentElement(node);
  if (!parent) return null;
  const box = rectOf(parent);
  const small = box.width <= longestDrawing && box.height <= longestDrawing;
  return small && queryIn(parent, interactive).length === 1 ? parent : null;
}

/** Sizes, in pixels, of a component that stands for its input, and how many parents away it is. */
const highestComponent = 64;
const widestComponent = 640;
const componentDepth = 4;

/**
 * componentAround is what a component draws for its input, where the pointer shows that it
 * takes the clicks: a switch whose input has no size, a list whose words lie over its input.
 */
function componentAround(node) {
  if (tagOf(node) !== 'input') return null;
  const pointed = (part) => rendered(part) && styleOf(part).cursor === 'pointer';
  // An input that fills a wide component leaves no doubt what the component is for.
  const widest = Math.max(widestComponent, widthOf(rectOf(node)) * 1.5);
  // Its own labels, such that label nothing, and a list that is kept for forms and not drawn are no other controls.
  const other = (part) =>
    tagOf(part) === 'label' ? ![null, node].includes(labelledControl(part)) : part !== node && rendered(part);
  let found = null;
  let at = flatParentElement(node);
  for (let depth = 0; at && at !== bodyOf() && depth < componentDepth; depth++, at = flatParentElement(at)) {
    const box = rectOf(at);
    if (box.width > widest || box.height > highestComponent || queryIn(at, interactive).some(other)) break;
    const drawn = pointed(at)
      ? at
      : found === null
        ? flatChildren(at).find((part) => nodeType(part) === 1 && part !== node && pointed(part))
        : null;
    if (drawn) found = drawn;
  }
  return found;
}

/** drawnLabel is a label to click for a control that cannot be clicked itself, or null. */
function drawnLabel(node) {
  const tag = tagOf(node);
  if (tag !== 'input' && tag !== 'select' && tag !== 'textarea' && tag !== 'button') return null;
  const labels = protoGet(node, 'labels');
  return labels ? Array.from(labels).find((label) => rendered(label)) || null : null;
}

/**
 * drawnChild is what stands for an element whose box is that of its children alone (display: contents): the first of
 * them that is drawn, or null.
 */
function drawnChild(node) {
  if (styleOf(node).display !== 'contents') return null;
  for (const child of flatChildren(node)) {
    if (nodeType(child) !== 1) continue;
    const part = rendered(child) ? child : drawnChild(child);
    if (part) return part;
  }
  return null;
}

/**
 * beforeDocumentStart: the element lies before the start of the document, where nothing scrolls, as inputs behind their
 * drawing often do.
 */
const beforeDocumentStart = (rect) => rect.right + scrollX <= 0 || rect.bottom + scrollY <= 0;

/**
 * clickableSliver: an element too small to measure by is clicked as it is where
 * a click arrives, such as the empty input of a combobox, no wider than its
 * caret. One pixel is how controls are hidden behind their drawing.
 */
const clickableSliver = (node, seen) => widthOf(seen) > 1 && heightOf(seen) > 1 && clickPoint(node, seen).arrived;

/** So many of its own texts are looked at for a point on one. */
const mostOwnTexts = 8;

/** ownTextPoints are the middles of the texts that an element has itself, not in an element of its own. */
function ownTextPoints(node, seen) {
  const points = [];
  for (const child of childNodesOf(node)) {
    if (points.length >= mostOwnTexts) break;
    if (nodeType(child) !== 3 || norm(nodeValueOf(child)) === '') continue;
    const range = new Range();
    range.selectNodeContents(child);
    const line = Array.from(range.getClientRects()).map((rect) => intersect(rect, seen)).find(Boolean);
    if (line) points.push(middleOf(line));
  }
  return points;
}

/** surrounds: the element is no control, and controls that are in it take clicks for themselves. */
const surrounds = (node) => controlAround(node) === null && queryIn(node, interactive).length > 0;

/** pointAt is the point of an element that a caller names, from its top left corner. */
function pointAt(node, { x, y }) {
  const rect = rectOf(node);
  const point = { x: rect.left + x, y: rect.top + y };
  const hit = deepHit(point.x, point.y);
  return { point, hit, arrived: arrives(node, hit) };
}

/** requireInside fails at once for a point that the element does not reach to. */
function requireInside(args, node) {
  const { position } = args;
  if (!position) return;
  const rect = rectOf(node);
  if (position.x <= widthOf(rect) && position.y <= heightOf(rect)) return;
  throw new Fault('target_not_actionable', 'the position is outside of the element', {
    locator: args.locator,
    reason: 'position',
    width: widthOf(rect),
    height: heightOf(rect)
  });
}

/**
 * clickPoint finds a point of the element at which a click arrives: the middle, a line's middle, then a quarter in from
 * each corner. What is named by a text alone, and surrounds controls that are not named, is clicked beside them.
 */
function clickPoint(node, seen, locator, position) {
  if (position) return pointAt(node, position);
  const beside = Boolean(locator) && textAlone(locator) !== '' && surrounds(node);
  const points = beside ? [...ownTextPoints(node, seen), middleOf(seen)] : [middleOf(seen)];
  const pieces = piecesOf(node);
  for (let i = 0; pieces.length > 1 && i < pieces.length && i < 8; i++) {
    const piece = intersect(pieces[i], seen);
    if (piece) points.push(middleOf(piece));
  }
  for (const [x, y] of [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]]) {
    points.push({ x: seen.left + x * widthOf(seen), y: seen.top + y * heightOf(seen) });
  }
  points.push(...shapePoints(node, seen));
  let first = null;
  for (const point of points) {
    const hit = deepHit(point.x, point.y);
    first ||= { point, hit, arrived: false };
    if (arrives(node, hit) && !(beside && controlAround(hit))) return { point, hit, arrived: true };
  }
  return first;
}

/**
 * requireOpen fails at once for an option that its closed list does not draw: no time brings it, and the list
 * that opens
 * at a click is the browser's own, which is not in the page.
 */
function requireOpen(args, node) {
  const tag = tagOf(node);
  if (!args.click || args.force || tag !== 'option' && tag !== 'optgroup') return;
  const list = closestCSS(node, 'select');
  if (!list || !rendered(list) || rendered(node)) return;
  const evidence = {
    locator: args.locator,
    reason: 'option',
    list: { target_label: label(list), ref: refOf(list), name: cut(nameOf(list), 120) }
  };
  throw new Fault(
    'target_not_actionable',
    'the option is in a closed list, where no click arrives; choose it with page.select on the list',
    evidence
  );
}

/** refusal is why a control cannot be acted on, '' for no reason. */
function refusal(args, node) {
  if (args.force) return '';
  const control = args.click ? clickedControl(node) || node : node;
  if (args.enabled && isDisabled(control)) return 'disabled';
  if (args.editable && protoGet(control, 'readOnly') === true) return 'readonly';
  return '';
}

/**
 * actState probes once, without waiting or scrolling. ready means that what
 * args.until requires is true: 'attached', 'drawn' (part of it is in the
 * viewport), or by default that a click at point arrives.
 */
function actState(args, view) {
  const { nodes, trace } = locateToAct(args.locator);
  if (nodes.length === 0) return { reason: 'not_found', trace };
  const { node, count } = oneOf(args.locator, nodes, view);
  requireOpen(args, node);
  if (args.until === 'attached') {
    const reason = refusal(args, node);
    return { node, clicked: node, count, m: measure(node, view), reason, ready: reason === '' };
  }
  let clicked = node;
  let m = measure(node, view);
  const unclickable =
    !m.rendered || (m.seen ? !m.point && !clickableSliver(node, m.seen) : beforeDocumentStart(m.rect));
  if (unclickable && !args.force) {
    const other =
      (args.click && drawnLabel(node)) ||
      drawingAround(node) ||
      (!m.rendered && (drawnChild(node) || componentAround(node)));
    if (other) {
      clicked = other;
      m = measure(other, view);
    } else if (!m.rendered) {
      return { reason: 'hidden', node, count, m };
    }
  }
  if (!m.rendered || innerWidth === 0 || innerHeight === 0) return { reason: 'hidden', node, count, m };
  const state = { node, clicked, m, count };
  const refused = refusal(args, node);
  if (refused) return { ...state, reason: refused };
  if (!m.seen) return { ...state, reason: 'outside' };
  if (args.until === 'drawn') return { ...state, point: middleOf(m.seen), ready: true };
  requireInside(args, clicked);
  if (args.force) {
    const point = args.position ? pointAt(clicked, args.position).point : m.point || middleOf(m.seen);
    return { ...state, point, ready: true };
  }
  const place = clickPoint(clicked, m.seen, args.locator, args.position);
  Object.assign(m, { point: place.point, hit: place.hit, receives: place.arrived, clickable: place.arrived });
  state.point = place.point;
  if (!place.arrived && clicked === node && args.click && !args.position) {
    // A control under its own drawing is clicked through its label.
    const label = drawnLabel(node);
    const lm = label && measure(label, view);
    const there = lm && lm.seen && clickPoint(label, lm.seen);
    if (there && there.arrived) return { ...state, clicked: label, m: lm, point: there.point, ready: true };
  }
  return place.arrived ? { ...state, ready: true } : { ...state, reason: 'covered', over: place.hit };
}

/** Attempts keeps what was in the way, each thing once, with how often and how long it was seen. */
class Attempts {
  constructor(earlier, view) {
    this.list = earlier || [];
    this.start = performance.now();
    this.view = view;
  }

  note(state) {
    const over = state.over && !arrives(state.clicked, state.over) ? state.over : null;
    const name = over ? label(over) : undefined;
    const at = Math.round(performance.now() - this.start);
    const known = this.list.find(
      (a) => a.reason === state.reason && (a.occluded_by ? a.occluded_by.target_label : undefined) === name
    );
    if (known) {
      known.times++;
      known.last_ms = at;
      return;
    }
    if (this.list.length >= 10) return;
    const attempt = { reason: state.reason, times: 1, first_ms: at, last_ms: at };
    if (state.point) attempt.point = pointOut(state.point, this.view);
    if (state.m && state.m.rendered) attempt.bounding_box = box(state.m.rect, this.view);
    if (over)
      attempt.occluded_by = {
        target_label: name,
        tag_name: tagOf(over),
        role: roleOf(over) || null,
        name: cut(nameOf(over), 120),
        rect: box(rectOf(over), this.view)
      };
    this.list.push(attempt);
  }
}

const actReasons = {
  hidden: 'the element is not drawn',
  disabled: 'the element is disabled',
  readonly: 'the element is read-only',
  moving: 'the element does not come to rest',
  outside: 'the element is outside the viewport and nothing scrolls it in',
  covered: 'another element receives the click'
};

/** actFailure is what to say when the time is over. */
function actFailure(args, state, attempts, view) {
  const evidence = { reason: state.reason, attempts: attempts.list, timeout_ms: args.timeout_ms };
  if (state.reason === 'not_found') {
    const fault = notFound(args.locator, state.trace);
    Object.assign(fault.evidence, evidence);
    return fault;
  }
  const last = attempts.list[attempts.list.length - 1];
  if (state.over && last && last.occluded_by) evidence.occluded_by = last.occluded_by;
  return new Fault('target_not_actionable', actReasons[state.reason], {
    locator: args.locator,
    target: described(state.node, view),
    ...evidence
  });
}

const alignments = ['center', 'end', 'start'];

/** coversAll: what lies over the element would do so wherever it were scrolled to. */
function coversAll(over, view) {
  const viewport = viewportRect(view);
  const part = over && viewport && intersect(rectOf(over), viewport);
  return Boolean(part) && heightOf(part) > 0.8 * heightOf(viewport) && widthOf(part) > 0.8 * widthOf(viewport);
}

/** bringIntoView scrolls until a click arrives or nothing helps, and resolves with what it performed. */
async function bringIntoView(args, state, view) {
  const remeasure = () => {
    requireWanted(args);
    const m = measure(state.clicked, view);
    if (m.seen) {
      const place = clickPoint(state.clicked, m.seen, args.locator, args.position);
      Object.assign(m, { point: place.point, hit: place.hit, receives: place.arrived, clickable: place.arrived });
    }
    return m;
  };
  const shown = await reveal(state.m, view, remeasure);
  const { performed } = shown;
  let { m } = shown;
  for (const block of alignments) {
    if (m.seen && (m.receives || args.force || args.until === 'drawn')) break;
    const before = plain(rectOf(state.clicked));
    protoCall(drawnBy(state.clicked), 'scrollIntoView', { block, inline: 'center', behavior: 'instant' });
    if (same(before, plain(rectOf(state.clicked)))) continue;
    await nextFrame();
    m = remeasure();
    performed.push({
      target: 'element',
      target_label: label(state.clicked),
      reason: 'aligned ' + block,
      aligned: true
    });
  }
  return performed;
}

function actAnswer(args, state, attempts, view, scrolls) {
  const point = pointOut(state.point || middleOf(state.m.rect), view);
  const out = {
    x: point.x,
    y: point.y,
    candidate_count: state.count,
    handle: keep(state.node),
    scrolls,
    scrolled_from: args.from,
    part: plain(state.m.rect),
    target: clickTarget(
      state.node,
      view,
      { width: innerWidth, height: innerHeight, scroll_x: scrollX, scroll_y: scrollY },
      point
    )
  };
  if (args.until === 'drawn') Object.assign(out, { seen: edges(state.m.seen, view), fully: state.m.fully });
  if (args.until) {
    const { tag_name, computed_role: role, bounding_box } = out.target;
    out.acted = { tag_name, role, name: actedName(state.node), bounding_box };
    addNear(out.acted, state.node);
  }
  if (args.focus) {
    takeFocus(state.node);
    out.focused = holdsKeys(state.node);
    if (args.focus_key) expectKeys(args.focus_key, state.node);
  }
  if (state.count > 1) out.ambiguous = true;
  if (state.clicked !== state.node) out.pressed_label = label(state.clicked);
  if (attempts.list.length > 0) out.attempts = attempts.list;
  if (args.reach && !keepsClicks(tagOf(state.clicked))) {
    watchArrival(args.reach, globalThis, state.point || middleOf(state.m.rect));
    out.reachable = true;
  }
  if (args.guard) {
    guardClick(args.guard, state.clicked, () => renderedAgainFor(args, view));
    out.watched = clickWaiters.has(args.guard);
  }
  return out;
}

/**
 * renderedAgainFor is the element that the locator resolves to, null when there is none or
 * it must not be clicked. A page that renders its contents again all the time, or because
 * the pointer moved, would else never be clicked.
 */
function renderedAgainFor(args, view) {
  try {
    const { node } = oneOf(args.locator, locateToAct(args.locator).nodes, view);
    return refusal(args, node) === '' ? node : null;
  } catch {
    return null;
  }
}

/**
 * act_target takes locator, click (a button will be clicked, not only the
 * pointer moved), enabled (a disabled control is waited for), force (only a
 * point is needed), timeout_ms, and guard, an id under which click_verdict says
 * what the click hit; reach, an id under which pointer_arrived says whether the pointer came; until, editable
 * and focus ask for less, or more, than a
 * click; still forbids to scroll. A caller that composes frames gives view, partial and attempts. Then
 * the answer has what is missing instead of a failure. An answer with hosts asks
 * the caller to open the closed shadow roots of these elements and to call again;
 * searched says that it opens no more, hosts_in when it opens the next ones.
 * A document that is still being read is waited for first, for read_ms. call is an id for act_given_up.
 */
queries.act_target = (args) => {
  if (!args.call) return actTarget(args);
  waitingActs.add(args.call);
  const over = () => waitingActs.delete(args.call);
  let answer;
  try {
    answer = actTarget(args);
  } catch (fault) {
    over();
    throw fault;
  }
  if (answer instanceof Promise) return answer.finally(over);
  over();
  return answer;
};

/** The ids of calls of act_target that wait. */
const waitingActs = new Set();

/** act_given_up has a call of act_target that waits do nothing more. */
queries.act_given_up = ({ call }) => ({ waited: waitingActs.delete(call) });

/** requireWanted ends a call that was given up while it waited. */
function requireWanted(args) {
  if (args.call && !waitingActs.has(args.call)) throw new Fault('cancelled', 'the call was given up', {});
}

function actTarget(args) {
  const unread = args.force ? 0 : readTime(args.read_ms);
  if (unread > 0)
    return documentRead(unread).then(() => {
      requireWanted(args);
      return actTarget({ ...args, read_ms: 0 });
    });
  const view = viewOf(args.view);
  const attempts = new Attempts(args.attempts, view);
  args.from = windowOffsets();
  const state = actState(args, view);
  if (
    state.ready &&
    (args.force || args.until === 'attached' || (state.m.fully && !mayMove(state.clicked, state.m.rect)))
  ) {
    remember(state.clicked, state.m.rect);
    return actAnswer(args, state, attempts, view, 0);
  }
  return actInTime(args, state, attempts, view);
}

/**
 * A target that nothing scrolls free is tried again after this many milliseconds, or when something else lies over it.
 */
const scrollAgain = 400;

/** Milliseconds between two searches for new closed shadow roots. */
const hostsAgain = 500;

/**
 * leaveField takes the focus from the text box that has it, as the click that waits will. Many pages read a box when it
 * is left, and enable their buttons then.
 */
function leaveField(node) {
  const active = activeElement();
  const tag = active && active !== node ? tagOf(active) : '';
  if (tag === 'input' || tag === 'textarea') protoCall(active, 'blur');
}

async function actInTime(args, first, attempts, view) {
  const deadline = performance.now() + (args.timeout_ms || 0);
  const left = () => deadline - performance.now();
  let state = first;
  let scrolls = 0;
  let tried = { node: null, over: null, at: 0 };
  let hostsAt = performance.now() + (args.hosts_in || 0); // when to search again for elements that hide what is in them
  let rested = false; // the end of its own movement was waited for
  let restless = false; // the element moved at the last probe
  let leaveAt = args.click ? performance.now() + scrollAgain : Infinity; // when a box is left for a disabled control
  const pierce = args.locator.pierce ?? isExtended(args.locator);
  for (;;) {
    const worth =
      !args.still &&
      state.clicked &&
      (state.reason === 'outside' ||
        (state.reason === 'covered' && !coversAll(state.over, view)) ||
        (state.ready && !state.m.fully));
    if (worth && !rested && state.reason !== 'covered' && left() > 0 && runningTime(state.clicked) > 0) {
      // It is on its way, perhaps into view: to scroll meanwhile would leave its scroller shifted.
      rested = true;
      await settled(state.clicked, Math.min(left(), longestAnimation));
      requireWanted(args);
      state = actState(args, view);
      continue;
    }
    if (
      worth &&
      !(
        tried.node === state.clicked &&
        tried.over === (state.over || null) &&
        performance.now() - tried.at < scrollAgain
      )
    ) {
      tried = { node: state.clicked, over: state.over || null, at: performance.now() };
      const performed = await bringIntoView(args, state, view);
      requireWanted(args);
      scrolls += performed.length;
      // The browser's own alignment scrolls ancestor frames too: where this
      // document lies has to be queried again.
      if (args.partial && performed.some((op) => op.aligned)) return { pending: 'moved', attempts: attempts.list };
      if (performed.length > 0) lately.delete(state.clicked);
      const over = state.over || null;
      state = actState(args, view);
      tried.over = state.over || over;
    }
    if (state.ready) {
      if (args.force || args.until === 'attached' || !restless && !mayMove(state.clicked, state.m.rect)) {
        remember(state.clicked, state.m.rect);
        return actAnswer(args, state, attempts, view, scrolls);
      }
      const still = await settled(state.clicked, Math.max(restBudget, Math.min(left(), 1000)));
      requireWanted(args);
      const again = actState(args, view);
      if (
        again.ready &&
        again.clicked === state.clicked &&
        still &&
        same(plain(again.m.rect), lately.get(again.clicked).rect)
      ) {
        return actAnswer(args, again, attempts, view, scrolls);
      }
      restless = !still;
      state = again.ready ? { ...again, ready: false, reason: 'moving' } : again;
    }
    attempts.note(state);
    if (state.reason === 'not_found' && pierce && !args.searched && performance.now() >= hostsAt) {
      hostsAt = performance.now() + hostsAgain;
      const hosts = unopenedHosts();
      if (hosts.length > 0) return { hosts, attempts: attempts.list };
    }
    if (left() <= 0 || args.partial && state.reason === 'outside') {
      const fault = actFailure(args, state, attempts, view);
      if (!args.partial) throw fault;
      return {
        pending: state.reason,
        part: state.m && state.m.rendered ? plain(state.m.rect) : null,
        attempts: attempts.list,
        code: fault.code,
        message: fault.message,
        evidence: fault.evidence
      };
    }
    if (state.reason === 'disabled' && performance.now() >= leaveAt) {
      leaveAt = Infinity;
      leaveField(state.node);
    }
    const waited = state;
    // Whatever the probe below finds, the page gets a frame between two rounds.
    if (waited.reason !== 'not_found') await nextFrame();
    const again = performance.now() + scrollAgain;
    const changed = (next) =>
      next.ready ||
      next.reason !== waited.reason ||
      next.node !== waited.node ||
      next.over !== waited.over ||
      (next.reason === 'covered' && performance.now() >= again) ||
      (next.reason === 'disabled' && performance.now() >= leaveAt);
    state =
      (await waitUntil(
        () => {
          const next = actState(args, view);
          if (waited.reason === 'moving' ? next.ready : changed(next)) return next;
          attempts.note(next);
          return null;
        },
        { timeout: left(), silent: () => waited.reason !== 'not_found', pierce }
      )) || actState(args, view);
    requireWanted(args);
  }
}
