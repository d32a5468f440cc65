addEventListener('message', (e) => {
  if (!e.data.where) return;
  const host = document.querySelector('[data-actions-json-attachment="' + e.data.where + '"]');
  const r = host && host.getBoundingClientRect();
  e.source.postMessage({id: e.data.where, at: r && {x: r.x + r.width / 2, y: r.y + r.height / 2}}, '*');
});
