package runtime

import (
	"encoding/json"
	"net/url"
	"slices"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	// maxCallEvents and maxCallLogBytes bound what is remembered of calls.
	maxCallEvents   = 2000
	maxCallLogBytes = 4 << 20
	maxEventSize    = 16 << 10
)

// callLog is the newest calls, oldest first. It is safe for concurrent use, and empty as it is.
type callLog struct {
	mu      sync.Mutex
	events  []json.RawMessage
	bytes   int
	seq     int64
	dropped int
	name    string // of the session
}

type loggedEvent struct {
	Seq        int64           `json:"seq"`
	At         string          `json:"at"`
	Type       string          `json:"type"`
	RuntimeID  string          `json:"runtime_id"`
	TabID      int             `json:"tab_id"`
	URL        string          `json:"url,omitempty"`
	Name       string          `json:"name"`
	Arguments  any             `json:"arguments"`
	OK         bool            `json:"ok"`
	Code       string          `json:"code,omitempty"`
	StepID     string          `json:"step_id,omitempty"`
	Steps      json.RawMessage `json:"steps,omitempty"`
	DurationMS int64           `json:"duration_ms"`
}

// answered is a call that was answered.
type answered struct {
	RuntimeID string
	TabID     int
	URL       string
	Name      string
	Arguments json.RawMessage
	// Own: the arguments are those of a site action, which its author named. Nothing in
	// them is structural.
	Own   bool
	Steps json.RawMessage
	Err   *fault.Error
	Began time.Time
}

// Add remembers one call.
func (l *callLog) Add(a answered) {
	e := loggedEvent{
		At:         jsonout.Time(a.Began),
		Type:       "call",
		RuntimeID:  a.RuntimeID,
		TabID:      a.TabID,
		URL:        withoutQuery(a.URL),
		Name:       fault.Clip(a.Name, 200),
		Arguments:  a.redacted(),
		OK:         a.Err == nil,
		Steps:      a.Steps,
		DurationMS: time.Since(a.Began).Milliseconds(),
	}
	if a.Err != nil {
		e.Code = string(a.Err.Code)
		if id, ok := a.Err.Fields["step_id"].(string); ok {
			e.StepID = id
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	e.Seq = l.seq
	b, err := json.Marshal(e)
	if err == nil && len(b) > maxEventSize {
		e.Arguments, e.Steps = map[string]any{"redacted": true, "bytes": len(a.Arguments)}, nil
		b, err = json.Marshal(e)
	}
	if err != nil {
		l.dropped++
		return
	}
	l.events = append(l.events, b)
	l.bytes += len(b)
	for len(l.events) > maxCallEvents || l.bytes > maxCallLogBytes {
		l.bytes -= len(l.events[0])
		l.events = slices.Delete(l.events, 0, 1)
		l.dropped++
	}
}

// Events are the newest, at most limit, with how many are held and how many were dropped.
func (l *callLog) Events(limit int) (events []json.RawMessage, held, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := max(0, len(l.events)-limit)
	return slices.Clone(l.events[from:]), len(l.events), l.dropped
}

// SetName names the session.
func (l *callLog) SetName(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.name = name
}

// Name is the name of the session, "" for none.
func (l *callLog) Name() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.name
}

// structuralMembers are the members whose strings say what was called for, not what
// somebody wrote: they are needed to repeat a call. All other strings are
// replaced by their length.
var structuralMembers = map[string]bool{
	"mode": true, "action": true, "action_name": true,
	"projection_name": true, "projection": true, "summary_name": true,
	"selector": true, "selectors": true, "item_selector": true, "heading_selector": true,
	"root_selector": true, "root_strategy": true, "frame": true,
	"closest": true, "role": true, "attribute": true, "attributes": true, "state": true, "stop": true, "polarity": true,
	"key": true, "modifiers": true, "button": true, "corner": true,
	"format": true, "marker": true, "id": true, "label": true,
	"target_runtime_id": true, "tab_id": true, "path": true, "scope": true,
	"subscriber": true, "assertive": true, "polite": true, "ref": true,
}

// redacted copies a call's arguments without the texts in them.
func (a answered) redacted() any {
	var m map[string]any
	if len(a.Arguments) == 0 || json.Unmarshal(a.Arguments, &m) != nil || m == nil {
		return map[string]any{}
	}
	if a.Own {
		return textLengths(m, 0)
	}
	return redactLogged(m, "", 0)
}

func redactLogged(v any, member string, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		if depth > 16 {
			return map[string]any{"redacted": true}
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			if k == "arguments" || k == "bundle" || k == "baseline" || k == "args" {
				out[k] = textLengths(e, depth+1)
				continue
			}
			out[k] = redactLogged(e, k, depth+1)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = redactLogged(e, member, depth+1)
		}
		return out
	case string:
		switch {
		case structuralMembers[member]:
			return fault.Clip(v, 1000)
		case member == "url":
			return withoutQuery(v)
		}
		return map[string]any{"redacted": true, "length": len(utf16.Encode([]rune(v)))}
	}
	return v
}

// textLengths is redact with nothing structural: names of members and sizes stay.
func textLengths(v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		if depth > 16 || len(v) > 100 {
			return map[string]any{"redacted": true, "members": len(v)}
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = textLengths(e, depth+1)
		}
		return out
	case []any:
		return map[string]any{"redacted": true, "items": len(v)}
	case string:
		return map[string]any{"redacted": true, "length": len(utf16.Encode([]rune(v)))}
	}
	return v
}

// withoutQuery is an address without the parts that carry secrets.
func withoutQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if u.Opaque != "" {
		return u.Scheme + ":"
	}
	u.User = nil
	u.RawQuery = ""
	u.Fragment = ""
	u.RawFragment = ""
	return fault.Clip(u.String(), 500)
}

// logCall remembers one answered call for runtime.session.log.
func (t *Tab) logCall(c Call, reply Reply, began time.Time) {
	status := t.Status()
	_, primitive := t.host.opts.Registry.Lookup(c.Name)
	t.stores().Calls.Add(answered{
		RuntimeID: status.RuntimeID,
		TabID:     t.id,
		URL:       status.URL,
		Name:      c.Name,
		Arguments: c.Arguments,
		Own:       !primitive && c.Name != SiteTool,
		Steps:     reply.Steps,
		Err:       reply.Err,
		Began:     began,
	})
}

// CallEvents implements session.CallLog.
func (s session) CallEvents(limit int) (events []json.RawMessage, held, dropped int) {
	return s.tab.stores().Calls.Events(limit)
}

// NameSession implements session.CallLog.
func (s session) NameSession(name string) { s.tab.stores().Calls.SetName(name) }

// SessionName implements session.CallLog.
func (s session) SessionName() string { return s.tab.stores().Calls.Name() }
