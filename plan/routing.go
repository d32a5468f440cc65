package plan

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// Routing is the routes of a session that no plan runs: they come and end one by one. It is safe for concurrent use.
type Routing struct {
	// Set puts rules in force in place of those before.
	Set func(ctx context.Context, rules []*browser.Route) error

	mu   sync.Mutex
	list []routed
}

// RouteInForce is a route that answers requests now.
type RouteInForce struct {
	RouteResult
	Route string `json:"route"` // in words
}

// Add puts a route in force, before those that are there. It is written as in a plan.
func (r *Routing) Add(ctx context.Context, route json.RawMessage) error {
	var read spec.Routes
	if err := json.Unmarshal(route, &read); err != nil {
		return fault.New(fault.InvalidInput, "the route cannot be read: %v", err)
	}
	if len(read) != 1 {
		return fault.New(fault.InvalidInput, "%d routes are given: expected one", len(read))
	}
	one := read[0]
	if one.Abort != "" && reasons[one.Abort] == "" {
		return fault.New(
			fault.InvalidInput, "%q is no reason to abort a request, such as failed or timedout", one.Abort,
		)
	}
	rule, err := ruleOf(one)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.set(ctx, slices.Concat([]routed{{one, rule}}, r.list))
}

// Remove ends the routes with an address pattern, all for "". It answers how many.
func (r *Routing) Remove(ctx context.Context, url string) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(r.list), func(one routed) bool { return url == "" || one.route.URL == url })
	gone := len(r.list) - len(left)
	return gone, r.set(ctx, left)
}

// set is called with the lock.
func (r *Routing) set(ctx context.Context, list []routed) error {
	rules := make([]*browser.Route, len(list))
	for i, one := range list {
		rules[i] = one.rule
	}
	if err := r.Set(ctx, rules); err != nil {
		return err
	}
	r.list = list
	return nil
}

// List is what is in force, as a list of RouteInForce.
func (r *Routing) List() any {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]RouteInForce, len(r.list))
	for i, one := range r.list {
		out[i] = RouteInForce{RouteResult: one.result(), Route: one.route.String()}
	}
	return out
}
