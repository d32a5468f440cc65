// still holds a document while pictures of it are taken that are compared: fonts and pictures are there, animations are
// at their end, no caret blinks.

const stillAnimations = (root) =>
  root === document ? documentAnimationsOf(document) : protoCall(root, 'getAnimations') || [];

/** endAnimations ends what ends by itself, and holds what does not at its beginning. */
function endAnimations(held) {
  for (const root of withShadows(document)) {
    for (const animation of stillAnimations(root)) {
      const { effect } = animation;
      if (!effect || animation.playbackRate === 0 || held.has(animation)) continue;
      try {
        if (Number.isFinite(Number(effect.getComputedTiming().endTime))) {
          animation.finish();
          continue;
        }
        if (animation.playState !== 'running') continue;
        held.set(animation, animation.currentTime);
        animation.pause();
        animation.currentTime = 0;
      } catch {
        // One that follows scrolling has no end; two pictures that are equal say whether it moves.
      }
    }
  }
}

/** picturesInView are the pictures that the viewport shows and that are not there yet. */
function picturesInView() {
  const out = [];
  for (const root of withShadows(document))
    for (const node of queryIn(root, 'img')) {
      const rect = rectOf(node);
      const near = rect.bottom > 0 && rect.top < innerHeight && rect.right > 0 && rect.left < innerWidth;
      if (near && rect.width > 0 && protoGet(node, 'complete') === false) out.push(node);
    }
  return out;
}

/** still_begin resolves when the document can be drawn as it stays. */
queries.still_begin = async ({ timeout_ms }) => {
  const late = new Promise((resolve) => { setTimeout(resolve, timeout_ms); });
  const loaded = (node) =>
    new Promise((resolve) => {
      protoCall(node, 'addEventListener', 'load', resolve, { once: true });
      protoCall(node, 'addEventListener', 'error', resolve, { once: true });
    });
  await Promise.race([Promise.all([protoGet(document, 'fonts').ready, ...picturesInView().map(loaded)]), late]);
  const node = activeElement();
  if (!memory.still) memory.still = { held: new Map(), caret: null };
  if (node && node !== bodyOf() && memory.still.caret === null) {
    const style = protoGet(node, 'style');
    if (style) {
      memory.still.caret = {
        node: new WeakRef(node),
        had: hasAttribute(node, 'style'),
        value: style.getPropertyValue('caret-color'),
        priority: style.getPropertyPriority('caret-color')
      };
      style.setProperty('caret-color', 'transparent', 'important');
    }
  }
  endAnimations(memory.still.held);
  return {};
};

/** still_again ends what began to move meanwhile, and answers on the next frame with what is to be covered. */
queries.still_again = async ({ mask, view: given }) => {
  if (memory.still) {
    endAnimations(memory.still.held);
    const held = Array.from(memory.still.held.keys(), (animation) => animation.ready.catch(() => {}));
    await Promise.race([Promise.all(held), new Promise((resolve) => { setTimeout(resolve, 300); })]);
  }
  await nextFrame();
  await nextFrame(); // what the compositor drew before is gone
  const view = viewOf(given);
  const boxes = [];
  for (const selector of mask || [])
    for (const root of withShadows(document))
      for (const node of queryIn(root, selector)) {
        const rect = rectOf(node);
        if (rect.width > 0 && rect.height > 0) boxes.push(edges(rect, view));
      }
  const seen = visualViewport;
  return {
    boxes,
    width: innerWidth / seen.scale,
    left: seen.offsetLeft,
    top: seen.offsetTop,
    scroll_x: scrollX,
    scroll_y: scrollY
  };
};

/** still_end lets the document go on. */
queries.still_end = () => {
  const { still } = memory;
  memory.still = null;
  if (!still) return {};
  for (const [animation, time] of still.held) {
    try {
      animation.currentTime = time;
      animation.play();
    } catch {
      // its element is gone
    }
  }
  const node = still.caret && still.caret.node.deref();
  if (node) {
    const style = protoGet(node, 'style');
    if (still.caret.value) style.setProperty('caret-color', still.caret.value, still.caret.priority);
    else style.removeProperty('caret-color');
    if (!still.caret.had) protoCall(node, 'removeAttribute', 'style');
  }
  return {};
};
