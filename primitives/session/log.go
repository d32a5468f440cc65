package session

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
)

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

var runtimeSessionLog = primitives.Define("runtime.session.log", func(
	_ context.Context, p primitives.Page, in runtimeSessionLogIn,
) (runtimeSessionLogOut, error) {
	s, err := Of(p, "runtime.session.log", "runtime.session.log")
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
