// fetch reads an address of the page's own origin with the page's
// cookies. It runs in our world, so what the page made of fetch does not matter.

const originOf = (url) => {
  try {
    return new URL(url).origin; // no base: a relative address is not an address
  } catch {
    return null;
  }
};

// timed calls request with a controller that aborts after patience milliseconds.
const timed = async (patience, request) => {
  const stop = new AbortController();
  const timer = patience > 0 ? setTimeout(() => stop.abort(), patience) : 0;
  try {
    return await request(stop);
  } finally {
    clearTimeout(timer);
  }
};

// inBase64 writes bytes as base64, part by part: an engine takes only so many arguments.
const inBase64 = (parts) => {
  const texts = [];
  for (const part of parts) {
    for (let i = 0; i < part.length; i += 8192) texts.push(String.fromCharCode(...part.subarray(i, i + 8192)));
  }
  return btoa(texts.join(''));
};

// bodyText reads a body of at most most bytes, as text or in base64, and says how long it is.
const bodyText = async (response, most, stop, failed, base64) => {
  const tooLarge = (read) =>
    new Fault('payload_too_large', 'the body exceeds its byte limit', {
      max_bytes: most,
      bytes_read: read,
      status: response.status
    });
  const announced = Number(response.headers.get('content-length'));
  if (announced > most && !response.headers.get('content-encoding')) {
    stop.abort();
    throw tooLarge(0);
  }
  const decoder = new TextDecoder();
  const parts = [];
  let body = '';
  let read = 0;
  if (response.body) {
    const reader = response.body.getReader();
    for (;;) {
      let part;
      try {
        part = await reader.read();
      } catch (error) {
        throw failed(
          stop.signal.aborted ? 'the body did not arrive in time' : 'the connection ended before the body did',
          { reason: cut(String(error && error.name), 100) }
        );
      }
      if (part.done) break;
      read += part.value.length;
      if (read > most) {
        stop.abort();
        throw tooLarge(read);
      }
      if (base64) parts.push(part.value);
      else body += decoder.decode(part.value, { stream: true });
    }
    body += decoder.decode();
  }
  return base64 ? { body: inBase64(parts), length: read } : { body, length: body.length };
};

queries.page_fetch = async ({ url, max_bytes: most, timeout_ms: patience, encoding }) => {
  const own = location.origin;
  const wanted = originOf(url);
  if (wanted === null || wanted === 'null' || wanted !== own) {
    throw new Fault('page_fetch_cross_origin', "the address is not of the page's own origin", {
      requested_origin: URL.canParse(url) ? new URL(url).origin : null,
      page_origin: own
    });
  }
  const failed = (reason, more) =>
    new Fault('page_fetch_failed', reason, { requested_origin: wanted, page_origin: own, ...more });
  return timed(patience, async (stop) => {
    let response;
    try {
      // same-origin mode refuses a redirect to anywhere else.
      response = await fetch(url, {
        method: 'GET',
        mode: 'same-origin',
        credentials: 'include',
        redirect: 'follow',
        signal: stop.signal
      });
    } catch (error) {
      throw failed(
        stop.signal.aborted
          ? 'the address did not answer in time'
          : 'the request failed or was redirected to another origin',
        { reason: cut(String(error && error.name), 100) }
      );
    }
    const last = originOf(response.url || url);
    if (last !== own) throw failed('the request was redirected to another origin', { final_origin: last });
    const { body, length } = await bodyText(response, most, stop, failed, encoding === 'base64');
    return {
      ok: response.ok,
      status: response.status,
      content_type: response.headers.get('content-type') || '',
      length,
      body,
      url: response.url || url,
      redirected: response.redirected,
      origin: own,
    };
  });
};
