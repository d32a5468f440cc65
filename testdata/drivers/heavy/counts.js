// Counts what is done on a heavy page, and tells its server when the page is left. A page has a button with the id act
// and a field with the id q.
let clicks = 0;
act.addEventListener('click', () => {
  clicks++;
  act.dataset.clicks = clicks;
});
addEventListener('pagehide', () => {
  navigator.sendBeacon(`/left${location.search}`, JSON.stringify({ clicks, text: q.value }));
});
