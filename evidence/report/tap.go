package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// TAP is the run in version 14 of the Test Anything Protocol: a subtest for each
// suite, and a YAML block for each test that is red.
func TAP(r Run) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, "TAP version 14")
	fmt.Fprintf(&b, "1..%d\n", len(r.Suites))
	for i, s := range r.Suites {
		tapSuite(&b, "", i+1, s)
	}
	return b.Bytes()
}

func tapSuite(b *bytes.Buffer, indent string, number int, s Suite) {
	in := indent + "    "
	fmt.Fprintf(b, "%s# Subtest: %s\n%s1..%d\n", indent, tapText(s.Name), in, len(s.Tests)+len(s.Suites))
	for i, t := range s.Tests {
		word, directive := "ok", ""
		switch {
		case t.Outcome.Red():
			word = "not ok"
		case t.Outcome == Skipped:
			directive = " # SKIP " + tapText(t.Message)
		}
		fmt.Fprintf(b, "%s%s %d - %s%s\n", in, word, i+1, tapText(t.Name), strings.TrimRight(directive, " "))
		outcome := ""
		if t.Outcome == Flaky {
			outcome = string(Flaky)
		}
		if word == "ok" && outcome == "" {
			continue
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
			{"at", t.Place.String()},
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
	for i, n := range s.Suites {
		tapSuite(b, in, len(s.Tests)+i+1, n)
	}
	word, total := "ok", s.total()
	if total[Failed]+total[Broken] > 0 {
		word = "not ok"
	}
	fmt.Fprintf(b, "%s%s %d - %s\n", indent, word, number, tapText(s.Name))
}

func messages(t Test) []string {
	out := []string{}
	for _, f := range t.Failures {
		out = append(out, strings.TrimSpace(line(f.Message)+" at "+f.Place.String()))
	}
	return out
}

// tapText escapes what begins a directive.
func tapText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(line(s))
}
