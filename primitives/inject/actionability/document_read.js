// document_read answers whether the scripts of this document have run. A control of a page
// that is still being read is there before what listens to it, and a click then is lost.

/**
 * Most milliseconds that actions wait for the rest of a document, all together: one that is
 * not read by then streams for as long as it is open.
 */
const longestRead = 3000;

let readAwaited = 0;

const isRead = () => {
  const state = protoGet(document, 'readyState');
  return state === 'complete' || state === 'interactive' && performance.timing.domContentLoadedEventEnd > 0;
};

/** readTime is how many milliseconds an action that has limit for it waits for its document, 0 when it is read. */
const readTime = (limit) =>
  !(limit > 0) || quirk('acts_while_loading') || isRead() ? 0 : Math.max(0, Math.min(limit, longestRead - readAwaited));

/** documentRead waits until the document is read, but no longer than time. */
async function documentRead(time) {
  const start = performance.now();
  await waitUntil(isRead, { timeout: time });
  readAwaited += performance.now() - start;
}
