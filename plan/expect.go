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

// expect judges a step by its expectations. A step that failed stays so, unless an
// expression among them judges its failure: the others say nothing about it.
func (r *run) expect(ctx context.Context, at place, list spec.Expectations, since marks, result *StepResult) {
	forgives := slices.ContainsFunc(list, func(e spec.Expectation) bool { return e.Forgives() })
	if forgives {
		r.expectLoss(ctx, list, result)
	}
	if !result.OK && !forgives {
		return
	}
	var unmet []report.Failure
	for _, e := range list {
		unmet = append(unmet, r.unmet(ctx, at, e, since, result)...)
	}
	result.OK = len(unmet) == 0
	if result.OK {
		result.Unmet, result.unmet = "", nil
		return
	}
	if result.Unmet != "" { // what the checks say
		unmet = append([]report.Failure{parseFailure(result.Unmet)}, unmet...)
	}
	var texts []string
	for i := range unmet {
		for _, text := range []*string{&unmet[i].Message, &unmet[i].Expected, &unmet[i].Found} {
			*text = r.o.Secrets.Mask(*text)
		}
		unmet[i].Place = result.at
		texts = append(texts, unmet[i].Message)
	}
	result.unmet, result.Unmet = unmet, strings.Join(texts, "; ")
}

// unmet is what does not hold of one expectation.
func (r *run) unmet(
	ctx context.Context, at place, e spec.Expectation, since marks, result *StepResult,
) []report.Failure {
	within := withinOf(e)
	var out []report.Failure
	say := func(why string) {
		if why != "" {
			out = append(out, parseFailure(why))
		}
	}
	if e.Expression != "" {
		for _, why := range r.falseOf(ctx, e, *result) {
			say(why)
		}
	}
	if e.Text != "" {
		out = append(out, r.shown(ctx, at, e.Text, within)...)
	}
	if e.TextGone != "" {
		switch held, err := r.waits(ctx, at, within, map[string]any{"text_gone": e.TextGone}); {
		case err != nil:
			say(fmt.Sprintf("whether the page shows %q is not known: %s", e.TextGone, errorText(err)))
		case !held:
			say(fmt.Sprintf("the page shows %q still after %s", e.TextGone, within))
		}
	}
	if e.URL != "" {
		switch held, err := r.waits(ctx, at, within, map[string]any{"url": e.URL}); {
		case err != nil:
			say(fmt.Sprintf("url: %s, expected %s", errorText(err), e.URL))
		case !held:
			say(fmt.Sprintf("url: %s, expected %s", at.status().URL, e.URL))
		}
	}
	if e.Title != "" {
		say(r.title(ctx, at, e.Title, within))
	}
	if e.State != "" {
		say(r.current(ctx, at, e.State, within))
	}
	switch {
	case e.Status != 0 && result.Request != "":
		say(answered(e.Status, *result))
	case e.Status != 0:
		say(r.status(ctx, at, e.Status, within))
	}
	if e.Element() {
		out = append(out, r.element(ctx, at, e, within)...)
	}
	if e.Snapshot != "" {
		out = append(out, r.outlined(ctx, at, e, result, within)...)
	}
	if e.Screenshot != "" {
		out = append(out, r.looks(ctx, at, e, result, within)...)
	}
	if e.ConsoleErrors != nil {
		say(r.consoleErrors(ctx, at, *e.ConsoleErrors, since.console))
	}
	for _, q := range e.Network {
		say(r.request(ctx, at, q, since.network, within))
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

// waits waits for a condition of the page. The error is why it cannot be known whether it
// holds.
func (r *run) waits(
	ctx context.Context, at place, within time.Duration, condition map[string]any,
) (held bool, err *fault.Error) {
	arguments, e := json.Marshal(map[string]any{"conditions": []any{condition}, "timeout_ms": within.Milliseconds()})
	if e != nil {
		return false, fault.From(e)
	}
	err = at.session.Do(ctx, runtime.Call{
		ID:        r.o.NewID(),
		Target:    at.target,
		Name:      "page.wait",
		Arguments: arguments,
		Timeout:   within + r.o.CallTimeout,
	}).Err
	if err == nil {
		return true, nil
	}
	if _, judged := err.Evidence["met"]; judged {
		return false, nil // the page was asked to the end
	}
	return false, err
}

// errorText returns an error as one sentence.
func errorText(err error) string {
	f := fault.From(err)
	return string(f.Code) + ": " + f.Message
}

// beginning is how much of a page's text a failure shows, in characters.
const beginning = 120

// shown is why a page does not show a text, with what it shows.
func (r *run) shown(ctx context.Context, at place, text string, within time.Duration) []report.Failure {
	held, err := r.waits(ctx, at, within, map[string]any{"text": text})
	switch {
	case err != nil:
		return []report.Failure{
			{Message: fmt.Sprintf("whether the page shows %q is not known: %s", text, errorText(err)), Expected: text},
		}
	case held:
		return nil
	}
	f := report.Failure{Message: fmt.Sprintf("the page does not show %q within %s", text, within), Expected: text}
	var page struct{ URL, Title, Text string }
	if r.value(ctx, at, "page.extract", `{"formats":["text"],"max_bytes":4000}`, &page) == nil {
		f.Found = report.Shorten(report.Printable(strings.Join(strings.Fields(page.Text), " ")), beginning)
		f.Message += fmt.Sprintf(": %s, %q, begins with %q", page.URL, page.Title, f.Found)
	}
	return []report.Failure{f}
}

// value is the value of a primitive's result.
func (r *run) value(ctx context.Context, at place, name, arguments string, out any) error {
	reply := at.session.Do(ctx, runtime.Call{
		ID:        r.o.NewID(),
		Target:    at.target,
		Name:      name,
		Arguments: json.RawMessage(arguments),
		Timeout:   evidenceTimeout,
		OwnWords:  true,
	})
	if reply.Err != nil {
		return reply.Err
	}
	return json.Unmarshal(reply.Value(), out)
}

// Pauses between two questions to a page.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = 250 * time.Millisecond
)

// poll calls wrong until it finds no fault or the time is up, and returns the last fault. The
// pauses grow, and an event of the session ends one.
func (r *run) poll(ctx context.Context, at place, within time.Duration, wrong func() (why string, final bool)) string {
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	events := make(chan struct{}, 1)
	defer at.session.Subscribe(func(runtime.Event) {
		select {
		case events <- struct{}{}:
		default:
		}
	})()
	why := ""
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		last := bounded.Err() != nil
		next, final := wrong()
		if next != "" && why != "" && ctx.Err() != nil {
			return why // the step has no time left: what was found before says more
		}
		why = next
		if why == "" || final || last {
			return why
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-events:
			timer.Reset(firstPause) // events come in swarms
			select {
			case <-timer.C:
			case <-bounded.Done():
			}
		case <-bounded.Done():
		}
		timer.Stop()
	}
}

// isPermanent reports whether an error stays when the expectation is checked again.
func isPermanent(err error) bool {
	switch fault.CodeOf(err) {
	case fault.DialogOpen, fault.TabCrashed, fault.TabClosed, fault.RuntimeNotFound, fault.BrowserLost,
		fault.SessionLost, fault.Cancelled, fault.PermissionDenied:
		return true
	}
	return false
}

// info is the document of a tab: what the tab says of itself lags behind.
type info struct {
	URL    string `json:"url"`
	Title  string `json:"title"`
	Status int    `json:"http_status"`
}

func (r *run) title(ctx context.Context, at place, want string, within time.Duration) string {
	return r.poll(ctx, at, within, func() (string, bool) {
		var page info
		if err := r.value(ctx, at, "page.info", `{}`, &page); err != nil {
			return fmt.Sprintf("title: %s, expected %q", errorText(err), want), isPermanent(err)
		}
		if page.Title == want {
			return "", true
		}
		return fmt.Sprintf("title: %q, expected %q", page.Title, want), false
	})
}

func (r *run) status(ctx context.Context, at place, want int, within time.Duration) string {
	return r.poll(ctx, at, within, func() (string, bool) {
		var page info
		err := r.value(ctx, at, "page.info", `{}`, &page)
		switch {
		case err != nil:
			return fmt.Sprintf("HTTP status: %s, expected %d", errorText(err), want), isPermanent(err)
		case page.Status == want:
			return "", true
		case page.Status == 0:
			return fmt.Sprintf("HTTP status: %s has no HTTP status, expected %d", page.URL, want), false
		}
		return fmt.Sprintf("HTTP status: %d, expected %d", page.Status, want), false
	})
}

// current is why a state is not current. The states are observed for it: what was seen
// before the step ended says nothing about what it led to.
func (r *run) current(ctx context.Context, at place, want string, within time.Duration) string {
	return r.poll(ctx, at, within, func() (string, bool) {
		var seen struct {
			URL    string `json:"url"`
			States []struct {
				Name    string `json:"name"`
				Current *bool  `json:"current"`
				Drift   []struct {
					Message string `json:"message"`
				} `json:"drift"`
			} `json:"states"`
			Current []string     `json:"current_states"`
			Unknown *fault.Error `json:"states_unknown"`
		}
		arguments, err := runtime.Site{Mode: runtime.SiteList, Only: "states"}.JSON()
		if err == nil {
			err = r.value(ctx, at, runtime.SiteTool, string(arguments), &seen)
		}
		if err == nil && seen.Unknown != nil {
			err = seen.Unknown
		}
		if err != nil {
			return fmt.Sprintf("current states: %s, expected %s", errorText(err), want), isPermanent(err)
		}
		if slices.Contains(seen.Current, want) {
			for _, s := range seen.States {
				if s.Name == want && s.Current != nil && *s.Current && len(s.Drift) > 0 {
					return fmt.Sprintf("the state %s drifted: %s", want, s.Drift[0].Message), false
				}
			}
			return "", true
		}
		found := "none"
		if len(seen.Current) > 0 {
			found = strings.Join(seen.Current, ", ")
		}
		why := fmt.Sprintf("current states: %s, expected %s", found, want)
		declared := false
		for _, s := range seen.States {
			if s.Name != want {
				continue
			}
			declared = true
			if s.Current == nil {
				why += " (nothing on the page says whether it is current)"
			}
		}
		if !declared {
			why += " (no map of " + seen.URL + " declares it)"
		}
		return why, false
	})
}

// consoleErrors is why there are more errors in the console than expected.
func (r *run) consoleErrors(ctx context.Context, at place, most, since int) string {
	var list struct {
		Entries []struct {
			Text string `json:"text"`
		} `json:"entries"`
	}
	err := r.value(ctx, at, "console.list", fmt.Sprintf(`{"levels":["error"],"since":%d,"limit":1000}`, since), &list)
	switch {
	case err != nil:
		return fmt.Sprintf("console errors: %s, expected at most %d", errorText(err), most)
	case len(list.Entries) <= most:
		return ""
	}
	return fmt.Sprintf(
		"console errors: %d, expected at most %d (%s)",
		len(list.Entries), most, report.Shorten(report.Printable(list.Entries[0].Text), 200),
	)
}

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
			return fmt.Sprintf("requests of %s: %s, expected one", what, errorText(err))
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
	page, err := checkPage(
		ctx, at.session, Expectations{Settle: min(within, time.Minute)}, at.target,
		&runtime.SuppliedMap{Path: "expect/actions.json", JSON: text}, o,
	)
	if err != nil {
		return []report.Failure{{Message: string(fault.CodeOf(err)) + ": " + fault.From(err).Message}}
	}
	var out []report.Failure
	for _, c := range page.Checks {
		if c.Status == "passed" {
			continue
		}
		for _, reason := range c.Reasons() {
			out = append(out, parseFailure(reason.Message))
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
		members[name], err = json.Marshal(v)
		if err != nil {
			return expr.Input{}, err
		}
	}
	raw, err = json.Marshal(members)
	if err != nil {
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
			result.unmet = append(result.unmet, report.Failure{
				Message: fmt.Sprintf("capture %s: %s: %s", name, s.Capture[name], why),
				Place:   result.at,
			})
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
		parts = append(parts, sentence(r.Error))
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
	for _, kept := range r.Updated {
		fmt.Fprintf(w, "         kept %s\n", report.Printable(kept))
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
