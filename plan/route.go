package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/evidence/report"

	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// Route implements Session.
func (w *workspace) Route(ctx context.Context, rules []*browser.Route) error {
	return w.host.Route(ctx, w.Workspace, rules)
}

// Route implements Session.
func (p *profile) Route(ctx context.Context, rules []*browser.Route) error {
	return p.Host.Route(ctx, nil, rules)
}

// routed is a route while it is in force.
type routed struct {
	route spec.Route
	rule  *browser.Route
}

// RouteResult is what a route of a plan did.
type RouteResult struct {
	URL      string                  `json:"url"`
	Method   string                  `json:"method,omitempty"`
	At       string                  `json:"at,omitempty"`
	Answered int                     `json:"answered"`
	Required bool                    `json:"required,omitempty"`
	Missed   []browser.MissedRequest `json:"missed,omitempty"`
	Misses   int                     `json:"misses,omitempty"` // how many of them there were
	// Refused are requests that failed because the browser did not take their answer.
	Refused []browser.MissedRequest `json:"refused,omitempty"`
}

func (r routed) result() RouteResult {
	out := RouteResult{
		URL:      r.route.URL,
		Method:   r.route.Method,
		At:       r.route.At.String(),
		Answered: r.rule.Answered(),
		Required: r.route.Required,
	}
	out.Missed, out.Misses = r.rule.Missed()
	out.Refused = r.rule.Refused()
	return out
}

// unused says that no request came, and which came near.
func (r RouteResult) unused() string {
	text := fmt.Sprintf(
		"route %s: 0 requests, expected at least 1", strings.TrimSpace(strings.ToUpper(r.Method)+" "+r.URL),
	)
	if len(r.Missed) > 0 {
		m := r.Missed[0]
		text += fmt.Sprintf(" (%s %s came, but %s)", m.Method, report.Shorten(report.Printable(m.URL), 200), m.Why)
	}
	return text
}

// routes makes the rules of routes.
func (r *run) routes(list spec.Routes) ([]routed, error) {
	out := make([]routed, 0, len(list))
	for _, one := range list {
		err := one.Expand(&r.scope)
		for _, path := range []string{one.Path, one.HAR} {
			if err == nil && path != "" && r.o.Root != "" && !spec.Below(r.o.Root, path) {
				err = fault.New(fault.UnsafePath, "%s is none of the plan's own files", path)
			}
		}
		var rule *browser.Route
		if err == nil {
			rule, err = ruleOf(one)
		}
		if err != nil {
			return nil, fault.New(fault.InvalidInput, "the route at %s: %s", one.At, fault.From(err).Message)
		}
		out = append(out, routed{one, rule})
	}
	return out, nil
}

// route puts the rules in force for a session: those of the step, and those of the plan.
func (r *run) route(ctx context.Context, s *session, step []routed) error {
	if len(step) == 0 && len(r.planRoutes) == 0 && !s.routing {
		return nil
	}
	s.routing = true
	var rules []*browser.Route
	for _, one := range slices.Concat(step, r.planRoutes) {
		rules = append(rules, one.rule)
	}
	return s.Route(ctx, rules)
}

// enter puts the routes of a plan in force in every session.
func (r *run) enter(ctx context.Context, p *spec.Plan) error {
	var err error
	r.planRoutes, err = r.routes(p.Route)
	if err != nil {
		return err
	}
	for _, s := range r.order {
		if err := r.route(ctx, s, nil); err != nil {
			return err
		}
	}
	return nil
}

// leave ends the routes of a plan, and says which were never used.
func (r *run) leave(ctx context.Context) {
	ended := r.planRoutes
	if len(ended) == 0 {
		return
	}
	r.planRoutes = nil
	for _, s := range r.order {
		if err := r.route(ctx, s, nil); err != nil {
			r.o.warn("ending routes: %w", err)
		}
	}
	complete := !r.stopped // a step that was not run could have used it
	for _, one := range ended {
		result := one.result()
		r.routeResults = append(r.routeResults, result)
		switch {
		case result.Answered > 0 || !complete:
		case result.Required:
			r.unusedRoute(one, result.unused())
		default:
			r.o.warn("%s: %s", result.At, result.unused())
		}
	}
}

// unusedRoute adds the failure of a route that had to be used.
func (r *run) unusedRoute(one routed, why string) {
	at := report.Place{File: one.route.At.File, Line: one.route.At.Line, Pointer: one.route.At.Pointer}
	failure := parseFailure(why)
	failure.Place = at
	result := StepResult{
		Name:  spec.Numbered("route "+one.route.URL, r.seen),
		Unmet: why,
		unmet: []report.Failure{failure},
		at:    at,
	}
	r.results = append(r.results, result)
	r.reportStep(result)
	r.stopped = true
}

// settleRoutes ends the routes of a step. One that is required is waited for as
// expectations are.
func (r *run) settleRoutes(ctx context.Context, at place, list []routed, result *StepResult) {
	if len(list) == 0 {
		return
	}
	late := time.NewTimer(expectTime)
	defer late.Stop()
	for _, one := range list {
		if one.route.Required && result.OK {
			select {
			case <-one.rule.Used():
			case <-late.C:
				late.Reset(0) // those that follow have no time left
			case <-ctx.Done():
			}
		}
		done := one.result()
		result.Routes = append(result.Routes, done)
		switch {
		case done.Answered > 0 || !result.OK:
		case done.Required:
			failure := parseFailure(done.unused())
			failure.Place = report.Place{
				File:    one.route.At.File,
				Line:    one.route.At.Line,
				Pointer: one.route.At.Pointer,
			}
			result.OK = false
			result.Unmet = done.unused()
			result.unmet = []report.Failure{failure}
		default:
			r.o.warn("%s: %s", done.At, done.unused())
		}
	}
	if err := r.route(context.WithoutCancel(ctx), at.session, nil); err != nil {
		r.o.warn("ending routes: %w", err)
	}
}

// maxBody bounds the body of a route.
const maxBody = 16 << 20

// reasons are the protocol's words for those of Playwright.
var reasons = map[string]string{
	"aborted":              "Aborted",
	"accessdenied":         "AccessDenied",
	"addressunreachable":   "AddressUnreachable",
	"blockedbyclient":      "BlockedByClient",
	"blockedbyresponse":    "BlockedByResponse",
	"connectionaborted":    "ConnectionAborted",
	"connectionclosed":     "ConnectionClosed",
	"connectionfailed":     "ConnectionFailed",
	"connectionrefused":    "ConnectionRefused",
	"connectionreset":      "ConnectionReset",
	"failed":               "Failed",
	"internetdisconnected": "InternetDisconnected",
	"namenotresolved":      "NameNotResolved",
	"timedout":             "TimedOut",
}

// ruleOf reads what a route answers with.
func ruleOf(r spec.Route) (*browser.Route, error) {
	if err := browser.CheckRoutePattern(r.URL); err != nil {
		return nil, err
	}
	rule := &browser.Route{
		URL:      r.URL,
		Method:   r.Method,
		Times:    r.Times,
		Delay:    time.Duration(r.Delay),
		Continue: !r.Answers(),
	}
	if r.HAR != "" {
		recorded, err := readHAR(r.HAR)
		if err != nil {
			return nil, err
		}
		rule.Find = recorded.Next
		rule.Has = recorded.Has
		return rule, nil
	}
	kind := r.ContentType
	body := []byte(r.Body)
	var err error
	switch {
	case r.Path != "":
		body, err = readBody(r.Path)
		if err != nil {
			return nil, err
		}
		kind = cmp.Or(kind, mime.TypeByExtension(filepath.Ext(r.Path)), "application/octet-stream")
	case r.JSON != nil:
		body, err = json.Marshal(r.JSON)
		if err != nil {
			return nil, fault.New(fault.InvalidInput, "json: %v", err)
		}
		kind = cmp.Or(kind, "application/json")
	case strings.HasPrefix(strings.TrimSpace(r.Body), "<"):
		kind = cmp.Or(kind, "text/html; charset=utf-8")
	case r.Body != "":
		kind = cmp.Or(kind, "text/plain; charset=utf-8")
	}
	rule.Answer = browser.Answer{Status: r.HTTPStatus(), Body: body, Failure: reasons[r.Abort]}
	says := false
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		says = says || strings.EqualFold(name, "content-type")
		rule.Answer.Headers = append(rule.Answer.Headers, browser.Header{Name: name, Value: r.Headers[name]})
	}
	if kind != "" && !says {
		rule.Answer.Headers = append(rule.Answer.Headers, browser.Header{Name: "Content-Type", Value: kind})
	}
	if err := browser.CheckHeaders(rule.Answer.Headers); err != nil {
		return nil, err
	}
	return rule, nil
}

func readBody(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "%v", err)
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, maxBody+1))
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "%s: %v", path, err)
	}
	if len(body) > maxBody {
		return nil, fault.New(fault.InvalidInput, "%s has more than %d MiB", path, maxBody>>20)
	}
	return body, nil
}

// checkRoutes finds what is odd in the routes of a case, before a browser starts. What a
// step will give is not known yet.
func checkRoutes(c *spec.Case) error {
	var problems spec.Problems
	for _, p := range c.All() {
		for _, one := range p.Routes() {
			scope := spec.Scope{
				Vars:  maps.Clone(c.Scope.Vars),
				Row:   c.Scope.Row,
				Items: map[string]any{},
				Env:   c.Scope.Env,
			}
			if one.Expand(&scope) != nil || strings.Contains(one.Path+one.HAR, "${") {
				continue
			}
			if _, err := ruleOf(one); err != nil {
				problems = append(problems, spec.Problem{Place: one.At, Message: fault.From(err).Message})
			}
		}
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}
