package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// sessionEvent is an event of a session log: of the extension, or of this program.
type sessionEvent struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Timestamp string          `json:"timestamp"`
	Name      string          `json:"name"`
	OK        *bool           `json:"ok"`
	Input     json.RawMessage `json:"input"`
	Output    json.RawMessage `json:"output"`
	Steps     json.RawMessage `json:"steps"`
	// Of this program.
	Seq       int             `json:"seq"`
	At        string          `json:"at"`
	Arguments json.RawMessage `json:"arguments"`
	Code      string          `json:"code"`
	URL       string          `json:"url"`
	TabID     int             `json:"tab_id"`
}

// storageKey is under which the extension keeps its events.
const storageKey = "ACTIONS_JSON_AGENT_MEMORY_V1"

// sessionEvents finds the events in each form in which a session log is saved: the answer to the call, its
// value, the list alone, and what the extension stores.
func sessionEvents(data []byte) ([]sessionEvent, bool) {
	if len(data) == 0 {
		return nil, false
	}
	if data[0] == '[' {
		var events []sessionEvent
		if json.Unmarshal(data, &events) == nil && slices.ContainsFunc(events, func(e sessionEvent) bool {
			return e.Type != "" && (e.Timestamp != "" || e.At != "")
		}) {
			return events, true
		}
		return nil, false
	}
	var o map[string]json.RawMessage
	if data[0] != '{' || json.Unmarshal(data, &o) != nil {
		return nil, false
	}
	for _, name := range []string{"events", "value", "output", "structuredContent", "result", storageKey} {
		if inner := bytes.TrimSpace(o[name]); len(inner) > 0 {
			if events, ok := sessionEvents(inner); ok {
				return events, true
			}
		}
	}
	// The text of an MCP result is the answer once more.
	var content []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(o["content"], &content) == nil {
		for _, c := range content {
			if events, ok := sessionEvents([]byte(strings.TrimSpace(c.Text))); ok {
				return events, true
			}
		}
	}
	return nil, false
}

// notCalls are events of type tool that are none of an agent.
func notACall(name string) bool {
	return name == "" || strings.HasPrefix(name, "realtime.") || strings.HasPrefix(name, "offscreen.") ||
		strings.HasPrefix(name, "background.") || name == "runtime.agent.user_message"
}

type toolInput struct {
	CallID    string          `json:"call_id"`
	Arguments json.RawMessage `json:"arguments"`
	Action    string          `json:"action"`
	Output    string          `json:"output_type"`
	Tool      string          `json:"tool"`
	URL       string          `json:"active_tab_url"`
	NewURL    string          `json:"new_url"`
}

func fromSession(events []sessionEvent) (*Log, error) {
	if slices.ContainsFunc(events, func(e sessionEvent) bool { return e.Type == "call" && e.At != "" }) {
		return fromOwnSession(events), nil
	}
	l := &Log{Format: FormatExtension, Profile: "extension"}
	// Two writers append without a lock, so the order of the list is not that of time.
	slices.SortStableFunc(events, func(a, b sessionEvent) int { return timeOf(a).Compare(timeOf(b)) })
	routed := map[string]string{} // addresses by call
	address := ""
	taken := map[int]bool{} // workflow events that belong to a tool event
	var before time.Time
	add := func(c Call, e sessionEvent) {
		if at := timeOf(e); !before.IsZero() && at.After(before) {
			c.Gap = float64(at.Sub(before).Milliseconds())
		}
		before = timeOf(e)
		c.Event = e.ID
		if c.URL == "" {
			c.URL = address
		}
		if l.Open == "" {
			l.Open = c.URL
		}
		if len(c.Arguments) == 0 || string(c.Arguments) == "null" {
			c.Arguments = json.RawMessage("{}")
		}
		c.Missing = append(c.Missing, missingIn(c)...)
		l.Calls = append(l.Calls, c)
	}
	for i, e := range events {
		var in toolInput
		_ = json.Unmarshal(e.Input, &in) // what is not there is empty
		switch e.Type {
		case "routing":
			routed[in.CallID] = in.URL
			if in.URL != "" && address == "" {
				address = in.URL
			}
		case "navigation":
			if in.NewURL != "" {
				if address == "" {
					l.Open = cmp.Or(previousURL(e.Input), l.Open)
				}
				address = in.NewURL
			}
		case "tool":
			if notACall(e.Name) {
				continue
			}
			c := Call{Name: e.Name, Arguments: in.Arguments, URL: routed[in.CallID], Expected: expectedOf(e)}
			if action := siteAction(in.Arguments); e.Name == "actions.site" && action != "" {
				c.Name, c.Arguments = action, siteArguments(in.Arguments)
				// The event of the workflow has the arguments as they were given.
				if j := workflowOf(events, i, action, taken); j >= 0 {
					taken[j] = true
					var raw toolInput
					_ = json.Unmarshal(events[j].Input, &raw)
					c.Arguments, c.Expected = raw.Arguments, expectedOf(events[j])
					add(c, e)
					continue
				}
			}
			c.Event = e.ID
			c.Missing = lost(c)
			l.noteSpaces(c)
			add(c, e)
		case "workflow":
			if taken[i] || toolFollows(events, i, e.Name) {
				continue
			}
			taken[i] = true
			name := cmp.Or(in.Action, e.Name)
			add(Call{Name: name, Arguments: in.Arguments, Expected: expectedOf(e)}, e)
		case "transport":
			if !strings.HasSuffix(e.Name, ".site_action_output") || in.Action == "" ||
				workflowBefore(events, i, in.Action) {
				continue
			}
			c := Call{Name: in.Action, Expected: Expected{Known: true, OK: in.Output != "action_error"}}
			c.Missing = []Missing{{Event: e.ID, Call: in.Action, Pointer: "", Why: "not_recorded"}}
			add(c, e)
		}
	}
	if len(l.Calls) == 0 {
		return nil, fault.New(fault.InvalidInput, "the session log has %d events and no call: the extension does not "+
			"record calls of primitives that come over a bridge", len(events)).
			Next("record the failure again with outrider connect --record FILE")
	}
	return l, nil
}

func timeOf(e sessionEvent) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, cmp.Or(e.Timestamp, e.At)) // the zero time without
	return t
}

func previousURL(raw json.RawMessage) string {
	var in struct {
		URL string `json:"previous_url"`
	}
	_ = json.Unmarshal(raw, &in) // "" without
	return in.URL
}

// siteAction is the action that a call of actions.site names, "" when it lists or reads.
func siteAction(raw json.RawMessage) string {
	var in struct {
		Mode   string          `json:"mode"`
		Action json.RawMessage `json:"action"`
		Name   string          `json:"name"`
	}
	if json.Unmarshal(raw, &in) != nil || in.Mode != "" && in.Mode != "call" {
		return ""
	}
	var name string
	if json.Unmarshal(in.Action, &name) == nil && name != "" {
		return name
	}
	var nested struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(in.Action, &nested) // "" without
	return cmp.Or(nested.Name, in.Name)
}

// siteArguments are those of the action that a call of actions.site names.
func siteArguments(raw json.RawMessage) json.RawMessage {
	var in struct {
		Arguments json.RawMessage `json:"arguments"`
		Action    json.RawMessage `json:"action"`
	}
	_ = json.Unmarshal(raw, &in) // none without
	if in.Arguments != nil {
		return in.Arguments
	}
	var nested struct {
		Arguments json.RawMessage `json:"arguments"`
	}
	_ = json.Unmarshal(in.Action, &nested)
	return nested.Arguments
}

// nearby is how far apart two events of one call may be written.
const nearby = 3 * time.Second

// workflowOf finds the event of the workflow that a tool event is about: the nearest before it that no
// other has taken, or one just behind.
func workflowOf(events []sessionEvent, tool int, action string, taken map[int]bool) int {
	best := -1
	for j, e := range events {
		if e.Type != "workflow" || e.Name != action || taken[j] {
			continue
		}
		if d := timeOf(events[tool]).Sub(timeOf(e)); d < -nearby || d > nearby {
			continue
		}
		best = j
		if j > tool {
			break
		}
	}
	return best
}

// toolFollows reports whether a tool event behind it speaks of a workflow, and will take it.
func toolFollows(events []sessionEvent, workflow int, action string) bool {
	for j := workflow + 1; j < len(events); j++ {
		e := events[j]
		if timeOf(e).Sub(timeOf(events[workflow])) > nearby {
			return false
		}
		var in toolInput
		_ = json.Unmarshal(e.Input, &in)
		if e.Type == "tool" && e.Name == "actions.site" && siteAction(in.Arguments) == action {
			return true
		}
	}
	return false
}

// workflowBefore reports whether an output that was sent is that of a workflow with an event of its own.
func workflowBefore(events []sessionEvent, sent int, action string) bool {
	for j := sent - 1; j >= 0 && timeOf(events[sent]).Sub(timeOf(events[j])) <= nearby; j-- {
		if events[j].Type == "workflow" && events[j].Name == action {
			return true
		}
	}
	return false
}

func expectedOf(e sessionEvent) Expected {
	out := Expected{Known: e.OK != nil, Output: nil, Steps: stepResults(e.Steps)}
	if e.OK != nil {
		out.OK = *e.OK
	}
	var o struct {
		OK    *bool  `json:"ok"`
		Code  string `json:"code"`
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal(e.Output, &o) // "" without
	if o.OK != nil && !*o.OK {
		out.OK = false
	}
	if !out.OK {
		out.Code = cmp.Or(o.Error.Code, o.Code)
	}
	return out
}

// fromOwnSession reads the log of this program, which has lengths in place of texts.
func fromOwnSession(events []sessionEvent) *Log {
	l := &Log{Format: FormatSession}
	address := ""
	for _, e := range events {
		if e.Type != "call" {
			continue
		}
		c := Call{
			Event:     "seq " + jsonText(e.Seq),
			Name:      e.Name,
			Arguments: e.Arguments,
			Tab:       e.TabID,
			URL:       address,
			Expected:  Expected{Known: e.OK != nil, Code: e.Code, Steps: stepResults(e.Steps)},
		}
		if e.OK != nil {
			c.Expected.OK = *e.OK
		}
		address = e.URL
		if l.Open == "" {
			l.Open = e.URL
		}
		c.Missing = missingIn(c)
		l.Calls = append(l.Calls, c)
	}
	return l
}

func jsonText(v any) string {
	b, _ := json.Marshal(v) // a number
	return string(b)
}
