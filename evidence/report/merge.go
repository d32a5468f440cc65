package report

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// Join adds suites to others. Tests of a suite that is there already, by its name and file, go into it.
func Join(suites []Suite, more ...Suite) []Suite {
	for _, s := range more {
		at := slices.IndexFunc(suites, func(x Suite) bool { return x.Name == s.Name && x.File == s.File })
		if at < 0 || s.URL != "" { // each visit of a page is a suite
			suites = append(suites, s)
			continue
		}
		to := &suites[at]
		to.Tests = append(slices.Clip(to.Tests), s.Tests...)
		to.DurationMS += s.DurationMS
		if s.StartedAt != "" && (to.StartedAt == "" || s.StartedAt < to.StartedAt) {
			to.StartedAt = s.StartedAt
		}
	}
	return suites
}

// Read reads a json report. Pictures that it names are read with read, from where it says they are or
// beside the report; those that are not there are left out.
func Read(content []byte, at string, read func(path string) ([]byte, error)) (Run, error) {
	var in struct {
		Report *Run `json:"report"`
	}
	if err := json.Unmarshal(content, &in); err != nil {
		return Run{}, fmt.Errorf("expected a json report: %w", err)
	}
	if in.Report == nil {
		return Run{}, fmt.Errorf("expected a json report: it has no member %q", "report")
	}
	run := *in.Report
	var result map[string]json.RawMessage
	if err := json.Unmarshal(content, &result); err != nil {
		return Run{}, err
	}
	delete(result, "report")
	run.Result = result
	for _, s := range run.Suites {
		for _, t := range s.Tests {
			if err := t.valid(); err != nil {
				return Run{}, fmt.Errorf("expected a json report: %w", err)
			}
		}
	}
	run.Walk(func(_ []string, t *Test) {
		if t.PictureFile != "" {
			t.Screenshot = pictureOf(t.PictureFile, filepath.Dir(at), read)
		}
	})
	return run, nil
}

// valid refuses a test whose outcome no total would count.
func (t *Test) valid() error {
	if !slices.Contains(Outcomes, t.Outcome) {
		return fmt.Errorf("the test %q has the outcome %q", line(t.Name), line(string(t.Outcome)))
	}
	for i := range t.Steps {
		if err := t.Steps[i].valid(); err != nil {
			return err
		}
	}
	return nil
}

// pictureOf finds a picture below the folder of its report: where both were before, and, when the report
// was copied from another machine, with fewer and fewer of the folders of its path.
func pictureOf(file, beside string, read func(path string) ([]byte, error)) *Screenshot {
	parts := strings.Split(filepath.ToSlash(filepath.Clean(file)), "/")
	for i := range parts {
		rest := filepath.Join(parts[i:]...)
		if !filepath.IsLocal(rest) { // a report names no file outside its folder
			continue
		}
		content, err := read(filepath.Join(beside, rest))
		if err != nil {
			continue
		}
		for ext, head := range map[string]string{".jpg": "data:image/jpeg;base64,", ".png": "data:image/png;base64,"} {
			if strings.EqualFold(filepath.Ext(file), ext) {
				return &Screenshot{DataURL: head + base64.StdEncoding.EncodeToString(content)}
			}
		}
	}
	return nil
}

// Merge makes one run of those of shards: it is well when each of them is, and took as long as the longest.
func Merge(runs []Run) Run {
	out := Run{Title: "run", OK: true, Suites: []Suite{}}
	cases := []json.RawMessage{}
	totals := map[string]int{}
	only := true
	for _, r := range runs {
		out.OK = out.OK && r.OK
		out.DurationMS = max(out.DurationMS, r.DurationMS)
		if r.StartedAt != "" && (out.StartedAt == "" || r.StartedAt < out.StartedAt) {
			out.StartedAt = r.StartedAt
		}
		out.Suites = Join(out.Suites, r.Suites...)
		result, _ := r.Result.(map[string]json.RawMessage)
		list, ok := casesOf(result)
		only = only && ok
		for _, c := range list {
			totals[totalOf(c)]++
		}
		cases = append(cases, list...)
	}
	if titles := titlesOf(runs); len(titles) == 1 {
		out.Title = titles[0]
	}
	out = out.Distinct()
	if only {
		out.Result = mergedResult{out.OK, cases, totals, out.DurationMS}
	}
	return out
}

// healed is the word of totals for cases that are well only with a change of a map.
const healed = "healed"

// totalOf is the word under which totals count a case.
func totalOf(result json.RawMessage) string {
	var one struct {
		OK      bool
		Outcome string
		Steps   []struct{ Healed string }
	}
	if json.Unmarshal(result, &one) != nil {
		return string(Broken)
	}
	for _, s := range one.Steps {
		if one.OK && s.Healed != "" {
			return healed
		}
	}
	return cmp.Or(one.Outcome, string(Broken))
}

// mergedResult is what the verb run prints of several cases.
type mergedResult struct {
	OK         bool              `json:"ok"`
	Cases      []json.RawMessage `json:"cases"`
	Totals     map[string]int    `json:"totals"`
	DurationMS int64             `json:"duration_ms"`
}

// total is the totals in one line.
func (r mergedResult) total() string {
	var parts []string
	for _, o := range Outcomes {
		if n := r.Totals[string(o)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("%d %s", r.Totals[healed], healed)), ", ")
}

// casesOf are the cases in the result of a run of plans; one plan without data is its own case.
func casesOf(result map[string]json.RawMessage) (cases []json.RawMessage, ok bool) {
	if raw, several := result["cases"]; several {
		err := json.Unmarshal(raw, &cases)
		return cases, err == nil
	}
	if _, one := result["outcome"]; !one {
		return nil, false
	}
	raw, err := json.Marshal(result)
	return []json.RawMessage{raw}, err == nil
}

func titlesOf(runs []Run) (out []string) {
	for _, r := range runs {
		if !slices.Contains(out, r.Title) {
			out = append(out, r.Title)
		}
	}
	return out
}

// Printed is what the merge prints with --json: the cases of all shards, or the totals when some had none.
func (r Run) Printed() any {
	if r.Result != nil {
		return r.Result
	}
	return struct {
		OK         bool   `json:"ok"`
		Totals     Totals `json:"totals"`
		DurationMS int64  `json:"duration_ms"`
	}{r.OK, r.Total(), r.DurationMS}
}

// Print shows what is not well, and the totals.
func (r Run) Print(w io.Writer) {
	prefix := r.prefixes()
	r.Each(func(path []string, t *Test) {
		if !t.Outcome.shows() {
			return
		}
		fmt.Fprintf(w, "%-8s %s\n         %s\n", t.Outcome, line(prefix(path, t)+t.Name), line(t.Message))
		if place := t.place().String(); place != "" {
			fmt.Fprintf(w, "         at %s\n", line(place))
		}
	})
	total := r.Total().String()
	if merged, ok := r.Result.(mergedResult); ok && merged.Totals[healed] > 0 {
		total = merged.total()
	}
	fmt.Fprintf(w, "%s in %.1f s\n", total, float64(r.DurationMS)/1000)
}
