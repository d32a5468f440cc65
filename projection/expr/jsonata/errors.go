package jsonata

import (
	"context"
	"fmt"
)

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

	// Budget names the budget that ran out: "steps", "depth", "sequence",
	// "bytes", "regex_steps", "output_bytes", "time", and for an expression
	// too big to compile "source" or "nesting". Empty for other errors.
	Budget string

	// Said is the text that was given to $error or $assert. Unlike Message it can hold values
	// of the input.
	Said string

	cause error // the context's error when the evaluation was cancelled
}

// Unwrap makes a cancelled evaluation match its context's error.
func (e *Error) Unwrap() error { return e.cause }

func (e *Error) Error() string {
	if e.Position >= 0 {
		return fmt.Sprintf("%s at %d: %s", e.Code, e.Position, e.Message)
	}
	return e.Code + ": " + e.Message
}

func newError(code, format string, args ...any) *Error {
	return &Error{Code: code, Position: -1, Message: fmt.Sprintf(format, args...)}
}

func budgetError(code, budget, format string, args ...any) *Error {
	e := newError(code, format, args...)
	e.Budget = budget
	return e
}

// cancelError carries both what ctx.Err and what context.Cause say.
type cancelError struct{ err, cause error }

func (c cancelError) Error() string   { return c.cause.Error() }
func (c cancelError) Unwrap() []error { return []error{c.err, c.cause} }

func cancelled(ctx context.Context) *Error {
	e := budgetError("D1012", "time", "the evaluation was stopped: %v", context.Cause(ctx))
	e.cause = cancelError{ctx.Err(), context.Cause(ctx)}
	return e
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
