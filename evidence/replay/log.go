package replay

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/evidence/outfile"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Formats of logs.
const (
	FormatRecording = "recording"
	FormatExtension = "extension_session_log"
	FormatSession   = "session_log" // of this program
	FormatBridge    = "bridge_log"
)

// Log is what is repeated.
type Log struct {
	Format string
	// Open is the address to begin at, "" when the log does not say.
	Open    string
	Profile string // "" when the log does not say
	Header  record.Header
	Calls   []Call
	// Notes say what of the log is left out.
	Notes []string
	// Recording is nil for other formats.
	Recording *record.Recording
}

// Call is one call of a log.
type Call struct {
	Event     string // that it is of, as the log names it
	Name      string
	Arguments json.RawMessage
	Map       *runtime.SuppliedMap
	Tab       int
	URL       string  // of the page before it, "" when the log does not say
	Gap       float64 // milliseconds since the call before
	Began     float64 // milliseconds since the recording began, 0 when the log does not say
	TimeoutMS float64 // 0 when the log does not say
	Expected  Expected
	Missing   []Missing
	States    []State // that it leaves, nil when the log does not say
	steps     []record.Step
}

// Expected is the result in the log.
type Expected struct {
	Known  bool // the log says whether it succeeded
	OK     bool
	Code   string
	Output json.RawMessage // nil when the log does not say
	Steps  []StepResult    // of a workflow, as far as the log says
}

// StepResult is how a step of a workflow went.
type StepResult struct {
	ID      string `json:"id"`
	OK      bool   `json:"ok"`
	Skipped bool   `json:"skipped"`
}

// Missing is a value that a log does not hold.
type Missing struct {
	Event   string `json:"event"`
	Call    string `json:"call"`
	Pointer string `json:"pointer"` // into the arguments
	Why     string `json:"why"`     // redacted, cut, omitted, blank, not_recorded, secret
	// Secret is the name of the secret that belongs there.
	Secret string `json:"secret,omitempty"`
}

// maxLog bounds a log that is no recording.
const maxLog = 256 << 20

// Read reads a log of any format. The error is invalid_arguments.
func Read(path string) (*Log, error) {
	f, err := outfile.Open(path)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidInput, err, "the log cannot be read")
	}
	begin := make([]byte, 512)
	n, _ := f.Read(begin) // an empty file is refused below
	info, err := f.Stat()
	_ = f.Close()
	if err != nil {
		return nil, fault.Wrap(fault.InvalidInput, err, "the log cannot be read")
	}
	if bytes.Contains(begin[:n], []byte(`"`+record.Format+`"`)) {
		r, err := record.Open(path)
		if err != nil {
			return nil, err
		}
		l := fromRecording(r)
		if len(l.Calls) == 0 {
			l.Close()
			return nil, fault.New(
				fault.InvalidInput, "the recording has %d events and no call that ended", len(r.Events),
			).With("notes", l.Notes).Next("a replay repeats calls: look at the recording with outrider trace open")
		}
		return l, nil
	}
	if info.Size() > maxLog {
		return nil, fault.New(fault.InvalidInput, "the log has %d bytes: expected at most %d", info.Size(), maxLog)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidInput, err, "the log cannot be read")
	}
	return Parse(data)
}

// Parse reads a log that is no recording.
func Parse(data []byte) (*Log, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if events, ok := sessionEvents(data); ok {
		return fromSession(events)
	}
	if items, ok := bridgeItems(data); ok {
		return fromBridge(items)
	}
	return nil, fault.New(fault.InvalidInput, "this is no log that can be replayed").
		Next("give a recording (--record), the output of runtime.session.log, or a conversation with one protocol " +
			"item per line")
}

// Close closes the file of a recording.
func (l *Log) Close() {
	if l.Recording != nil {
		_ = l.Recording.Close()
	}
}

func fromRecording(r *record.Recording) *Log {
	l := &Log{Format: FormatRecording, Recording: r, Header: r.Header, Profile: r.Header.Profile}
	for _, e := range r.Events {
		if e.Kind == record.KindTab && l.Open == "" {
			if t, err := record.Of[record.Tab](e); err == nil && t.State == "opened" {
				l.Open = t.URL
			}
		}
	}
	// A tab may have been opened empty, and its page by no call.
	for _, e := range r.Events {
		if e.Kind == record.KindCallBegin {
			if c, err := record.Of[record.CallBegin](e); err == nil && c.URL != "" {
				l.Open = c.URL
			}
			break
		}
	}
	ended := 0.0
	for _, c := range record.Calls(r.Events) {
		if !c.Finished {
			l.Notes = append(l.Notes, "call "+c.ID+" ("+c.Name+") has no end in the recording and is left out")
			continue
		}
		if aboutItself(c) {
			l.Notes = append(l.Notes, "call "+c.ID+" asked for the recording itself and is left out")
			continue
		}
		out := Call{
			Event:     c.ID,
			Name:      c.Name,
			Arguments: c.Arguments,
			Tab:       c.Tab,
			URL:       c.Before,
			Gap:       max(0, c.Began-ended),
			Began:     c.Began,
			TimeoutMS: c.TimeoutMS,
			steps:     c.Steps,
		}
		ended = c.Ended
		out.Expected = Expected{
			Known:  true,
			OK:     c.OK,
			Code:   codeOf(c.Error),
			Output: whole(r, c.Output),
			Steps:  stepResults(c.Summaries),
		}
		if c.Map != nil {
			if data, err := r.Data(c.Map.Resource); err == nil {
				out.Map = &runtime.SuppliedMap{Path: c.Map.Path, JSON: data}
			}
		}
		out.Missing = missingIn(out)
		out.States = statesOf(r, c.After)
		l.Calls = append(l.Calls, out)
	}
	if r.Cut {
		l.Notes = append(l.Notes, "the recording was cut: it is replayed up to its last whole entry")
	}
	return l
}

// aboutItself reports whether a call saved what was remembered, or learned from it: a replay remembers nothing.
func aboutItself(c record.Call) bool {
	var in struct {
		Mode string `json:"mode"`
	}
	return c.Name == runtime.SiteTool && json.Unmarshal(c.Arguments, &in) == nil &&
		(in.Mode == "record" || in.Mode == "learn")
}

// whole is an output, also one that stands in a resource.
func whole(r *record.Recording, output json.RawMessage) json.RawMessage {
	if name := record.Resourced(output); name != "" {
		if data, err := r.Data(name); err == nil {
			return data
		}
	}
	return output
}

func codeOf(failure json.RawMessage) string {
	var f struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal(failure, &f) // "" without
	return f.Code
}

func stepResults(raw json.RawMessage) []StepResult {
	var out []StepResult
	_ = json.Unmarshal(raw, &out) // none without
	return out
}

// missingIn lists the values in arguments that stand for others.
func missingIn(c Call) []Missing {
	var v any
	if json.Unmarshal(c.Arguments, &v) != nil {
		return nil
	}
	var out []Missing
	add := func(pointer, why, secret string) {
		out = append(out, Missing{Event: c.Event, Call: c.Name, Pointer: pointer, Why: why, Secret: secret})
	}
	var walk func(v any, pointer string)
	walk = func(v any, pointer string) {
		switch v := v.(type) {
		case map[string]any:
			if redacted, _ := v["redacted"].(bool); redacted && len(v) <= 2 {
				add(pointer, "redacted", "")
				return
			}
			for _, k := range sortedNames(v) {
				walk(v[k], pointer+"/"+escape(k))
			}
		case []any:
			for i, e := range v {
				walk(e, pointer+"/"+strconv.Itoa(i))
			}
		case string:
			if names := mask.Used(v); len(names) > 0 {
				for _, name := range names {
					add(pointer, "secret", name)
				}
				return
			}
			if why := damage(v); why != "" {
				add(pointer, why, "")
			}
		}
	}
	walk(v, "")
	return out
}

// damage says why a text is not the one that was given, "" when nothing speaks for that.
func damage(text string) string {
	switch {
	case strings.Contains(text, "[redacted secret]"):
		return "redacted"
	case strings.Contains(text, "[omitted nested value]"), strings.Contains(text, "[omitted image data URL]"),
		strings.HasPrefix(text, record.Omitted):
		return "omitted"
	case cut(text):
		return "cut"
	}
	return ""
}

func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
