package tools

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Logins keeps storage states by name. An operator who sets one allows clients to begin a
// session with a login that was kept, and to keep one.
type Logins interface {
	// Load is nil for a name that nothing is kept under.
	Load(name string) (json.RawMessage, error)
	// Save says what the session has stored and the state lacks.
	Save(name string, state json.RawMessage) (lacks []string, err error)
}

// withLogins is the input of tabs where logins are kept.
func (s *Set) withLogins(input string) string {
	if s.opts.Logins == nil {
		return input
	}
	return strings.NewReplacer(
		`"close_session"]`, `"close_session","keep_login"]`,
		`"url":{`, `"login":{"type":"string","description":"name: open_session begins with it, keep_login keeps what `+
			`the page's session has"},"url":{`,
	).Replace(input)
}

// login is the storage state that a session is to begin with, nil without one.
func (s *Set) login(in tabsIn) (json.RawMessage, *fault.Error) {
	if in.Login == "" {
		return nil, nil
	}
	if in.Isolated != nil && !*in.Isolated {
		return nil, invalid(
			"login", "a session that begins with a login has cookies and storage of its own: leave isolated out",
		)
	}
	state, err := s.opts.Logins.Load(in.Login)
	if err != nil {
		return nil, fault.From(err)
	}
	if state == nil {
		return nil, fault.New(fault.InvalidInput, "nothing is kept under the name %s", fault.Clip(in.Login, 80)).
			With("path", "/login").
			Next("open a session without login, sign in, and keep it with action keep_login")
	}
	return state, nil
}

// signIn gives the session of a page what a login has.
func (c *Call) signIn(ctx context.Context, p page, state json.RawMessage) *fault.Error {
	_, _, err := c.do(ctx, p, "storage_state.set", map[string]any{"state": state}, where{})
	return err
}

// keepLogin keeps what the session of a page has stored. The client does not see it.
func (c *Call) keepLogin(ctx context.Context, p page, in tabsIn) (*Answer, *fault.Error) {
	if in.Login == "" {
		return nil, invalid("login", "action keep_login needs a login: the name")
	}
	value, _, err := c.do(
		ctx, p, "storage_state.get", map[string]any{"indexed_db": true, "session_storage": true}, in.where,
	)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(value, &all); err != nil {
		return nil, fault.Wrap(fault.InvalidResult, err, "reading the storage state")
	}
	state, e := json.Marshal(map[string]json.RawMessage{"cookies": all["cookies"], "origins": all["origins"]})
	if e != nil {
		return nil, fault.Wrap(fault.InvalidResult, e, "encoding the storage state")
	}
	lacks, e := c.set.opts.Logins.Save(in.Login, state)
	if e != nil {
		return nil, fault.From(e)
	}
	result := map[string]any{"page": p.handle(), "login": in.Login, "kept": true}
	if len(lacks) > 0 {
		result["left_out"] = lacks
	}
	return &Answer{Result: result}, nil
}
