package browser

import (
	"context"
	"strconv"

	"github.com/outrider-run/outrider/primitives"
)

const addScript = "Page.addScriptToEvaluateOnNewDocument"

// webDriverCommand has every new document of a session define navigator.webdriver
// before its own scripts run, and the documents that are there at once. It is
// defined where the browser has it, on the prototype: a property of navigator
// itself would be a sign of its own.
func webDriverCommand(w *primitives.WebDriverEmulation) command {
	source := "Object.defineProperty(Navigator.prototype,'webdriver',{get(){return " + strconv.FormatBool(w.Value) + "},configurable:true,enumerable:true})"
	return command{method: addScript, params: append(appendQuoted([]byte(`{"runImmediately":true,"source":`), source), '}')}
}

// sayWebDriver replaces the script of every session, or removes it for nil.
func (t *Tab) sayWebDriver(ctx context.Context, w *primitives.WebDriverEmulation) error {
	t.mu.Lock()
	sessions := t.sessionsLocked()
	t.pretends.mu.Lock()
	old := t.pretends.scripts
	t.pretends.scripts = map[*session]string{}
	t.pretends.now.WebDriver = w // for frames that begin from now on
	t.pretends.mu.Unlock()
	t.mu.Unlock()
	for _, s := range sessions {
		if id := old[s]; id != "" {
			const remove = "Page.removeScriptToEvaluateOnNewDocument"
			t.b.c.post(command{session: s.id, method: remove, params: object("identifier", id), then: t.b.c.ignore(remove)})
		}
		if w == nil {
			continue
		}
		c := webDriverCommand(w)
		if s != t.s {
			c.session, c.then = s.id, t.noteScript(s)
			t.b.c.post(c)
			continue
		}
		var out struct {
			Identifier string `json:"identifier"`
		}
		if err := t.askIn(ctx, s, c.method, c.params, &out); err != nil {
			return t.b.explain(err, "emulating")
		}
		t.keepScript(s, out.Identifier)
	}
	return nil
}

func (t *Tab) noteScript(s *session) func(reply) {
	return func(r reply) {
		if r.err == nil {
			t.keepScript(s, string(plainString(member(r.result, "identifier"))))
		}
	}
}

func (t *Tab) keepScript(s *session, id string) {
	t.pretends.mu.Lock()
	defer t.pretends.mu.Unlock()
	if t.pretends.scripts == nil {
		t.pretends.scripts = map[*session]string{}
	}
	t.pretends.scripts[s] = id
}
