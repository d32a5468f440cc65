package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/plan/schedule"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Selection says which cases a run has.
type Selection struct {
	Source spec.Source
	// Paths are plan files, globs, and folders, whose plans are called *.plan.yaml,
	// *.plan.yml or *.plan.json.
	Paths  []string
	Filter schedule.Filter
	Part   schedule.Part
	Repeat int // how often each case runs; default once
	Costs  Costs
}

// Suite is the cases of a run.
type Suite struct {
	Cases []*spec.Case
	jobs  []schedule.Job
	// single says that the run is one plan without data, whose result is its own.
	single bool
	part   schedule.Part
	of     int // how many cases the selection has, of which these are the part
	// own are what placeholders stand for in the cases of a plan, by its path, where that is
	// not what they stand for in others.
	own map[string]*mask.Set
}

// Load reads the plans of a selection and refuses what is odd in any of them.
func Load(s Selection) (*Suite, error) {
	files, err := expandPaths(s.Paths)
	if err != nil {
		return nil, err
	}
	var all []*spec.Case
	var problems spec.Problems
	for _, path := range files {
		cases, err := s.Source.Cases(path)
		if found, ok := err.(spec.Problems); ok { //nolint:errorlint // Cases returns it unwrapped
			problems = append(problems, found...)
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, c := range cases {
			if found, ok := checkRoutes(c).(spec.Problems); ok { //nolint:errorlint // it returns them unwrapped
				problems = append(problems, found...)
				break // the rows of a plan have the same routes
			}
		}
		all = append(all, cases...)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	var jobs []schedule.Job
	var cases []*spec.Case
	for _, c := range all {
		job := schedule.Job{ID: c.ID, Name: c.Name, Tags: c.Tags, Cost: s.Costs[c.ID]}
		if !s.Filter.Selects(job) {
			continue
		}
		for n := range max(1, s.Repeat) {
			again := *c
			if s.Repeat > 1 {
				again.ID, again.Name = fmt.Sprintf("%s@%d", c.ID, n+1), fmt.Sprintf("%s, run %d", c.Name, n+1)
				job.ID, job.Name = again.ID, again.Name
			}
			jobs, cases = append(jobs, job), append(cases, &again)
		}
	}
	out := &Suite{
		part:   s.Part,
		of:     len(cases),
		single: len(files) == 1 && len(cases) == 1 && cases[0].Number == 0 && s.Repeat <= 1,
	}
	for _, i := range schedule.Shard(jobs, s.Part) {
		out.Cases, out.jobs = append(out.Cases, cases[i]), append(out.jobs, jobs[i])
	}
	return out, nil
}

// Nothing says that the suite has no case although the selection has some: a shard may be
// empty. It is "" when there are cases, and an error when nothing is selected.
func (s *Suite) Nothing() (string, error) {
	switch {
	case len(s.Cases) > 0:
		return "", nil
	case s.of == 0:
		return "", errors.New("no case is selected")
	}
	return fmt.Sprintf("shard %d/%d has none of the %s", s.part.Index, s.part.Of, report.Count(s.of, "case")), nil
}

// expandPaths are the files of paths, globs and folders, each once.
func expandPaths(paths []string) ([]string, error) {
	var out []string
	add := func(names ...string) {
		for _, n := range names {
			n = filepath.Clean(n)
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	for _, p := range paths {
		info, err := os.Stat(p)
		switch {
		case err == nil && !info.IsDir():
			add(p)
		case err == nil:
			found, err := plansBelow(p)
			if err != nil {
				return nil, err
			}
			if len(found) == 0 {
				return nil, fmt.Errorf("%s has no plans: expected files *.plan.yaml, *.plan.yml or *.plan.json", p)
			}
			add(found...)
		default:
			found, globErr := doublestar.FilepathGlob(p, doublestar.WithFilesOnly())
			if globErr != nil || len(found) == 0 {
				if strings.ContainsAny(p, "*?[{") {
					return nil, fmt.Errorf("%s: no plan matches", p)
				}
				return nil, fmt.Errorf("reading the plan: %w", err)
			}
			slices.Sort(found)
			add(found...)
		}
	}
	return out, nil
}

func plansBelow(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		for _, suffix := range []string{".plan.yaml", ".plan.yml", ".plan.json"} {
			if !d.IsDir() && strings.HasSuffix(name, suffix) {
				out = append(out, name)
			}
		}
		return nil
	})
	return out, err
}

// Maps are the maps of all cases.
func (s *Suite) Maps() []string {
	var out []string
	for _, c := range s.Cases {
		for _, m := range c.Maps() {
			if !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// Explanation is what a suite would run.
type Explanation struct {
	OK     bool            `json:"ok"`
	DryRun bool            `json:"dry_run"`
	Cases  []ExplainedCase `json:"cases"`
	Steps  int             `json:"steps"`

	// Nothing says why there are no cases.
	Nothing string `json:"nothing,omitempty"`
}

// ExplainedCase is what a case would run.
type ExplainedCase struct {
	Name  string          `json:"name"`
	Lines []ExplainedLine `json:"lines"`
}

// ExplainedLine is one thing that a case would do.
type ExplainedLine struct {
	Depth int    `json:"depth"` // of what repeats others, or holds them; 1 is the case's own
	Text  string `json:"text"`
}

// Explain says what the suite would run.
func (s *Suite) Explain() Explanation {
	out := Explanation{OK: true, DryRun: true, Cases: []ExplainedCase{}}
	for _, c := range s.Cases {
		one := ExplainedCase{Lines: []ExplainedLine{}}
		c.Explain(func(depth int, text string) {
			if depth == 0 {
				one.Name = text
				return
			}
			one.Lines = append(one.Lines, ExplainedLine{depth, text})
		})
		out.Cases = append(out.Cases, one)
		for _, p := range c.All() {
			out.Steps += count(p.Steps, &c.Scope)
		}
	}
	out.Nothing, _ = s.Nothing()
	return out
}

// Print writes the explanation for people.
func (x Explanation) Print(w io.Writer) {
	for _, c := range x.Cases {
		fmt.Fprintln(w, report.Printable(c.Name))
		for _, line := range c.Lines {
			fmt.Fprintf(w, "%s%s\n", strings.Repeat("  ", line.Depth), report.Printable(line.Text))
		}
	}
	if x.Nothing != "" {
		fmt.Fprintln(w, x.Nothing)
	}
	fmt.Fprintf(w, "%s, %s\n", report.Count(len(x.Cases), "case"), report.Count(x.Steps, "step"))
}

// RunOptions say how a suite is run.
type RunOptions struct {
	Options
	Workers  int
	FailFast bool
	Retries  int // of a case whose plan has none of its own
	// RetriesGiven says that the user gave Retries: they come before those of plans, also 0.
	RetriesGiven bool
	// OnCase is called after each case; may be nil. It is called from several goroutines,
	// one at a time.
	OnCase func(c CaseResult, done, of int)
}

// RunResult is how the cases of a suite ended.
type RunResult struct {
	OK         bool           `json:"ok"`
	Cases      []CaseResult   `json:"cases"`
	Totals     map[string]int `json:"totals"`
	DurationMS int64          `json:"duration_ms"`

	single  bool
	started time.Time
	warn    func(error)
}

// Run runs the cases of the suite.
func (s *Suite) Run(ctx context.Context, b Browser, o RunOptions) RunResult {
	started := time.Now()
	result := RunResult{
		OK:      true,
		Cases:   make([]CaseResult, len(s.Cases)),
		Totals:  map[string]int{},
		single:  s.single,
		started: started,
		warn:    o.Warn,
	}
	o.Many = o.Many || len(s.Cases) > 1
	finished := make(chan int) // cases that ended for good
	var heard chan struct{}
	if o.OnCase != nil {
		heard = make(chan struct{})
		go func() {
			defer close(heard)
			done := 0
			for i := range finished {
				done++
				o.OnCase(result.Cases[i], done, len(s.Cases))
			}
		}()
	}
	retries := func(i int) int {
		if n := s.Cases[i].Plan.Retries; n > 0 && !o.RetriesGiven {
			return n
		}
		return o.Retries
	}
	ran := schedule.Run(ctx, s.jobs, schedule.Options{Workers: o.Workers, FailFast: o.FailFast, Retries: retries}, func(
		ctx context.Context, _, job, attempt int,
	) bool {
		before := result.Cases[job].Failed
		if attempt > 1 {
			before = append(before, result.Cases[job].failure())
		}
		how := o.Options
		if attempt <= retries(job) && !how.Heal {
			how.Locks = nil // the case comes again: nothing goes on that would be done twice
		}
		how.attempt = attempt
		how.own = s.own[s.Cases[job].Plan.Path()]
		one := RunCase(ctx, b, s.Cases[job], how)
		one.Failed = before
		one.Outcome = one.outcome(over(s.Cases[job], how))
		result.Cases[job] = one
		last := one.OK || attempt > retries(job) || ctx.Err() != nil
		if heard != nil && last {
			finished <- job
		}
		return one.OK || last && one.harmless()
	})
	close(finished)
	if heard != nil {
		<-heard
	}
	for i, c := range s.Cases {
		if !ran[i] {
			result.Cases[i] = CaseResult{
				Plan:    c.Plan.Path(),
				Name:    c.Name,
				ID:      c.ID,
				Tags:    c.Tags,
				Steps:   []StepResult{},
				Outcome: report.Skipped,
			}
		}
		result.OK = result.OK && result.Cases[i].harmless()
		result.Totals[result.Cases[i].total()]++
	}
	result.OK = result.OK && (ctx.Err() == nil || !slices.Contains(ran, false))
	result.DurationMS = time.Since(started).Milliseconds()
	return result
}

// failure is the attempt as one of those before another.
func (c CaseResult) failure() FailedCase {
	out := FailedCase{DurationMS: c.DurationMS}
	for _, s := range c.Steps {
		if !s.OK && !s.Skipped {
			out.Step = s.Name
			out.Detail = s.Detail()
			out.result = s
			break
		}
	}
	return out
}

// Failure is the first failure of the result as an error about what, nil when there is
// none. A quarantine excuses nothing here: what comes next needs the steps.
func (r RunResult) Failure(what string) error {
	for _, c := range r.Cases {
		for _, s := range c.Steps {
			if s.OK || s.Skipped {
				continue
			}
			f := fault.New(fault.WorkflowStepFailed, "%s: %s: %s", what, s.Name, s.Detail()).With("step", s.Name)
			if s.at.Line > 0 {
				f = f.With("at", s.at.String())
			}
			return f
		}
	}
	return nil
}

// JSON is what the verb prints: the result of the one case, or all of them.
func (r RunResult) JSON() any {
	if r.single && len(r.Cases) == 1 {
		return r.Cases[0]
	}
	return r
}

// Single reports whether the suite is one plan without data.
func (s *Suite) Single() bool { return s.single }

// State is the storage of the one case, when it was requested and there is one.
func (r RunResult) State() json.RawMessage {
	if len(r.Cases) == 1 {
		return r.Cases[0].State
	}
	return nil
}

// Report is the result as a run: a suite for each plan, a test for each of its cases.
func (r RunResult) Report() report.Run {
	run := report.Run{
		Title:      "run",
		OK:         r.OK,
		StartedAt:  stamp(r.started),
		DurationMS: r.DurationMS,
		Result:     r.JSON(),
		Suites:     []report.Suite{},
	}
	if r.single && len(r.Cases) == 1 {
		run.Title = r.Cases[0].Name
	}
	var sources report.Sources
	for _, c := range r.Cases {
		t := c.test()
		sources.Around(&t)
		run.Suites = report.Join(run.Suites, report.Suite{
			Name:       filepath.ToSlash(c.Plan),
			File:       c.Plan,
			StartedAt:  stamp(c.started),
			DurationMS: c.DurationMS,
			Tests:      []report.Test{t},
		})
	}
	return run
}

// Print shows a case for people: a line, and below it the steps that are not simply ok.
func (c CaseResult) Print(w io.Writer) {
	word := string(c.Outcome)
	if c.Outcome == report.Passed {
		word = "ok"
	}
	fmt.Fprintf(w, "%-8s %s (%d ms)\n", word, report.Printable(c.Name), c.DurationMS)
	c.PrintQuarantine(w, "    ")
	for i, f := range c.Failed {
		fmt.Fprintf(w, "    attempt %d: %s: %s\n", i+1, report.Printable(f.Step), report.Printable(f.Detail))
	}
	for _, s := range c.Steps {
		if !s.OK && !s.Skipped || s.Flaky() || s.Healed != "" || len(s.Updated) > 0 {
			var b strings.Builder
			s.Print(&b)
			for line := range strings.Lines(b.String()) {
				fmt.Fprint(w, "    "+line)
			}
		}
	}
}

// totalHealed is the word of totals for cases that are well only with a change of a map.
const totalHealed = "healed"

// total is the word under which totals count a case.
func (c CaseResult) total() string {
	if c.OK && slices.ContainsFunc(c.Steps, func(s StepResult) bool { return s.Healed != "" }) {
		return totalHealed
	}
	return string(c.Outcome)
}

// PrintTotals shows how many cases there were.
func (r RunResult) PrintTotals(w io.Writer) {
	var parts []string
	for _, o := range report.Outcomes {
		if n := r.Totals[string(o)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	if n := r.Totals[totalHealed]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", n, totalHealed))
	}
	fmt.Fprintf(w, "%s in %.1f s\n", strings.Join(parts, ", "), float64(r.DurationMS)/1000)
}

// Costs are how long cases took, by their ids.
type Costs map[string]time.Duration

// ReadCosts reads json reports of earlier runs. The last one counts.
func ReadCosts(paths []string) (Costs, error) {
	out := Costs{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var r struct {
			caseCost
			Cases []caseCost `json:"cases"`
		}
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%s is no json report: %w", path, err)
		}
		for _, c := range append(r.Cases, r.caseCost) {
			if c.ID != "" && c.MS > 0 {
				out[c.ID] = time.Duration(c.MS) * time.Millisecond
			}
		}
	}
	return out, nil
}

type caseCost struct {
	ID string `json:"id"`
	MS int64  `json:"duration_ms"`
}
