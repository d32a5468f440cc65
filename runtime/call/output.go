package call

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Encoded is the reply whose output is v. The page's text stays as it is: no
// character is escaped that JSON allows.
func Encoded(v any) Reply {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return Reply{Err: fault.Wrap(fault.Internal, err, "encoding the result")}
	}
	return Reply{Output: bytes.TrimSuffix(b.Bytes(), []byte("\n"))}
}

// JSON is v as Encoded writes it, nil for what cannot be written.
func JSON(v any) json.RawMessage { return Encoded(v).Output }

// Time is the form of times in outputs: RFC 3339 in UTC, with milliseconds.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// WithMember adds a member to the end of a JSON object.
func WithMember(object json.RawMessage, name string, value any) json.RawMessage {
	text := JSON(value)
	object = bytes.TrimSpace(object)
	if text == nil || len(object) < 2 || object[len(object)-1] != '}' {
		return object
	}
	sep := ","
	if len(object) == 2 {
		sep = ""
	}
	out := append(object[:len(object)-1:len(object)-1], sep+strconv.Quote(name)+":"...)
	return append(append(out, text...), '}')
}

// Value is what the call gave: of a primitive the member value of its envelope
// {ok, primitive, adapter, value}, else the output as it is.
func (r Reply) Value() json.RawMessage {
	var envelope struct {
		OK        bool            `json:"ok"`
		Primitive string          `json:"primitive"`
		Value     json.RawMessage `json:"value"`
	}
	if json.Unmarshal(r.Output, &envelope) == nil && envelope.OK && envelope.Primitive != "" && envelope.Value != nil {
		return envelope.Value
	}
	return r.Output
}

// ValueOf is what an action computed: the member value of its output, or all of
// it.
func ValueOf(output json.RawMessage) json.RawMessage {
	var o struct {
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal(output, &o) == nil && o.Value != nil {
		return o.Value
	}
	if output == nil {
		return json.RawMessage("null")
	}
	return output
}

// StateSeen is how a state projection was at one moment.
type StateSeen struct {
	Projection string
	State      json.RawMessage // nil when it could not be read
	Hash       string
	Patches    json.RawMessage // from how it was seen before; nil when it is the same, or the first
	Code       string          // why it could not be read
}
