package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Print writes a call for people.
func (c CallResult) Print(w io.Writer) {
	mark := map[string]string{Same: "same     ", Different: "DIFFERENT", NotCompared: "-        "}[c.Verdict]
	fmt.Fprintf(w, "%s %3d %s (%s)", mark, c.N, c.Name, outcome(c.Is))
	if c.Verdict == Different {
		fmt.Fprintf(w, ", was %s", outcome(c.Was))
	}
	fmt.Fprintln(w)
	for _, d := range c.Differences {
		was, _ := json.Marshal(d.Was) // decoded from JSON
		is, _ := json.Marshal(d.Is)
		fmt.Fprintf(w, "      %s\n        - %s\n        + %s\n", pointerOr(d.Pointer), was, is)
	}
	if e := c.Page; e != nil {
		if e.WasURL != e.IsURL {
			fmt.Fprintf(w, "      page\n        - %s\n        + %s\n", e.WasURL, e.IsURL)
		}
		for _, line := range e.OnlyWas {
			fmt.Fprintf(w, "      - %s\n", line)
		}
		for _, line := range e.OnlyIs {
			fmt.Fprintf(w, "      + %s\n", line)
		}
	}
}

func pointerOr(pointer string) string {
	if pointer == "" {
		return "(whole)"
	}
	return pointer
}

func outcome(o Outcome) string {
	switch {
	case o.OK:
		return "ok"
	case o.Step != "":
		return o.Code + " at step " + o.Step
	case o.Code == "":
		return "failed"
	}
	return o.Code
}

// Print writes what the calls do not say.
func (r *Report) Print(w io.Writer) {
	for _, m := range r.Missing {
		what := m.Why
		if m.Secret != "" {
			what = "secret " + m.Secret
		}
		fmt.Fprintf(w, "missing: event %s, %s at %s: %s\n", m.Event, m.Call, pointerOr(m.Pointer), what)
	}
	if len(r.Missing) > 0 {
		fmt.Fprintf(
			w, "give them with --fill FILE: {\"secrets\": {NAME: text}, \"values\": {EVENT: {POINTER: value}}}\n",
		)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	for _, n := range r.NotFixed {
		fmt.Fprintf(w, "not fixed: %s\n", n)
	}
	switch {
	case r.First > 0:
		fmt.Fprintf(w, "%s: call %d is the first whose result differs\n", r.Verdict, r.First)
	default:
		fmt.Fprintf(w, "%s: %d calls\n", r.Verdict, len(r.Calls))
	}
}

// FromState restores a storage state before the first call and loads the page again.
func FromState(state json.RawMessage) func(context.Context, func(runtime.Call) runtime.Reply) error {
	return func(_ context.Context, do func(runtime.Call) runtime.Reply) error {
		args, err := json.Marshal(map[string]any{"state": state, "replace": true})
		if err != nil {
			return fault.Wrap(fault.InvalidInput, err, "the storage state is no JSON")
		}
		for _, c := range []runtime.Call{
			{Name: "storage_state.set", Arguments: args},
			{Name: "browser.navigate", Arguments: json.RawMessage(`{"reload":true}`)},
		} {
			if reply := do(c); reply.Err != nil {
				return fault.Wrap(reply.Err.Code, reply.Err, "restoring the storage state")
			}
		}
		return nil
	}
}
