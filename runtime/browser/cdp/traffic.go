package cdp

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// Traffic writes what a client sends and gets, one JSON object per line, without any
// body: at_ms since the start, kind (command, answer, event), id, session, method, bytes,
// and took_ms and failed of an answer. query names the question that is put to the page
// library. A line that cannot be written is dropped. It is safe for concurrent use.
type Traffic struct {
	mu    sync.Mutex
	w     io.Writer
	start time.Time
}

// NewTraffic makes a Traffic whose clock starts here.
func NewTraffic(w io.Writer) *Traffic { return &Traffic{w: w, start: time.Now()} }

type trafficLine struct {
	At      float64  `json:"at_ms"`
	Kind    string   `json:"kind"`
	ID      int64    `json:"id,omitempty"`
	Session string   `json:"session,omitempty"`
	Method  string   `json:"method"`
	Query   string   `json:"query,omitempty"`
	Bytes   int      `json:"bytes"`
	Took    *float64 `json:"took_ms,omitempty"`
	Failed  bool     `json:"failed,omitempty"`
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (t *Traffic) write(line trafficLine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line.At = milliseconds(time.Since(t.start))
	b, err := json.Marshal(line)
	if err != nil {
		return
	}
	_, _ = t.w.Write(append(b, '\n'))
}

func (t *Traffic) command(id int64, c *Command) {
	t.write(trafficLine{
		Kind:    "command",
		ID:      id,
		Session: c.Session,
		Method:  c.Method,
		Query:   queryOf(c.Params),
		Bytes:   len(c.Params),
	})
}

func (t *Traffic) answer(id int64, method string, sent time.Time, r Reply) {
	took := milliseconds(time.Since(sent))
	t.write(trafficLine{
		Kind:   "answer",
		ID:     id,
		Method: method,
		Bytes:  len(r.Result),
		Took:   &took,
		Failed: r.Err != nil,
	})
}

func (t *Traffic) event(session, method, params []byte) {
	t.write(trafficLine{Kind: "event", Session: string(session), Method: string(method), Bytes: len(params)})
}

var queryMark = []byte(`outrider('`)

// queryOf is the name of a page query in the parameters of a command, "" for others. It
// is a name of ours: letters and underscores.
func queryOf(params []byte) string {
	i := bytes.Index(params, queryMark)
	if i < 0 {
		return ""
	}
	name := params[i+len(queryMark):]
	n := 0
	for n < len(name) && n < 40 && (name[n] == '_' || name[n] >= 'a' && name[n] <= 'z') {
		n++
	}
	return string(name[:n])
}
