// A list box in an open shadow root, driven by the keyboard or the pointer.
customElements.define('member-picker', class extends HTMLElement {
  #members = [];
  #value = '';
  #root = this.attachShadow({ mode: 'open', delegatesFocus: true });

  set members(names) { this.#members = names; this.#draw(); }
  get value() { return this.#value; }
  set value(name) { this.#value = name ?? ''; this.#draw(); }

  #draw() {
    this.#root.innerHTML = `<style>
      ul {
        list-style: none; margin: 0; padding: .2rem; border: 1px solid #cfd8df; border-radius: 6px;
        display: flex; gap: .3rem;
      }
      ul:focus { outline: 2px solid #0b6e99; }
      li { padding: .2rem .5rem; border-radius: 4px; cursor: pointer; }
      li[aria-selected=true] { background: #dcebf3; }
    </style><ul role="listbox" tabindex="0" aria-label="Member"></ul>`;
    const list = this.#root.querySelector('ul');
    for (const name of this.#members) {
      const item = document.createElement('li');
      item.setAttribute('role', 'option');
      item.setAttribute('aria-selected', String(name === this.#value));
      item.textContent = name;
      item.addEventListener('click', () => this.#choose(name));
      list.append(item);
    }
    list.addEventListener('keydown', event => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key.length === 1) {
        const hit = this.#members.find(name => name.toLowerCase().startsWith(event.key.toLowerCase()));
        if (hit) this.#choose(hit);
      } else if (step) {
        const at = this.#members.indexOf(this.#value) + step;
        this.#choose(this.#members[(at + this.#members.length) % this.#members.length]);
      } else return;
      event.preventDefault();
    });
  }

  #choose(name) {
    this.value = name;
    this.#root.querySelector('ul').focus();
    this.dispatchEvent(new Event('change', { bubbles: true }));
  }
});
