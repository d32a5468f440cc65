// stable answers whether an element keeps its place. Waiting for a second frame
// costs more than everything else a call does, so it is done only for an
// element that may be moving.

const lately = new WeakMap(); // element -> {rect, at}: where a call saw it last
const memory = 1000;
const frameTime = 30;

const same = (a, b) => a.left === b.left && a.top === b.top && a.right === b.right && a.bottom === b.bottom;
const plain = (rect) => ({ left: rect.left, top: rect.top, right: rect.right, bottom: rect.bottom });
const movingStyle = /(?:^|[;\s])(?:transform|translate|left|top|right|bottom|inset[-a-z]*|margin[-a-z]*)\s*:/i;
const stillProperty = /^(?:offset|computedOffset|easing|composite|opacity|color|background.*|filter|backdropFilter|visibility|fill|stroke.*|outline.*|boxShadow|textShadow|textDecoration.*|borderColor|border[A-Z][a-z]+Color|caretColor|accentColor|cursor|clipPath)$/;

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
  const now = performance.now();
  if (before && now - before.at < memory) {
    if (!same(before.rect, rect)) return true;
    if (now - before.at > frameTime) return false; // two samples agree already
  }
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

function remember(node, rect) {
  lately.set(node, { rect: plain(rect), at: performance.now() });
}

/**
 * settled waits, for at most budget milliseconds, until two frames show the
 * element in one place. It resolves with whether they did.
 */
async function settled(node, budget) {
  const end = performance.now() + budget;
  for (let rect = rectOf(node); ;) {
    await nextFrame();
    const next = rectOf(node);
    const still = same(rect, next);
    rect = next;
    if (still || performance.now() >= end) {
      remember(node, rect);
      return still;
    }
  }
}
