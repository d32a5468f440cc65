package peers_test

import (
	"cmp"
	"slices"
)

// difference is one place where an answer of this program is not the extension's.
type difference struct {
	path              string // members joined by dots, every index a star
	upstream, program any
}

// compare lists the differences of two answers. The outcome comes first: where
// one fails and the other does not, or the codes differ, nothing else is reported.
func compare(want, got any) []difference {
	a, b := outcome(want), outcome(got)
	if a != b {
		return []difference{{"outcome", a, b}}
	}
	var out []difference
	if a == timedOut && (gaveUp(want) || gaveUp(got)) {
		return nil
	}
	if a != "ok" && a != "ok: false" {
		a, b := channel(want), channel(got)
		if a != b {
			out = append(out, difference{"channel", a, b})
		}
		return walk("error", failure(want), failure(got), out)
	}
	return walk("output", member(want, "body", "output"), member(got, "body", "output"), out)
}

// failure is the error of an answer, whichever way it came.
func failure(answer any) any {
	if e := member(answer, "body", "error"); e != nil {
		return e
	}
	return member(answer, "body", "output", "error")
}

func outcome(answer any) string {
	e := failure(answer)
	failed, _ := member(answer, "isError").(bool)
	if e == nil && (!failed || member(answer, "body", "output", "ok") == false) {
		return map[bool]string{false: "ok", true: "ok: false"}[failed]
	}
	code, ok := member(e, "code").(string)
	if gaveUp(answer) {
		return timedOut
	}
	if !ok {
		code = "without a code: " + cut(member(answer, "body"))
	}
	if !failed {
		code += ", and isError is false"
	}
	return code
}

// timedOut is the outcome of a wait that was not met. The bridge gives a call the
// time that its arguments say, so whether it or the runtime ends the wait is chance.
const timedOut = "timeout"

func gaveUp(answer any) bool {
	return member(answer, "body", "error", "error", "code") == "dispatch_timeout"
}

// channel says which member of an answer the failure is in.
func channel(answer any) string {
	if member(answer, "body", "error") != nil {
		return "error"
	}
	return "output.error"
}

func member(v any, names ...string) any {
	for _, n := range names {
		m, _ := v.(map[string]any)
		v = m[n]
	}
	return v
}

func walk(path string, want, got any, out []difference) []difference {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		names := map[string]bool{}
		for n := range w {
			names[n] = true
		}
		for n := range g {
			names[n] = true
		}
		for _, n := range sorted(names) {
			if ours, ok := g[n]; !ok {
				out = append(out, difference{path + "." + n, w[n], "absent"})
			} else if theirs, ok := w[n]; !ok {
				out = append(out, difference{path + "." + n, "absent", ours})
			} else {
				out = walk(path+"."+n, theirs, ours, out)
			}
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		byTab(w)
		byTab(g)
		if len(w) != len(g) {
			return append(out, difference{path + ".length", len(w), len(g)})
		}
		for i := range w {
			out = walk(path+".*", w[i], g[i], out)
		}
		return out
	default:
		if want == got {
			return out
		}
	}
	return append(out, difference{path, want, got})
}

// byTab sorts rows about tabs as they were opened: the bridge lists them by ids
// of chance.
func byTab(rows []any) {
	slices.SortStableFunc(rows, func(a, b any) int {
		x, _ := member(a, "tab_id").(float64)
		y, _ := member(b, "tab_id").(float64)
		return cmp.Compare(x, y)
	})
}

func sorted(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for n := range m {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
