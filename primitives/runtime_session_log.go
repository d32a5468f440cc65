package primitives

import (
	"context"
	"encoding/json"
)

// CallLog is what a session knows of the calls that the runtime answered.
type CallLog interface {
	// CallEvents returns the newest events, oldest first, how many the log
	// holds and how many it had no room for.
	CallEvents(limit int) (events []json.RawMessage, held, dropped int)
	// NameSession gives the session a name, SessionName returns it: "" before.
	NameSession(name string)
	SessionName() string
}

type runtimeSessionLogIn struct {
	Limit *int `json:"limit"`
}

type runtimeSessionLogOut struct {
	OK          bool              `json:"ok"`
	SessionName string            `json:"session_name,omitempty"`
	EventCount  int               `json:"eventCount"`
	Dropped     int               `json:"dropped"`
	Events      []json.RawMessage `json:"events"`
}

const defaultLogLimit = 2000

var runtimeSessionLog = Define("runtime.session.log", func(_ context.Context, p Page, in runtimeSessionLogIn) (runtimeSessionLogOut, error) {
	s, err := sessionOf(p, "runtime.session.log", "runtime.session.log")
	if err != nil {
		return runtimeSessionLogOut{}, err
	}
	limit := defaultLogLimit
	if in.Limit != nil {
		limit = *in.Limit
	}
	out := runtimeSessionLogOut{OK: true, SessionName: s.SessionName()}
	out.Events, out.EventCount, out.Dropped = s.CallEvents(limit)
	if out.Events == nil {
		out.Events = []json.RawMessage{}
	}
	return out, nil
})
