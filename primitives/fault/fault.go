// Package fault holds the stable error codes of Outrider and the error type that
// carries them. It does not decide which code a failure has: who fails does. Nearly
// every other package uses it.
//
// A code is the contract: agents and maps branch on it, so codes are declared
// once, in codes.go, and never renamed. A message is not: it is for people and
// free to improve.
package fault

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// Code is one stable error code. It implements error so that a constant can be
// the target of errors.Is.
type Code string

func (c Code) Error() string { return string(c) }

// Error is a failure with a stable code.
//
// Message and Evidence go to the agent; Err goes to the log only. Neither
// Message nor Evidence ever holds text the user typed.
type Error struct {
	Code    Code
	Message string
	// Evidence is structured context for repair: what was expected, what was
	// found, where. It is bounded when encoded, see MarshalJSON.
	Evidence map[string]any
	// NextStep says what the caller can do, when that is known.
	NextStep string
	// Fields are further members of the encoded error, beside code and
	// message: step_id, primitive, cause and so on. They cannot replace those.
	Fields map[string]any
	// Recoverable overrides the declaration of the code when it is not nil.
	Recoverable *bool
	Err         error
}

// New makes an error with a formatted message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap adds op to err and gives it code unless err already carries one: the
// code nearest to the cause knows most. Use Translate to replace a code.
func Wrap(code Code, err error, format string, args ...any) *Error {
	op := fmt.Sprintf(format, args...)
	var inner *Error
	if errors.As(err, &inner) {
		out := *inner
		out.Message = op + ": " + inner.Message
		out.Err = err
		return &out
	}
	if ctx := contextCode(err); ctx != "" {
		code = ctx
	}
	return &Error{Code: code, Message: op, Err: err}
}

// Translate replaces the code of err, at a protocol border.
func Translate(code Code, err error, message string) *Error {
	return &Error{Code: code, Message: message, Err: err}
}

// With returns e with evidence added under key.
func (e *Error) With(key string, value any) *Error {
	if e.Evidence == nil {
		e.Evidence = map[string]any{}
	}
	e.Evidence[key] = value
	return e
}

// Field returns e with a further member of the encoded error.
func (e *Error) Field(key string, value any) *Error {
	if e.Fields == nil {
		e.Fields = map[string]any{}
	}
	e.Fields[key] = value
	return e
}

// Clone is e as it is now, nil for nil: for those who read it later, while others add evidence to e.
func (e *Error) Clone() *Error {
	if e == nil {
		return nil
	}
	own := *e
	own.Evidence, own.Fields = maps.Clone(e.Evidence), maps.Clone(e.Fields)
	return &own
}

// Next returns e with a hint on how to go on.
func (e *Error) Next(step string) *Error {
	e.NextStep = step
	return e
}

func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Message
	if e.Err != nil && !errors.As(e.Err, new(*Error)) {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Is compares codes, so errors.Is(err, fault.TargetNotFound) holds.
func (e *Error) Is(target error) bool {
	switch t := target.(type) {
	case Code:
		return e.Code == t
	case *Error:
		return e.Code == t.Code
	}
	return false
}

// CodeOf returns the code of err: that of the outermost Error in its chain,
// timeout or cancelled for context errors, internal for anything else, and ""
// for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		if e == nil { // a nil *Error in an error interface is no failure
			return ""
		}
		return e.Code
	}
	var c Code
	if errors.As(err, &c) {
		return c
	}
	if code := contextCode(err); code != "" {
		return code
	}
	return Internal
}

// From returns err as an *Error. Unclassified errors become internal with a
// message that says nothing of their text, which is kept in Err for the log.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	code := CodeOf(err)
	spec, _ := Lookup(code)
	return &Error{Code: code, Message: spec.Meaning, Err: err}
}

func contextCode(err error) Code {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	case errors.Is(err, context.Canceled):
		return Cancelled
	}
	return ""
}

// MaxEvidence bounds one encoded evidence value in bytes. A longer value is
// replaced by its first bytes as a string that ends in "...".
const MaxEvidence = 2048

// MarshalJSON encodes the error as the protocols carry it: code, message,
// severity, recoverable, then Fields in key order, evidence and next_step.
func (e *Error) MarshalJSON() ([]byte, error) {
	spec, _ := Lookup(e.Code)
	recoverable := spec.Recoverable
	if e.Recoverable != nil {
		recoverable = *e.Recoverable
	}
	b := []byte(`{"code":`)
	b = appendJSON(b, e.Code)
	b = appendJSON(append(b, `,"message":`...), e.Message)
	// A code of another program, which a bridge passes on, is none of ours.
	b = appendJSON(append(b, `,"severity":`...), cmp.Or(spec.Severity, Major))
	b = appendJSON(append(b, `,"recoverable":`...), recoverable)
	for _, k := range slices.Sorted(maps.Keys(e.Fields)) {
		switch k {
		case "code", "message", "severity", "recoverable", "evidence", "next_step":
			continue
		}
		b = appendJSON(append(b, ','), k)
		b = appendJSON(append(b, ':'), e.Fields[k])
	}
	if len(e.Evidence) > 0 {
		b = append(b, `,"evidence":{`...)
		for i, k := range slices.Sorted(maps.Keys(e.Evidence)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, k)
			b = append(append(b, ':'), bounded(e.Evidence[k])...)
		}
		b = append(b, '}')
	}
	if e.NextStep != "" {
		b = appendJSON(append(b, `,"next_step":`...), e.NextStep)
	}
	return append(b, '}'), nil
}

func bounded(v any) []byte {
	b := appendJSON(nil, v)
	if len(b) <= MaxEvidence {
		return b
	}
	cut := b[:MaxEvidence-16]
	for len(cut) > 0 && !utf8.Valid(cut) {
		cut = cut[:len(cut)-1]
	}
	return appendJSON(nil, string(cut)+"...")
}

func appendJSON(b []byte, v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		out = []byte(`"(not encodable)"`)
	}
	return append(b, out...)
}
