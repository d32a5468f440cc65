package hub

import (
	"encoding/json"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
)

// item has the members that the hub reads of an item of a runtime. Those that only some
// types have are nil or empty for the others.
type item struct {
	Type             string          `json:"type"`
	RuntimeID        string          `json:"runtime_id"`
	RuntimeKey       string          `json:"runtime_key"`
	AuthorizationID  string          `json:"authorization_id"`
	ExtensionVersion string          `json:"extension_version"`
	Device           string          `json:"device"`
	URL              string          `json:"url"`
	Title            string          `json:"title"`
	Tab              *tab            `json:"tab"`
	Runtime          *software       `json:"runtime"`
	Capabilities     []string        `json:"capabilities"`
	Manifest         json.RawMessage `json:"manifest"`

	CallID string          `json:"call_id"`
	Output json.RawMessage `json:"output"`
	Error  json.RawMessage `json:"error"`

	ProbeID string `json:"probe_id"`
	Alive   bool   `json:"alive"`

	EventID string          `json:"event_id"`
	Name    string          `json:"name"`
	Payload json.RawMessage `json:"payload"`

	Record json.RawMessage `json:"record"`

	Kind string `json:"kind"`
	TS   string `json:"ts"`
}

type tab struct {
	TabID     json.RawMessage `json:"tab_id"`
	ID        json.RawMessage `json:"id"`
	WindowID  json.RawMessage `json:"window_id"`
	WindowID2 json.RawMessage `json:"windowId"`
	Title     string          `json:"title"`
	URL       string          `json:"url"`
	Active    *bool           `json:"active"`
}

type software struct {
	RepeatsCalls bool `json:"repeats_calls"`
	CancelsCalls bool `json:"cancels_calls"`
}

// cancelItem goes to runtimes that say that they know it.
type cancelItem struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	RuntimeID string `json:"runtime_id"`
}

var poll = []byte(`{"type":"runtime_status"}`)

type callItem struct {
	Type      string          `json:"type"`
	CallID    string          `json:"call_id"`
	RuntimeID string          `json:"runtime_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	TimeoutMS int64           `json:"timeout_ms,omitempty"`
	// IdempotencyKey is ours: a runtime that does not know it acts each time.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
}

type probeItem struct {
	Type      string `json:"type"`
	ProbeID   string `json:"probe_id"`
	RuntimeID string `json:"runtime_id"`
}

type errorItem struct {
	Type      string       `json:"type"`
	RuntimeID string       `json:"runtime_id,omitempty"`
	Error     *fault.Error `json:"error"`
}

// marshal encodes one of the types above, without escaping what HTML would
// need.
func marshal(v any) []byte {
	text, err := jsonout.Line(v)
	if err != nil {
		return nil
	}
	return text
}
