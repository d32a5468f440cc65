package main

import (
	"encoding/json"
	"fmt"
)

// printJSON writes one JSON document and a newline to stdout.
func (a *app) printJSON(v any) {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		fmt.Fprintf(a.stderr, "outrider: writing the result: %v\n", err)
	}
}

// warn says what went wrong beside the result.
func (a *app) warn(err error) { fmt.Fprintf(a.stderr, "outrider: %v\n", err) }

// printJSONOr prints v with --json, and else a text.
func (a *app) printJSONOr(v any, format string, args ...any) {
	if a.json {
		a.printJSON(v)
		return
	}
	fmt.Fprintf(a.stdout, format, args...)
}
