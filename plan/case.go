package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

const (
	// teardownTime bounds the teardown plans of a case, which run also when the case
	// has no time left.
	teardownTime = time.Minute
	// closeTime bounds closing a session.
	closeTime = 15 * time.Second
)

// RunCase runs a test case once, in a session of its own, and returns how it ended. The
// teardown plans run in any case.
func RunCase(ctx context.Context, b Browser, c *spec.Case, o Options) CaseResult {
	started := time.Now()
	r := &run{browser: b, c: c, o: o, sessions: map[string]*session{}, seen: map[string]int{}}
	r.scope = spec.Scope{Vars: maps.Clone(c.Scope.Vars), Row: c.Scope.Row, Items: map[string]any{}, Env: c.Scope.Env}
	for _, p := range c.All() {
		r.of += count(p.Steps, &r.scope)
	}
	bounded, cancel := ctx, context.CancelFunc(func() {})
	if limit := time.Duration(c.Plan.Timeout); limit > 0 {
		bounded, cancel = context.WithTimeoutCause(ctx, limit, fault.New(fault.Timeout, "the case did not end within its %s", limit))
	}
	defer cancel()
	r.begin(bounded)
	for _, p := range c.Setup {
		r.plan(bounded, p, "setup")
	}
	r.plan(bounded, c.Plan, "")
	if len(c.Teardown) > 0 && r.sessions[""] != nil {
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), teardownTime)
		for _, p := range c.Teardown {
			r.stopped = false
			r.plan(last, p, "teardown")
		}
		stop()
	}
	result := CaseResult{OK: true, Plan: c.Plan.Path(), Name: c.Name, ID: c.ID, Tags: c.Tags, Steps: r.results, Routes: r.routeResults, started: started}
	for _, s := range r.results {
		result.OK = result.OK && s.OK
	}
	if result.OK && ctx.Err() == nil && o.SaveState {
		state, err := readState(ctx, r.sessions[""], o)
		if err != nil {
			o.warn("the storage state could not be read: %w", err)
		}
		result.State = state
	}
	r.close(ctx)
	result.DurationMS = time.Since(started).Milliseconds()
	result.Outcome = result.outcome()
	return result
}

func (c CaseResult) outcome() report.Outcome {
	switch {
	case !c.OK:
		return report.Failed
	case len(c.Failed) > 0 || slices.ContainsFunc(c.Steps, StepResult.Flaky):
		return report.Flaky
	}
	return report.Passed
}

// count is how many steps there are at least.
func count(steps []spec.Step, scope *spec.Scope) int {
	n := 0
	for i := range steps {
		if f := steps[i].ForEach; f != nil {
			items := 1
			if list, err := scope.Expand(f.In); err == nil {
				if list, ok := list.([]any); ok {
					items = len(list)
				}
			}
			n += items * count(f.Steps, scope)
			continue
		}
		n++
	}
	return n
}

// run is one attempt of a case. It is for one goroutine.
type run struct {
	browser Browser
	c       *spec.Case
	o       Options
	scope   spec.Scope

	sessions map[string]*session
	order    []*session
	results  []StepResult
	seen     map[string]int // names of steps
	number   int
	of       int
	stopped  bool

	planRoutes   []routed // of the plan whose steps run
	routeResults []RouteResult
}

// session is a session of the case with the names of its tabs.
type session struct {
	Session
	tabs    map[string]string // runtime ids by name; "" is the first tab
	watched map[string]bool   // tabs whose console and network are recorded
	// projections are names of projections by the address of a page, see run.projections.
	projections map[string][]string
	routing     bool // it has answered requests, so that its end has to be said
}

// begin makes the first session.
func (r *run) begin(ctx context.Context) {
	if _, err := r.session(ctx, ""); err != nil {
		r.stop("start", err)
	}
}

// stop adds a failure that is no step's.
func (r *run) stop(name string, err error) {
	f := fault.From(err)
	if f.Code == fault.Internal {
		f = fault.Wrap(fault.Internal, err, "%s", err.Error())
	}
	result := StepResult{Name: spec.Numbered(name, r.seen), Error: r.o.Secrets.Fault(f)}
	r.results = append(r.results, result)
	r.tell(result)
	r.stopped = true
}

func (r *run) tell(s StepResult) {
	if r.o.OnStep != nil {
		r.o.OnStep(s)
	}
}

// session is the session of a name, which is made when it is new.
func (r *run) session(ctx context.Context, name string) (*session, error) {
	if s := r.sessions[name]; s != nil {
		return s, nil
	}
	made, err := r.browser.Session(ctx, name == "")
	if err != nil {
		return nil, err
	}
	s := &session{Session: made, tabs: map[string]string{}, watched: map[string]bool{}}
	r.sessions[name] = s
	r.order = append(r.order, s)
	main, err := made.Main(ctx)
	if err != nil {
		return nil, err
	}
	s.tabs[""] = main.RuntimeID
	if err := r.route(ctx, s, nil); err != nil {
		return nil, err
	}
	path, open := r.beginnings(name)
	state := r.o.StorageState
	if name != "" || state == nil {
		if state, err = r.loadState(path); err != nil {
			return nil, err
		}
	}
	on := runtime.Target{RuntimeID: main.RuntimeID}
	if state != nil {
		if err := setState(ctx, s, on, state, r.o); err != nil {
			return nil, err
		}
	}
	if open != "" {
		if reply := r.navigate(ctx, s, on, open, r.o.CallTimeout); reply.Err != nil {
			return nil, reply.Err
		}
	}
	return s, nil
}

// beginnings is what a session begins with: a file of storage state, and an address.
func (r *run) beginnings(name string) (path, open string) {
	for _, p := range slices.Concat(r.c.Teardown, r.c.Setup, []*spec.Plan{r.c.Plan}) {
		if name == "" {
			path = orElse(p.StorageState, path)
			continue
		}
		if s, ok := p.Sessions[name]; ok {
			path, open = orElse(s.StorageState, path), orElse(s.Open, open)
		}
	}
	return path, open
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// tab is the tab of a name, which is opened when it is new.
func (r *run) tab(ctx context.Context, s *session, name string) (runtime.Target, error) {
	id, ok := s.tabs[name]
	if !ok {
		status, err := s.Open(ctx)
		if err != nil {
			return runtime.Target{}, err
		}
		id = status.RuntimeID
		s.tabs[name] = id
	}
	on := runtime.Target{RuntimeID: id}
	if r.o.Evidence && !s.watched[id] {
		s.watched[id] = true
		record(ctx, s, on, r.o)
	}
	return on, nil
}

func (r *run) close(ctx context.Context) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	for _, s := range slices.Backward(r.order) {
		if err := s.Close(bounded); err != nil {
			r.o.warn("closing a session: %w", err)
		}
	}
}

// plan runs the steps of one plan of the case.
func (r *run) plan(ctx context.Context, p *spec.Plan, phase string) {
	if len(p.Route) > 0 && !r.stopped {
		if err := r.enter(ctx, p); err != nil {
			r.stop("route", err)
		}
		defer r.leave(context.WithoutCancel(ctx))
	}
	open := p.Open
	if p == r.c.Plan && r.o.Open != "" {
		open = r.o.Open
	}
	if open != "" && !r.stopped && ctx.Err() == nil {
		s := r.sessions[""]
		err := r.openFile(ctx, s, open)
		on, tabErr := r.tab(ctx, s, "")
		if tabErr != nil {
			err = tabErr
		} else if err == nil && !isFile(open) {
			if reply := r.navigate(ctx, s, on, open, r.o.CallTimeout); reply.Err != nil {
				err = reply.Err
			}
		}
		if err != nil {
			r.stop("open "+open, err)
		}
	}
	r.steps(ctx, p.Steps, phase, "")
}

func (r *run) steps(ctx context.Context, steps []spec.Step, phase, suffix string) {
	for i := range steps {
		s := &steps[i]
		if s.ForEach != nil && !r.stopped && ctx.Err() == nil {
			r.each(ctx, s, phase, suffix)
			continue
		}
		r.step(ctx, s, phase, suffix)
	}
}

// each runs the steps of for_each for each item.
func (r *run) each(ctx context.Context, s *spec.Step, phase, suffix string) {
	list, err := r.scope.Expand(s.ForEach.In)
	items, ok := list.([]any)
	if err == nil && !ok {
		err = fault.New(fault.InvalidInput, "for_each is not over a list")
	}
	if err != nil {
		r.stop(s.Name+suffix, err)
		return
	}
	before, had := r.scope.Items[s.ForEach.As]
	for i, item := range items {
		r.scope.Items[s.ForEach.As] = item
		label := ""
		if text, ok := item.(string); ok {
			label = " " + report.Shorten(report.Printable(text), 40)
		}
		r.steps(ctx, s.ForEach.Steps, phase, fmt.Sprintf("%s [%d/%d%s]", suffix, i+1, len(items), label))
	}
	if delete(r.scope.Items, s.ForEach.As); had {
		r.scope.Items[s.ForEach.As] = before
	}
}

// step runs one step with its retries, or passes over it.
func (r *run) step(ctx context.Context, s *spec.Step, phase, suffix string) {
	r.number++
	x, err := expanded(s, &r.scope)
	name := spec.Numbered(x.Name+suffix, r.seen)
	blank := StepResult{
		Name: name, Action: x.Action, State: x.State, Call: x.Call, Check: x.Check, Expect: expectText(x.Expect), Phase: phase, Session: x.Session, Tab: x.Tab,
		at: report.Place{File: s.At.File, Line: s.At.Line, Pointer: s.At.Pointer},
	}
	if r.stopped || ctx.Err() != nil {
		blank.Skipped = true
		r.results = append(r.results, blank)
		r.tell(blank)
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
	r.tell(result)
}

// attempts runs a step until it is well or has no retry left.
func (r *run) attempts(ctx context.Context, s *spec.Step, x *spec.Step, blank StepResult) StepResult {
	var failed []FailedStep
	for n := 0; ; n++ {
		began := time.Now()
		result, on := r.attempt(ctx, s, x, blank)
		result.Failed = failed
		if !result.OK {
			r.gather(ctx, &result, on, began)
		}
		if result.OK || n == s.Retries || ctx.Err() != nil {
			if !result.OK {
				r.mend(ctx, x, &result, on)
			}
			return result
		}
		failed = append(failed, FailedStep{Detail: result.Detail(), DurationMS: result.DurationMS, Artifacts: result.Artifacts, shot: result.shot, texts: result.texts})
	}
}

// gather takes the evidence of a failure.
func (r *run) gather(ctx context.Context, result *StepResult, on place, began time.Time) {
	if on.session == nil {
		return
	}
	after := context.WithoutCancel(ctx)
	if r.o.Evidence {
		result.shot, result.texts = evidenceOf(after, on.session, on.target, r.o, began)
		result.texts = append(r.changed(after, on, result.before), result.texts...)
	}
	if r.o.Artifacts == "" {
		return
	}
	name := fmt.Sprintf("%02d-%s", r.number, fileName(result.Name))
	if r.c.Number > 0 {
		name = fmt.Sprintf("%03d-%s", r.c.Number, name)
	}
	o := r.o
	if r.o.Many {
		o.Artifacts = filepath.Join(r.o.Artifacts, fileName(strings.TrimSuffix(r.c.ID, filepath.Ext(r.c.ID))))
	}
	if n := len(result.Failed); n > 0 {
		name += fmt.Sprintf("-retry%d", n)
	}
	shot, err := screenshot(after, on.session, on.target, o, name, result.boxes()...)
	if err != nil {
		r.o.warn("no screenshot: %w", err)
		return
	}
	result.Artifacts = map[string]string{"screenshot": shot}
}

// place is where a step runs.
type place struct {
	session *session
	target  runtime.Target
}

// attempt runs a step once.
func (r *run) attempt(ctx context.Context, s, x *spec.Step, result StepResult) (StepResult, place) {
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
	home, err := r.session(ctx, x.Session)
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
	began := time.Now()
	var reply runtime.Reply
	if x.Open != "" {
		reply = r.navigate(ctx, home, on, x.Open, limit)
	}
	if name, arguments, err := request(x); err != nil {
		reply = runtime.Reply{Err: fault.From(err)}
	} else if name != "" && reply.Err == nil {
		reply = home.Do(ctx, runtime.Call{ID: r.o.NewID(), Target: on, Name: name, Arguments: arguments, Timeout: limit, Appearance: r.appearance(x)})
		result.look(reply)
	}
	result.OK, result.URL, result.Output, result.Error, result.Steps = reply.Err == nil, reply.URL, reply.Output, reply.Err, reply.Steps
	result.DurationMS = time.Since(began).Milliseconds()
	if x.Check && reply.Err == nil {
		result.page = &report.Page{Raw: reply.Output, Duration: reply.Duration}
		if err := json.Unmarshal(reply.Output, result.page); err != nil {
			result.OK, result.Error = false, fault.Wrap(fault.Internal, err, "reading the result")
		} else if !result.page.OK {
			result.OK, result.Unmet = false, firstOf(result.page.Causes())
		}
	}
	if x.NewTab != "" && result.OK {
		if err := r.nameNewTab(ctx, home, known, x.NewTab, limit); err != nil {
			result.OK, result.Error = false, fault.From(err)
		}
	}
	if len(x.Expect) > 0 {
		r.expect(ctx, at, x.Expect, since, &result)
	}
	r.settleRoutes(ctx, at, routes, &result)
	if result.OK {
		r.capture(ctx, s, &result)
	}
	result.DurationMS = time.Since(began).Milliseconds()
	return result, at
}

func (s *session) ids() map[string]bool {
	out := map[string]bool{}
	for _, t := range s.Tabs() {
		out[t.RuntimeID] = true
	}
	return out
}

// nameNewTab waits for the tab that a step made the page open.
func (r *run) nameNewTab(ctx context.Context, s *session, known map[string]bool, name string, limit time.Duration) error {
	found := ""
	ok := until(ctx, s, limit, func() bool {
		for _, t := range s.Tabs() {
			if !known[t.RuntimeID] {
				found = t.RuntimeID
			}
		}
		return found != ""
	})
	if !ok {
		return fault.New(fault.Timeout, "the step opened no tab").With("new_tab", name)
	}
	s.tabs[name] = found
	return nil
}

// lostNews is when something is looked at again although no event came: a host may not
// report any.
const lostNews = 250 * time.Millisecond

// until waits for events of the session until holds says so, ctx ends or the time is up.
func until(ctx context.Context, s *session, limit time.Duration, holds func() bool) bool {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	news := make(chan struct{}, 1)
	unsubscribe := s.Subscribe(func(runtime.Event) {
		select {
		case news <- struct{}{}:
		default:
		}
	})
	defer unsubscribe()
	anyway := time.NewTicker(lostNews)
	defer anyway.Stop()
	for {
		if holds() {
			return true
		}
		select {
		case <-news:
		case <-anyway.C:
		case <-bounded.Done():
			return holds()
		}
	}
}

// isFile: the address is of a file, which no primitive opens.
func isFile(address string) bool {
	scheme, _, ok := strings.Cut(address, ":")
	return ok && strings.EqualFold(scheme, "file")
}

// openFile begins a session at a file that the caller of the run gave, in place of its
// first tab. A file that only the plan names is refused: it may come from anybody.
func (r *run) openFile(ctx context.Context, s *session, address string) error {
	if !isFile(address) {
		return nil
	}
	at, ok := s.Session.(interface {
		OpenAt(ctx context.Context, address string) (runtime.TabStatus, error)
	})
	if address != r.o.Open || !ok {
		return fault.New(fault.PermissionDenied, "a plan may not open a file").With("address", address).Next("give it by --open, without a profile")
	}
	status, err := at.OpenAt(ctx, address)
	if err != nil {
		return err
	}
	s.tabs[""] = status.RuntimeID
	return nil
}

// navigate opens an address in a tab.
func (r *run) navigate(ctx context.Context, s *session, on runtime.Target, address string, limit time.Duration) runtime.Reply {
	text, err := r.scope.Text(address)
	if err == nil {
		text, err = Address(text)
	}
	if err != nil {
		return runtime.Reply{Err: fault.New(fault.InvalidInput, "%s", err.Error())}
	}
	arguments, err := json.Marshal(map[string]string{"url": text})
	if err != nil {
		return runtime.Reply{Err: fault.From(err)}
	}
	return s.Do(ctx, runtime.Call{ID: r.o.NewID(), Target: on, Name: "browser.navigate", Arguments: arguments, Timeout: limit})
}

// expanded is a step with its references replaced.
func expanded(s *spec.Step, scope *spec.Scope) (spec.Step, error) {
	x := *s
	for _, field := range []*string{&x.Name, &x.Open, &x.Action, &x.State, &x.Summary, &x.Call, &x.Session, &x.Tab, &x.NewTab} {
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
	x.Expect = slices.Clone(s.Expect)
	for i := range x.Expect {
		if err := x.Expect[i].Expand(scope); err != nil {
			return x, err
		}
	}
	return x, nil
}

// settle is how long a check of a plan probes again.
const settle = 2 * time.Second

// request is the call that the step makes, "" when it makes none.
func request(s *spec.Step) (name string, arguments json.RawMessage, err error) {
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

// firstTab selects the tab that the first address made: a page that opens a
// popup meanwhile must not make a call ambiguous.
func firstTab(h Host) runtime.Target {
	if tabs := h.Tabs(); len(tabs) > 0 {
		return runtime.Target{RuntimeID: tabs[0].RuntimeID}
	}
	return runtime.Target{}
}

// loadState reads a file of storage state; "" has none.
func (r *run) loadState(path string) (json.RawMessage, error) {
	path, err := r.scope.Text(path)
	if err != nil || path == "" {
		return nil, err
	}
	if r.o.Root != "" && !spec.Below(r.o.Root, path) {
		return nil, fault.New(fault.UnsafePath, "the storage state %s is none of the plan's own files", path)
	}
	return LoadState(path)
}
