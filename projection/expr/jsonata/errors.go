package jsonata

import "fmt"

// Error is a JSONata failure: at compile time (codes S0xxx), at run time
// (T..., D...) or because a budget ran out (U... and D1011, D1012, D2015).
//
// Code is the contract; it is the code of jsonata-js 2.2.1 for the same input.
// Message may hold parts of the expression but never values of the input.
type Error struct {
	Code     string // "S0202", "T2001", "D3010", ...
	Position int    // UTF-16 offset into the expression, -1 when unknown
	Token    string // the token at Position, when one is known
	Message  string
}

func (e *Error) Error() string {
	if e.Position >= 0 {
		return fmt.Sprintf("%s at %d: %s", e.Code, e.Position, e.Message)
	}
	return e.Code + ": " + e.Message
}

func newError(code, format string, args ...any) *Error {
	return &Error{Code: code, Position: -1, Message: fmt.Sprintf(format, args...)}
}

// meter is what a builtin charges for its work. Every call may fail because a
// budget ran out or the evaluation was cancelled; the builtin returns that
// error unchanged.
type meter interface {
	// step charges n units of work.
	step(n int) error
	// alloc charges n bytes that the result is about to hold.
	alloc(n int) error
}
