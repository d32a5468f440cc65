package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/state"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/workflow"
)

// siteArguments are the arguments of actions.site.
type siteArguments struct {
	Mode       string          `json:"mode"`
	Action     string          `json:"action"`
	ActionName string          `json:"action_name"`
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`

	// Task is what the caller is about, for the choice of context in mode list.
	Task string `json:"task"`
	// WaitMS is how long mode check probes again while its result is not ok.
	WaitMS *int `json:"wait_ms"`
	expectations

	// Of the state modes.
	ProjectionName string          `json:"projection_name"`
	Projection     string          `json:"projection"` // the same
	SummaryName    *string         `json:"summary_name"`
	MaxBytes       *int            `json:"max_bytes"`
	Baseline       json.RawMessage `json:"baseline"`
	Enabled        *bool           `json:"enabled"`
	DebounceMS     *int            `json:"debounce_ms"`
}

var siteSchema = sync.OnceValue(func() *schema.Schema {
	s, err := schema.Compile(json.RawMessage(SiteToolSchema))
	if err != nil {
		panic(err) // the schema is part of the source
	}
	return s
})

// siteCall answers actions.site: what the current site offers, and calls of it.
func (h *Host) siteCall(ctx context.Context, t *Tab, j *job, args json.RawMessage) Reply {
	if problems := siteSchema().Validate(args); len(problems) > 0 {
		return Reply{Err: fault.New(fault.InvalidInput, "the arguments do not match the input schema: %s", problems[0]).
			With("tool", SiteTool).With("validation_errors", problems[:min(len(problems), 10)])}
	}
	var in siteArguments
	if err := json.Unmarshal(args, &in); err != nil {
		return Reply{Err: fault.New(fault.InvalidInput, "the arguments do not match the input schema").With("tool", SiteTool)}
	}
	switch in.Mode {
	case "list":
		return h.siteList(ctx, t, j, in)
	case "check":
		return h.siteCheck(ctx, t, j, in)
	case "signals":
		return h.siteSignals(ctx, t, j, in)
	case "attachments":
		return h.siteAttachments(ctx, t, j, in)
	case "call":
		action, arguments, err := in.target()
		if err != nil {
			return Reply{Err: err}
		}
		return h.siteAction(ctx, t, j, action, arguments)
	}
	query := state.Query{
		Mode: in.Mode, Projection: cmp.Or(in.ProjectionName, in.Projection),
		MaxBytes: in.MaxBytes, Baseline: in.Baseline, Enabled: in.Enabled,
	}
	if in.SummaryName != nil {
		query.SummaryName = *in.SummaryName
	}
	if in.DebounceMS != nil {
		debounce := time.Duration(*in.DebounceMS) * time.Millisecond
		query.Debounce = &debounce
	}
	return t.rooms.states.Answer(ctx, j.call.Map, query)
}

// target returns the action's name and arguments. The name may stand in any of
// four places (wire reference, "actions.site", Input); the first found counts.
func (in siteArguments) target() (string, json.RawMessage, *fault.Error) {
	arguments := in.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	name := in.Action
	for _, other := range []string{in.ActionName, in.Name} {
		if name == "" {
			name = other
		}
	}
	var nested map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &nested); err != nil {
		return "", nil, fault.New(fault.InvalidInput, "arguments is not an object").With("tool", SiteTool)
	}
	var inner string
	if raw, ok := nested["action"]; ok && json.Unmarshal(raw, &inner) == nil && (name == "" || name == inner) {
		name = inner
		delete(nested, "action")
		out, err := json.Marshal(nested)
		if err != nil {
			return "", nil, fault.Wrap(fault.Internal, err, "encoding arguments")
		}
		arguments = out
	}
	if name == "" {
		return "", nil, fault.New(fault.InvalidInput, "mode call needs the name of an action").
			With("tool", SiteTool).With("missing_required", []string{"action"})
	}
	return name, arguments, nil
}

// offerFor returns the maps that answer the call, and the page they are matched
// against.
func (h *Host) offerFor(ctx context.Context, t *Tab, j *job) (*mapset.Offer, string, *fault.Error) {
	page, err := t.LivePage(ctx)
	if err != nil {
		return nil, "", fault.From(err)
	}
	url := page.Tab().URL
	if j.call.Map == nil {
		return h.opts.Maps.WithWeb(ctx, h.opts.Maps.Current(), page), url, nil
	}
	o, fe := h.opts.Maps.Supplied(j.call.Map)
	return h.opts.Maps.WithWeb(ctx, o, page), url, fe
}

// siteAction runs one action of the site that the tab shows. Nothing of it runs
// when its map is invalid, its arguments do not fit or its workflow names an
// unknown primitive.
func (h *Host) siteAction(ctx context.Context, t *Tab, j *job, action string, arguments json.RawMessage) Reply {
	o, url, err := h.offerFor(ctx, t, j)
	if err != nil {
		return Reply{Err: err}
	}
	match, err := o.Library.Find(url, action)
	if err != nil && err.Code == fault.UnknownAction {
		via, tr, e := transitionAt(o, url, action)
		if e != nil {
			return Reply{Err: e}
		}
		if tr != nil {
			return h.runTransition(ctx, invoker{host: h, tab: t, job: j}, o, via, tr, arguments)
		}
	}
	if err != nil {
		if err.Code == fault.UnknownAction && j.call.Name != SiteTool {
			// The caller may have meant a primitive.
			if near := fault.Near(action, h.opts.Registry.Names()); len(near) > 0 {
				err.With("nearest_primitives", near)
			}
		}
		return Reply{Err: err}
	}
	if match.Map.OriginDiffers(url) {
		h.log.Info("the map was written for another origin", "map", match.Map.Path, "call", j.call.ID)
	}
	if err := match.ValidateInput(arguments); err != nil {
		return Reply{Err: err}
	}
	v := invoker{host: h, tab: t, job: j}
	p, err := h.prepare(o, match)
	if err != nil {
		return Reply{Err: err}
	}
	if p.form == formStatic {
		return checkResult(match, match.Static(), Reply{Output: match.Static()})
	}
	if err := h.unmet(o, match, p.uses); err != nil {
		return Reply{Err: err}
	}
	return h.runGated(ctx, v, o, match, p, arguments)
}

// runGated runs a tool once the page is in the state that it needs, as a
// transition when it is the tool of one, and says what the map's checks see when
// it fails.
func (h *Host) runGated(ctx context.Context, v invoker, o *mapset.Offer, match *sites.Match, p prepared, arguments json.RawMessage) Reply {
	g := gateOf(o, match, o.Library.Moves(match))
	if err := g.pass(ctx, v.tab); err != nil {
		return Reply{Err: err}
	}
	var report *transitionReport
	if g.chosen != nil {
		var err *fault.Error
		report, err = h.begin(ctx, v.tab, o.Library, g.chosen)
		if err == nil && report.RateLimitWaitMS > 0 {
			err = g.pass(ctx, v.tab) // the page had time to change
		}
		if err != nil {
			return Reply{Err: err}
		}
	}
	reply := h.runPrepared(ctx, v, o, match, p, arguments)
	switch {
	case reply.Err != nil:
		reply.Err = h.withChecks(ctx, v.tab, o, match, reply.Err)
	case report != nil:
		h.arrive(ctx, v.tab, o.Library, match.Via, g.chosen, report)
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
func (h *Host) prepare(o *mapset.Offer, match *sites.Match) (p prepared, err *fault.Error) {
	p.form = formOf(h.opts.Maps, match)
	switch p.form {
	case formWorkflow:
		if p.program, err = h.opts.Maps.Program(o, match.Tool); err == nil {
			p.uses = p.program.Primitives()
		}
	case formExecution:
		if p.execution, err = executionOf(h.opts.Maps, o, match); err == nil {
			p.uses = p.execution.uses()
			if h.opts.Maps.Known(p.execution.handler) {
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

func (h *Host) runPrepared(ctx context.Context, v invoker, o *mapset.Offer, match *sites.Match, p prepared, arguments json.RawMessage) Reply {
	v.from = match.Map
	switch p.form {
	case formWorkflow:
		return h.runWorkflow(ctx, v, o, match, p.program, arguments)
	case formExecution:
		return h.runExecution(ctx, v, o, p.execution, match, arguments)
	}
	name, merged, err := match.Primitive(arguments)
	if err == nil && p.form == formExtract {
		name = extractPrimitive
		merged, err = extraction(match.Tool, merged)
	}
	if err != nil {
		return Reply{Err: err}
	}
	r := v.Invoke(ctx, name, merged)
	if r.Err != nil {
		return Reply{Err: r.Err.Field("primitive", r.Primitive)}
	}
	return checkResult(match, r.Payload, Reply{Output: r.Envelope()})
}

// stateGrace is how long a page that has just changed may take to come to a
// state that a tool needs.
const stateGrace = time.Second

func (h *Host) runWorkflow(ctx context.Context, v invoker, o *mapset.Offer, match *sites.Match, program *workflow.Program, arguments json.RawMessage) Reply {
	after, err := h.opts.Maps.Postcondition(o, match, program)
	if err != nil {
		return Reply{Err: err}
	}
	outcome := program.Run(ctx, v, workflow.RunOptions{
		Action: match.Name, Input: arguments, ChecksPostcondition: true, Quirks: h.opts.Quirks,
		OnStep: func(id, primitive string) {
			v.job.progress(Progress{Step: id, Primitive: primitive, Phase: "step"})
		},
	})
	reply := Reply{Output: outcome.Output, Err: outcome.Err}
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
	reply = checkResult(match, out.Value, reply)
	if after == nil || reply.Err != nil {
		return reply
	}
	v.job.progress(Progress{Phase: "postcondition"})
	verdict, err := v.tab.rooms.states.Verify(ctx, v.job.call.Map, after, arguments)
	if err != nil {
		return Reply{Err: err, Steps: reply.Steps}
	}
	member, e := json.Marshal(verdict)
	if e != nil {
		return Reply{Err: fault.Wrap(fault.Internal, e, "encoding the postcondition"), Steps: reply.Steps}
	}
	reply.Output = append(append(append(reply.Output[:len(reply.Output)-1:len(reply.Output)-1], `,"postcondition":`...), member...), '}')
	return reply
}

// checkResult holds an output against the action's result_schema. The schema
// may describe the value that the map computes or the whole output object:
// real maps do both.
func checkResult(match *sites.Match, value json.RawMessage, reply Reply) Reply {
	err := match.ValidateResult(value)
	if err == nil || match.ValidateResult(reply.Output) == nil {
		return reply
	}
	return Reply{Err: err, Steps: reply.Steps}
}
