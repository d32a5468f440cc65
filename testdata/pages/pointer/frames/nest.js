// A document that shows another one in a frame, and so on: each letter of path is the next. a and b are
// the two hosts, s is sandboxed, d is a srcdoc. The innermost has a button. Each tells the top what input it got.
(() => {
  const script = document.currentScript;
  const asked = new URLSearchParams(location.search);
  const path = script.dataset.path ?? asked.get('path') ?? '';
  const trail = script.dataset.trail ?? asked.get('trail') ?? '';
  const tell = (what) => top.postMessage({ trail, ...what }, '*');
  for (const type of ['pointerdown', 'click', 'dblclick', 'wheel', 'keydown', 'input']) {
    window.addEventListener(
      type,
      (event) => {
        if (event.isTrusted) tell({ input: type });
      },
      { capture: true, passive: true }
    );
  }
  document.addEventListener('mouseenter', (event) => {
    if (event.isTrusted) tell({ input: 'mouseenter' });
  });
  window.addEventListener('message', (event) => {
    if (event.data === 'ping') event.source.postMessage({ pong: true, trail }, '*');
  });
  document.write(
    '<style>html,body{margin:0;height:100%}' +
    'iframe,button{position:absolute;inset:0;width:100%;height:100%;border:0}</style>'
  );
  if (path === '') {
    document.write('<button>In</button>');
    tell({ ready: true });
    return;
  }
  const [letter] = path;
  const frame = document.createElement('iframe');
  nest(frame, script.src, letter, path.slice(1), trail + letter);
  document.body.append(frame);
  tell({ ready: false });

  function nest(element, source, kind, rest, inner) {
    const hosts = { a: '127.0.0.1', b: 'localhost' };
    const { hostname, port } = new URL(source);
    if (kind === 'd') {
      element.srcdoc =
        `<!doctype html><body><script src="${source}" data-path="${rest}" data-trail="${inner}"></scr` + 'ipt>';
      return;
    }
    if (kind === 's') element.sandbox = 'allow-scripts';
    element.src = `http://${hosts[kind] || hostname}:${port}/pointer/frames/nest.html?path=${rest}&trail=${inner}`;
  }
})();
