// map_fetch reads a map from a web address: of the page's own origin with the
// page's cookies, of any other as anybody could, if it lets anybody read it.

queries.map_fetch = async ({ url, max_bytes: most, timeout_ms: patience, redirects }) => {
  const own = location.origin;
  const wanted = originOf(url);
  if (wanted === null || !/^https?:\/\//.test(wanted)) {
    throw new Fault('page_fetch_failed', 'the address is not an absolute web address', { page_origin: own });
  }
  const failed = (reason, more) =>
    new Fault('page_fetch_failed', reason, { requested_origin: wanted, page_origin: own, ...more });
  return timed(patience, async (stop) => {
    let response;
    try {
      response = await fetch(url, {
        method: 'GET', mode: wanted === own ? 'same-origin' : 'cors', credentials: wanted === own ? 'include' : 'omit',
        redirect: redirects > 0 ? 'follow' : 'error', referrerPolicy: 'no-referrer', signal: stop.signal,
      });
    } catch (error) {
      throw failed(
        stop.signal.aborted
          ? 'the address did not answer in time'
          : 'the request failed, was redirected where it may not be, or the address does not let other sites read it',
        { reason: cut(String(error && error.name), 100) }
      );
    }
    const last = originOf(response.url || url);
    if (last !== wanted) throw failed('the request was redirected to another origin', { final_origin: last });
    const { body } = await bodyText(response, most, stop, failed, false);
    return { status: response.status, body, url: response.url || url };
  });
};
