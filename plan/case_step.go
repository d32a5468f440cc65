package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// step runs one step with its retries, or passes over it.
func (r *run) step(ctx context.Context, s *spec.Step, phase, suffix string) {
	r.number++
	x, err := expanded(s, &r.scope)
	name := spec.Numbered(x.Name+suffix, r.seen)
	blank := StepResult{
		Name:    name,
		Action:  x.Action,
		State:   x.State,
		Call:    x.Call,
		Check:   x.Check,
		Request: r.requestText(x.Request),
		Expect:  expectText(x.Expect),
		Phase:   phase,
		Session: x.Session,
		Tab:     x.Tab,
		at:      report.Place{File: s.At.File, Line: s.At.Line, Pointer: s.At.Pointer},
	}
	if r.stopped || ctx.Err() != nil {
		blank.Skipped = true
		r.results = append(r.results, blank)
		r.reportStep(blank)
		return
	}
	if r.o.Starts != nil {
		r.o.Starts(name, r.number, max(r.of, r.number))
	}
	result := blank
	if err != nil {
		result.Error = fault.New(fault.InvalidInput, "%s", err.Error())
	} else {
		result = r.attempts(ctx, s, &x, blank)
	}
	r.stopped = r.stopped || !result.OK && s.OnFailure != "continue"
	r.results = append(r.results, result)
	r.reportStep(result)
}

// attempts runs a step until it is well or has no retry left.
func (r *run) attempts(ctx context.Context, s *spec.Step, x *spec.Step, blank StepResult) StepResult {
	var failed []FailedStep
	for n := 0; ; n++ {
		began := time.Now()
		result, on := r.attempt(ctx, s, x, blank, n == s.Retries)
		result.Failed = failed
		if !result.OK {
			r.gather(ctx, &result, on, began)
		}
		if result.OK || n == s.Retries || ctx.Err() != nil {
			return result
		}
		failed = append(failed, FailedStep{
			Detail:     result.Detail(),
			DurationMS: result.DurationMS,
			Artifacts:  result.Artifacts,
			screenshot: result.screenshot,
			texts:      result.texts,
		})
	}
}

// gather takes the evidence of a failure.
func (r *run) gather(ctx context.Context, result *StepResult, on place, began time.Time) {
	if on.session == nil {
		return
	}
	after := context.WithoutCancel(ctx)
	if r.o.Evidence {
		result.screenshot, result.texts = evidenceOf(after, on.session, on.target, r.o, began)
		result.texts = append(r.changed(after, on, result.before), result.texts...)
	}
	if r.o.Artifacts == "" {
		return
	}
	name := fmt.Sprintf("%02d-%s", r.number, report.FileName(result.Name))
	if r.c.Number > 0 {
		name = fmt.Sprintf("%03d-%s", r.c.Number, name)
	}
	o := r.o
	if r.o.Many {
		o.Artifacts = filepath.Join(r.o.Artifacts, report.FileName(folderOf(r.c.ID)))
	}
	if n := r.o.attempt - 1; n > 0 { // of the case
		name += fmt.Sprintf("-again%d", n)
	}
	if n := len(result.Failed); n > 0 { // of the step
		name += fmt.Sprintf("-retry%d", n)
	}
	shot, err := screenshot(after, on.session, on.target, o, name, result.boxes()...)
	if err != nil {
		r.o.warn("no screenshot: %w", err)
		return
	}
	result.Artifacts = map[string]string{"screenshot": shot}
}

// folderOf is a case as a folder: its plan without the ending, the combination of its matrix, and which run of
// it with --repeat-each.
func folderOf(id string) string {
	if before, rest, ok := strings.Cut(id, "{"); ok {
		i := strings.LastIndexByte(rest, '}')
		return folderOf(before+rest[i+1:]) + "-" + rest[:max(i, 0)]
	}
	ending := filepath.Ext(id)
	name := strings.TrimSuffix(id, ending)
	if _, again, ok := strings.Cut(ending, "@"); ok {
		name += "-run" + again
	}
	return name
}

// place is where a step runs.
type place struct {
	session *session
	target  runtime.Target
}

// attempt runs a step once; last says that it is not repeated.
func (r *run) attempt(ctx context.Context, s, x *spec.Step, result StepResult, last bool) (StepResult, place) {
	limit := r.o.CallTimeout
	if s.Timeout > 0 {
		limit = time.Duration(s.Timeout)
		bounded, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = bounded
	}
	fail := func(err error) StepResult {
		result.Error = r.o.Secrets.Fault(fault.From(err))
		return result
	}
	home, err := r.session(ctx, x.Session, x)
	if err != nil {
		return fail(err), place{}
	}
	on, err := r.tab(ctx, home, x.Tab)
	at := place{home, on}
	if err != nil {
		return fail(err), at
	}
	if r.o.Evidence && (x.Action != "" || x.Call != "") {
		result.before = r.states(ctx, at)
	}
	since := r.marks(ctx, at, x.Expect)
	known := home.ids()
	routes, err := r.routes(x.Route)
	if err == nil && len(routes) > 0 {
		err = r.route(ctx, home, routes)
	}
	if err != nil {
		return fail(err), at
	}
	if r.o.prover != nil {
		r.proves(ctx, at, s, x)
	}
	proven := r.mayProveRepair(ctx, at, s, x)
	began := time.Now()
	var reply runtime.Reply
	if x.Open != "" {
		reply = r.navigate(ctx, home, on, x.Open, limit, x.Leave != "fail")
		if status := badStatus(reply); status != 0 && !judges(x, status) {
			reply.Err = r.refusal(x.Open, reply, status)
		}
	}
	if reply.Err == nil {
		r.fitArguments(ctx, home, on, x, limit)
	}
	name, arguments, err := request(x)
	doOn := func(ctx context.Context, host Host) runtime.Reply {
		return host.Do(ctx, runtime.Call{
			ID:         r.o.NewID(),
			Target:     on,
			Name:       name,
			Arguments:  arguments,
			Timeout:    limit,
			Appearance: r.appearance(x, last),
			Secrets:    r.o.own,
			Settles:    true,
		})
	}
	do := func(ctx context.Context) runtime.Reply { return doOn(ctx, home) }
	if err != nil {
		reply = runtime.Reply{Err: fault.From(err)}
	} else if x.Request != nil {
		reply = r.fetch(ctx, at, x, limit)
	} else if name != "" && reply.Err == nil {
		reply = do(ctx)
	}
	result.OK = reply.Err == nil
	result.URL = reply.URL
	result.Output = reply.Output
	result.Error = reply.Err
	result.Steps = reply.Steps
	result.DurationMS = time.Since(began).Milliseconds()
	r.keepAppearance(&result, x, reply)
	if x.Check && reply.Err == nil {
		result.page = &report.Page{Raw: reply.Output, Duration: reply.Duration, Opened: x.Open}
		if err := json.Unmarshal(reply.Output, result.page); err != nil {
			result.OK, result.Error = false, fault.Wrap(fault.Internal, err, "reading the result")
		} else if result.page.Locate(r.o.Maps); !result.page.OK {
			result.OK, result.Unmet = false, firstOf(result.page.Causes())
		}
	}
	if x.NewTab != "" && result.OK {
		if err := r.nameNewTab(ctx, home, known, x.NewTab, limit); err != nil {
			result.OK, result.Error = false, fault.From(err)
		}
	}
	if result.OK && onlyReads(x) {
		r.reread(ctx, at, x.Expect, do, &result)
	}
	if len(x.Expect) > 0 {
		r.expect(ctx, at, x.Expect, since, &result)
	}
	r.settleRoutes(ctx, at, routes, &result)
	r.judgeRepair(ctx, at, x, since, &result, reply)
	if !proven {
		result.refuseRepair()
	}
	result.reportRepair()
	if result.OK {
		r.capture(ctx, s, &result)
	}
	result.DurationMS = time.Since(began).Milliseconds()
	if r.o.watcher != nil {
		r.watch(ctx, at, result)
	}
	if result.OK && r.o.prover != nil {
		r.proved(ctx, at, x, since, result, doOn)
	}
	return result, at
}

// expanded is a step with its references replaced.
func expanded(s *spec.Step, scope *spec.Scope) (spec.Step, error) {
	x := *s
	for _, field := range []*string{
		&x.Name, &x.Open, &x.Action, &x.State, &x.Summary, &x.Call, &x.Session, &x.Tab, &x.NewTab,
	} {
		text, err := scope.Text(*field)
		if err != nil {
			return x, err
		}
		*field = text
	}
	if len(s.Args) > 0 {
		args, err := scope.Expand(map[string]any(s.Args))
		if err != nil {
			return x, err
		}
		x.Args, _ = args.(map[string]any)
	}
	if s.Request != nil {
		q := *s.Request
		if err := q.Expand(scope); err != nil {
			return x, err
		}
		x.Request = &q
	}
	x.Expect = slices.Clone(s.Expect)
	for i := range x.Expect {
		if err := x.Expect[i].Expand(scope); err != nil {
			return x, err
		}
	}
	return x, nil
}

// fitArguments gives numbers of arguments that would come back as other texts to what the
// action declares of them.
func (r *run) fitArguments(ctx context.Context, h Host, on runtime.Target, x *spec.Step, limit time.Duration) {
	name := x.Action
	if name == "" {
		name = x.Call
	}
	if name == "" || !spec.Reworded(x.Args) {
		return
	}
	list, err := runtime.Site{Mode: runtime.SiteList}.JSON()
	if err != nil {
		return
	}
	reply := h.Do(ctx, runtime.Call{
		ID:        r.o.NewID(),
		Target:    on,
		Name:      runtime.SiteTool,
		Arguments: list,
		Timeout:   limit,
	})
	var listed struct {
		Actions []struct {
			Name        string         `json:"name"`
			InputSchema map[string]any `json:"input_schema"`
		} `json:"actions"`
	}
	if reply.Err != nil || json.Unmarshal(reply.Value(), &listed) != nil {
		return // the call itself says what is wrong
	}
	for _, one := range listed.Actions {
		if one.Name == name {
			x.Args, _ = spec.Fit(x.Args, one.InputSchema).(map[string]any)
			return
		}
	}
}

// settle is how long a check of a plan probes again.
const settle = 2 * time.Second

// request is the call that the step makes, "" when it makes none.
func request(s *spec.Step) (name string, arguments json.RawMessage, err error) {
	args := s.Args
	if args == nil {
		args = map[string]any{}
	}
	var in any
	name = runtime.SiteTool
	switch {
	case s.Action != "":
		in = runtime.Site{Mode: runtime.SiteCall, Action: s.Action, Arguments: args}
	case s.Summary != "":
		in = runtime.Site{Mode: runtime.SiteStateSummary, Projection: s.State, Summary: s.Summary}
	case s.State != "":
		in = runtime.Site{Mode: runtime.SiteStateRead, Projection: s.State}
	case s.Check:
		arguments, err = Expectations{
			Settle:       settle,
			ExpectStatus: s.ExpectStatus,
			Requires:     s.Requires,
			Strict:       s.StrictChecks,
			FailOnDrift:  s.FailOnDrift,
		}.arguments()
		return name, arguments, err
	case s.Call != "":
		name = s.Call
		in = args
	default:
		return "", nil, nil
	}
	arguments, err = json.Marshal(in)
	return name, arguments, err
}

// firstOf is the first of several causes, and how many more there are.
func firstOf(causes []string) string {
	switch len(causes) {
	case 0:
		return "a check fails"
	case 1:
		return causes[0]
	}
	if strings.HasSuffix(causes[0], " more") {
		return fmt.Sprintf("%s; and %d of other checks", causes[0], len(causes)-1)
	}
	return fmt.Sprintf("%s; and %d more", causes[0], len(causes)-1)
}
