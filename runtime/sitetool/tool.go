// Package sitetool answers the tool actions.site: what the maps of a page offer, its
// checks, states, signals and attachments, and calls of its actions. It decides
// nothing that its parts do not. The runtime gives it the calls of that name.
package sitetool

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/internal/element/lock"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/projection"
	"github.com/outrider-run/outrider/runtime/attach"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/monitor"
	"github.com/outrider-run/outrider/runtime/signal"
	"github.com/outrider-run/outrider/runtime/siteaction"
	"github.com/outrider-run/outrider/runtime/state"
)

// Tool is actions.site on one tab.
type Tool struct {
	actions     *siteaction.Actions
	states      *state.Projections
	monitor     *monitor.Monitor
	signals     *signal.Signals
	attachments *attach.Attachments
	remembered  func(ctx context.Context, arguments json.RawMessage) call.Reply // nil when calls are not remembered
}

// New is for one tab.
func New(
	actions *siteaction.Actions, states *state.Projections, monitor *monitor.Monitor,
	signals *signal.Signals, attachments *attach.Attachments,
) *Tool {
	return &Tool{actions: actions, states: states, monitor: monitor, signals: signals, attachments: attachments}
}

// Remembers has f answer modes learn and record. It is called before the first call.
func (x *Tool) Remembers(f func(ctx context.Context, arguments json.RawMessage) call.Reply) {
	x.remembered = f
}

// arguments are the arguments of actions.site.
type arguments struct {
	Mode       string          `json:"mode"`
	Action     string          `json:"action"`
	ActionName string          `json:"action_name"`
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`

	// Task is the caller's task, for the choice of context in mode list.
	Task string `json:"task"`
	// Only makes mode list answer a part: states.
	Only string `json:"only"`
	// WaitMS is how long mode check probes again while its result is not ok.
	WaitMS *int `json:"wait_ms"`
	expectations
	// Remember has mode check report the appearance of the elements that the checks found.
	Remember bool `json:"remember"`
	// Lock is that appearance, recorded earlier, by the path of the map: mode check proposes
	// repairs from it.
	Lock map[string]*lock.File `json:"lock"`

	// Of the state modes.
	ProjectionName string          `json:"projection_name"`
	Projection     string          `json:"projection"` // the same
	SummaryName    *string         `json:"summary_name"`
	MaxBytes       *int            `json:"max_bytes"`
	Baseline       json.RawMessage `json:"baseline"`
	Enabled        *bool           `json:"enabled"`
	DebounceMS     *int            `json:"debounce_ms"`
	Rows           *string         `json:"rows"`
	Offset         int             `json:"offset"`
	Limit          int             `json:"limit"`
	StateHash      string          `json:"state_hash"`
	Limits         struct {
		Nodes  int   `json:"nodes"`
		Bytes  int   `json:"bytes"`
		TimeMS int64 `json:"time_ms"`
	} `json:"limits"`
}

var siteSchema = sync.OnceValue(func() *schema.Schema {
	s, err := schema.Compile(json.RawMessage(Schema))
	if err != nil {
		panic(err) // the schema is part of the source
	}
	return s
})

// Answer answers actions.site: what the current site offers, and calls of it.
func (x *Tool) Answer(ctx context.Context, c siteaction.Caller, args json.RawMessage) call.Reply {
	if problems := siteSchema().Validate(args); len(problems) > 0 {
		return call.Reply{Err: fault.New(
			fault.InvalidInput, "the arguments do not match the input schema: %s%s", problems[0], problems[0].Advice(),
		).With("tool", call.SiteTool).With("validation_errors", problems[:min(len(problems), 10)])}
	}
	var in arguments
	if err := json.Unmarshal(args, &in); err != nil {
		return call.Reply{Err: fault.New(fault.InvalidInput, "the arguments do not match the input schema").
			With("tool", call.SiteTool)}
	}
	switch in.Mode {
	case "list":
		return x.siteList(ctx, c, in)
	case "check":
		x.actions.Settled(ctx)
		return x.siteCheck(ctx, c, in)
	case "signals":
		return x.siteSignals(ctx, c, in)
	case "attachments":
		return x.siteAttachments(ctx, c, in)
	case "learn", "record":
		if x.remembered == nil {
			return call.Reply{Err: fault.New(
				fault.CapabilityUnavailable,
				"this host does not remember calls, so nothing can be learned of them or saved",
			).With("tool", call.SiteTool)}
		}
		return x.remembered(ctx, args)
	case "call":
		action, arguments, err := in.target()
		if err != nil {
			return call.Reply{Err: err}
		}
		if name, ok := strings.CutPrefix(action, pageToolPrefix); ok && !x.declared(ctx, c, action) {
			return callPageTool(ctx, c, name, arguments)
		}
		return x.actions.Run(ctx, c, action, arguments)
	}
	query := state.Query{
		Mode:       in.Mode,
		Projection: cmp.Or(in.ProjectionName, in.Projection),
		MaxBytes:   in.MaxBytes,
		Baseline:   in.Baseline,
		Enabled:    in.Enabled,
		Page:       state.Page{Rows: in.Rows, Offset: in.Offset, Limit: in.Limit, Hash: in.StateHash},
		Limits: projection.Limits{
			Nodes: in.Limits.Nodes,
			Bytes: in.Limits.Bytes,
			Time:  time.Duration(in.Limits.TimeMS) * time.Millisecond,
		},
	}
	if in.SummaryName != nil {
		query.SummaryName = *in.SummaryName
	}
	if in.DebounceMS != nil {
		debounce := time.Duration(*in.DebounceMS) * time.Millisecond
		query.Debounce = &debounce
	}
	if in.Mode != "state_watch" {
		x.actions.Settled(ctx)
	}
	return x.states.Answer(ctx, c.Message().Map, query)
}

// target returns the action's name and arguments. The name may stand in any of
// four places (wire reference, "actions.site", Input); the first found counts.
func (in arguments) target() (string, json.RawMessage, *fault.Error) {
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
		return "", nil, fault.New(fault.InvalidInput, "arguments is not an object").With("tool", call.SiteTool)
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
			With("tool", call.SiteTool).With("missing_required", []string{"action"})
	}
	return name, arguments, nil
}
