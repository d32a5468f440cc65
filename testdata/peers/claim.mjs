// claim opens a page in the Chromium of chromeExt and gives it to a bridge, as the popup's button does. It waits until
// the page has loaded: the extension injects its script again when a page has, and a page that was claimed just before
// is then registered at the bridge and answers no call (upstream 0.1.217).
export async function claim(x, until, url, bridge) {
  await x.open(url);
  await until(
    () =>
      x.worker.eval(
        `chrome.tabs.query({}).then(t => t.some(x => x.url === ${JSON.stringify(url)} && x.status === 'complete'))`
      ),
    60000
  );
  return x.claim(url, bridge);
}
