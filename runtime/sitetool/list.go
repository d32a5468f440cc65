package sitetool

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/attach"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/signal"
	"github.com/outrider-run/outrider/runtime/siteaction"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// siteListing is the output of mode list: what the maps offer on the page, where
// the page stands, and what cannot be called and why.
type siteListing struct {
	sites.Listing
	URL   string `json:"url"`
	Title string `json:"title"`
	// Actions hides the member of Listing.
	Actions     []listedAction     `json:"actions"`
	States      []verify.Diagnosis `json:"states"`
	Current     []string           `json:"current_states"`
	Transitions []listedTransition `json:"transitions"`
	ObservedAt  string             `json:"observed_at,omitempty"` // of the states
	Signals     []signal.Listed    `json:"signals"`
	Attachments []attach.Listed    `json:"attachments"`
	// Context is documentation that the maps offer for where the page stands. It
	// permits nothing.
	Context []sites.ContextBlock `json:"context"`
	// PageTools are the tools that the page itself declares. What they say is its own word.
	PageTools []json.RawMessage `json:"page_tools,omitempty"`
	// ContextDropped counts blocks beyond the limits.
	ContextDropped int `json:"context_dropped,omitempty"`
	// StatesUnknown is why the states could not be observed.
	StatesUnknown *fault.Error `json:"states_unknown,omitempty"`
}

type listedAction struct {
	sites.ActionRow
	// Form is how the action runs: static, workflow, primitive, steps, handler.
	Form         string          `json:"form,omitempty"`
	ResultSchema json.RawMessage `json:"result_schema,omitempty"`
	// RequiresStates are the states that must be current before it starts.
	RequiresStates []string `json:"requires_states,omitempty"`
	// RequiresSignedIn is whether somebody must be signed in, or with false
	// nobody.
	RequiresSignedIn *bool `json:"requires_signed_in,omitempty"`
	// UnverifiedRequires are those of both that nothing on the page can decide.
	UnverifiedRequires []string `json:"unverified_requires,omitempty"`
	// Transitions are those that a call of the action performs.
	Transitions []string `json:"transitions,omitempty"`
}

type listedTransition struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	From        string `json:"from,omitempty"`
	To          string `json:"to,omitempty"`
	Tool        string `json:"tool,omitempty"`
	Signal      string `json:"signal,omitempty"`
	Method      string `json:"method,omitempty"`
	// Available is whether the states it needs are current; null when they
	// cannot be seen.
	Available     *bool            `json:"available"`
	RateLimitMS   int              `json:"rate_limit_ms,omitempty"`
	Preconditions []string         `json:"preconditions,omitempty"`
	Reveals       []string         `json:"reveals,omitempty"`
	DoNotUse      []string         `json:"do_not_use,omitempty"`
	Convergence   *listedCondition `json:"convergence,omitempty"`
	MapPath       string           `json:"map_path"`
}

type listedCondition struct {
	CompleteWhen string `json:"complete_when,omitempty"`
	MaxAttempts  *int   `json:"max_attempts,omitempty"`
}

// stateListing is the output of mode list for the states alone.
type stateListing struct {
	URL           string             `json:"url"`
	Title         string             `json:"title"`
	States        []verify.Diagnosis `json:"states"`
	Current       []string           `json:"current_states"`
	ObservedAt    string             `json:"observed_at,omitempty"`
	StatesUnknown *fault.Error       `json:"states_unknown,omitempty"`
}

// maxHandlersProbed bounds the functions of the page that a list probes.
const maxHandlersProbed = 20

func (x *Tool) siteList(ctx context.Context, c siteaction.Caller, in arguments) call.Reply {
	o, url, err := x.actions.OfferFor(ctx, c.Message().Map)
	if err != nil {
		return call.Reply{Err: err}
	}
	page, e := x.actions.LivePage(ctx)
	if e != nil {
		return call.Reply{Err: fault.From(e)}
	}
	maps := o.Library.For(url)
	if in.Only == "states" {
		return x.onlyStates(ctx, c, o, url)
	}
	out := siteListing{
		Listing:     o.Library.List(url),
		URL:         url,
		Title:       page.Tab().Title,
		Actions:     []listedAction{},
		States:      []verify.Diagnosis{},
		Current:     []string{},
		Transitions: []listedTransition{},
	}
	rows := out.Listing.Actions
	out.Listing.Actions = nil
	seen, targets, e := x.listStates(ctx, c, o, maps)
	switch {
	case e != nil && ctx.Err() != nil:
		return call.Reply{Err: fault.From(e)}
	case e != nil: // a dialog, a page that hangs: what is declared is known all the same
		out.StatesUnknown = fault.From(e)
	default:
		out.States, out.Current = append(out.States, seen.States...), append(out.Current, seen.Current()...)
		if len(seen.States) > 0 {
			out.ObservedAt = jsonout.Time(seen.At)
		}
	}
	out.Context, out.ContextDropped = o.Library.Context(sites.Situation{
		URL:         url,
		States:      out.Current,
		Targets:     targets,
		Attachments: x.attachments.Current(o.Library, maps),
		Task:        in.Task,
	})
	if out.Context == nil {
		out.Context = []sites.ContextBlock{}
	}
	out.PageTools = pageTools(ctx, c, page)
	handlers := map[string]*fault.Error{}
	for _, r := range rows {
		out.Actions = append(out.Actions, x.listAction(ctx, o, url, r, seen, handlers))
	}
	for _, m := range maps {
		c := o.Library.Composition(m)
		for i := range c.Transitions {
			out.Transitions = append(out.Transitions, listTransition(&c.Transitions[i], m, seen))
		}
	}
	out.Signals, out.Attachments = x.signals.List(o.Library, maps), x.attachments.List(o.Library, maps)
	return call.Encoded(out)
}

// onlyStates answers mode list for the states alone: with one call of the page.
func (x *Tool) onlyStates(ctx context.Context, c siteaction.Caller, o *mapset.Offer, url string) call.Reply {
	page, err := x.actions.LivePage(ctx)
	if err != nil {
		return call.Reply{Err: fault.From(err)}
	}
	out := stateListing{URL: url, Title: page.Tab().Title, States: []verify.Diagnosis{}, Current: []string{}}
	for {
		b := verify.Batch{Library: o.Library, Attached: x.attachments.State}
		states := verify.StatesOffered(o.Library, o.Library.For(out.URL))
		if len(states) == 0 {
			return call.Encoded(out)
		}
		for _, n := range states {
			b.AddState(n.In, n.Own)
		}
		err := b.Evaluate(ctx, page)
		switch {
		case err != nil && ctx.Err() != nil:
			return call.Reply{Err: fault.From(err)}
		case err != nil:
			out.StatesUnknown = fault.From(err)
			return call.Encoded(out)
		case b.URL != out.URL && out.URL == url:
			out.URL = b.URL // the tab's own address lags behind a navigation: other maps may apply
			continue
		}
		seen := b.DiagnoseAll(states)
		if c.Message().Map == nil {
			x.monitor.Note(seen)
		}
		out.Current = append(out.Current, seen.Current()...)
		out.States = seen.States
		out.ObservedAt = jsonout.Time(seen.At)
		return call.Encoded(out)
	}
}

// listStates observes the states of the maps, and the targets on which their
// context depends, in one round trip. targets are the names of those that are
// there.
func (x *Tool) listStates(
	ctx context.Context, c siteaction.Caller, o *mapset.Offer, maps []*sites.Map,
) (seen verify.Diagnosed, targets []string, err error) {
	states := verify.StatesOffered(o.Library, maps)
	type named struct {
		name   string
		target *manifest.Target
		in     *sites.Map
	}
	var wanted []named
	for _, m := range maps {
		c := o.Library.Composition(m)
		for i := range c.Contexts {
			e := &c.Contexts[i]
			for _, n := range e.Entry.LoadWhen.Targets {
				if in, target := o.Library.Target(e.Source.Map, n); target != nil {
					if e.Source.ID != "" && e.Source.Namespace != "" {
						n = e.Source.Namespace + "." + n
					}
					wanted = append(wanted, named{n, target, in})
				}
			}
		}
	}
	if len(states)+len(wanted) == 0 {
		return verify.Diagnosed{}, nil, nil
	}
	page, err := x.actions.LivePage(ctx)
	if err != nil {
		return verify.Diagnosed{}, nil, err
	}
	s := verify.Batch{Library: o.Library, Attached: x.attachments.State}
	for _, n := range states {
		s.AddState(n.In, n.Own)
	}
	for _, n := range wanted {
		s.AddTarget(n.target)
		s.AddState(n.in, n.target.State)
	}
	if err := s.Evaluate(ctx, page); err != nil {
		return verify.Diagnosed{}, nil, err
	}
	seen = s.DiagnoseAll(states)
	for _, n := range wanted {
		if s.Match(verify.DescriptorOf(n.target, "", nil)).Found &&
			s.Diagnose(n.in, n.target.State).Verdict != verify.No {
			targets = append(targets, n.name)
		}
	}
	if c.Message().Map == nil {
		x.monitor.Note(seen)
	}
	return seen, targets, nil
}

// listAction describes one action and what a call of it would meet.
func (x *Tool) listAction(
	ctx context.Context, o *mapset.Offer, url string, r sites.ActionRow,
	seen verify.Diagnosed, handlers map[string]*fault.Error,
) listedAction {
	out := listedAction{ActionRow: r}
	match, err := o.Library.Find(url, r.Name)
	if err != nil {
		if out.Unavailable == nil {
			out.unavailable(err)
		}
		return out
	}
	out.RequiresStates = verify.RequiredNames(
		o.Library, match.Map, verify.RequiredStates(o.Library, match.Map, match.Tool),
	)
	out.ResultSchema = match.Tool.XActions.ResultSchema
	out.RequiresSignedIn = verify.NeedsSignedIn(o.Library, match.Map, match.Tool)
	for _, tr := range o.Library.Moves(match) {
		out.Transitions = append(out.Transitions, tr.Name)
	}
	out.Unavailable = nil // what the maps alone cannot run, this runtime may
	p := x.actions.Preview(o, url, match, func(handler string) *fault.Error {
		probed, known := handlers[handler]
		if !known && len(handlers) < maxHandlersProbed && ctx.Err() == nil {
			probed = x.actions.HasHandler(ctx, handler)
			handlers[handler] = probed
		}
		return probed
	})
	out.Form, err = p.Form, p.Err
	if err == nil && !p.Static {
		err = stateReason(o.Library, match, out.RequiresStates, seen)
		for _, n := range out.RequiresStates {
			if seen.VerdictOf(match.Map, n) == verify.Unknown {
				out.UnverifiedRequires = append(out.UnverifiedRequires, n)
			}
		}
		if want := out.RequiresSignedIn; want != nil {
			switch v := verify.SignedInVerdict(o.Library, match.Map, func(n string) verify.Verdict {
				return seen.VerdictOf(match.Map, n)
			}); {
			case v == verify.Unknown:
				out.UnverifiedRequires = append(out.UnverifiedRequires, verify.SignedInName(*want))
			case (v == verify.Yes) != *want && err == nil:
				err = fault.New(
					fault.StateMismatch, "%s",
					map[bool]string{true: "nobody is signed in", false: "somebody is signed in"}[*want],
				)
			}
		}
	}
	if err != nil {
		out.unavailable(err)
	}
	return out
}

// stateReason is why a call would be refused in the states that were seen.
func stateReason(lib *sites.Library, match *sites.Match, required []string, seen verify.Diagnosed) *fault.Error {
	for _, n := range required {
		if seen.VerdictOf(match.Map, n) == verify.No {
			return fault.New(fault.StateMismatch, "the page is not in the state %s", n)
		}
	}
	tr := lib.Moves(match)
	if len(tr) == 0 || slices.ContainsFunc(tr, func(e sites.Exposed[manifest.Transition]) bool {
		return canStart(&e, seen) != verify.No
	}) {
		return nil
	}
	missing := tr[0].Entry.From
	for _, p := range tr[0].Entry.Preconditions {
		if seen.VerdictOf(tr[0].Source.Map, missing) != verify.No {
			missing = p
		}
	}
	return fault.New(fault.StateMismatch, "the page is not in the state %s", tr[0].Source.Offered(missing))
}

func (a *listedAction) unavailable(err *fault.Error) {
	a.Unavailable = &sites.Unavailable{Code: err.Code, Reason: err.Message}
}

// canStart is whether the states that a transition needs are current: the one it
// starts from, and those among its preconditions.
func canStart(e *sites.Exposed[manifest.Transition], seen verify.Diagnosed) verify.Verdict {
	out := verify.Unknown
	for _, n := range append([]string{e.Entry.From}, e.Entry.Preconditions...) {
		switch seen.VerdictOf(e.Source.Map, n) {
		case verify.No:
			return verify.No
		case verify.Yes:
			out = verify.Yes
		}
	}
	return out
}

func listTransition(e *sites.Exposed[manifest.Transition], via *sites.Map, seen verify.Diagnosed) listedTransition {
	t := e.Entry
	out := listedTransition{
		Name:          e.Name,
		Description:   t.Description,
		From:          e.Source.Offered(t.From),
		To:            e.Source.Offered(t.To),
		Tool:          e.Source.Offered(t.Tool),
		Signal:        e.Source.Offered(t.Signal),
		Method:        t.Method,
		RateLimitMS:   t.RateLimitMS,
		Preconditions: t.Preconditions,
		Reveals:       t.Reveals,
		DoNotUse:      t.DoNotUse,
		MapPath:       via.Path,
	}
	out.Available = canStart(e, seen).Pointer()
	if c := t.Convergence; c != nil {
		out.Convergence = &listedCondition{c.CompleteWhen, c.MaxAttempts}
	}
	return out
}
