package console

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/truncate"
)

const (
	// maxMessages bounds the messages of a tab; the oldest make room.
	maxMessages = 1000
	// maxMessage bounds the text of one, in bytes.
	maxMessage = 4000
)

// Tab is the tab whose console is recorded.
type Tab interface {
	// Sessions are the tab's own session, first, and those of its frames in other
	// processes.
	Sessions() []*cdp.Session
	Lifetime() *cdp.Lifetime
}

// Log is the record of a tab's console.
//
// It needs the Runtime domain, which a page can notice (an object that it logs
// is looked at) and which costs an event for each frame, so it is enabled with
// the first call only. The browser then repeats what it has stored of the
// documents that are there, at most 1,000 messages of each process.
type Log struct {
	client *cdp.Client
	tab    Tab

	mu       sync.Mutex
	since    time.Time // zero: not recording
	messages []primitives.ConsoleMessage
	dropped  int
	seq      int
	onEntry  func(primitives.ConsoleMessage) // nil for nobody
}

// New makes the record of a tab's console, which begins with the first call.
func New(client *cdp.Client, tab Tab) *Log { return &Log{client: client, tab: tab} }

// RecordFromHere records from the first session of the tab on, which must not have begun. onEntry gets each
// message, from the reader: it must not wait for anything, nor call back.
func (c *Log) RecordFromHere(onEntry func(primitives.ConsoleMessage)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since, c.onEntry = time.Now(), onEntry
}

// Recording reports whether the record has begun.
func (c *Log) Recording() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.since.IsZero()
}

// SessionCommands are those with which a new session of the tab takes part.
func (c *Log) SessionCommands(s *cdp.Session) []cdp.Command {
	if !c.Recording() {
		return nil
	}
	return []cdp.Command{{Session: s.ID, Method: "Runtime.enable"}, {Session: s.ID, Method: "Log.enable"}}
}

// Console implements primitives.ObservedPage.
func (c *Log) Console(ctx context.Context) (primitives.ConsoleLog, error) {
	c.mu.Lock()
	first := c.since.IsZero()
	if first {
		c.since = time.Now() // from here on a session that begins takes part
	}
	c.mu.Unlock()
	if first {
		// What is stored comes before the answers.
		err := c.client.Broadcast(
			ctx, c.tab.Lifetime(), c.tab.Sessions(),
			cdp.Command{Method: "Runtime.enable"}, cdp.Command{Method: "Log.enable"},
		)
		if err != nil {
			return primitives.ConsoleLog{}, cdp.Explain(err, "recording the console")
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	log := primitives.ConsoleLog{Since: c.since, Dropped: c.dropped, Last: c.seq}
	log.Messages = append(log.Messages, c.messages...)
	return log, nil
}

// HandleEvent takes an event of the console. The reader calls it.
func (c *Log) HandleEvent(method, params []byte) {
	if !c.Recording() {
		return
	}
	var m primitives.ConsoleMessage
	var ok bool
	switch string(method) {
	case "Runtime.consoleAPICalled":
		m, ok = consoleCall(params)
	case "Runtime.exceptionThrown":
		m, ok = thrown(params)
	case "Log.entryAdded":
		m, ok = logEntry(params)
	}
	if !ok {
		return
	}
	if len(m.Text) > maxMessage {
		m.Text, m.Cut = strings.ToValidUTF8(m.Text[:maxMessage], ""), true
	}
	m.URL = truncate.Address(m.URL)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	m.Seq = c.seq
	c.messages = append(c.messages, m)
	if c.onEntry != nil {
		c.onEntry(m)
	}
	if len(c.messages) > maxMessages {
		c.messages[0] = primitives.ConsoleMessage{}
		c.messages = c.messages[1:]
		c.dropped++
	}
}

// scriptValue is a value that a script passed to the console.
type scriptValue struct {
	Type           string          `json:"type"`
	Subtype        string          `json:"subtype"`
	Value          json.RawMessage `json:"value"`
	Unserializable string          `json:"unserializableValue"`
	Description    string          `json:"description"`
	Preview        *preview        `json:"preview"`
}

type preview struct {
	Overflow   bool `json:"overflow"`
	Properties []struct {
		Name  string `json:"name"`
		Type  string `json:"type"`
		Value string `json:"value"`
	} `json:"properties"`
}

// text is what a person would see in the console.
func (v scriptValue) text() string {
	switch {
	case v.Type == "undefined":
		return "undefined"
	case v.Type == "string":
		var s string
		if json.Unmarshal(v.Value, &s) == nil {
			return s
		}
	case v.Preview != nil && v.Subtype != "error" && len(v.Preview.Properties) > 0:
		return v.Preview.text(v.Subtype == "array")
	case v.Unserializable != "":
		return v.Unserializable
	case len(v.Value) > 0:
		return string(v.Value)
	}
	return v.Description
}

func (p *preview) text(array bool) string {
	var b strings.Builder
	opening, closing := "{", "}"
	if array {
		opening, closing = "[", "]"
	}
	b.WriteString(opening)
	for i, e := range p.Properties {
		if i > 0 {
			b.WriteString(", ")
		}
		if !array {
			b.WriteString(e.Name + ": ")
		}
		if e.Type == "string" {
			quoted, _ := json.Marshal(e.Value)
			b.Write(quoted)
		} else {
			b.WriteString(e.Value)
		}
	}
	if p.Overflow {
		b.WriteString(", ...")
	}
	b.WriteString(closing)
	return b.String()
}

type callFrames struct {
	CallFrames []struct {
		URL    string `json:"url"`
		Line   int    `json:"lineNumber"`
		Column int    `json:"columnNumber"`
	} `json:"callFrames"`
}

func (s callFrames) place(m *primitives.ConsoleMessage) {
	if len(s.CallFrames) > 0 {
		top := s.CallFrames[0]
		m.URL = top.URL
		m.Line = top.Line + 1
		m.Column = top.Column + 1
	}
}

func consoleCall(params []byte) (m primitives.ConsoleMessage, ok bool) {
	var e struct {
		Type  string        `json:"type"`
		Args  []scriptValue `json:"args"`
		At    float64       `json:"timestamp"`
		Stack callFrames    `json:"stackTrace"`
	}
	if json.Unmarshal(params, &e) != nil {
		return m, false
	}
	m = primitives.ConsoleMessage{Level: "info", Source: "console", Type: e.Type, At: time.UnixMilli(int64(e.At))}
	switch e.Type {
	case "clear", "endGroup":
		return m, false
	case "debug":
		m.Level = "debug"
	case "warning":
		m.Level, m.Type = "warning", "warn"
	case "error", "assert":
		m.Level = "error"
	}
	texts := make([]string, len(e.Args))
	for i, v := range e.Args {
		texts[i] = v.text()
	}
	m.Text = strings.Join(texts, " ")
	e.Stack.place(&m)
	return m, true
}

func thrown(params []byte) (m primitives.ConsoleMessage, ok bool) {
	var e struct {
		At      float64 `json:"timestamp"`
		Details struct {
			Text      string      `json:"text"`
			URL       string      `json:"url"`
			Line      int         `json:"lineNumber"`
			Column    int         `json:"columnNumber"`
			Exception scriptValue `json:"exception"`
			Stack     callFrames  `json:"stackTrace"`
		} `json:"exceptionDetails"`
	}
	if json.Unmarshal(params, &e) != nil {
		return m, false
	}
	d := e.Details
	m = primitives.ConsoleMessage{Level: "error", Source: "exception", At: time.UnixMilli(int64(e.At))}
	m.Text = d.Exception.text()
	if m.Text == "" || !strings.Contains(d.Text, m.Text) && d.Exception.Subtype != "error" {
		m.Text = strings.TrimSpace(d.Text + " " + m.Text)
	}
	m.URL = d.URL
	m.Line = d.Line + 1
	m.Column = d.Column + 1
	if d.URL == "" {
		d.Stack.place(&m)
	}
	return m, true
}

func logEntry(params []byte) (m primitives.ConsoleMessage, ok bool) {
	var e struct {
		Entry struct {
			Source string  `json:"source"`
			Level  string  `json:"level"`
			Text   string  `json:"text"`
			At     float64 `json:"timestamp"`
			URL    string  `json:"url"`
			Line   *int    `json:"lineNumber"`
		} `json:"entry"`
	}
	if json.Unmarshal(params, &e) != nil {
		return m, false
	}
	m = primitives.ConsoleMessage{
		Level:  e.Entry.Level,
		Source: e.Entry.Source,
		Text:   truncate.WithoutUsers(e.Entry.Text),
		URL:    e.Entry.URL,
		At:     time.UnixMilli(int64(e.Entry.At)),
	}
	if m.Level == "verbose" {
		m.Level = "debug"
	}
	if e.Entry.Line != nil {
		m.Line = *e.Entry.Line + 1
	}
	return m, true
}
