package emulate

import (
	"context"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

const (
	addScript    = "Page.addScriptToEvaluateOnNewDocument"
	removeScript = "Page.removeScriptToEvaluateOnNewDocument"
)

// scriptOf names a script that every new document of a session runs.
type scriptOf struct {
	session *cdp.Session
	kind    string
}

// replaceScript replaces the script of a kind in every session, or removes it for nil. Documents that are
// there run the new one at once. One that does not stay is for them alone.
func (e *Emulator) replaceScript(ctx context.Context, kind string, c *cdp.Command, stays bool) error {
	e.mu.Lock()
	old := map[*cdp.Session]string{}
	for of, id := range e.scripts {
		if of.kind == kind {
			old[of.session] = id
			delete(e.scripts, of)
		}
	}
	e.mu.Unlock()
	for i, s := range e.tab.Sessions() {
		e.dropScript(s, old[s])
		if c == nil {
			continue
		}
		one := *c
		if i > 0 {
			one.Session, one.OnReply = s.ID, e.onScript(s, kind, stays)
			e.client.Post(one)
			continue
		}
		var out struct {
			Identifier string `json:"identifier"`
		}
		if err := e.client.DoIn(ctx, e.tab.Lifetime(), s, one.Method, one.Params, &out); err != nil {
			return cdp.Explain(err, "emulating")
		}
		e.addScript(s, kind, out.Identifier, stays)
	}
	return nil
}

func (e *Emulator) dropScript(s *cdp.Session, id string) {
	if id == "" {
		return
	}
	e.client.Post(cdp.Command{
		Session: s.ID,
		Method:  removeScript,
		Params:  cdp.Object("identifier", id),
		OnReply: e.client.LogFailure(removeScript),
	})
}

func (e *Emulator) onScript(s *cdp.Session, kind string, stays bool) func(cdp.Reply) {
	return func(r cdp.Reply) {
		if r.Err == nil {
			e.addScript(s, kind, string(cdp.PlainString(cdp.Member(r.Result, "identifier"))), stays)
		}
	}
}

func (e *Emulator) addScript(s *cdp.Session, kind, id string, stays bool) {
	if !stays {
		e.dropScript(s, id)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.scripts == nil {
		e.scripts = map[scriptOf]string{}
	}
	e.scripts[scriptOf{s, kind}] = id
}
