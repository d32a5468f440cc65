package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/plan/spec"
)

// ProveOptions say how plans are proved.
type ProveOptions struct {
	Options
	// Budget is how often the time of a plan its proof may take, its run included.
	Budget float64
}

// DefaultBudget is the Budget where nobody says another.
const DefaultBudget = 3

// Proof is what a plan would notice of what can be wrong with its pages.
type Proof struct {
	Plan string `json:"plan"`
	Name string `json:"name,omitempty"`
	// OK is false when the plan itself fails: then nothing is proved.
	OK     bool   `json:"ok"`
	Failed string `json:"failed,omitempty"`
	// Score is the part of the mutants that the plan notices, in percent. It counts those that it notices and those
	// that it is blind to.
	Score    int         `json:"score"`
	Killed   int         `json:"killed"`
	Survived int         `json:"survived"`
	Blind    []Blindness `json:"blind"`
	// Unproven are mutants that the plan does not notice, and for which no assertion was found that would.
	Unproven int `json:"unproven,omitempty"`
	// Left are those that were not tried within the budget, and why whole runs were not tried.
	Left       int    `json:"left,omitempty"`
	LeftRuns   string `json:"left_runs,omitempty"`
	DurationMS int64  `json:"duration_ms"`
	PlanMS     int64  `json:"plan_ms"` // of the plan alone

	test report.Test
}

// Blindness is what is wrong that a plan does not notice, and an assertion that does: it was run, fails on the mutant
// and holds on the page as it is.
type Blindness struct {
	Step    string   `json:"step"`
	At      string   `json:"at"`
	Changes []Change `json:"changes"`
	// Assertion is the expectation, and Paste is it as YAML.
	Assertion map[string]any `json:"assertion"`
	Paste     string         `json:"paste"`

	place report.Place
}

// Change is one thing that is wrong.
type Change struct {
	Kind string `json:"kind"`
	What string `json:"what"`
}

// Prove runs each case of a suite and tries what can be wrong with its pages.
func (s *Suite) Prove(ctx context.Context, b Browser, o ProveOptions) []Proof {
	var out []Proof
	for i, c := range s.Cases {
		if ctx.Err() != nil {
			break
		}
		how := o
		how.own = s.own[c.Plan.Path()]
		if how.Starts != nil {
			how.Starts(c.Name, i+1, len(s.Cases))
			how.Starts = nil
		}
		out = append(out, prove(ctx, b, c, how))
	}
	return out
}

func prove(ctx context.Context, b Browser, c *spec.Case, o ProveOptions) Proof {
	started := time.Now()
	p := newProver(o.Budget, c)
	o.prover = p
	p.began = started
	first := RunCase(ctx, b, c, o.Options)
	ran := time.Since(started)
	plain := ran - p.spent
	out := Proof{
		Plan:   c.Plan.Path(),
		Name:   c.Name,
		OK:     first.OK,
		PlanMS: plain.Milliseconds(),
		Blind:  []Blindness{},
		test:   first.test(),
	}
	if !first.OK {
		out.Failed = "the plan fails"
		if f := (RunResult{Cases: []CaseResult{first}}).Failure("the plan fails"); f != nil {
			out.Failed = f.Error()
		}
		return out
	}
	left := func() bool {
		return time.Since(started)+plain <= time.Duration(o.Budget*float64(plain))+plain/4
	}
	if slices.ContainsFunc(p.all, func(m *mutation) bool { return m.kills != nil && !m.killed }) {
		p.verifies = true
		RunCase(ctx, b, c, o.Options)
	}
	out.LeftRuns = wholeRuns(ctx, b, c, o, p, left)
	out.Left = p.left
	for _, m := range p.all {
		switch {
		case m.killed:
			out.Killed++
		case m.kills == nil:
			out.Unproven++
		default:
			out.blindTo(m)
		}
	}
	out.Score = 100
	if n := out.Killed + out.Survived; n > 0 {
		out.Score = 100 * out.Killed / n
	}
	out.DurationMS = time.Since(started).Milliseconds()
	return out
}

// blindTo adds a mutant to those that one assertion would notice.
func (p *Proof) blindTo(m *mutation) {
	p.Survived++
	change := Change{m.Kind, m.Says}
	text := paste(m.kills)
	for i := range p.Blind {
		if b := &p.Blind[i]; b.Paste == text && b.At == m.at.String() {
			b.Changes = append(b.Changes, change)
			return
		}
	}
	p.Blind = append(p.Blind, Blindness{
		Step:      m.name,
		At:        m.at.String(),
		Changes:   []Change{change},
		Assertion: m.kills,
		Paste:     text,
		place:     m.at,
	})
}

// what says in a line what is wrong.
func (b Blindness) what() string {
	var all []string
	for _, c := range b.Changes {
		all = append(all, c.What)
	}
	return strings.Join(all, "; ")
}

// paste is an assertion as it stands below expect.
func paste(a map[string]any) string {
	order := []string{
		"target", "text", "url", "text_equals", "text_contains", "value_equals", "checked", "enabled", "visible",
		"count", "network",
	}
	var parts []string
	for _, name := range order {
		v, ok := a[name]
		if !ok {
			continue
		}
		raw, err := json.Marshal(v)
		if err != nil {
			continue
		}
		text := strings.NewReplacer(`\u003e`, ">", `\u003c`, "<", `\u0026`, "&").Replace(string(raw))
		parts = append(parts, fmt.Sprintf("%s: %s", name, text))
	}
	return "- {" + strings.Join(parts, ", ") + "}"
}
