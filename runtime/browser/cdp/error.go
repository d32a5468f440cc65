package cdp

import (
	"errors"
	"fmt"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Error is an error answer of the browser.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    string `json:"data"`
	// Method is the command that was refused.
	Method string `json:"-"`
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s (%d)", e.Method, e.Message, e.Code)
	if e.Data != "" {
		s += ": " + e.Data
	}
	return s
}

// Message returns the browser's own text of an error answer.
func Message(err error) (string, bool) {
	var refused *Error
	if errors.As(err, &refused) {
		return refused.Message, true
	}
	return "", false
}

// Explain gives err a code. Texts of the browser go to the log's part of the
// error only.
func Explain(err error, doing string) error {
	if err == nil || fault.CodeOf(err) == fault.PermissionDenied { // what was being done is no part of a refusal
		return err
	}
	var refused *Error
	if !errors.As(err, new(*fault.Error)) && errors.As(err, &refused) {
		code := fault.Internal
		switch refused.Message {
		case "Target crashed":
			code = fault.TabCrashed
		case "Target closed", "Session with given id not found.", "No target with given id found":
			code = fault.TabClosed
		case "Inspected target navigated or closed":
			code = fault.PageNavigated
		}
		return &fault.Error{Code: code, Message: doing + " failed", Err: err}
	}
	return fault.Wrap(fault.Internal, err, "%s", doing)
}
