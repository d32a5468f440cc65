// The board: state lives in the server, the page renders what it answers.
import './member-picker.js';

const $ = (selector, root = document) => root.querySelector(selector);
const el = (tag, props = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children);
  return node;
};

async function api(method, path, body) {
  const answer = await fetch(path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: body && JSON.stringify(body)
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`);
  return answer.status === 204 ? null : answer.json();
}

let board = null;
let open = null; // id of the card in the dialog

async function load() {
  $('#board').setAttribute('aria-busy', 'true');
  board = await api('GET', 'api/board');
  render();
  $('#board').setAttribute('aria-busy', 'false');
}

const cardsOf = list => board.cards.filter(card => card.list === list.id);
const cardById = id => board.cards.find(card => card.id === id);

function render() {
  const lists = board.lists.map(list => {
    const items = cardsOf(list).map(card => {
      const item = el('li', { tabIndex: 0 }, el('span', { className: 'title', textContent: card.title }));
      item.dataset.card = card.id;
      item.setAttribute('role', 'button');
      const chips = el('div', { className: 'chips' });
      for (const label of card.labels) chips.append(el('span', { className: 'chip', textContent: label }));
      if (card.member) chips.append(el('span', { className: 'chip member', textContent: card.member }));
      if (chips.children.length) item.append(chips);
      item.addEventListener('click', () => show(card.id));
      item.addEventListener('keydown', event => { if (event.key === 'Enter') show(card.id); });
      return item;
    });
    const section = el(
      'section',
      { className: 'list' },
      el('h2', { textContent: list.name }),
      el('ul', {}, ...items),
      adder(list)
    );
    section.dataset.list = list.id;
    section.setAttribute('aria-label', list.name);
    return section;
  });
  $('#board').replaceChildren(...lists);
}

// The composer appears in place of its button, a moment after the click, as it
// does in applications that load it on demand.
function adder(list) {
  const button = el('button', { type: 'button', textContent: 'Add a card' });
  button.dataset.action = 'add';
  button.addEventListener('click', async () => {
    await new Promise(done => setTimeout(done, 120));
    const text = el('textarea', { placeholder: 'Title of the new card' });
    text.setAttribute('aria-label', 'Card title');
    const form = el('form', { className: 'composer' }, text, el('button', { textContent: 'Save card' }));
    form.addEventListener('submit', async event => {
      event.preventDefault();
      const title = text.value.trim();
      if (title === '') return;
      const card = await api('POST', 'api/cards', { list: list.id, title });
      document.dispatchEvent(new CustomEvent('board:card-added', { detail: { id: card.id, list: list.id } }));
      await load();
    });
    text.addEventListener('keydown', event => {
      if (event.key === 'Enter' && !event.shiftKey) { event.preventDefault(); form.requestSubmit(); }
      if (event.key === 'Escape') button.isConnected || form.replaceWith(button);
    });
    button.replaceWith(form);
    text.focus();
  });
  return button;
}

function show(id) {
  open = id;
  const card = cardById(id);
  $('#card-title').textContent = card.title;
  $('#card-list').textContent = board.lists.find(list => list.id === card.list).name;
  $('.moves').replaceChildren(...board.lists.filter(list => list.id !== card.list).map(list => {
    const button = el('button', { type: 'button', textContent: `Move to ${list.name}` });
    button.dataset.to = list.id;
    button.addEventListener('click', async () => { await change({ list: list.id }); });
    return button;
  }));
  $('#card-description').innerText = card.description;
  $('#card-labels').replaceChildren(...board.labels.map(name => {
    const input = el('input', { type: 'checkbox', checked: card.labels.includes(name) });
    input.setAttribute('aria-label', name);
    input.value = name;
    input.addEventListener('change', () => {
      // From the boxes, not from the board: an earlier change may be on its way.
      change({ labels: [...document.querySelectorAll('#card-labels input:checked')].map(box => box.value) });
    });
    return el('label', { className: 'label' }, input, el('span', { textContent: name }));
  }));
  const picker = $('#card-member');
  picker.members = board.members;
  picker.value = card.member;
  // A new frame: the old one would show the last card's comments until the new ones arrive.
  const comments = $('#card-comments').cloneNode();
  comments.src = `comments.html?card=${encodeURIComponent(id)}`;
  $('#card-comments').replaceWith(comments);
  if (!$('#card').open) $('#card').showModal();
}

async function change(patch) {
  await api('PATCH', `api/cards/${open}`, patch);
  await load();
  if ($('#card').open) {
    const card = cardById(open);
    $('#card-list').textContent = board.lists.find(list => list.id === card.list).name;
    if (patch.list) show(open);
  }
}

$('#refresh').addEventListener('click', load);
$('#save-description').addEventListener('click', () =>
  change({ description: $('#card-description').innerText.trim() })
);
$('#card-member').addEventListener('change', event => change({ member: event.target.value }));
$('#delete-card').addEventListener('click', async () => {
  if (!confirm('Delete this card for good?')) return;
  await api('DELETE', `api/cards/${open}`);
  $('#card').close();
  await load();
});

// What happened arrives late, and so does the notice: it covers the foot of the
// page until somebody accepts it.
async function activity() {
  const entries = await api('GET', 'api/activity');
  $('#activity').replaceChildren(...entries.map(text => el('li', { textContent: text })));
  $('#activity-pending').remove();
}
setTimeout(() => { $('#notice').hidden = false; }, 700);
$('#notice-ok').addEventListener('click', () => $('#notice').remove());

await Promise.all([load(), activity()]);
