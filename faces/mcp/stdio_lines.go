package mcp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	// longestAnswering is how long requests may take whose client has closed its end, since the last
	// of them was answered.
	longestAnswering = 10 * time.Second
	// longestWaiting is how long they may take when all that are left only wait for something.
	longestWaiting = 3 * time.Second
	// lastVersionOfBatches is the last version of the protocol that has batches. Versions are dates.
	lastVersionOfBatches = "2025-03-26"
)

// stdioLines reads and writes the lines of one client. A line that is no message is answered and goes no
// further: the SDK would end the connection. The end of input comes when every request before it has
// been answered: the SDK cancels what is in flight at the end, so a client that writes its requests
// and closes would lose the answers.
type stdioLines struct {
	in  *bufio.Reader
	out io.WriteCloser
	ctx context.Context // of the connection
	// Ready, when not nil, returns when what requests need has started. The time for the last answers
	// begins then.
	Ready func(context.Context)
	// Ended, when not nil, is called when the input has ended and every call has been answered.
	Ended func()
	// rest is what is left of the line that was read last, and err what ended the input.
	rest []byte
	err  error

	mark    string // begins what stands for ids that the SDK does not give back as they are
	given   int
	mu      sync.Mutex
	open    map[string]openRequest // by the id that the SDK has
	renamed map[string]json.RawMessage
	version string // of the protocol, once it is known
	writing int    // lines that go out
	changed chan struct{}
}

// openRequest is one that has no answer yet.
type openRequest struct {
	waits bool // does nothing but wait
	hello bool // asks for the version
}

// newStdioLines are the lines of a client whose connection is open for as long as ctx.
func newStdioLines(ctx context.Context, in io.Reader, out io.WriteCloser) *stdioLines {
	return &stdioLines{
		in:      bufio.NewReaderSize(in, 64<<10),
		out:     out,
		ctx:     ctx,
		mark:    "outrider:id:" + rand.Text() + ":",
		open:    map[string]openRequest{},
		renamed: map[string]json.RawMessage{},
		changed: make(chan struct{}),
	}
}

// Read implements io.Reader.
func (a *stdioLines) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.err != nil {
			a.wait()
			if a.Ended != nil {
				a.Ended()
			}
			return 0, a.err
		}
		var line []byte
		var whole bool
		line, whole, a.err = a.line()
		if !whole {
			a.refuse(&lineRefusal{
				Code:    invalidRequest,
				Message: fmt.Sprintf("the line is longer than %d bytes", maxLine),
			})
			continue
		}
		admitted, refusal := a.admit(bytes.TrimSpace(line))
		if refusal != nil {
			a.refuse(refusal)
			continue
		}
		a.rest = admitted
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// line is the next line. One that is too long is read to its end and not kept.
func (a *stdioLines) line() (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := a.in.ReadSlice('\n')
		whole = whole && len(line)+len(part) <= maxLine
		if whole {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}

func (a *stdioLines) refuse(r *lineRefusal) { _, _ = a.out.Write(r.Line()) }

// admit is a line as the SDK gets it, nothing for one that says nothing.
func (a *stdioLines) admit(line []byte) ([]byte, *lineRefusal) {
	if len(line) == 0 {
		return nil, nil
	}
	if !json.Valid(line) {
		return nil, notJSON(line)
	}
	all := []json.RawMessage{line}
	batch := line[0] == '['
	if batch {
		a.mu.Lock()
		version := a.version
		a.mu.Unlock()
		if err := json.Unmarshal(line, &all); err != nil || len(all) == 0 {
			return nil, &lineRefusal{Code: invalidRequest, Message: "the batch is empty"}
		}
		if version == "" || version > lastVersionOfBatches {
			return nil, &lineRefusal{
				Code:    invalidRequest,
				Message: "this version of the protocol has no batches; one message stands on a line of its own",
			}
		}
	}
	messages := make([]lineMessage, len(all))
	for i, raw := range all {
		m, refusal := readMessage(raw)
		if refusal != nil {
			if batch { // nothing of it is done
				refusal.ID = nil
			}
			return nil, refusal
		}
		messages[i] = m
	}
	ids := make([]string, len(messages))
	for i, m := range messages {
		if m.method == "" || m.id == nil {
			continue
		}
		ids[i] = plainID(m.id)
		a.mu.Lock()
		_, twice := a.open[a.known(m.id)]
		a.mu.Unlock()
		if twice || slices.Contains(ids[:i], ids[i]) {
			return nil, &lineRefusal{Code: invalidRequest, Message: "a request with this id is under way", ID: m.id}
		}
	}
	for i, m := range messages {
		changed, ok := a.note(m)
		if ok {
			all[i] = changed
		}
	}
	if batch {
		encoded, err := json.Marshal(all)
		if err != nil {
			return nil, &lineRefusal{Code: invalidRequest, Message: "the batch cannot be read"}
		}
		return append(encoded, '\n'), nil
	}
	return append(all[0], '\n'), nil
}

// known is the id that the SDK has for the one of a client. The caller has a.mu.
func (a *stdioLines) known(id json.RawMessage) string {
	for own, sent := range a.renamed {
		if string(sent) == string(id) {
			return own
		}
	}
	return plainID(id)
}

// note adds a request, and takes one away that its client no longer wants. The result is the message
// as the SDK gets it, where that is another.
func (a *stdioLines) note(m lineMessage) (json.RawMessage, bool) {
	if m.method == "notifications/cancelled" {
		return a.cancelled(m)
	}
	if m.method == "" || m.id == nil {
		return nil, false
	}
	id, changed := m.id, false
	a.mu.Lock()
	defer a.mu.Unlock()
	if !keepsID(id) {
		a.given++
		id, changed = json.RawMessage(strconv.Quote(a.mark+strconv.Itoa(a.given))), true
		a.renamed[plainID(id)] = m.id
		m.members["id"] = id
	}
	var p struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(m.members["params"], &p)
	a.open[plainID(id)] = openRequest{
		waits: m.method == "tools/call" && (p.Name == "wait" || p.Name == "page.wait" || p.Name == "page_wait"),
		hello: m.method == "initialize",
	}
	if !changed {
		return nil, false
	}
	encoded, err := json.Marshal(m.members)
	return encoded, err == nil
}

func (a *stdioLines) cancelled(m lineMessage) (json.RawMessage, bool) {
	var params map[string]json.RawMessage
	if json.Unmarshal(m.members["params"], &params) != nil || params["requestId"] == nil {
		return nil, false
	}
	a.mu.Lock()
	own := a.known(params["requestId"])
	a.mu.Unlock()
	a.close(json.RawMessage(own))
	if own == plainID(params["requestId"]) {
		return nil, false
	}
	params["requestId"] = json.RawMessage(own)
	var err error
	m.members["params"], err = json.Marshal(params)
	if err != nil {
		return nil, false
	}
	encoded, err := json.Marshal(m.members)
	return encoded, err == nil
}

// Write implements io.Writer for whole lines.
func (a *stdioLines) Write(line []byte) (int, error) {
	id := answeredID(line)
	sent := line
	a.mu.Lock()
	if id != nil {
		if a.open[plainID(id)].hello {
			a.version = agreedVersion(line)
		}
		if own, ok := a.renamed[plainID(id)]; ok {
			sent = bytes.Replace(line, id, own, 1)
			delete(a.renamed, plainID(id))
		}
	} else if len(a.renamed) > 0 && line[0] == '[' { // the answers to a batch
		for name, own := range a.renamed {
			if bytes.Contains(sent, []byte(name)) {
				sent = bytes.Replace(sent, []byte(name), own, 1)
				delete(a.renamed, name)
			}
		}
	}
	// A client may use an id again as soon as it has the answer.
	delete(a.open, plainID(id))
	if line[0] == '[' {
		var answers []struct {
			ID json.RawMessage `json:"id"`
		}
		_ = json.Unmarshal(line, &answers)
		for _, answer := range answers {
			delete(a.open, plainID(answer.ID))
		}
	}
	a.writing++
	a.mu.Unlock()
	_, err := a.out.Write(sent)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.writing--
	if err != nil {
		clear(a.open) // nobody reads the others either
	}
	a.notifyWaiters()
	if err != nil {
		return 0, err
	}
	return len(line), nil
}

// agreedVersion is the version of the protocol that an answer to initialize says.
func agreedVersion(line []byte) string {
	var answer struct {
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
	}
	_ = json.Unmarshal(line, &answer) // a refusal has none
	return answer.Result.ProtocolVersion
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
	var text string
	if json.Unmarshal(id, &text) != nil {
		return string(bytes.TrimSpace(id))
	}
	plain, _ := json.Marshal(text)
	return string(plain)
}

func (a *stdioLines) close(id json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, plainID(id))
	a.notifyWaiters()
}

// notifyWaiters wakes who waits for the last answers. The caller has a.mu.
func (a *stdioLines) notifyWaiters() {
	close(a.changed)
	a.changed = make(chan struct{})
}

// wait returns when nothing is open, or too long after the end of the input.
func (a *stdioLines) wait() {
	if a.Ready != nil {
		starting, cancel := context.WithTimeout(a.ctx, 3*longestAnswering)
		a.Ready(starting)
		cancel()
	}
	for {
		a.mu.Lock()
		changed, left := a.changed, len(a.open)+a.writing
		most := longestWaiting
		if a.writing > 0 {
			most = longestAnswering
		}
		for _, r := range a.open {
			if !r.waits {
				most = longestAnswering
			}
		}
		a.mu.Unlock()
		if left == 0 {
			return
		}
		late := time.NewTimer(most)
		select {
		case <-changed:
			late.Stop()
		case <-late.C:
			return
		case <-a.ctx.Done():
			late.Stop()
			return
		}
	}
}

// Close implements io.Closer. What is read and written stays open.
func (a *stdioLines) Close() error { return a.out.Close() }
