package emulate

import (
	"context"
	"strconv"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

const addScript = "Page.addScriptToEvaluateOnNewDocument"

// webDriverCommand has every new document of a session define navigator.webdriver
// before its own scripts run, and the documents that are there at once. It is
// defined where the browser has it, on the prototype: a property of navigator
// itself would be a sign of its own.
func webDriverCommand(w *primitives.WebDriverEmulation) cdp.Command {
	source := "Object.defineProperty(Navigator.prototype,'webdriver',{get(){return " + strconv.FormatBool(w.Value) +
		"},configurable:true,enumerable:true})"
	return cdp.Command{
		Method: addScript,
		Params: append(cdp.AppendQuoted([]byte(`{"runImmediately":true,"source":`), source), '}'),
	}
}

// applyWebDriver replaces the script of every session, or removes it for nil.
func (e *Emulator) applyWebDriver(ctx context.Context, w *primitives.WebDriverEmulation) error {
	e.mu.Lock()
	old := e.scripts
	e.scripts = map[*cdp.Session]string{}
	e.now.WebDriver = w // for frames that begin from here on, before the list of sessions is taken
	e.mu.Unlock()
	for i, s := range e.tab.Sessions() {
		if id := old[s]; id != "" {
			const remove = "Page.removeScriptToEvaluateOnNewDocument"
			e.client.Post(cdp.Command{
				Session: s.ID,
				Method:  remove,
				Params:  cdp.Object("identifier", id),
				OnReply: e.client.LogFailure(remove),
			})
		}
		if w == nil {
			continue
		}
		c := webDriverCommand(w)
		if i > 0 {
			c.Session, c.OnReply = s.ID, e.onScript(s)
			e.client.Post(c)
			continue
		}
		var out struct {
			Identifier string `json:"identifier"`
		}
		if err := e.client.DoIn(ctx, e.tab.Lifetime(), s, c.Method, c.Params, &out); err != nil {
			return cdp.Explain(err, "emulating")
		}
		e.addScript(s, out.Identifier)
	}
	return nil
}

func (e *Emulator) onScript(s *cdp.Session) func(cdp.Reply) {
	return func(r cdp.Reply) {
		if r.Err == nil {
			e.addScript(s, string(cdp.PlainString(cdp.Member(r.Result, "identifier"))))
		}
	}
}

func (e *Emulator) addScript(s *cdp.Session, id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.scripts == nil {
		e.scripts = map[*cdp.Session]string{}
	}
	e.scripts[s] = id
}
