package siteaction

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/primitives/span"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/workflow"
)

// OfferFor returns the maps that answer the call, and the page they are matched
// against.
func (a *Actions) OfferFor(ctx context.Context, supplied *call.SuppliedMap) (*mapset.Offer, string, *fault.Error) {
	page, err := a.LivePage(ctx)
	if err != nil {
		return nil, "", fault.From(err)
	}
	url := page.Tab().URL
	if supplied == nil {
		return a.Maps.WithWeb(ctx, a.Maps.Current(), page), url, nil
	}
	o, fe := a.Maps.Supplied(supplied)
	return a.Maps.WithWeb(ctx, o, page), url, fe
}

// Run runs one action of the site that the tab shows. Nothing of it runs
// when its map is invalid, its arguments do not fit or its workflow names an
// unknown primitive.
func (a *Actions) Run(ctx context.Context, caller Caller, action string, arguments json.RawMessage) call.Reply {
	v := invoker{Caller: caller}
	o, url, err := a.OfferFor(ctx, v.Message().Map)
	if err != nil {
		return call.Reply{Err: err}
	}
	match, err := o.Library.Find(url, action)
	if err != nil && err.Code == fault.UnknownAction {
		via, tr, e := transitionAt(o, url, action)
		if e != nil {
			return call.Reply{Err: e}
		}
		if tr != nil {
			return a.runTransition(ctx, v, o, via, tr, arguments)
		}
	}
	if err != nil {
		if err.Code == fault.UnknownAction && v.Message().Name != call.SiteTool {
			// The caller may have meant a primitive.
			if near := fault.Near(action, a.Registry.Names()); len(near) > 0 {
				err.With("nearest_primitives", near)
			}
		}
		return call.Reply{Err: err}
	}
	if match.Map.OriginDiffers(url) {
		a.Log.Info("the map was written for another origin", "map", match.Map.Path, "call", v.Message().ID)
	}
	if err := a.refused(match, arguments); err != nil {
		return call.Reply{Err: err}
	}
	p, err := a.prepare(o, match)
	if err != nil {
		return call.Reply{Err: err}
	}
	if p.form == formStatic {
		return a.checkResult(match, match.Static(), call.Reply{Output: match.Static()})
	}
	if err := a.unmet(o, match, p.uses); err != nil {
		return call.Reply{Err: err}
	}
	return a.runGated(a.Within(ctx, match.Map, match.Via, url), v, o, match, p, arguments)
}

// runGated runs a tool once the page is in the state that it needs, as a
// transition when it is the tool of one, and reports what the map's checks find when
// it fails.
func (a *Actions) runGated(
	ctx context.Context, v invoker, o *mapset.Offer, match *sites.Match, p prepared, arguments json.RawMessage,
) (answer call.Reply) {
	ctx, end := span.Begin(ctx, span.Action, match.Name)
	defer func() { end(answer.Err) }()
	g := gateOf(o, match, o.Library.Moves(match))
	if err := g.pass(ctx, a); err != nil {
		return call.Reply{Err: err}
	}
	var report *transitionReport
	if g.chosen != nil {
		var err *fault.Error
		report, err = a.begin(ctx, o.Library, g.chosen)
		if err == nil && report.RateLimitWaitMS > 0 {
			err = g.pass(ctx, a) // the page had time to change
		}
		if err != nil {
			return call.Reply{Err: err}
		}
	}
	reply := a.runPrepared(ctx, v, o, match, p, arguments)
	switch {
	case reply.Err != nil:
		reply.Err = a.withChecks(ctx, o, match, reply.Err)
	case report != nil:
		a.arrive(ctx, o.Library, match.Via, g.chosen, report)
		reply.Output = call.WithMember(reply.Output, "transition", report)
	}
	return g.note(reply)
}

// prepared is a tool that can be run, and what of this runtime it will use.
type prepared struct {
	form      form
	program   *workflow.Program
	execution *execution
	uses      []string // primitives
}

// prepare compiles what a tool runs. It touches nothing.
func (a *Actions) prepare(o *mapset.Offer, match *sites.Match) (p prepared, err *fault.Error) {
	p.form = formOf(a.Maps, match)
	switch p.form {
	case formWorkflow:
		p.program, err = a.Maps.Program(o, match.Tool)
		if err == nil {
			p.uses = p.program.Primitives()
		}
	case formExecution:
		p.execution, err = executionOf(a.Maps, o, match)
		if err == nil {
			p.uses = p.execution.uses()
			if a.Maps.Known(p.execution.handler) {
				p.uses = append(p.uses, p.execution.handler)
			}
		}
	case formPrimitive:
		p.uses = []string{match.Tool.XActions.Handler}
	case formExtract:
		p.uses = []string{extractPrimitive}
	case formNone:
		err = match.Unsupported()
		if err == nil {
			err = fault.New(fault.UnsupportedExecutionMode, "the tool declares nothing that runs in a call").
				With("action", match.Tool.Name).With("map_path", match.Map.Path)
		}
	}
	return p, err
}

// Preview says how a call of an action would begin, before the states of the page
// are known.
type Preview struct {
	Form   string // as agents see it: static, workflow, primitive, steps, handler
	Static bool   // it needs nothing of the page
	Err    *fault.Error
}

// Preview describes how an action would run at an address, and what it would lack.
// probed returns why a function of the page cannot be called, nil when it can.
func (a *Actions) Preview(
	o *mapset.Offer, url string, match *sites.Match, probed func(handler string) *fault.Error,
) Preview {
	p, err := a.prepare(o, match)
	out := Preview{Static: p.form == formStatic}
	if err == nil {
		out.Form = p.name()
		err = a.unmet(o, match, p.uses)
	}
	if err == nil && p.form == formExecution && p.execution.mode == handlerOnly && !a.Maps.Known(p.execution.handler) {
		if lacks := probed(p.execution.handler); lacks != nil && lacks.Code == fault.MissingHandler {
			err = lacks
		}
	}
	if err == nil && !out.Static && !applies(match.Tool.Target, url) {
		err = fault.New(fault.StateMismatch, "the page is not at an address of the action's target")
	}
	out.Err = err
	return out
}

// name is the form as agents see it.
func (p prepared) name() string {
	switch p.form {
	case formStatic:
		return "static"
	case formWorkflow:
		return "workflow"
	case formPrimitive, formExtract:
		return "primitive"
	case formExecution:
		if p.execution.mode == handlerOnly || p.execution.mode == handlerFirst {
			return "handler"
		}
		return "steps"
	}
	return ""
}

// runPrepared runs an action, and reads the page until it meets what the map promises
// of it.
func (a *Actions) runPrepared(
	ctx context.Context, v invoker, o *mapset.Offer, match *sites.Match, p prepared, arguments json.RawMessage,
) call.Reply {
	v.from = match.Map
	var after *mapset.Postcondition
	if p.form == formWorkflow || p.form == formExecution {
		var err *fault.Error
		after, err = a.Maps.Postcondition(o, match, p.program)
		if err != nil {
			return call.Reply{Err: err}
		}
	}
	reply := a.runForm(ctx, v, o, match, p, arguments)
	if after == nil || reply.Err != nil {
		return reply
	}
	v.Progress(call.Progress{Phase: "postcondition"})
	verdict, err := a.Postconditions.Verify(ctx, v.Message().Map, after, arguments)
	if err != nil {
		reply.Output, reply.Err = nil, err
		return reply
	}
	reply.Output = call.WithMember(reply.Output, "postcondition", verdict)
	return reply
}

func (a *Actions) runForm(
	ctx context.Context, v invoker, o *mapset.Offer, match *sites.Match, p prepared, arguments json.RawMessage,
) call.Reply {
	switch p.form {
	case formWorkflow:
		return a.runWorkflow(ctx, v, match, p.program, arguments)
	case formExecution:
		return a.runExecution(ctx, v, o, p.execution, match, arguments)
	}
	name, merged, err := match.Primitive(arguments)
	if err == nil && p.form == formExtract {
		name = extractPrimitive
		merged, err = extraction(match.Tool, merged)
	}
	if err != nil {
		return call.Reply{Err: err}
	}
	r := v.Invoke(ctx, name, merged)
	if r.Err != nil {
		return call.Reply{Err: r.Err.Field("primitive", r.Primitive)}
	}
	return a.checkResult(match, r.Payload, call.Reply{Output: r.Envelope()})
}

// StateWait is how long a page that has just changed may take to come to a
// state that a tool needs.
const StateWait = time.Second

// changed waits for the page to change, or for another document, and for d at the
// longest.
func (a *Actions) changed(ctx context.Context, d time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, d)
	var waits sync.WaitGroup
	defer waits.Wait()
	defer cancel()
	if page, err := a.LivePage(bounded); err == nil {
		quiet := observe.Again
		quiet.Timeout = d
		wait := observe.Begin(bounded, page, quiet, waits.Go)
		select {
		case <-wait.Over:
			switch {
			case wait.Changed:
				return ctx.Err()
			case fault.CodeOf(wait.Err) == fault.PageNavigated:
				observe.Pause(bounded, observe.Again.Quiet) // for the next document to have something
				return ctx.Err()
			}
		case <-bounded.Done():
		}
	}
	<-bounded.Done()
	return ctx.Err()
}

func (a *Actions) runWorkflow(
	ctx context.Context, v invoker, match *sites.Match, program *workflow.Program, arguments json.RawMessage,
) call.Reply {
	runs := settled{v, a}
	watched := a.watch(v, match, arguments)
	if watched != nil {
		runs.Invoker = watched
	}
	outcome := program.Run(ctx, runs, workflow.RunOptions{
		Action:              match.Name,
		Input:               arguments,
		ChecksPostcondition: true,
		Quirks:              a.Quirks,
		Changed:             a.changed,
		OnStep: func(id, primitive string) {
			if watched != nil {
				watched.step = id
			}
			v.Progress(call.Progress{Step: id, Primitive: primitive, Phase: "step"})
		},
	})
	reply := call.Reply{Output: outcome.Output, Err: outcome.Err}
	if watched != nil {
		watched.appearances.note(&reply)
	}
	if steps, e := json.Marshal(outcome.Steps); e == nil && outcome.Steps != nil {
		reply.Steps = steps
	}
	if reply.Err != nil {
		reply.Output = nil
		return reply
	}
	var out struct {
		Value json.RawMessage `json:"value"`
	}
	if e := json.Unmarshal(outcome.Output, &out); e != nil || len(out.Value) == 0 {
		out.Value = json.RawMessage("null")
	}
	return a.checkResult(match, out.Value, reply)
}

// refused is why arguments do not fit the schema of the action. The extension
// has no look at schemas of maps.
func (a *Actions) refused(match *sites.Match, arguments json.RawMessage) *fault.Error {
	if a.Quirks.Has(quirks.MapsAsTheyCome) {
		return nil
	}
	return match.ValidateInput(arguments)
}

// checkResult holds an output against the action's result_schema. The schema
// may describe the value that the map computes or the whole output object:
// real maps do both.
func (a *Actions) checkResult(match *sites.Match, value json.RawMessage, reply call.Reply) call.Reply {
	if a.Quirks.Has(quirks.MapsAsTheyCome) {
		return reply
	}
	err := match.ValidateResult(value)
	if err == nil || match.ValidateResult(reply.Output) == nil {
		return reply
	}
	reply.Output, reply.Err = nil, err
	return reply
}
