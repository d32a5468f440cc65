package provider

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/outrider-run/outrider/internal/idempotency"
	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/plain"
)

const (
	// MaxLine is the longest line that is read, in bytes.
	MaxLine = 16 << 20
	// maxLines bounds what the lines of all clients hold together that have not been read to their
	// end, or are not answered. Of each line only what is beyond freeLine counts: short ones always come through.
	maxLines = 64 << 20
	freeLine = 64 << 10
)

// errLineTooLong says that a line was longer than allowed; it has been skipped.
var errLineTooLong = errors.New("the line is too long")

// held counts the bytes of the long lines of all clients.
type held struct {
	mu    sync.Mutex
	bytes int
	most  int
}

// grow asks for n more; false when there is no room.
func (h *held) grow(n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.bytes+n > h.most {
		return false
	}
	h.bytes += n
	return true
}

func (h *held) shrink(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bytes -= n
}

// lineReader reads the lines of one client.
type lineReader struct {
	r     *bufio.Reader
	limit int
	held  *held
}

// next reads one line without its end. At the end of input it returns what is left, then io.EOF. A
// line for which there is no room is skipped. release is called when the line is no longer needed.
func (l lineReader) next() (line []byte, release func(), err error) {
	long, counted := false, 0
	release = func() { l.held.shrink(counted) }
	for {
		part, err := l.r.ReadSlice('\n')
		if !long {
			more := max(0, len(line)+len(part)-freeLine) - counted
			switch {
			case len(line)+len(part) > l.limit+1 || more > 0 && !l.held.grow(more):
				l.held.shrink(counted)
				long = true
				line, counted = nil, 0
			default:
				counted += max(0, more)
				line = append(line, part...)
			}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && !long):
			return nil, release, err
		case long:
			return nil, release, errLineTooLong
		}
		return bytes.TrimRight(line, "\r\n"), release, nil
	}
}

// decodeRequest reads a request. id is what an answer to it carries, nil where
// the line has none that can be used.
func decodeRequest(line []byte) (req Request, id *string, failure *Failure) {
	var raw struct {
		ProtocolVersion json.RawMessage `json:"protocol_version"`
		ID              json.RawMessage `json:"id"`
		Method          json.RawMessage `json:"method"`
		Params          json.RawMessage `json:"params"`
		IdempotencyKey  json.RawMessage `json:"idempotency_key"`
	}
	if !utf8.Valid(line) {
		return req, nil, invalidRequest("", "the line is not UTF-8")
	}
	if trimmed := bytes.TrimSpace(line); len(trimmed) == 0 || trimmed[0] != '{' || json.Unmarshal(line, &raw) != nil {
		return req, nil, invalidRequest("", "the line is not a JSON object")
	}
	if json.Unmarshal(raw.ID, &req.ID) != nil || req.ID == "" || len(req.ID) > 200 {
		return req, nil, invalidRequest("/id", "the id is not a string of 1 to 200 characters")
	}
	id = &req.ID
	if len(raw.ProtocolVersion) > 0 && string(raw.ProtocolVersion) != "null" {
		if json.Unmarshal(raw.ProtocolVersion, &req.ProtocolVersion) != nil || req.ProtocolVersion != ProtocolVersion {
			f := invalidRequest("/protocol_version", "this provider speaks protocol version %s", ProtocolVersion)
			f.Details["supported"] = []string{ProtocolVersion}
			return req, id, f
		}
	}
	if json.Unmarshal(raw.Method, &req.Method) != nil || strings.TrimSpace(req.Method) == "" || len(req.Method) > 200 {
		return req, id, invalidRequest("/method", "the method is not a name")
	}
	if key := raw.IdempotencyKey; len(key) > 0 && string(key) != "null" {
		if json.Unmarshal(key, &req.IdempotencyKey) != nil || req.IdempotencyKey == "" ||
			len(req.IdempotencyKey) > idempotency.LongestKey {
			return req, id, invalidRequest(
				"/idempotency_key", "the key is not a text of 1 to %d bytes", idempotency.LongestKey,
			)
		}
	}
	req.Params = raw.Params
	if len(req.Params) == 0 || string(req.Params) == "null" {
		req.Params = json.RawMessage("{}")
	}
	if bytes.TrimSpace(req.Params)[0] != '{' {
		return req, id, invalidRequest("/params", "params is not an object")
	}
	return req, id, nil
}

// encodeLine encodes one message and its line end. What is hidden in texts of pages is escaped. Text of pages keeps its
// angle brackets.
func encodeLine(v any) ([]byte, error) {
	text, err := jsonout.Line(v)
	if err != nil {
		return nil, err
	}
	return []byte(plain.Text(string(text)) + "\n"), nil
}
