// Package plan runs things on the pages of a host and reports how each ended: a
// plan of steps, one site action, or the checks of the maps at hand.
//
// It does not own a browser and prints nothing. The verbs run and check of
// cmd/outrider give it a host and take its results to the reports of
// evidence/report.
package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

// Plan is a file of steps for the verb run, YAML or JSON.
type Plan struct {
	Name string   `yaml:"name"`
	Open string   `yaml:"open"` // the flag --open comes before it
	Maps []string `yaml:"maps"` // likewise --maps; paths are relative to the plan
	// Steps run in order on one tab, until one fails.
	Steps []Step `yaml:"steps"`

	path string
}

// Step is one step: an action, a state projection, a primitive, or the
// checks of the page's maps.
type Step struct {
	Name    string `yaml:"name"`
	Open    string `yaml:"open"` // navigates there first
	Action  string `yaml:"action"`
	State   string `yaml:"state"`
	Summary string `yaml:"summary"` // of the state
	Call    string `yaml:"call"`
	Check   bool   `yaml:"check"`
	// Of a check.
	ExpectStatus int      `yaml:"expect_status"`
	Requires     []string `yaml:"requires"`
	StrictChecks bool     `yaml:"strict_checks"`

	Args map[string]any `yaml:"args"`
	// Expect is JSONata over the step's result. With it the step is well exactly
	// when it is true, also when the call failed; without it when the call did
	// not.
	Expect    string        `yaml:"expect"`
	Timeout   time.Duration `yaml:"timeout"`
	OnFailure string        `yaml:"on_failure"` // stop (default) or continue

	expect expr.Program
	engine expr.Engine // that compiled it
}

// Read reads a plan and refuses what is odd in it before anything runs.
func Read(path string, engine expr.Engine) (*Plan, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the plan: %w", err)
	}
	p := &Plan{path: path}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(p); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s is empty", path)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(p.Steps) == 0 {
		return nil, fmt.Errorf("%s has no steps", path)
	}
	for i := range p.Steps {
		if err := p.Steps[i].prepare(engine); err != nil {
			return nil, fmt.Errorf("%s: step %d: %w", path, i+1, err)
		}
	}
	p.number()
	for i, m := range p.Maps {
		if !filepath.IsAbs(m) {
			p.Maps[i] = filepath.Join(filepath.Dir(path), m)
		}
	}
	return p, nil
}

// number makes the names of steps different: a report with two test cases of one
// name is read as one.
func (p *Plan) number() {
	seen := map[string]int{}
	for i := range p.Steps {
		s := &p.Steps[i]
		name := s.Name
		for seen[s.Name] > 0 {
			seen[name]++
			s.Name = fmt.Sprintf("%s (%d)", name, seen[name])
		}
		seen[s.Name]++
	}
}

func (s *Step) prepare(engine expr.Engine) error {
	kinds := 0
	for _, given := range []bool{s.Action != "", s.State != "", s.Call != "", s.Check} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds > 1 || kinds == 0 && s.Open == "":
		return errors.New("it needs exactly one of action, state, call and check, or open alone")
	case s.Summary != "" && s.State == "":
		return errors.New("summary belongs to state")
	case !s.Check && (s.ExpectStatus != 0 || len(s.Requires) > 0 || s.StrictChecks):
		return errors.New("expect_status, requires and strict_checks belong to check")
	case s.ExpectStatus != 0 && (s.ExpectStatus < 100 || s.ExpectStatus > 599):
		return fmt.Errorf("expect_status is %d: expected 100 to 599", s.ExpectStatus)
	case s.OnFailure != "" && s.OnFailure != "stop" && s.OnFailure != "continue":
		return fmt.Errorf("on_failure is %q: expected stop or continue", s.OnFailure)
	}
	if s.Name == "" {
		s.Name = strings.TrimSpace(s.Action + s.State + s.Call)
		switch {
		case s.Check:
			s.Name = "check"
		case s.Name == "":
			s.Name = "open"
		}
	}
	if s.Expect == "" {
		return nil
	}
	program, err := engine.Compile(s.Expect)
	if err != nil {
		return fmt.Errorf("expect: %s", fault.From(err).Error()) // the place in the plan is what counts, not the code
	}
	s.expect, s.engine = program, engine
	return nil
}

// settle is how long a check of a plan probes again.
const settle = 2 * time.Second

// call is the request that the step makes, "" when it only opens.
func (s *Step) call() (name string, arguments json.RawMessage, err error) {
	args := s.Args
	if args == nil {
		args = map[string]any{}
	}
	in := args
	name = runtime.SiteTool
	switch {
	case s.Action != "":
		in = map[string]any{"mode": "call", "action": s.Action, "arguments": args}
	case s.Summary != "":
		in = map[string]any{"mode": "state_summary", "projection_name": s.State, "summary_name": s.Summary}
	case s.State != "":
		in = map[string]any{"mode": "state_read", "projection_name": s.State}
	case s.Check:
		arguments, err = Expectations{Settle: settle, ExpectStatus: s.ExpectStatus, Requires: s.Requires, Strict: s.StrictChecks}.arguments()
		return name, arguments, err
	case s.Call != "":
		name = s.Call
	default:
		return "", nil, nil
	}
	arguments, err = json.Marshal(in)
	return name, arguments, err
}
