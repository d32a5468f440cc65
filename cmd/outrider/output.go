package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/outrider-run/outrider/primitives/fault"
)

// printJSON writes one JSON document and a newline to stdout.
func (a *app) printJSON(v any) {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		fmt.Fprintf(a.stderr, "outrider: writing the result: %v\n", err)
	}
}

func evidenceLines(f *fault.Error) []string {
	var out []string
	for _, m := range []map[string]any{f.Fields, f.Evidence} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			v, err := json.Marshal(m[k])
			if err != nil {
				continue
			}
			out = append(out, k+": "+shorten(string(v), 300))
		}
	}
	return out
}

func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
