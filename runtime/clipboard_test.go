package runtime_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/outrider-run/outrider/runtime"
)

// copier is a page to copy from and to paste into.
const copier = `<textarea id="t"></textarea>
<script>
  const seen = [];
  for (const type of ['copy', 'cut', 'paste']) addEventListener(type, (e) => seen.push(type + ':' + e.isTrusted), true);
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

func TestSessionsHaveClipboardsOfTheirOwn(t *testing.T) {
	site := serve(t, map[string]string{"/": copier})
	h := launched(t, runtime.Options{Open: []string{site + "/"}})
	own := user{t, h, h.Tabs()[0]}

	own.copies("of the first")

	w := workspace(t, h, true)
	other := user{t, h, opened(t, w, site+"/")}
	other.wants("pasting in another session", other.pastes("Control+v"), "value:;")
	other.reads("")
	other.copies("of the other")
	other.reads("of the other")
	own.wants("pasting after the other copied", own.pastes("Control+v"), "value:of the first;")
	own.reads("of the first")
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

	// Side by side.
	var all sync.WaitGroup
	for n, u := range []user{own, next} {
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
