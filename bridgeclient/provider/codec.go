package provider

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// MaxLine is the longest line that is read, in bytes.
const MaxLine = 64 << 20

// errLineTooLong says that a line was longer than allowed; it has been skipped.
var errLineTooLong = errors.New("the line is too long")

// readLine reads one line without its end. At the end of input it returns what
// is left, then io.EOF.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if !long {
			line = append(line, part...)
			if long = len(line) > limit+1; long {
				line = nil
			}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && !long):
			return nil, err
		case long:
			return nil, errLineTooLong
		}
		return bytes.TrimRight(line, "\r\n"), nil
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
	req.Params = raw.Params
	if len(req.Params) == 0 || string(req.Params) == "null" {
		req.Params = json.RawMessage("{}")
	}
	if bytes.TrimSpace(req.Params)[0] != '{' {
		return req, id, invalidRequest("/params", "params is not an object")
	}
	return req, id, nil
}

// encodeLine encodes one message and its line end. Text of pages keeps its
// angle brackets.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
