package outrider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

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
	// Retryable reports whether the same call can succeed later, with the call, the
	// map and the policy as they are.
	Retryable bool
	// NextStep says what to do, when that is known.
	NextStep string
	// Evidence holds the expected and the found values, as JSON. It
	// holds no text that was typed.
	Evidence map[string]any
	// Steps summarizes the steps of a site action that failed, as a JSON list;
	// nil for anything else.
	Steps json.RawMessage

	cause error
	// ended is the error of the caller's context, where that ended the call.
	ended error
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the cause. It is for logs; its text may change.
func (e *Error) Unwrap() error { return e.cause }

// Is compares codes. An error of a call that its context ended is context.DeadlineExceeded or context.Canceled too,
// whatever its code says of what was waited for.
func (e *Error) Is(target error) bool {
	if e.ended != nil && target == e.ended {
		return true
	}
	switch t := target.(type) {
	case Code:
		return e.Code == t
	case *Error:
		return e.Code == t.Code
	}
	return false
}

// tell adds to the evidence.
func (e *Error) tell(name string, value any) {
	e.Evidence = maps.Clone(e.Evidence)
	if e.Evidence == nil {
		e.Evidence = map[string]any{}
	}
	e.Evidence[name] = value
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
		Code:      Code(f.Code),
		Message:   f.Message,
		Retryable: retryable(f),
		NextStep:  f.NextStep,
		Evidence:  f.Evidence,
		cause:     f.Err,
	}
}

// longestReserve is the most that the runtime keeps of a caller's time for its answer.
const longestReserve = 1100 * time.Millisecond

// endedBy is fromFault for what ran until err came within the time of ctx, which was timeout when it began.
func endedBy(ctx context.Context, timeout time.Duration, err error) error {
	e, ok := fromFault(err).(*Error)
	if !ok {
		return nil
	}
	if errors.Is(ctx.Err(), context.Canceled) && e.Code == Code(fault.Cancelled) {
		e.ended = context.Canceled
		return e
	}
	deadline, ok := ctx.Deadline()
	if !ok || time.Until(deadline) > min(timeout/5, longestReserve) {
		return e
	}
	switch fault.Code(e.Code) {
	case fault.Timeout, fault.HandlerTimeout, fault.PageUnresponsive, fault.Cancelled:
		e.ended = context.DeadlineExceeded
	}
	for _, waited := range []string{"timeout_ms", "elapsed_ms", "waited_ms"} {
		if e.Evidence[waited] != nil { // what was waited for did not come in this time
			e.ended = context.DeadlineExceeded
		}
	}
	return e
}

// timeOf is how long ctx leaves now, 0 without a deadline.
func timeOf(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return time.Until(deadline)
}

// retryable reports whether the same call can succeed later without a change of
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
					log.Warn(
						"a declaration of a map is left out",
						"file", r.Path,
						"pointer", p.Pointer,
						"code", string(p.Code),
						"error", p.Message,
					)
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
			problems = append(problems, map[string]any{
				"pointer": p.Pointer,
				"code":    string(p.Code),
				"message": p.Message,
			})
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
