package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/outrider-run/outrider/internal/lazyregexp"
)

// maxLine is how many bytes one message has at the most.
const maxLine = 4 << 20

// maxDepth is how deep a message is nested at the most.
const maxDepth = 1000

// Codes of JSON-RPC for what is no message.
const (
	parseError     = -32700
	invalidRequest = -32600
)

// lineRefusal is why something is no message, for the one who sent it.
type lineRefusal struct {
	Code    int
	Message string
	// ID is that of the request, nil where it has none that can be given back.
	ID json.RawMessage
}

// Line is the refusal as a message of JSON-RPC, with the end of its line.
func (r *lineRefusal) Line() []byte {
	id := r.ID
	if id == nil {
		id = json.RawMessage("null")
	}
	message, err := json.Marshal(r.Message)
	if err != nil {
		message = []byte(`"invalid request"`)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`+"\n", id, r.Code, message)
}

// lineMessage has the members of a message that are read before it is handed on.
type lineMessage struct {
	members map[string]json.RawMessage
	id      json.RawMessage // nil for a notification
	method  string          // "" for a response
}

// readMessage reads one message, or says why it is none.
func readMessage(raw []byte) (lineMessage, *lineRefusal) {
	var m lineMessage
	if err := json.Unmarshal(raw, &m.members); err != nil || m.members == nil {
		return m, &lineRefusal{Code: invalidRequest, Message: "a message is an object"}
	}
	id, named := m.members["id"]
	if named && isRequestID(id) {
		m.id = id
	}
	refuse := func(format string, args ...any) (lineMessage, *lineRefusal) {
		return m, &lineRefusal{Code: invalidRequest, Message: fmt.Sprintf(format, args...), ID: m.id}
	}
	if string(m.members["jsonrpc"]) != `"2.0"` {
		return refuse(`a message has the member jsonrpc, which is "2.0"`)
	}
	if named && m.id == nil {
		return refuse("an id is a text or a number")
	}
	if nestsDeep(raw) {
		return refuse("the message is nested deeper than %d", maxDepth)
	}
	method, called := m.members["method"]
	if !called {
		if m.id == nil || m.members["result"] == nil && m.members["error"] == nil {
			return refuse("a message has a method, or answers a request")
		}
		return m, nil
	}
	if json.Unmarshal(method, &m.method) != nil || string(method) == "null" {
		return refuse("a method is a text")
	}
	if p := m.members["params"]; p != nil && p[0] != '{' && p[0] != '[' && string(p) != "null" {
		return refuse("params are an object")
	}
	return m, nil
}

// notJSON says what is wrong with what is no JSON.
func notJSON(raw []byte) *lineRefusal {
	why := "the line is no JSON"
	var syntax *json.SyntaxError
	switch {
	case bytes.HasPrefix(raw, []byte("\ufeff")):
		why = "the line begins with a byte order mark"
	case errors.As(json.Unmarshal(raw, new(json.RawMessage)), &syntax):
		why += ": " + syntax.Error()
	}
	return &lineRefusal{Code: parseError, Message: why + "; one message stands on a line of its own"}
}

// moreThanOne refuses what goes on at an offset behind its message.
func moreThanOne(offset int64) *lineRefusal {
	return &lineRefusal{
		Code:    parseError,
		Message: fmt.Sprintf("the body goes on after the message, at byte %d", offset),
	}
}

func isRequestID(id json.RawMessage) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9')
}

// plainNumber is a number that comes back as it was sent.
var plainNumber = lazyregexp.New(`^(0|-?[1-9][0-9]{0,14})$`)

// keepsID reports whether an id comes back from the SDK as it was sent: it reads numbers as such of 64 bits
// and leaves their fractions out.
func keepsID(id json.RawMessage) bool { return id[0] == '"' || plainNumber().Match(id) }

// nestsDeep reports whether JSON is nested deeper than the SDK reads.
func nestsDeep(raw []byte) bool {
	depth := 0
	quoted := false
	escaped := false
	for _, b := range raw {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = b == '\\', b != '"'
		case b == '"':
			quoted = true
		case b == '{' || b == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case b == '}' || b == ']':
			depth--
		}
	}
	return false
}
