package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// TAP is the run in version 14 of the Test Anything Protocol: a subtest for each
// suite and for each test with steps, and a YAML block for each that is red.
func TAP(r Run) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, "TAP version 14")
	fmt.Fprintf(&b, "1..%d\n", len(r.Suites))
	for i, s := range r.Suites {
		word, total := "ok", s.total()
		if total[Failed]+total[Broken] > 0 {
			word = "not ok"
		}
		tapTests(&b, "", s.Name, s.Tests)
		fmt.Fprintf(&b, "%s %d - %s\n", word, i+1, tapText(s.Name))
	}
	return b.Bytes()
}

// tapTests is a subtest: its head, and the tests in it.
func tapTests(b *bytes.Buffer, indent, name string, tests []Test) {
	in := indent + "    "
	fmt.Fprintf(b, "%s# Subtest: %s\n%s1..%d\n", indent, tapText(name), in, len(tests))
	for i, t := range tests {
		tapTest(b, in, i+1, t)
	}
}

func tapTest(b *bytes.Buffer, in string, number int, t Test) {
	if len(t.Steps) > 0 {
		tapTests(b, in, t.Name, t.Steps)
	}
	word := "ok"
	directive, outcome := "", ""
	switch {
	case t.Outcome.Red():
		word = "not ok"
	case t.Outcome == Skipped:
		directive = " # SKIP " + tapText(t.Message)
	case t.Outcome == Quarantined: // TODO is the directive for what is known to fail
		word = "not ok"
		directive = " # TODO " + tapText(t.Message)
		outcome = string(Quarantined)
	case t.Outcome == Flaky:
		outcome = string(Flaky)
	}
	fmt.Fprintf(b, "%s%s %d - %s%s\n", in, word, number, tapText(t.Name), strings.TrimRight(directive, " "))
	if word == "ok" && outcome == "" {
		return
	}
	fmt.Fprintf(b, "%s  ---\n", in)
	for _, m := range []struct {
		name  string
		value any
	}{
		{"id", t.ID},
		{"outcome", outcome},
		{"message", line(t.Message)},
		{"severity", t.Kind},
		{"at", t.place().String()},
		{"failures", messages(t)},
		{"duration_ms", t.DurationMS},
	} {
		v, err := json.Marshal(m.value) // every JSON document is YAML
		if err == nil && m.value != "" {
			fmt.Fprintf(b, "%s  %s: %s\n", in, m.name, v)
		}
	}
	fmt.Fprintf(b, "%s  ...\n", in)
}

func messages(t Test) []string {
	out := []string{}
	for _, f := range t.Failures {
		text := line(f.Message)
		if place := f.Place.String(); place != "" {
			text += " at " + place
		}
		out = append(out, text)
	}
	return out
}

// tapText escapes what begins a directive.
func tapText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(line(s))
}
