package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

// expectTime is how long an expectation may take to hold.
const expectTime = 5 * time.Second

// marks are where the console and the network of a tab were before a step.
type marks struct{ console, network int }

// marks notes where the lists are, when an expectation asks for what follows.
func (r *run) marks(ctx context.Context, at place, list spec.Expectations) marks {
	var m marks
	for _, e := range list {
		if e.ConsoleErrors != nil {
			m.console = r.cursor(ctx, at, "console.list")
		}
		if len(e.Network) > 0 {
			m.network = r.cursor(ctx, at, "network.list")
		}
	}
	return m
}

func (r *run) cursor(ctx context.Context, at place, name string) int {
	var out struct {
		Cursor int `json:"cursor"`
	}
	_ = json.Unmarshal(evidenceCall(ctx, at.session, at.target, r.o, name, `{"limit":1}`), &out)
	return out.Cursor
}

// expect judges a step by its expectations. With an expression among them the step may
// be well although its call failed.
func (r *run) expect(ctx context.Context, at place, list spec.Expectations, since marks, result *StepResult) {
	checked := result.OK
	judged := slices.ContainsFunc(list, func(e spec.Expectation) bool { return e.Expression != "" })
	if result.Error != nil && !judged {
		return
	}
	var unmet []report.Failure
	for _, e := range list {
		unmet = append(unmet, r.unmet(ctx, at, e, since, *result)...)
	}
	if result.Check && !judged && !checked {
		return // the checks say why
	}
	if result.OK = len(unmet) == 0; result.OK {
		result.Unmet, result.unmet = "", nil
		return
	}
	var texts []string
	for i := range unmet {
		unmet[i].Message = r.o.Secrets.Mask(unmet[i].Message)
		unmet[i].Place = result.at
		texts = append(texts, unmet[i].Message)
	}
	result.unmet, result.Unmet = unmet, strings.Join(texts, "; ")
}

// unmet is what does not hold of one expectation.
func (r *run) unmet(ctx context.Context, at place, e spec.Expectation, since marks, result StepResult) []report.Failure {
	within := expectTime
	if e.Within > 0 {
		within = time.Duration(e.Within)
	}
	var out []report.Failure
	say := func(format string, args ...any) { out = append(out, sides(fmt.Sprintf(format, args...))) }
	if e.Expression != "" {
		for _, why := range r.falseOf(ctx, e, result) {
			out = append(out, sides(why))
		}
	}
	if e.Text != "" && !r.waits(ctx, at, within, map[string]any{"text": e.Text}) {
		say("the page does not show %q within %s", e.Text, within)
	}
	if e.TextGone != "" && !r.waits(ctx, at, within, map[string]any{"text_gone": e.TextGone}) {
		say("the page shows %q still after %s", e.TextGone, within)
	}
	if e.URL != "" && !r.waits(ctx, at, within, map[string]any{"url": e.URL}) {
		say("url: %s, expected %s", at.status().URL, e.URL)
	}
	if e.Title != "" && !until(ctx, at.session, within, func() bool { return at.status().Title == e.Title }) {
		say("title: %q, expected %q", at.status().Title, e.Title)
	}
	if e.State != "" {
		current := func() bool { return slices.Contains(at.status().States, e.State) }
		if !until(ctx, at.session, within, current) {
			found := "none"
			if s := at.status().States; len(s) > 0 {
				found = strings.Join(s, ", ")
			}
			say("current states: %s, expected %s", found, e.State)
		}
	}
	if e.Status != 0 {
		if got := r.status(ctx, at); got != e.Status {
			say("HTTP status: %d, expected %d", got, e.Status)
		}
	}
	if e.Element() {
		out = append(out, r.element(ctx, at, e, within)...)
	}
	if e.ConsoleErrors != nil {
		if errors := r.consoleErrors(ctx, at, since.console); len(errors) > *e.ConsoleErrors {
			say("console errors: %d, expected at most %d (%s)", len(errors), *e.ConsoleErrors, report.Shorten(errors[0], 200))
		}
	}
	for _, q := range e.Network {
		if why := r.request(ctx, at, q, since.network, within); why != "" {
			say("%s", why)
		}
	}
	return out
}

// status is the status of the tab of a place.
func (p place) status() runtime.TabStatus {
	for _, t := range p.session.Tabs() {
		if t.RuntimeID == p.target.RuntimeID {
			return t
		}
	}
	return runtime.TabStatus{}
}

func (r *run) waits(ctx context.Context, at place, within time.Duration, condition map[string]any) bool {
	arguments, err := json.Marshal(map[string]any{"conditions": []any{condition}, "timeout_ms": within.Milliseconds()})
	if err != nil {
		return false
	}
	reply := at.session.Do(ctx, runtime.Call{ID: r.o.NewID(), Target: at.target, Name: "page.wait", Arguments: arguments, Timeout: within + r.o.CallTimeout})
	return reply.Err == nil
}

// value is the value of a primitive's result.
func (r *run) value(ctx context.Context, at place, name, arguments string, out any) error {
	raw := evidenceCall(ctx, at.session, at.target, r.o, name, arguments)
	if raw == nil {
		return fault.New(fault.Timeout, "%s could not be read", name)
	}
	return json.Unmarshal(raw, out)
}

func (r *run) status(ctx context.Context, at place) int {
	var info struct {
		Status int `json:"http_status"`
	}
	_ = r.value(ctx, at, "page.info", `{}`, &info) // 0 is no status
	return info.Status
}

func (r *run) consoleErrors(ctx context.Context, at place, since int) []string {
	var list struct {
		Entries []struct {
			Text string `json:"text"`
		} `json:"entries"`
	}
	if err := r.value(ctx, at, "console.list", fmt.Sprintf(`{"levels":["error"],"since":%d,"limit":1000}`, since), &list); err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, e := range list.Entries {
		out = append(out, report.Printable(e.Text))
	}
	return out
}

// Pauses between two reads of the network.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = 250 * time.Millisecond
)

// request waits for a request, and says what was found in its place.
func (r *run) request(ctx context.Context, at place, q spec.NetworkRequest, since int, within time.Duration) string {
	deadline := time.Now().Add(within)
	what := strings.TrimSpace(q.Method + " " + q.URL)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		var list struct {
			Entries []struct {
				Method string `json:"method"`
				URL    string `json:"url"`
				Status int    `json:"status"`
				State  string `json:"state"`
			} `json:"entries"`
		}
		arguments, err := json.Marshal(map[string]any{"url_contains": q.URL, "since": since, "limit": 1000})
		if err != nil {
			return err.Error()
		}
		if err := r.value(ctx, at, "network.list", string(arguments), &list); err != nil {
			return err.Error()
		}
		found := 0
		var statuses []string
		for _, e := range list.Entries {
			if q.Method != "" && !strings.EqualFold(q.Method, e.Method) {
				continue
			}
			if q.Status != 0 && e.Status != q.Status {
				if e.State != "pending" {
					statuses = append(statuses, fmt.Sprint(e.Status))
				}
				continue
			}
			found++
		}
		switch {
		case q.Count == nil && found > 0, q.Count != nil && found == *q.Count && *q.Count > 0:
			return ""
		case q.Count != nil && found > *q.Count:
			return fmt.Sprintf("requests of %s: %d, expected %d", what, found, *q.Count)
		}
		timer := time.NewTimer(min(pause, max(0, time.Until(deadline))))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		if ctx.Err() != nil || !time.Now().Before(deadline) {
			switch {
			case q.Count != nil && found == *q.Count:
				return ""
			case q.Count != nil:
				return fmt.Sprintf("requests of %s: %d, expected %d", what, found, *q.Count)
			case len(statuses) > 0:
				return fmt.Sprintf("status of %s: %s, expected %d", what, strings.Join(statuses, ", "), q.Status)
			}
			return fmt.Sprintf("requests of %s: none within %s, expected one", what, within)
		}
	}
}

// element judges an element as a check of a map does.
func (r *run) element(ctx context.Context, at place, e spec.Expectation, within time.Duration) []report.Failure {
	text, err := json.Marshal(map[string]any{
		"protocol": "actions.json", "version": 1, "tools": []any{},
		"checks": []any{map[string]any{"id": "expect", "severity": "critical", "assertions": []any{e.Probe()}}},
	})
	if err != nil {
		return []report.Failure{{Message: err.Error()}}
	}
	o := r.o
	o.CallTimeout += within
	page, err := checkPage(ctx, at.session, Expectations{Settle: min(within, time.Minute)}, at.target, &runtime.SuppliedMap{Path: "expect/actions.json", JSON: text}, o)
	if err != nil {
		return []report.Failure{{Message: string(fault.CodeOf(err)) + ": " + fault.From(err).Message}}
	}
	var out []report.Failure
	for _, c := range page.Checks {
		if c.Status == "passed" {
			continue
		}
		for _, reason := range c.Reasons() {
			out = append(out, sides(reason.Message))
		}
		if len(out) == 0 {
			out = append(out, report.Failure{Message: c.Detail()})
		}
	}
	if len(page.Checks) == 0 {
		out = append(out, report.Failure{Message: "the element could not be looked for"})
	}
	return out
}

// input is what expressions see of a step.
func (r *run) input(result StepResult) (expr.Input, error) {
	raw, err := json.Marshal(result)
	if err != nil {
		return expr.Input{}, err
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &members); err != nil {
		return expr.Input{}, err
	}
	more := map[string]any{"vars": r.scope.Vars}
	if r.scope.Row != nil {
		more["row"] = r.scope.Row
	}
	for name, item := range r.scope.Items {
		more[name] = item
	}
	for name, v := range more {
		if _, taken := members[name]; taken {
			continue
		}
		if members[name], err = json.Marshal(v); err != nil {
			return expr.Input{}, err
		}
	}
	if raw, err = json.Marshal(members); err != nil {
		return expr.Input{}, err
	}
	return expr.ParseInput(raw)
}

// falseOf says why an expression does not hold, nil when it does.
func (r *run) falseOf(ctx context.Context, e spec.Expectation, result StepResult) []string {
	in, err := r.input(result)
	if err != nil {
		return []string{err.Error()}
	}
	program, engine := e.Program()
	v, err := program.Eval(ctx, in, expr.Limits{})
	if err != nil {
		return []string{"the expectation could not be evaluated: " + fault.From(err).Message}
	}
	if expr.Truthy(v) {
		return nil
	}
	if why := expr.WhyFalse(ctx, engine, e.Expression, in); len(why) > 0 {
		return why
	}
	if v.Undefined {
		return []string{"the expectation gave nothing"}
	}
	return []string{"the expectation gave " + report.Shorten(string(v.JSON), 200)}
}

// capture evaluates what later steps need of the result.
func (r *run) capture(ctx context.Context, s *spec.Step, result *StepResult) {
	if len(s.Captures()) == 0 {
		return
	}
	in, err := r.input(*result)
	if err != nil {
		result.OK, result.Error = false, fault.From(err)
		return
	}
	result.Captured = map[string]any{}
	for name, program := range s.Captures() {
		v, err := program.Eval(ctx, in, expr.Limits{})
		var value any
		if err == nil && !v.Undefined {
			err = json.Unmarshal(v.JSON, &value)
		}
		if err != nil || v.Undefined {
			why := "it gives nothing"
			if err != nil {
				why = fault.From(err).Message
			}
			result.OK = false
			result.unmet = append(result.unmet, report.Failure{Message: fmt.Sprintf("capture %s: %s: %s", name, s.Capture[name], why), Place: result.at})
			result.Unmet = result.unmet[0].Message
			continue
		}
		result.Captured[name] = value
		r.scope.Vars[name] = value
	}
}

// expectText is the expectations of a step for people.
func expectText(list spec.Expectations) string {
	var parts []string
	for i := range list {
		parts = append(parts, list[i].String())
	}
	return strings.Join(parts, "; ")
}

// Detail says in one line why a step is not well.
func (r StepResult) Detail() string {
	var parts []string
	if r.Unmet != "" {
		parts = append(parts, r.Unmet)
	}
	if r.Error != nil {
		parts = append(parts, string(r.Error.Code)+": "+r.Error.Message)
	}
	return strings.Join(parts, "; ")
}

// Print shows the step for people.
func (r StepResult) Print(w io.Writer) {
	word := "ok"
	switch {
	case r.Skipped:
		word = "skipped"
	case !r.OK:
		word = "failed"
	case r.Healed != "":
		word = "healed"
	case r.Flaky():
		word = "flaky"
	}
	fmt.Fprintf(w, "%-8s %s (%d ms)\n", word, report.Printable(r.Name), r.DurationMS)
	for i, f := range r.Failed {
		fmt.Fprintf(w, "         attempt %d: %s\n", i+1, report.Printable(f.Detail))
	}
	if r.OK || r.Skipped {
		return
	}
	lines := []string{r.Detail()}
	if len(r.unmet) > 1 {
		lines = lines[:0]
		for _, f := range r.unmet {
			lines = append(lines, f.Message)
		}
	}
	for _, line := range lines {
		fmt.Fprintf(w, "         %s\n", report.Printable(line))
	}
	if r.at.Line > 0 {
		fmt.Fprintf(w, "         at %s\n", report.Printable(r.at.String()))
	}
	if r.page != nil && !r.page.OK {
		r.page.Print(w)
	}
}
