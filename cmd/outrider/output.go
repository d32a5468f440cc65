package main

import (
	"fmt"
	"io"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/plain"
)

// printJSON writes one JSON document and a newline to stdout. What a terminal would obey is escaped.
func (a *app) printJSON(v any) {
	line, err := jsonout.Line(v)
	if err == nil {
		_, err = io.WriteString(a.stdout, plain.Text(string(line))+"\n")
	}
	if err != nil {
		fmt.Fprintf(a.stderr, "outrider: writing the result: %v\n", err)
	}
}

// warn says what went wrong beside the result.
func (a *app) warn(err error) { fmt.Fprintf(a.stderr, "outrider: %s\n", plain.Text(err.Error())) }

// printJSONOr prints v with --json, and else a text.
func (a *app) printJSONOr(v any, format string, args ...any) {
	if a.json {
		a.printJSON(v)
		return
	}
	fmt.Fprintf(a.stdout, format, args...)
}
