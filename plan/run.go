package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

// Host is what runs the calls: a runtime.Host.
type Host interface {
	Do(ctx context.Context, call runtime.Call) runtime.Reply
	Tabs() []runtime.TabStatus
}

// Options say how things are run.
type Options struct {
	NewID       func() string
	CallTimeout time.Duration // of a call that has none of its own
	Artifacts   string        // path for pictures; "" takes none
	Folder      report.Folder // that Artifacts is in
	// Evidence takes a picture, the console and the network of what fails, for a report
	// that shows them.
	Evidence bool
	// Starts is called when a step of a plan begins, with its number from 1 and how
	// many there are; may be nil.
	Starts func(name string, number, of int)
	// OnStep is called after each step of a plan; may be nil.
	OnStep func(StepResult)
	// Warn is called with what went wrong beside the run; may be nil.
	Warn func(error)
}

func (o Options) warn(format string, args ...any) {
	if o.Warn != nil {
		o.Warn(fmt.Errorf(format, args...))
	}
}

// Result is what run PLAN prints with --json.
type Result struct {
	OK         bool         `json:"ok"`
	Plan       string       `json:"plan"`
	Steps      []StepResult `json:"steps"`
	DurationMS int64        `json:"duration_ms"`

	started time.Time
}

// StepResult is what expect sees, too.
type StepResult struct {
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
	Unmet      string            `json:"unmet,omitempty"` // why expect failed
	Artifacts  map[string]string `json:"artifacts,omitempty"`

	page  *report.Page // of a check
	shot  *report.Picture
	texts []report.Text
}

// Run runs the steps of a plan on the first tab of the host.
func (p *Plan) Run(ctx context.Context, h Host, o Options) Result {
	started := time.Now()
	result := Result{OK: true, Plan: p.path, started: started}
	on := firstTab(h)
	if o.Evidence {
		record(ctx, h, on, o)
	}
	stopped := false
	for i := range p.Steps {
		s := &p.Steps[i]
		r := StepResult{Name: s.Name, Action: s.Action, State: s.State, Call: s.Call, Check: s.Check, Expect: s.Expect, Skipped: true}
		if !stopped && ctx.Err() == nil {
			if o.Starts != nil {
				o.Starts(s.Name, i+1, len(p.Steps))
			}
			began := time.Now()
			r = s.run(ctx, h, on, o)
			if !r.OK && o.Evidence {
				r.shot, r.texts = evidenceOf(context.WithoutCancel(ctx), h, on, o, began)
			}
			if !r.OK && o.Artifacts != "" {
				name := fmt.Sprintf("%02d-%s", i+1, fileName(s.Name))
				if shot, err := screenshot(context.WithoutCancel(ctx), h, on, o, name); err != nil {
					o.warn("no screenshot: %w", err)
				} else {
					r.Artifacts = map[string]string{"screenshot": shot}
				}
			}
			stopped = !r.OK && s.OnFailure != "continue"
		}
		result.OK = result.OK && r.OK
		result.Steps = append(result.Steps, r)
		if o.OnStep != nil {
			o.OnStep(r)
		}
	}
	result.DurationMS = time.Since(started).Milliseconds()
	return result
}

// firstTab selects the tab that the first address made: a page that opens a
// popup meanwhile must not make a call ambiguous.
func firstTab(h Host) runtime.Target {
	if tabs := h.Tabs(); len(tabs) > 0 {
		return runtime.Target{RuntimeID: tabs[0].RuntimeID}
	}
	return runtime.Target{}
}

func (s *Step) run(ctx context.Context, h Host, on runtime.Target, o Options) StepResult {
	r := StepResult{Name: s.Name, Action: s.Action, State: s.State, Call: s.Call, Check: s.Check, Expect: s.Expect}
	limit := o.CallTimeout
	if s.Timeout > 0 {
		limit = s.Timeout
	}
	do := func(name string, arguments json.RawMessage) runtime.Reply {
		return h.Do(ctx, runtime.Call{ID: o.NewID(), Target: on, Name: name, Arguments: arguments, Timeout: limit})
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
		r.page = &report.Page{Raw: reply.Output, Duration: reply.Duration}
		if err := json.Unmarshal(reply.Output, r.page); err != nil {
			r.OK, r.Error = false, fault.Wrap(fault.Internal, err, "reading the result")
		} else if !r.page.OK {
			r.OK, r.Unmet = false, firstOf(r.page.Causes())
		}
	}
	if s.expect != nil {
		r.OK, r.Unmet = s.met(ctx, r)
	}
	return r
}

// firstOf is the first of several causes, and how many more there are.
func firstOf(causes []string) string {
	switch len(causes) {
	case 0:
		return "a check fails"
	case 1:
		return causes[0]
	}
	return fmt.Sprintf("%s; and %d more", causes[0], len(causes)-1)
}

// met evaluates expect over the step's result.
func (s *Step) met(ctx context.Context, r StepResult) (ok bool, why string) {
	raw, err := json.Marshal(r)
	if err != nil {
		return false, err.Error()
	}
	in, err := expr.ParseInput(raw)
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
	if why := expr.WhyFalse(ctx, s.engine, s.Expect, in); len(why) > 0 {
		return false, strings.Join(why, "; ")
	}
	if v.Undefined {
		return false, "the expectation gave nothing"
	}
	return false, "the expectation gave " + report.Shorten(string(v.JSON), 200)
}

// Detail says in one line why a step is not well.
func (r StepResult) Detail() string {
	var parts []string
	if r.Unmet != "" {
		parts = append(parts, r.Unmet)
	}
	if r.Error != nil {
		parts = append(parts, string(r.Error.Code)+": "+r.Error.Message)
	}
	return strings.Join(parts, "; ")
}

// Print shows the step for people.
func (r StepResult) Print(w io.Writer) {
	word := "ok"
	switch {
	case r.Skipped:
		word = "skipped"
	case !r.OK:
		word = "failed"
	}
	fmt.Fprintf(w, "%-8s %s (%d ms)\n", word, report.Printable(r.Name), r.DurationMS)
	if r.OK || r.Skipped {
		return
	}
	fmt.Fprintf(w, "         %s\n", report.Printable(r.Detail()))
	if r.page != nil && !r.page.OK {
		r.page.Print(w)
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
