package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

// plan is a file of steps for the verb run, YAML or JSON.
type plan struct {
	Name string   `yaml:"name"`
	Open string   `yaml:"open"` // the flag --open comes before it
	Maps []string `yaml:"maps"` // likewise --maps; paths are relative to the plan
	// Steps run in order on one tab, until one fails.
	Steps []planStep `yaml:"steps"`

	path string
}

// planStep is one step: an action, a state projection, a primitive, or the
// checks of the page's maps.
type planStep struct {
	Name    string         `yaml:"name"`
	Open    string         `yaml:"open"` // goes there first
	Action  string         `yaml:"action"`
	State   string         `yaml:"state"`
	Summary string         `yaml:"summary"` // of the state
	Call    string         `yaml:"call"`
	Check   bool           `yaml:"check"`
	Args    map[string]any `yaml:"args"`
	// Expect is JSONata over the step's result. With it the step is well exactly
	// when it is true, also when the call failed; without it when the call did
	// not.
	Expect    string        `yaml:"expect"`
	Timeout   time.Duration `yaml:"timeout"`
	OnFailure string        `yaml:"on_failure"` // stop (default) or continue

	expect expr.Program
}

// planResult is what run PLAN prints with --json.
type planResult struct {
	OK         bool             `json:"ok"`
	Plan       string           `json:"plan"`
	Steps      []planStepResult `json:"steps"`
	DurationMS int64            `json:"duration_ms"`
}

// planStepResult is what expect sees, too.
type planStepResult struct {
	Name       string            `json:"name"`
	OK         bool              `json:"ok"`
	Skipped    bool              `json:"skipped,omitempty"`
	Action     string            `json:"action,omitempty"`
	State      string            `json:"state,omitempty"`
	Call       string            `json:"call,omitempty"`
	Check      bool              `json:"check,omitempty"`
	URL        string            `json:"url,omitempty"`
	Output     json.RawMessage   `json:"output,omitempty"`
	Error      *fault.Error      `json:"error,omitempty"`
	Steps      json.RawMessage   `json:"steps,omitempty"`
	DurationMS int64             `json:"duration_ms"`
	Expect     string            `json:"expect,omitempty"`
	Unmet      string            `json:"unmet,omitempty"` // why expect does not hold
	Artifacts  map[string]string `json:"artifacts,omitempty"`
}

// readPlan reads a plan and refuses what is odd in it before anything runs.
func readPlan(path string, engine expr.Engine) (*plan, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, usage("reading the plan: %w", err)
	}
	p := &plan{path: path}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(p); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, usage("%s is empty", path)
		}
		return nil, usage("%s: %w", path, err)
	}
	if len(p.Steps) == 0 {
		return nil, usage("%s has no steps", path)
	}
	for i := range p.Steps {
		if err := p.Steps[i].prepare(engine); err != nil {
			return nil, usage("%s: step %d: %w", path, i+1, err)
		}
	}
	for i, m := range p.Maps {
		if !filepath.IsAbs(m) {
			p.Maps[i] = filepath.Join(filepath.Dir(path), m)
		}
	}
	return p, nil
}

func (s *planStep) prepare(engine expr.Engine) error {
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
	s.expect = program
	return nil
}

// call is the request that the step makes, "" when it only opens.
func (s *planStep) call() (name string, arguments json.RawMessage, err error) {
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
		in = map[string]any{"mode": "check", "wait_ms": 2000}
	case s.Call != "":
		name = s.Call
	default:
		return "", nil, nil
	}
	arguments, err = json.Marshal(in)
	return name, arguments, err
}

// runPlan runs the steps of a plan and reports each.
func (a *app) runPlan(ctx context.Context, path string, files reports, artifacts string) error {
	engine, err := expr.New(a.browser.engine, nil)
	if err != nil {
		return usage("--expr-engine is %q: expected native or blues", a.browser.engine)
	}
	defer engine.Close()
	p, err := readPlan(path, engine)
	if err != nil {
		return err
	}
	if len(a.browser.maps) == 0 {
		a.browser.maps = p.Maps
	}
	if len(a.browser.open) == 0 && p.Open != "" {
		a.browser.open = []string{p.Open}
	}
	return a.withHost(ctx, func(ctx context.Context, h *runtime.Host) error {
		result := planResult{OK: true, Plan: path}
		started := time.Now()
		target := firstTab(h)
		stopped := false
		for i := range p.Steps {
			s := &p.Steps[i]
			r := planStepResult{Name: s.Name, Action: s.Action, State: s.State, Call: s.Call, Check: s.Check, Expect: s.Expect, Skipped: true}
			if !stopped && ctx.Err() == nil {
				r = a.planStep(ctx, h, target, s)
				if !r.OK && artifacts != "" {
					name := fmt.Sprintf("%02d-%s", i+1, fileName(s.Name))
					if shot, err := a.screenshot(context.WithoutCancel(ctx), h, target, artifacts, name); err != nil {
						fmt.Fprintf(a.stderr, "outrider: no screenshot: %v\n", err)
					} else {
						r.Artifacts = map[string]string{"screenshot": shot}
					}
				}
				stopped = !r.OK && s.OnFailure != "continue"
			}
			result.OK = result.OK && r.OK
			result.Steps = append(result.Steps, r)
			if !a.json {
				printPlanStep(a.stdout, r)
			}
		}
		result.DurationMS = time.Since(started).Milliseconds()
		if a.json {
			a.printJSON(result)
		}
		complete := a.writeReports(files, func(format string) ([]byte, error) { return planReport(format, p, result) })
		if errors.Is(ctx.Err(), context.Canceled) {
			return ended(ctx)
		}
		switch {
		case !result.OK:
			return &exit{code: exitFailed}
		case !complete:
			return &exit{code: exitEnvironment}
		}
		return nil
	})
}

func (a *app) planStep(ctx context.Context, h *runtime.Host, target runtime.Target, s *planStep) planStepResult {
	r := planStepResult{Name: s.Name, Action: s.Action, State: s.State, Call: s.Call, Check: s.Check, Expect: s.Expect}
	limit := a.callLimit
	if s.Timeout > 0 {
		limit = s.Timeout
	}
	do := func(name string, arguments json.RawMessage) runtime.Reply {
		return h.Do(ctx, runtime.Call{ID: uuid.NewString(), Target: target, Name: name, Arguments: arguments, Timeout: limit})
	}
	var reply runtime.Reply
	if s.Open != "" {
		arguments, err := json.Marshal(map[string]string{"url": s.Open})
		if err != nil {
			r.Error = fault.From(err)
			return r
		}
		reply = do("browser.navigate", arguments)
	}
	took := reply.Duration
	if name, arguments, err := s.call(); err != nil {
		reply = runtime.Reply{Err: fault.From(err)}
	} else if name != "" && reply.Err == nil {
		reply = do(name, arguments)
		took += reply.Duration
	}
	r.OK, r.URL, r.Output, r.Error, r.Steps, r.DurationMS = reply.Err == nil, reply.URL, reply.Output, reply.Err, reply.Steps, took.Milliseconds()
	if s.Check && reply.Err == nil {
		var checked struct {
			OK bool `json:"ok"`
		}
		if json.Unmarshal(reply.Output, &checked) != nil || !checked.OK {
			r.OK, r.Unmet = false, "a check fails"
		}
	}
	if s.expect != nil {
		r.OK, r.Unmet = s.met(ctx, r)
	}
	return r
}

// met evaluates expect over the step's result.
func (s *planStep) met(ctx context.Context, r planStepResult) (ok bool, why string) {
	raw, err := json.Marshal(r)
	if err != nil {
		return false, err.Error()
	}
	in, err := topLevel(raw)
	if err != nil {
		return false, err.Error()
	}
	v, err := s.expect.Eval(ctx, in, expr.Limits{})
	if err != nil {
		return false, "the expectation could not be evaluated: " + fault.From(err).Message
	}
	if expr.Truthy(v) {
		return true, ""
	}
	if v.Undefined {
		return false, "the expectation gave nothing"
	}
	return false, "the expectation gave " + shorten(string(v.JSON), 200)
}

// detail says in one line why a step is not well.
func (r planStepResult) detail() string {
	var parts []string
	if r.Unmet != "" {
		parts = append(parts, r.Unmet)
	}
	if r.Error != nil {
		parts = append(parts, string(r.Error.Code)+": "+r.Error.Message)
	}
	return strings.Join(parts, "; ")
}

func printPlanStep(w io.Writer, r planStepResult) {
	word := "ok"
	switch {
	case r.Skipped:
		word = "skipped"
	case !r.OK:
		word = "failed"
	}
	fmt.Fprintf(w, "%-8s %s (%d ms)\n", word, printable(r.Name), r.DurationMS)
	if !r.OK && !r.Skipped {
		fmt.Fprintf(w, "         %s\n", printable(r.detail()))
	}
}

// fileName makes a name of a step safe for a file.
func fileName(name string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
	return strings.TrimLeft(out[:min(len(out), 60)], ".")
}

// planReport is the report of a plan in one format: junit has one test case for
// each step.
func planReport(format string, p *plan, result planResult) ([]byte, error) {
	switch format {
	case "junit":
		return junitOf([]junitSuite{planSuite(p, result)})
	case "json":
		return jsonReport(result)
	}
	return nil, fmt.Errorf("a plan has no %s report", format)
}

func planSuite(p *plan, result planResult) junitSuite {
	name := p.Name
	if name == "" {
		name = filepath.Base(p.path)
	}
	s := junitSuite{Name: name, Time: fmt.Sprintf("%.3f", float64(result.DurationMS)/1000)}
	for _, r := range result.Steps {
		c := junitCase{Name: r.Name, Class: "plan", Time: fmt.Sprintf("%.3f", float64(r.DurationMS)/1000)}
		switch {
		case r.Skipped:
			c.Skipped = &junitMessage{Message: "a step before it failed"}
		case !r.OK:
			c.Failure = &junitMessage{Message: r.detail(), Type: "expectation", Text: planEvidence(r)}
			if r.Error != nil {
				c.Failure.Type = string(r.Error.Code)
			}
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

func planEvidence(r planStepResult) string {
	var b strings.Builder
	if r.Expect != "" {
		fmt.Fprintf(&b, "expect: %s\n", r.Expect)
	}
	if r.URL != "" {
		fmt.Fprintf(&b, "url: %s\n", r.URL)
	}
	if r.Error != nil {
		for _, line := range evidenceLines(r.Error) {
			fmt.Fprintln(&b, line)
		}
	} else if len(r.Output) > 0 {
		fmt.Fprintf(&b, "output: %s\n", shorten(string(r.Output), 2000))
	}
	if shot := r.Artifacts["screenshot"]; shot != "" {
		fmt.Fprintf(&b, "screenshot: %s\n", shot)
	}
	return b.String()
}
