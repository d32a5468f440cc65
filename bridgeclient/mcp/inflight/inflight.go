// Package inflight reads and writes the lines of one client, and gives the end of its input only when every request
// before it has been answered. It does not know what a request is about, and starts nothing. The MCP server over
// standard input and output calls it.
package inflight

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// longestAnswering is how long requests may take whose client has closed its end.
const longestAnswering = 30 * time.Second

// Lines reads and writes the lines of one client. Its end of input comes when every
// request before it has been answered: the SDK cancels what is in flight at the end, so
// a client that writes its requests and closes would lose the answers.
type Lines struct {
	in  *bufio.Reader
	out io.WriteCloser
	ctx context.Context // of the connection
	// rest is what is left of the line that was read last, and err what ended the input.
	rest []byte
	err  error

	mu      sync.Mutex
	open    map[string]bool // by plainID
	changed chan struct{}   // closed when the last one was answered
}

// New are the lines of a client whose connection is open for as long as ctx.
func New(ctx context.Context, in io.Reader, out io.WriteCloser) *Lines {
	return &Lines{in: bufio.NewReader(in), out: out, ctx: ctx, open: map[string]bool{}, changed: make(chan struct{})}
}

// envelope is what a line says of a request.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
}

// Read implements io.Reader.
func (a *Lines) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.err != nil {
			a.wait()
			return 0, a.err
		}
		a.rest, a.err = a.in.ReadBytes('\n')
		a.note(a.rest)
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// note adds a request, and takes one away that its client no longer wants.
func (a *Lines) note(line []byte) {
	var e envelope
	if len(bytes.TrimSpace(line)) == 0 || json.Unmarshal(line, &e) != nil {
		return
	}
	switch {
	case e.Method == "notifications/cancelled":
		a.close(e.Params.RequestID)
	case e.Method != "" && len(e.ID) > 0:
		a.mu.Lock()
		a.open[plainID(e.ID)] = true
		a.mu.Unlock()
	}
}

// Write implements io.Writer for whole lines.
func (a *Lines) Write(line []byte) (int, error) {
	n, err := a.out.Write(line)
	if err != nil {
		a.mu.Lock()
		clear(a.open) // nobody reads the others either
		a.mu.Unlock()
		a.close(nil)
		return n, err
	}
	if id := answeredID(line); id != nil {
		a.close(id)
	}
	return n, nil
}

// answeredID is the id of an answer, nil for what is none. A large answer is not read to
// its end for it.
func answeredID(line []byte) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(line))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	var id json.RawMessage
	for d.More() {
		key, err := d.Token()
		switch {
		case err != nil || key == "method": // a request of ours
			return nil
		case key == "result" || key == "error":
			return id
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil
		}
		if key == "id" {
			id = value
		}
	}
	return nil
}

// plainID is an id in the one way in which it is written here.
func plainID(id json.RawMessage) string {
	var v any
	if json.Unmarshal(id, &v) != nil {
		return ""
	}
	plain, _ := json.Marshal(v)
	return string(plain)
}

func (a *Lines) close(id json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, plainID(id))
	if len(a.open) == 0 {
		close(a.changed)
		a.changed = make(chan struct{})
	}
}

// wait returns when nothing is open, or too long after the end of the input.
func (a *Lines) wait() {
	late := time.NewTimer(longestAnswering)
	defer late.Stop()
	a.mu.Lock()
	changed, none := a.changed, len(a.open) == 0
	a.mu.Unlock()
	if none {
		return
	}
	select {
	case <-changed:
	case <-late.C:
	case <-a.ctx.Done():
	}
}

// Close implements io.Closer. What is read and written stays open.
func (a *Lines) Close() error { return a.out.Close() }
