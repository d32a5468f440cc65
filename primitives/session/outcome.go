package session

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Outcome is what became of a call that carried an idempotency key.
type Outcome struct {
	Key string `json:"key"`
	// Outcome is confirmed, no_effect, contradicted or unknown.
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
	// Running: it has not ended.
	Running bool `json:"running,omitempty"`
	// Calls are the calls with the key, oldest first. A tool that does several things makes several.
	Calls []KeyedCall `json:"calls"`
}

// KeyedCall is one call of the runtime that carried the key.
type KeyedCall struct {
	Name      string `json:"name"`
	StartedAt string `json:"started_at"`
	// DurationMS is how long it took, or has taken so far.
	DurationMS int64           `json:"duration_ms"`
	Outcome    string          `json:"outcome"`
	Reason     string          `json:"reason"`
	Error      *fault.Error    `json:"error,omitempty"`
	Effects    json.RawMessage `json:"effects,omitempty"`
	Steps      json.RawMessage `json:"steps,omitempty"`
	Before     Seen            `json:"before"`
	After      *Seen           `json:"after,omitempty"`
}

// Seen is what a tab showed.
type Seen struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
}

type callOutcomeIn struct {
	Key string `json:"key"`
}

// callOutcome says what became of a call whose answer was lost.
var callOutcome = primitives.Define("call.outcome", func(
	_ context.Context, p primitives.Page, in callOutcomeIn,
) (Outcome, error) {
	s, err := Of(p, "call.outcome", "call.outcome")
	if err != nil {
		return Outcome{}, err
	}
	return s.Outcome(in.Key), nil
})
