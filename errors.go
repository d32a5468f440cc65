package outrider

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
)

// Code is a stable error code, such as target_not_found. A code is never
// renamed. docs/reference/errors.md lists all of them with their meaning.
//
// A Code is an error, so it can be the target of errors.Is.
type Code string

func (c Code) Error() string { return string(c) }

// Error is why a call failed.
type Error struct {
	// Code is the stable code. Programs branch on it.
	Code Code
	// Message is for people and may change in any release.
	Message string
	// Retryable says whether the same call can succeed later, with the call, the
	// map and the policy as they are.
	Retryable bool
	// NextStep says what to do, when that is known.
	NextStep string
	// Evidence is what was expected and what was found, as JSON values. It
	// holds no text that was typed.
	Evidence map[string]any
	// Steps summarizes the steps of a site action that failed, as a JSON list;
	// nil for anything else.
	Steps json.RawMessage

	cause error
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the cause. It is for logs; its text may change.
func (e *Error) Unwrap() error { return e.cause }

// Is compares codes.
func (e *Error) Is(target error) bool {
	switch t := target.(type) {
	case Code:
		return e.Code == t
	case *Error:
		return e.Code == t.Code
	}
	return false
}

// fromFault returns err as an *Error, nil for nil.
func fromFault(err error) error {
	if err == nil {
		return nil
	}
	f := fault.From(err)
	if f == nil {
		return nil
	}
	return &Error{
		Code: Code(f.Code), Message: f.Message, Retryable: retryable(f), NextStep: f.NextStep, Evidence: f.Evidence, cause: f.Err,
	}
}

// retryable says whether the same call can succeed later without a change of
// the call, the map or the policy.
func retryable(f *fault.Error) bool {
	spec, ok := fault.Lookup(f.Code)
	return ok && spec.Retry != fault.RetryNever
}

// refuseInvalid fails when a map that was named is invalid, or every map is. It
// names the first problem; the evidence has each. Others are left out.
func refuseInvalid(reports []sites.FileReport, log *slog.Logger) error {
	var invalid []any
	var first string
	named := false
	for _, r := range reports {
		if r.OK {
			for _, p := range r.Left {
				if log != nil {
					log.Warn("a declaration of a map is left out", "file", r.Path, "pointer", p.Pointer, "code", string(p.Code), "error", p.Message)
				}
			}
			continue
		}
		named = named || r.Named
		problems := []any{}
		for _, p := range r.Errors {
			if first == "" {
				first = fmt.Sprintf("%s%s: %s", r.Path, place(p.Pointer), p.Message)
			}
			problems = append(problems, map[string]any{"pointer": p.Pointer, "code": string(p.Code), "message": p.Message})
		}
		invalid = append(invalid, map[string]any{"file": r.Path, "errors": problems})
	}
	if len(invalid) == 0 {
		return nil
	}
	e := fault.New(fault.InvalidManifest, "%d of %d maps are invalid: %s", len(invalid), len(reports), first)
	if named || len(invalid) == len(reports) {
		return fromFault(e.With("files", invalid).Next("outrider validate shows every problem"))
	}
	if log != nil {
		log.Warn("invalid maps are left out", "error", e)
	}
	return nil
}

func place(pointer string) string {
	if pointer == "" {
		return ""
	}
	return " at " + pointer
}
