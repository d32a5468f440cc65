// show(path) shows documents in one another; counted() lists the input that they have got since.
let got = [];
let known = new Map();
let shown = () => {};
let answered = () => {};
let heard = () => {};

window.addEventListener('message', ({ data, source }) => {
  if (data.input) {
    got.push(data);
    heard(data.input);
  }
  if ('ready' in data) known.set(source, data.trail);
  if (data.ready) shown(true);
  if (data.pong) answered(source);
});

// What the top gets belongs to nobody of them.
for (const type of ['pointerdown', 'click', 'dblclick', 'wheel']) {
  window.addEventListener(
    type,
    (event) => {
      if (event.isTrusted) got.push({ input: type, trail: 'top' });
    },
    { capture: true, passive: true }
  );
}

function show(path) {
  known = new Map();
  const ready = new Promise((resolve) => { shown = resolve; });
  const source = new URL('frames/nest.js', location.href).href;
  const frame = document.createElement('iframe');
  const hosts = { a: '127.0.0.1', b: 'localhost' };
  const [letter] = path;
  if (letter === 'd') {
    frame.srcdoc =
      `<!doctype html><body><script src="${source}" data-path="${path.slice(1)}" data-trail="d"></scr` + 'ipt>';
  } else {
    if (letter === 's') frame.sandbox = 'allow-scripts';
    const host = `${hosts[letter] || location.hostname}:${location.port}`;
    frame.src = `http://${host}/pointer/frames/nest.html?path=${path.slice(1)}&trail=${letter}`;
  }
  stage.replaceChildren(frame);
  return ready.then(() => { got = []; return true; });
}

// Messages of one document come in order: its answer comes after what it told before.
// The browser does not wait for a document to hear of its wheel, so it is waited for.
async function counted(only = '', awaited = '') {
  if (awaited !== '' && !got.some(({ input }) => input === awaited)) {
    await new Promise((resolve) => { heard = (input) => { if (input === awaited) resolve(); }; });
  }
  await Promise.all([...known.keys()].map((source) => new Promise((resolve) => {
    const before = answered;
    answered = (from) => { before(from); if (from === source) resolve(); };
    source.postMessage('ping', '*');
  })));
  const kept = got.filter(({ input, trail }) => only ? input === only && trail === deepest() : input !== 'mouseenter');
  return kept.map(({ input, trail }) => `${input} ${trail}`).sort().join(', ');
}

const deepest = () => [...known.values()].sort((a, b) => b.length - a.length)[0];
