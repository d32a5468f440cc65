package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"runtime/debug"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
	"github.com/outrider-run/outrider/primitives/page"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/primitives/span"
	"github.com/outrider-run/outrider/primitives/upstream"
	"github.com/outrider-run/outrider/runtime/call"

	"github.com/outrider-run/outrider/runtime/siteaction"
	"github.com/outrider-run/outrider/sites"
)

// execute runs one call on its tab. Every call of every face passes
// through here: actions.site, a primitive by its name, or a site action by its
// name. It never panics and always answers.
func (h *Host) execute(ctx context.Context, t *Tab, j *job) (reply Reply) {
	defer func() {
		if p := recover(); p != nil {
			h.log.Error("a handler panicked", "call", j.call.ID, "name", j.call.Name, "stack", string(debug.Stack()))
			reply = Reply{Err: fault.New(fault.Internal, "the handler of %s failed unexpectedly", j.call.Name)}
		}
	}()
	if j.visit != nil {
		return h.visited(ctx, t, j)
	}
	args, err := call.Object(j.call.Arguments)
	if err != nil {
		return Reply{Err: err}
	}
	ctx = primitives.OnTab(ctx, &t.watches, j.call.Watcher)
	if j.call.Next {
		ctx = primitives.BeforeNext(ctx)
	}
	if j.call.IdempotencyKey != "" {
		ctx = primitives.ToTheEnd(ctx)
	}
	if j.call.Punctual {
		ctx = primitives.Punctual(ctx, stopWait/8)
	}
	if j.call.Mutant != "" {
		ctx = withMutant(ctx, j.call.Mutant)
	}
	switch {
	case j.call.Proves != "":
		return h.mutants(ctx, t, j.call.Proves, args)
	case j.call.Name == LaterEffects && j.call.Watcher != "":
		return h.later(ctx, t, j, args)
	case j.call.Name == SiteTool:
		return t.services.tool.Answer(ctx, invoker{host: h, tab: t, job: j}, args)
	case j.call.Map != nil:
		return t.services.actions.Run(ctx, invoker{host: h, tab: t, job: j}, j.call.Name, args)
	}
	if j.call.OwnWords {
		ctx = primitives.InOwnWords(ctx)
	} else if h.opts.Quirks.Has(quirks.UpstreamVocabulary) && !upstream.Has(j.call.Name) {
		return Reply{Err: primitives.UnknownUpstream(j.call.Name)}
	}
	if _, ok := h.opts.Registry.Lookup(j.call.Name); ok {
		if err := h.opts.Maps.Current().Blocked(t.Status().URL, j.call.Name); err != nil {
			return Reply{Err: err}
		}
		if j.call.Settles && siteaction.ReadsPage(j.call.Name) {
			t.services.actions.Settled(ctx)
		}
		if j.call.Leaves {
			ctx = primitives.Leaving(ctx)
		}
		return h.direct(ctx, t, j, j.call.Name, args)
	}
	return t.services.actions.Run(ctx, invoker{host: h, tab: t, job: j}, j.call.Name, args)
}

// later answers what came of a watcher's actions after their replies.
func (h *Host) later(ctx context.Context, t *Tab, j *job, args json.RawMessage) Reply {
	var in struct {
		QuietMS int `json:"quiet_ms"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return Reply{Err: fault.Wrap(fault.InvalidInput, err, "reading the arguments")}
	}
	live, err := t.LivePage(ctx)
	if err != nil {
		return Reply{Err: fault.From(err)}
	}
	page := sessionPage{Page: live, session: h.sessionOf(t, nil)}
	quiet := time.Duration(in.QuietMS) * time.Millisecond
	return Reply{Output: h.opts.Secrets.FromPage(t.watches.Later(ctx, page, j.call.Watcher, quiet))}
}

// direct runs one primitive for a caller outside a workflow.
func (h *Host) direct(ctx context.Context, t *Tab, j *job, name string, args json.RawMessage) Reply {
	before := t.documents()
	r := invoker{host: h, tab: t, job: j}.InvokeFor(ctx, j.from, name, args)
	if r.Err == nil {
		return call.Enveloped(r.Enveloped())
	}
	r.Err = h.withRenewed(ctx, t, r.Err, before)
	// The protocol sends a failed call as action_error, so the error carries
	// what the failure envelope would.
	e := *h.withStatus(ctx, t, r.Err)
	e.Fields = map[string]any{
		"primitive":          r.Primitive,
		"adapter":            r.AdapterName(),
		"rate_limit_wait_ms": r.Wait.Milliseconds(),
	}
	if len(r.Effects) > 0 {
		e.Fields["effects"] = r.Effects
	}
	maps.Copy(e.Fields, r.Err.Fields)
	reply := Reply{Err: &e}
	if h.opts.Quirks.Has(quirks.UpstreamAnswers) && r.Answered() {
		reply.Answer = r.Envelope()
	}
	return reply
}

// mutants answers a question of the page library for the proof of a plan.
func (h *Host) mutants(ctx context.Context, t *Tab, query string, args json.RawMessage) Reply {
	live, err := t.LivePage(ctx)
	if err != nil {
		return Reply{Err: fault.From(err)}
	}
	var out json.RawMessage
	if err := live.Call(ctx, "", query, args, &out); err != nil {
		return Reply{Err: fault.From(err)}
	}
	return Reply{Output: h.opts.Secrets.FromPage(out)}
}

// documents counts the documents that the page of a tab has had.
func (t *Tab) documents() int {
	t.mu.Lock()
	page := t.page
	t.mu.Unlock()
	if p, ok := page.(numberedPage); ok {
		return p.Documents()
	}
	return 0
}

// withRenewed adds to the failure of a ref of an earlier document which element is it now. before is how many documents
// there were when the call began.
func (h *Host) withRenewed(ctx context.Context, t *Tab, err *fault.Error, before int) *fault.Error {
	if err.Code != fault.ElementStale || h.opts.Quirks.Has(quirks.UpstreamAnswers) || ctx.Err() != nil {
		return err
	}
	live, e := t.LivePage(ctx)
	if e != nil {
		return err
	}
	return page.WithRenewed(ctx, live, err, t.documents() == before)
}

// statusTime bounds how long a failure waits to learn the HTTP status of its page.
const statusTime = 500 * time.Millisecond

// withStatus adds the HTTP status of an error page to the failure of a primitive that
// did not find there what it should.
func (h *Host) withStatus(ctx context.Context, t *Tab, err *fault.Error) *fault.Error {
	switch err.Code {
	case fault.TargetNotFound, fault.TargetNotActionable, fault.StateMismatch, fault.FrameNotFound, fault.Timeout:
	default:
		return err
	}
	if h.opts.Quirks.Has(quirks.UpstreamAnswers) || ctx.Err() != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	page, e := t.LivePage(ctx)
	if e != nil {
		return err
	}
	return primitives.WithHTTPStatus(ctx, page, err)
}

// invoker runs primitives on one tab for one call: it is what a workflow step
// and a direct call share, so that both reach the same handler under the same
// pacing.
type invoker struct {
	host *Host
	tab  *Tab
	job  *job
}

// Progress implements siteaction.Caller.
func (v invoker) Progress(p Progress) { v.job.progress(p) }

// Message implements siteaction.Caller.
func (v invoker) Message() Call { return v.job.call }

// Accepted implements siteaction.Caller.
func (v invoker) Accepted() time.Time { return v.job.accepted }

// InvokeFor implements siteaction.Caller. m is the map on whose behalf the primitive
// runs, nil for an agent's.
func (v invoker) InvokeFor(
	ctx context.Context, m *sites.Map, name string, args json.RawMessage,
) (result primitives.Result) {
	start := time.Now()
	ctx, end := span.Begin(ctx, span.Primitive, name)
	defer func() { end(result.Err) }()
	record, known := v.host.opts.Registry.Lookup(name)
	if primitives.HeldToUpstream(ctx, v.host.opts.Quirks) && !upstream.Has(name) {
		return primitives.Result{Primitive: name, Err: primitives.UnknownUpstream(name)}
	}
	if !known {
		return primitives.Result{Primitive: name, Err: v.host.unknownPrimitive(name)}
	}
	if record.Acts && v.job.call.Mutant != "" {
		return primitives.Result{Primitive: name, Err: fault.New(
			fault.PermissionDenied, "a call for the proof of a plan only reads, and %s acts", name,
		)}
	}
	if err := v.host.forbids(m, name); err != nil {
		return primitives.Result{Primitive: name, Err: err}
	}
	live, err := v.tab.LivePage(ctx)
	if err != nil {
		return primitives.Result{Primitive: name, Err: fault.From(err)}
	}
	page := sessionPage{Page: live, session: v.host.sessionOf(v.tab, m)}
	recorded := page
	ctx = v.host.within(ctx, m, m, live.Tab().URL)
	if b := boundsIn(ctx); b != nil {
		if err := forbidsAddress(b, name, args); err != nil {
			return primitives.Result{Primitive: name, Err: err}
		}
		if err := admitted(ctx, live); err != nil {
			return primitives.Result{Primitive: name, Err: err}
		}
		page.Page, page.session.bounds = boundedPage{live, b}, b
	}
	wait, err := v.tab.pace(ctx, v.host.paced(record, args))
	if err != nil {
		return primitives.Result{Primitive: name, Err: fault.From(err), Wait: wait}
	}
	if record.Acts {
		ctx = primitives.Acting(ctx)
	}
	v.tab.stores().Clipboard.Used(record.Acts)
	done := v.recordPrimitive(primitives.WithoutBounds(ctx), recorded, record, args)
	args, problem := revealSecrets(
		cmp.Or(v.job.call.Secrets, v.host.opts.Secrets), v.job.call.Arguments, v.tab.Status().URL, name, args,
	)
	if problem != nil {
		r := primitives.Result{Primitive: name, Err: problem, Wait: wait}
		done(r)
		return r
	}
	watched := locator.MayDrift(page, args)
	var drift []primitives.Drift
	if watched {
		drift = locator.Drifted(ctx, page, args) // before it acts: the page may be another one then
	}
	r := v.host.hideResult(v.host.opts.Registry.Invoke(ctx, page, name, args))
	if watched && len(drift) == 0 {
		drift = locator.Drifted(ctx, page, args)
	}
	if r.Err == nil {
		r.Drift = drift
	}
	if r.Err != nil && r.Err.Code == fault.PermissionDenied && boundsIn(ctx) != nil {
		r.Err = plainRefusal(r.Err)
	}
	r.Wait = wait
	r.Duration = time.Since(start)
	done(r)
	v.host.log.Debug(
		"primitive", "call", v.job.call.ID, "tab", v.tab.id, "name", name, "ok", r.OK(), "duration", r.Duration,
	)
	return r
}

// pace keeps the minimum distance between the starts of two human-visible
// actions and returns how long it delayed this one.
func (t *Tab) pace(ctx context.Context, paced bool) (time.Duration, error) {
	if !paced {
		return 0, nil
	}
	document := t.document()
	t.mu.Lock()
	if t.pacedIn != document {
		t.pacing = t.host.pacing()
		t.pacedIn = document
		t.lastPaced = time.Time{}
	}
	wait := time.Duration(0)
	if t.pacing > 0 && !t.lastPaced.IsZero() {
		wait = max(0, t.pacing-time.Since(t.lastPaced))
	}
	t.mu.Unlock()
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return wait, ctx.Err()
		}
	}
	t.mu.Lock()
	t.lastPaced = time.Now()
	t.mu.Unlock()
	return wait, nil
}

func (h *Host) unknownPrimitive(name string) *fault.Error {
	return fault.New(fault.UnknownAction, "no primitive has this name").
		With("name", fault.Clip(name, 100)).With("nearest", fault.Near(name, h.opts.Registry.Names()))
}
