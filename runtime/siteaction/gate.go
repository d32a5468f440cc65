package siteaction

import (
	"context"
	"maps"
	"slices"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/checks"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/location"
	"github.com/outrider-run/outrider/sites/manifest"
)

// gate is the batch of probes that must hold before a tool may start.
type gate struct {
	lib      *sites.Library
	m        *sites.Map                      // declares the tool
	required []string                        // states
	target   *manifest.Target                // of the tool: its address must be that of the page
	signedIn *bool                           // somebody must be signed in, or nobody
	moves    []move                          // one of them applies
	checks   []sites.Exposed[manifest.Check] // they must pass
	chosen   *move

	// What the last batch could not decide, and did not block: required states
	// and signed_in, checks that need a setup.
	undecided, unchecked []string
	// Drift is that of the states that let the action start.
	drift []checks.Drift
}

func gateOf(o *mapset.Offer, match *sites.Match, moves []move) *gate {
	return &gate{
		lib:      o.Library,
		m:        match.Map,
		moves:    moves,
		target:   match.Tool.Target,
		required: verify.RequiredStates(o.Library, match.Map, match.Tool),
		signedIn: verify.NeedsSignedIn(o.Library, match.Map, match.Tool),
		checks: slices.DeleteFunc(o.Library.ChecksAbout(match), func(k sites.Exposed[manifest.Check]) bool {
			return k.Entry.Severity != "critical"
		}),
	}
}

// pass waits a moment for the page to be where the tool may start, and chooses
// the transition that applies.
func (g *gate) pass(ctx context.Context, a *Actions) *fault.Error {
	if len(g.moves) > 0 {
		g.chosen = &g.moves[0]
	}
	if len(g.required)+len(g.checks) == 0 && g.signedIn == nil && !g.conditional() && !hasAddress(g.target) {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, StateWait)
	defer cancel()
	var refused *fault.Error
	met, err := observe.Until(ctx, bounded, a, func(ctx context.Context, page primitives.Page) (bool, error) {
		s := verify.Batch{Library: g.lib, Attached: a.Attachments.State}
		g.want(&s)
		if err := s.Evaluate(ctx, page); err != nil {
			return false, err
		}
		refused = g.judge(&s)
		return refused == nil, nil
	})
	switch {
	case met:
		return nil
	case ctx.Err() != nil:
		return fault.From(ctx.Err())
	case refused != nil:
		return refused
	case err != nil:
		return fault.From(err)
	}
	return fault.New(fault.StateMismatch, "the page could not be observed in time; nothing was done")
}

// note puts into a reply what the gate could not decide: an agent learns what
// nobody has verified, whether the action went well or not.
func (g *gate) note(reply call.Reply) call.Reply {
	add := func(member string, list any, count int) {
		switch {
		case count == 0:
		case reply.Err != nil:
			e := *reply.Err
			e.Evidence = maps.Clone(e.Evidence)
			reply.Err = e.With(member, list)
		default:
			reply.Output = call.WithMember(reply.Output, member, list)
		}
	}
	add("unverified_requires", g.undecided, len(g.undecided))
	add("unverified_checks", g.unchecked, len(g.unchecked))
	add("requires_drift", g.drift, len(g.drift))
	return reply
}

func hasAddress(t *manifest.Target) bool { return t != nil && t.URLContains+t.URLMatches != "" }

// applies reports whether a page has an address that a target is for.
func applies(t *manifest.Target, url string) bool {
	return !hasAddress(t) || location.URLContains(t.URLContains, url) && location.URLMatches(t.URLMatches, url)
}

// conditional reports whether the transitions depend on anything that can be observed.
func (g *gate) conditional() bool {
	return slices.ContainsFunc(g.moves, func(e move) bool {
		return verify.IsState(g.lib, e.Source.Map, e.Entry.From) ||
			slices.ContainsFunc(e.Entry.Preconditions, func(p string) bool {
				return verifiable(g.lib, e.Source.Map, p)
			})
	})
}

// verifiable reports whether a precondition names something that can be observed.
func verifiable(lib *sites.Library, m *sites.Map, precondition string) bool {
	_, check := lib.Check(m, precondition)
	return check != nil || verify.IsState(lib, m, precondition)
}

func (g *gate) want(s *verify.Batch) {
	for _, n := range g.required {
		s.AddState(g.m, n)
	}
	if g.signedIn != nil {
		s.AddSignedIn(g.m)
	}
	for _, k := range g.checks {
		s.AddCheck(k.Source.Map, k.Entry)
	}
	for _, e := range g.moves {
		m := e.Source.Map
		s.AddState(m, e.Entry.From)
		for _, p := range e.Entry.Preconditions {
			s.AddState(m, p)
			if in, k := g.lib.Check(m, p); k != nil {
				s.AddCheck(in, k)
			}
		}
	}
}

func (g *gate) judge(s *verify.Batch) *fault.Error {
	g.undecided, g.unchecked = nil, nil
	g.drift = nil
	if !applies(g.target, s.URL) {
		return fault.New(fault.StateMismatch, "the page is not at an address of the action's target; nothing was done").
			With("target", verify.TargetEvidence(g.target)).
			With("url", fault.Clip(s.URL, 200)).Next("go to a page that the action is for")
	}
	if err := s.Require(g.m, g.required); err != nil {
		return err
	}
	for _, n := range verify.RequiredNames(g.lib, g.m, g.required) {
		d := s.Diagnose(g.m, n)
		g.drift = append(g.drift, d.Drift...)
		if d.Verdict == verify.Unknown {
			g.undecided = append(g.undecided, n)
		}
	}
	if g.signedIn != nil {
		decided, err := s.RequireSignedIn(g.m, *g.signedIn)
		if err != nil {
			return err
		}
		if !decided {
			g.undecided = append(g.undecided, verify.SignedInName(*g.signedIn))
		}
	}
	for _, k := range g.checks {
		r := s.Check(k.Source.Map, k.Entry).Named(k.Name)
		switch r.Status {
		case checks.Failed:
			return r.Refusal("a critical check of the action fails; nothing was done")
		case checks.NotRun:
			g.unchecked = append(g.unchecked, k.Name)
		}
	}
	if len(g.moves) == 0 {
		return nil
	}
	var first *fault.Error
	for i := range g.moves {
		before := len(g.unchecked)
		err := g.precondition(s, &g.moves[i])
		if err == nil {
			g.chosen = &g.moves[i]
			g.drift = append(g.drift, s.Diagnose(g.moves[i].Source.Map, g.moves[i].Entry.From).Drift...)
			return nil
		}
		g.unchecked = g.unchecked[:before]
		if first == nil {
			first = err
		}
	}
	return first
}

// precondition returns why a transition cannot start from what the page shows.
func (g *gate) precondition(s *verify.Batch, e *move) *fault.Error {
	m, t := e.Source.Map, e.Entry
	names := append([]string{t.From}, t.Preconditions...)
	if err := s.Require(m, names); err != nil {
		return err.With("transition", e.Name)
	}
	for _, p := range t.Preconditions {
		if in, k := g.lib.Check(m, p); k != nil && !verify.IsState(g.lib, m, p) {
			r := s.Check(in, k).Named(e.Source.Offered(p))
			switch r.Status {
			case checks.Failed:
				return r.Refusal("a precondition of the transition fails; nothing was done").With("transition", e.Name)
			case checks.NotRun:
				g.unchecked = append(g.unchecked, r.ID)
			}
		}
	}
	return nil
}
