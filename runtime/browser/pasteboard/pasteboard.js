// The hidden document of package pasteboard: nobody else's script runs in it.
(() => {
  let held = {};
  let pasted = 0;
  let waiting = [];
  let content;
  const only = (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  addEventListener('copy', (event) => {
    only(event);
    // A write without any type leaves the clipboard as it is; one of an empty list of addresses empties it.
    const types = Object.keys(held);
    for (const type of types) event.clipboardData.setData(type, held[type]);
    if (types.length === 0) event.clipboardData.setData('text/uri-list', '');
  }, true);
  addEventListener('paste', (event) => {
    only(event);
    content = { text: event.clipboardData.getData('text/plain'), html: event.clipboardData.getData('text/html') };
    pasted++;
    waiting = waiting.filter((look) => !look());
  }, true);
  globalThis.put = (text, html) => {
    held = {};
    if (text) held['text/plain'] = text;
    if (html) held['text/html'] = html;
    return document.execCommand('copy');
  };
  // Answers when as many pastes as count have arrived: the key and the call come in any order.
  globalThis.take = (count, limit) => new Promise((done) => {
    const look = () => {
      if (pasted < count) return false;
      done(content.text.length + content.html.length > limit ? { text: '', html: '' } : content);
      return true;
    };
    if (!look()) waiting.push(look);
  });
})()
