package call

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Encoded is the reply whose output is v. The page's text stays as it is: no
// character is escaped that JSON allows.
func Encoded(v any) Reply {
	text, err := jsonout.Line(v)
	if err != nil {
		return Reply{Err: fault.Wrap(fault.Internal, err, "encoding the result")}
	}
	return Reply{Output: text}
}

// JSON is v as Encoded writes it, nil for what cannot be written.
func JSON(v any) json.RawMessage { return Encoded(v).Output }

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

// Enveloped is the reply of a primitive whose output has the member value, which is not read from it again.
func Enveloped(output, value json.RawMessage) Reply { return Reply{Output: output, value: value} }

// WithOutput is the reply with another output, whose value is read from it.
func (r Reply) WithOutput(output json.RawMessage) Reply {
	r.Output = output
	r.value = nil
	return r
}

// Value returns the result of the call: of a primitive the member value of its envelope
// {ok, primitive, adapter, value}, else the output as it is.
func (r Reply) Value() json.RawMessage {
	if r.value != nil {
		return r.value
	}
	value, _ := r.inEnvelope()
	return value
}

func (r Reply) inEnvelope() (value json.RawMessage, enveloped bool) {
	var envelope struct {
		OK        bool            `json:"ok"`
		Primitive string          `json:"primitive"`
		Value     json.RawMessage `json:"value"`
	}
	if json.Unmarshal(r.Output, &envelope) == nil && envelope.OK && envelope.Primitive != "" && envelope.Value != nil {
		return envelope.Value, true
	}
	return r.Output, false
}

// WithValue is the reply of a call that gave another value, in an envelope where it has one.
func (r Reply) WithValue(value json.RawMessage) Reply {
	if _, enveloped := r.inEnvelope(); enveloped {
		var members map[string]json.RawMessage
		_ = json.Unmarshal(r.Output, &members) // it is an envelope
		members["value"] = value
		value = JSON(members)
	}
	return r.WithOutput(value)
}

// ValueOf returns the result of an action: the member value of its output, or all of
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
