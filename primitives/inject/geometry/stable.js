// stable answers whether an element keeps its place. Waiting for a second frame
// costs more than everything else a call does, so it is done only for an
// element that may be moving.

const lately = new WeakMap(); // element -> {rect, at, moving}: where a call saw it last
const rememberedFor = 1000;

const same = (a, b) => a.left === b.left && a.top === b.top && a.right === b.right && a.bottom === b.bottom;
const plain = (rect) => ({ left: rect.left, top: rect.top, right: rect.right, bottom: rect.bottom });
const movingStyle = /(?:^|[;\s])(?:transform|translate|left|top|right|bottom|inset[-a-z]*|margin[-a-z]*)\s*:/i;
const stillProperty =
  /^(?:offset|computedOffset|easing|composite|opacity|color|background.*|filter|backdropFilter|visibility|fill|stroke.*|outline.*|boxShadow|textShadow|textDecoration.*|borderColor|border[A-Z][a-z]+Color|caretColor|accentColor|cursor|clipPath)$/;

/** moves says whether an animation can change where its target is. */
function moves(animation) {
  if (animation.playState !== 'running') return false;
  const effect = animation.effect;
  if (!(effect instanceof KeyframeEffect)) return true;
  return effect.getKeyframes().some((frame) => Object.keys(frame).some((name) => !stillProperty.test(name)));
}

/** mayMove says whether there is a sign that the element is moving. */
function mayMove(node, rect) {
  const before = lately.get(node);
  // A call took a sample a moment ago: the two agree, or they do not.
  if (before && performance.now() - before.at < rememberedFor) return before.moving || !same(before.rect, rect);
  const running = documentAnimationsOf(document);
  if (running.length > 0 && running.length <= 200 && running.some(moves)) return true;
  for (let at = node; at; at = flatParentElement(at)) {
    if (running.length > 200 && animationsOf(at).some(moves)) return true;
    const inline = attributeOf(at, 'style');
    if (inline && movingStyle.test(inline)) return true;
    const hint = styleOf(at).willChange;
    if (hint !== 'auto' && hint !== 'contents' && !stillProperty.test(hint)) return true;
  }
  return false;
}

function remember(node, rect, moving = false) {
  lately.set(node, { rect: plain(rect), at: performance.now(), moving });
}

/** Longest time, in milliseconds, that the end of an animation is waited for. */
const longestAnimation = 2000;

/** timeLeft is how long an animation with keyframes still runs, Infinity without an end. */
const timeLeft = (animation) =>
  (animation.effect.getComputedTiming().endTime - (animation.currentTime || 0)) / Math.abs(animation.playbackRate || 1);

/** runningTime is how long animations that end will still move the element. */
function runningTime(node) {
  let left = 0;
  for (const animation of documentAnimationsOf(document)) {
    if (!moves(animation) || !(animation.effect instanceof KeyframeEffect)) continue;
    const target = animation.effect.target;
    if (!target || !flatContains(target, node)) continue;
    const rest = timeLeft(animation);
    if (rest < Infinity) left = Math.max(left, rest);
  }
  return left;
}

const timelineOf = getterOf(Document.prototype, 'timeline');
const timeOf = getterOf(AnimationTimeline.prototype, 'currentTime');
const pendingOf = getterOf(Animation.prototype, 'pending');

/** carriersForEver lists the animations without an end that can move the element. */
function carriersForEver(node) {
  return documentAnimationsOf(document).filter((animation) => {
    if (!moves(animation) || !(animation.effect instanceof KeyframeEffect)) return false;
    const target = animation.effect.target;
    return target !== null && flatContains(target, node) && animation.effect.getComputedTiming().endTime === Infinity;
  });
}

/** So many waits for a frame in vain mean that none is drawn. */
const framesMissed = 6;

/** Milliseconds between two frames, at least: a guess of the browser and the frame after it are less apart. */
const leastFrame = 3;

/**
 * settled waits until two frames show the element in one place and no animation
 * that ends still moves it. Under an animation without an end, which may turn between two
 * frames, it takes three. That one, and a script, get budget milliseconds. It resolves
 * with whether the element came to rest.
 */
async function settled(node, budget) {
  const start = performance.now();
  let end = start + budget;
  let missed = 0; // frames in a row that did not come
  let moment; // of the endless animations, in the last frame
  let unmoved = 0; // samples in a row that found it where it was
  for (let rect = rectOf(node); ;) {
    const framed = await nextFrame();
    const next = rectOf(node);
    const running = runningTime(node);
    end = Math.max(end, Math.min(performance.now() + running + 50, start + longestAnimation));
    missed = framed ? 0 : missed + 1;
    // Without a frame nothing could have been seen to move. A tab that is drawn
    // gets its frames late on a busy machine; one behind another gets none.
    let seen = framed || missed >= framesMissed || protoGet(document, 'visibilityState') === 'hidden';
    const carriers = carriersForEver(node);
    if (carriers.length > 0) {
      // An animation begins some frames late, between frames the browser guesses
      // how far it is, and the frame after a guess too far shows the same moment
      // once more: only two frames at two moments are proof.
      const before = moment;
      if (framed) moment = carriers.some(pendingOf) ? undefined : timeOf(timelineOf(document));
      seen = framed && before !== undefined && moment !== undefined && moment - before >= leastFrame;
    }
    if (!same(rect, next)) unmoved = 0;
    else if (seen) unmoved++;
    const still = running === 0 && unmoved >= (carriers.length > 0 ? 2 : 1);
    rect = next;
    if (still || performance.now() >= end) {
      remember(node, rect, !still); // one that moved is in one place until the next frame
      return still;
    }
  }
}
