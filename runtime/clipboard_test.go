package runtime_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/outrider-run/outrider/runtime"
)

// copier is a page to copy from and to paste into. Its box answers the events itself, as editors do.
const copier = `<textarea id="t"></textarea><div id="rich" contenteditable>some <b>bold</b> words</div><div id="into" contenteditable></div>
<div id="box" tabindex="0">box</div><button id="script" onclick="byScript()">copy</button><p id="done"></p>
<script>
  const seen = [];
  let writes = 0;
  async function byScript() {
    const text = 'by script ' + ++writes;
    await navigator.clipboard.writeText(text).catch(() => {
      t.value = text;
      t.select();
      document.execCommand('copy');
    });
    done.textContent = 'written';
  }
  for (const type of ['copy', 'cut', 'paste']) addEventListener(type, (e) => seen.push(type + ':' + e.isTrusted), true);
  box.addEventListener('copy', (e) => { e.preventDefault(); e.clipboardData.setData('text/plain', 'of the box'); e.clipboardData.setData('text/html', '<i>of the box</i>'); });
  box.addEventListener('paste', (e) => { e.preventDefault(); box.textContent = [...e.clipboardData.types].sort().join() + ' ' + e.clipboardData.getData('text/plain'); });
</script>`

// user does what a person does at a page of a session.
type user struct {
	t   *testing.T
	h   *runtime.Host
	tab runtime.TabStatus
}

func (u user) do(name, args string) string { u.t.Helper(); return in(u.t, u.h, u.tab, name, args) }

func (u user) script(source string) string {
	u.t.Helper()
	return u.do("browser.run_javascript", fmt.Sprintf(`{"source":%q}`, source))
}

// copies selects a text and presses the keys that copy it.
func (u user) copies(text string) {
	u.t.Helper()
	u.script(fmt.Sprintf("t.value = %q; t.focus(); t.select()", text))
	u.do("keyboard.press", `{"key":"Control+c"}`)
}

// pastes presses the keys that paste, and returns what arrived.
func (u user) pastes(key string) string {
	u.t.Helper()
	u.script("t.value = ''; t.focus()")
	u.do("keyboard.press", fmt.Sprintf(`{"key":%q}`, key))
	return u.script("return 'value:' + t.value + ';'")
}

func (u user) reads(want string) {
	u.t.Helper()
	if out := u.do("clipboard.read", `{}`); !strings.Contains(out, fmt.Sprintf(`"text":%q`, want)) {
		u.t.Errorf("clipboard.read: %s, want %q", out, want)
	}
}

func (u user) wants(what, out, want string) {
	u.t.Helper()
	if !strings.Contains(out, want) {
		u.t.Errorf("%s: %s, want %s", what, out, want)
	}
}

func TestKeysUseTheClipboardOfTheirSession(t *testing.T) {
	site := serve(t, map[string]string{"/": copier})
	h := open(t, runtime.Options{Open: []string{site + "/"}})
	own := user{t, h, h.Tabs()[0]}

	// One session alone: keys, primitives and the scripts of its pages have one clipboard.
	own.copies("by key")
	own.reads("by key")
	own.do("clipboard.write", `{"text":"written"}`)
	own.wants("pasting what was written", own.pastes("Control+v"), "value:written;")
	own.wants("older keys", own.pastes("Shift+Insert"), "value:written;")
	own.script("getSelection().selectAllChildren(rich)")
	own.do("keyboard.press", `{"key":"Control+Insert"}`)
	own.reads("some bold words")
	own.script("into.focus()")
	own.do("keyboard.press", `{"key":"Control+v"}`)
	own.wants("pasting HTML", own.script("return into.querySelector('b').textContent"), `"bold"`)
	own.script("box.focus()")
	own.do("keyboard.press", `{"key":"Control+c"}`)
	own.reads("of the box")
	own.do("keyboard.press", `{"key":"Control+v"}`)
	own.wants("a page that takes the event", own.script("return box.textContent"), "text/html,text/plain of the box")
	own.script("t.value = 'cut'; t.focus(); t.select(); seen.length = 0")
	own.do("keyboard.press", `{"key":"Control+x"}`)
	own.reads("cut")
	own.wants("cutting", own.script("return 'value:' + t.value + '; ' + seen"), "value:; cut:true")
	own.do("pointer.click", `{"locator":{"selector":"#script"}}`)
	own.do("page.wait", `{"conditions":[{"text":"written"}]}`)
	own.reads("by script 1")
	own.do("clipboard.write", `{"text":"not this"}`)
	own.script("done.textContent = ''")
	own.do("pointer.click", `{"locator":{"selector":"#script"}}`)
	own.do("page.wait", `{"conditions":[{"text":"written"}]}`)
	own.wants("pasting what a script wrote last", own.pastes("Control+v"), "value:by script 2;")
	own.script("seen.length = 0")
	own.copies("cut")

	// Another session has another one.
	w := workspace(t, h, true)
	other := user{t, h, opened(t, w, site+"/")}
	other.wants("pasting in another session", other.pastes("Control+v"), "value:;")
	other.reads("")
	other.copies("of the other")
	other.reads("of the other")
	own.wants("pasting after the other copied", own.pastes("Control+v"), "value:cut;")
	own.reads("cut")
	own.do("clipboard.write", `{"text":"again"}`)
	other.wants("pasting after the first wrote", other.pastes("Control+v"), "value:of the other;")
	own.wants("pasting what was written", own.pastes("Control+v"), "value:again;")
	own.wants("what pages hear", own.script("return seen.join()"), `"copy:true,paste:true,paste:true"`)
	own.script("t.value = ''; t.focus()") // nothing is selected
	own.do("keyboard.press", `{"key":"Control+c"}`)
	own.reads("again")
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := user{t, h, opened(t, workspace(t, h, true), site+"/")}
	next.wants("pasting in a new session", next.pastes("Control+v"), "value:;")
}

func TestSessionsCopyAndPasteAtOnce(t *testing.T) {
	site := serve(t, map[string]string{"/": copier})
	h := open(t, runtime.Options{Open: []string{site + "/"}})
	var all sync.WaitGroup
	for n := range 2 {
		u := user{t, h, opened(t, workspace(t, h, true), site+"/")}
		all.Go(func() {
			for i := range 8 {
				text := fmt.Sprintf("%d of session %d", i, n)
				if i%2 == 0 {
					u.copies(text)
				} else {
					u.do("clipboard.write", fmt.Sprintf(`{"text":%q}`, text))
				}
				u.wants("pasting beside another session", u.pastes("Control+v"), "value:"+text+";")
				u.reads(text)
			}
		})
	}
	all.Wait()
}
