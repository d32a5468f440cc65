package providerkit

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Tier is how much of the protocol a provider meets.
type Tier string

const (
	// Certified: every required scenario passes, and everything that is claimed
	// beyond works.
	Certified Tier = "certified"
	// Compatible: pages can be opened, read and acted on; there are gaps.
	Compatible Tier = "compatible"
	// Experimental: less than that.
	Experimental Tier = "experimental"
	// None: it could not be talked to.
	None Tier = "none"
)

// Outcome of one scenario.
type Outcome string

const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped" // the provider does not claim it
)

// Scenario is one thing that is tested.
type Scenario struct {
	// ID names it in reports and in docs/reference/provider-conformance.md.
	ID string
	// Title is the requirement.
	Title string
	// Essential ones must pass for compatible.
	Essential bool
	// Claim, when not empty, is the method or feature that a provider must claim
	// for the scenario to be run.
	Claim string
	run   func(*run)
}

// Result is what became of a scenario.
type Result struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Outcome Outcome  `json:"outcome"`
	Reasons []string `json:"reasons,omitempty"`
	Millis  int64    `json:"duration_ms"`
}

// Report is what became of a provider.
type Report struct {
	Tier     Tier     `json:"tier"`
	Provider string   `json:"provider"`
	Version  string   `json:"version"`
	Claimed  string   `json:"claimed_tier,omitempty"`
	Reasons  []string `json:"reasons"`
	Results  []Result `json:"scenarios"`
}

// Options configure Run.
type Options struct {
	// CallLimit bounds one request. Default 30 s.
	CallLimit time.Duration
	// EffectLimit bounds the wait for a page to report what a call did to it. Default
	// CallLimit.
	EffectLimit time.Duration
	// Only names the scenarios to run; default all. The tier is then that of
	// what was run.
	Only []string
	// OnResult gets each result as it comes.
	OnResult func(Result)
}

// Run tests a provider: in carries its output, out its input. It returns
// when all scenarios were run, the provider ended or ctx did.
func Run(ctx context.Context, in io.Reader, out io.Writer, opts Options) (Report, error) {
	if opts.CallLimit <= 0 {
		opts.CallLimit = 30 * time.Second
	}
	if opts.EffectLimit <= 0 {
		opts.EffectLimit = opts.CallLimit
	}
	pages, err := newSite()
	if err != nil {
		return Report{Tier: None}, err
	}
	defer pages.Close()
	defer pages.CloseClientConnections()
	s := &suite{ctx: ctx, opts: opts, peer: newPeer(in, out), site: pages}
	report := Report{Tier: None, Reasons: []string{}, Results: []Result{}}
	for _, scenario := range Scenarios() {
		if len(opts.Only) > 0 && scenario.ID != "describe" && !slices.Contains(opts.Only, scenario.ID) {
			continue
		}
		if ctx.Err() != nil {
			return report, ctx.Err()
		}
		result := s.test(scenario)
		report.Results = append(report.Results, result)
		if opts.OnResult != nil {
			opts.OnResult(result)
		}
		if scenario.ID == "describe" && s.description == nil {
			report.Reasons = result.Reasons
			return report, nil // there is nobody to talk to
		}
	}
	report.Provider, _ = s.description["provider_id"].(string)
	report.Version, _ = s.description["provider_version"].(string)
	report.Claimed, _ = s.description["certification_tier"].(string)
	report.judge()
	return report, nil
}

// judge finds the tier and the reasons why it is no higher.
func (r *Report) judge() {
	essential := map[string]bool{}
	for _, s := range Scenarios() {
		essential[s.ID] = s.Essential
	}
	r.Tier = Certified
	for _, result := range r.Results {
		if result.Outcome != Failed {
			continue
		}
		if r.Tier == Certified {
			r.Tier = Compatible
		}
		if essential[result.ID] {
			r.Tier = Experimental
		}
		for _, reason := range result.Reasons {
			r.Reasons = append(r.Reasons, result.ID+": "+reason)
		}
	}
}

// suite is one run against one provider.
type suite struct {
	ctx         context.Context
	opts        Options
	peer        *peer
	site        *site
	description map[string]any // nil until provider.describe has answered
	visits      int
}

// stop ends a scenario.
type stop struct{ outcome Outcome }

func (s *suite) test(scenario Scenario) (result Result) {
	start := time.Now()
	s.visits++
	r := &run{suite: s, id: scenario.ID, visit: fmt.Sprintf("%s-%d", scenario.ID, s.visits)}
	result = Result{ID: scenario.ID, Title: scenario.Title, Outcome: Passed}
	defer func() {
		if p := recover(); p != nil {
			ended, ok := p.(stop)
			if !ok {
				panic(p)
			}
			result.Outcome = ended.outcome
		}
		r.leave()
		r.reasons = append(r.reasons, s.peer.mistakes()...)
		if len(r.reasons) > 0 && result.Outcome == Passed {
			result.Outcome = Failed
		}
		result.Reasons, result.Millis = r.reasons, time.Since(start).Milliseconds()
	}()
	if scenario.Claim != "" && !s.claims(scenario.Claim) {
		r.skip("%s is not claimed", scenario.Claim)
	}
	scenario.run(r)
	return result
}

// claims reports whether the provider says that it has a method or a feature.
func (s *suite) claims(name string) bool {
	capabilities, _ := s.description["capabilities"].(map[string]any)
	for _, list := range []string{"core_methods", "optional_methods", "features"} {
		if slices.Contains(names(capabilities[list]), name) {
			return true
		}
	}
	return false
}

// names reads a list of names, whose entries may be objects with a name.
func names(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, entry := range list {
		switch e := entry.(type) {
		case string:
			out = append(out, e)
		case map[string]any:
			if name, ok := e["name"].(string); ok {
				out = append(out, name)
			}
		}
	}
	return out
}

// run is one scenario on its way.
type run struct {
	*suite
	id       string
	visit    string // distinguishes the pages of this scenario from others
	reasons  []string
	sessions []string // to close at the end
}

// wrong records a failed expectation and continues.
func (r *run) wrong(format string, args ...any) {
	r.reasons = append(r.reasons, fmt.Sprintf(format, args...))
}

// fail records a failed expectation and ends the scenario.
func (r *run) fail(format string, args ...any) {
	r.wrong(format, args...)
	panic(stop{Failed})
}

func (r *run) skip(format string, args ...any) {
	r.wrong(format, args...)
	panic(stop{Skipped})
}

// leave closes the sessions that the scenario left.
func (r *run) leave() {
	for _, id := range r.sessions {
		_, err := r.peer.ask(r.ctx, r.opts.CallLimit, "session.close", map[string]any{"session_id": id})
		if err != nil {
			return
		}
	}
}

type object = map[string]any

// ask sends a request and returns the answer, success or failure, after its form
// was checked.
func (r *run) ask(method string, params object) answer {
	a, err := r.peer.ask(r.ctx, r.opts.CallLimit, method, params)
	if err != nil {
		r.fail("%v", err)
	}
	r.checkForm(method, a)
	return a
}

// checkForm checks the envelope of an answer.
func (r *run) checkForm(method string, a answer) {
	switch {
	case a.ProtocolVersion != "0.1":
		r.fail("the answer to %s has protocol_version %q, want \"0.1\"", method, a.ProtocolVersion)
	case a.OK == nil:
		r.fail("the answer to %s has no ok", method)
	case *a.OK && a.Result == nil:
		r.fail("the answer to %s succeeded without a result object", method)
	case !*a.OK && a.Error == nil:
		r.fail("the answer to %s failed without an error object", method)
	case !*a.OK && (a.Error.Code == "" || a.Error.Message == "" || a.Error.Retryable == nil):
		r.fail("the error of %s lacks code, message or retryable", method)
	}
}

// call sends a request that must succeed.
func (r *run) call(method string, params object) object {
	a := r.ask(method, params)
	if !*a.OK {
		r.fail("%s failed with %s", method, a.Error.Code)
	}
	return a.Result
}

// refused sends a request that must fail with one of the codes.
func (r *run) refused(method string, params object, codes ...string) {
	a := r.ask(method, params)
	if *a.OK {
		r.wrong("%s %s succeeded, want %s", method, members(params), strings.Join(codes, " or "))
	} else if !slices.Contains(codes, a.Error.Code) {
		r.wrong("%s %s failed with %s, want %s", method, members(params), a.Error.Code, strings.Join(codes, " or "))
	}
}

// members names the params that a request had, for reasons.
func members(params object) string {
	var out []string
	for name := range params {
		if name != "session_id" && name != "page_id" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	if len(out) == 0 {
		return "without params"
	}
	return "with " + strings.Join(out, ", ")
}

// text reads a string member that must be there.
func (r *run) text(method string, result object, member string) string {
	s, ok := result[member].(string)
	if !ok || s == "" {
		r.fail("the result of %s has no %s that is a non-empty string", method, member)
	}
	return s
}

// is checks that a member is true.
func (r *run) is(method string, result object, member string) {
	if v, _ := result[member].(bool); !v {
		r.fail("%s did not answer %s true", method, member)
	}
}

// session ensures a session of this scenario.
func (r *run) session(name string) string {
	result := r.call("session.ensure", object{
		"client_session_id":  "conformance-" + r.visit + name,
		"browser_preference": "auto",
		"isolation":          "per_jcode_session",
	})
	id := r.text("session.ensure", result, "session_id")
	if !slices.Contains(r.sessions, id) {
		r.sessions = append(r.sessions, id)
	}
	return id
}

// opened ensures a session and opens the fixture page in it.
func (r *run) opened() (session, page string) {
	session = r.session("")
	result := r.call("page.open", object{"session_id": session, "url": r.site.fixture(r.visit)})
	return session, r.text("page.open", result, "page_id")
}

// seen reports whether the page reports something in time.
func (r *run) seen(what string) bool { return r.site.happened(r.visit, what, r.opts.EffectLimit) > 0 }

// saw checks that the page reported what was claimed.
func (r *run) saw(method, what string) {
	if !r.seen(what) {
		r.fail("%s claims success, and the page did not see %q; it saw %q", method, what, r.site.reported(r.visit))
	}
}

// pageText is the text of a fresh snapshot.
func (r *run) pageText(session string) string {
	result := r.call("page.snapshot", object{"session_id": session, "include_text": true})
	text, _ := result["text"].(string)
	return text
}
