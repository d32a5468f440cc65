package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"slices"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/plan/spec"
)

// askedFor is a request that a step made, or a page that it led to.
type askedFor struct {
	method, path string
	document     bool
	step, name   string
	at           report.Place
	effects      []map[string]any // assertions that held after the step
}

// asked notes what a step requested.
func (r *run) asked(ctx context.Context, at place, result StepResult, effects []map[string]any) {
	p := r.o.prover
	in, err := json.Marshal(map[string]any{
		"types": []string{"xhr", "fetch"}, "since": p.cursor, "limit": 50,
	})
	if err != nil {
		return
	}
	var list struct {
		Cursor  int
		Entries []struct {
			Method, URL string
			Status      int
		}
	}
	if r.value(ctx, at, "network.list", string(in), &list) != nil {
		return
	}
	p.cursor = list.Cursor
	now := at.status().URL
	one := askedFor{step: stepKey(result), name: result.Name, at: result.at}
	add := func(a askedFor) {
		if !slices.ContainsFunc(p.requests, func(b askedFor) bool { return a.method == b.method && a.path == b.path }) {
			p.requests = append(p.requests, a)
		}
	}
	for _, a := range effects {
		if e, err := expectationOf(a); err == nil && len(one.effects) < mostEffects && r.holds(ctx, at, e) {
			one.effects = append(one.effects, a)
		}
	}
	for _, e := range list.Entries {
		if e.Status >= 200 && e.Status < 400 && sameHost(e.URL, now) {
			a := one
			a.method, a.path = e.Method, pathOf(e.URL)
			add(a)
		}
	}
	before := pathOf(p.before.address)
	if p.before.judged && before != pathOf(now) && sameHost(p.before.address, now) {
		a := one
		a.method, a.path = "GET", pathOf(now)
		a.document = true
		add(a)
	}
}

// mostEffects bounds the assertions that are tried on a run with another answer.
const mostEffects = 6

func sameHost(a, b string) bool {
	x, err := url.Parse(a)
	y, err2 := url.Parse(b)
	return err == nil && err2 == nil && x.Host != "" && x.Host == y.Host
}

// repeatable reports whether a plan may be run with other answers: it says so, or what it opens is on this machine.
func repeatable(c *spec.Case, address string) bool {
	if c.Plan.Repeatable {
		return true
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// wholeRuns runs the case again with an answer of 500 to a request, or with another page where a step led to one. It
// returns why there are more that were not tried.
func wholeRuns(ctx context.Context, b Browser, c *spec.Case, o ProveOptions, p *prover, left func() bool) string {
	if len(p.requests) == 0 {
		return ""
	}
	if !repeatable(c, p.opened) {
		return "answers and links were not changed: the plan is not of this machine and does not say repeatable: true"
	}
	for i, a := range p.requests {
		if !left() || ctx.Err() != nil {
			all := len(p.requests)
			return fmt.Sprintf("%d of %d answers and links were not changed: the budget ended", all-i, all)
		}
		p.whole(ctx, b, c, o, a)
	}
	return ""
}

// whole is one run with another answer.
func (p *prover) whole(ctx context.Context, b Browser, c *spec.Case, o ProveOptions, a askedFor) {
	route := spec.Route{
		URL: a.path, Method: a.method, Status: 500, ContentType: "application/json", Body: `{"error":"internal"}`,
	}
	m := &mutation{
		Key:  "answer " + a.method + " " + a.path,
		Kind: "answer_500",
		Says: fmt.Sprintf("%s %s is answered with 500", a.method, a.path),
		step: a.step,
		name: a.name,
		at:   a.at,
	}
	candidates := append(slices.Clone(a.effects), map[string]any{
		"network": []any{map[string]any{"url": a.path, "method": a.method, "status": 200}},
	})
	if a.document {
		m.Kind, m.Says = "other_page", "the step leads to another page than "+a.path
		route = spec.Route{
			URL: a.path, Method: a.method, ContentType: "text/html",
			Body: "<!doctype html><title>Another page</title><h1>Another page</h1>",
		}
		candidates = append([]map[string]any{}, a.effects...)
	}
	changed := *c
	plan := *c.Plan
	plan.Route = append(spec.Routes{route}, plan.Route...)
	changed.Plan = &plan
	o.prover = &prover{other: &wholeRun{step: a.step, candidates: candidates}, byKey: map[string]*mutation{}}
	result := RunCase(ctx, b, &changed, o.Options)
	m.killed = !result.OK
	m.kills = o.prover.other.kills
	p.all = append(p.all, m)
}

// wholeRun is what is tried on a run with another answer.
type wholeRun struct {
	step       string
	candidates []map[string]any
	kills      map[string]any
}

// tried finds an assertion that fails after the step that made the request.
func (r *run) tried(ctx context.Context, at place, since marks, result StepResult) {
	w := r.o.prover.other
	if w.step != stepKey(result) {
		return
	}
	for _, a := range w.candidates {
		e, err := expectationOf(a)
		if err != nil {
			continue
		}
		e.Within = spec.Duration(soon)
		if len(r.unmet(ctx, at, e, since, &StepResult{})) > 0 {
			w.kills = a
			return
		}
	}
}
