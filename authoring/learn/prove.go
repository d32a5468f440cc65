package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/observe"
)

// session is a fresh session in which something is tried.
type session struct {
	l  *learning
	ws *runtime.Workspace
	on runtime.Target
}

// fresh opens the start in a session of its own.
func (l *learning) fresh(ctx context.Context) (*session, error) {
	ws, err := l.h.NewWorkspace(ctx, runtime.WorkspaceOptions{Isolated: true})
	if err != nil {
		return nil, err
	}
	// Requests are counted from the first one on: of those of a document that is there already nobody knows when they
	// end.
	tab, err := ws.Open(ctx, "about:blank", true)
	if err != nil {
		_ = ws.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	s := &session{l, ws, runtime.Target{Workspace: ws.ID(), RuntimeID: tab.RuntimeID}}
	s.quiet(ctx, time.Millisecond)
	reply := s.call(ctx, "browser.navigate", map[string]any{"url": l.out.Start})
	if reply.Err != nil && reply.Err.Code != fault.DialogOpen {
		s.close(ctx)
		return nil, reply.Err
	}
	s.quiet(ctx, 150*time.Millisecond)
	return s, nil
}

// quiet waits until no request is under way. A page that is never quiet is taken as it is.
func (s *session) quiet(ctx context.Context, d time.Duration) {
	s.call(ctx, "page.wait", map[string]any{
		"timeout_ms": 3000,
		"conditions": []any{map[string]any{"network_idle_ms": d.Milliseconds()}},
	})
}

func (s *session) close(ctx context.Context) { _ = s.ws.Close(context.WithoutCancel(ctx)) }

func (s *session) call(ctx context.Context, name string, arguments any) runtime.Reply {
	return s.l.h.Do(ctx, runtime.Call{
		ID:        s.l.o.NewID(),
		Target:    s.on,
		Name:      name,
		Arguments: encode(arguments),
		Timeout:   s.l.o.Each,
	})
}

func (s *session) visit(ctx context.Context, f func(context.Context, primitives.Page) error) error {
	within, cancel := context.WithTimeout(ctx, s.l.o.Each)
	defer cancel()
	return s.l.h.Visit(within, s.on, f)
}

// rehearse does the steps one by one in a fresh session, and finds on the way how each
// element is named best, what has to be waited for, and what shows that the end came.
func (l *learning) rehearse(ctx context.Context) error {
	s, err := l.fresh(ctx)
	if err != nil {
		return err
	}
	defer s.close(ctx)
	var before moment
	for i, st := range l.steps {
		var next *step
		if i+1 < len(l.steps) {
			next = l.steps[i+1]
		}
		there, err := s.resolve(ctx, st, next)
		if err != nil {
			return failed(st, err)
		}
		// While a dialog is open the page cannot be observed.
		closing := l.steps[l.last].op.primitive == closesDialog
		if i == l.last && !closing || closing && i == l.last-1 {
			before, err = s.moment(ctx)
			if err != nil {
				return failed(st, err)
			}
		}
		for _, name := range st.rounds() {
			reply := s.call(ctx, st.op.primitive, st.tried(name))
			if reply.Err != nil && reply.Err.Code == fault.DialogOpen {
				s.call(ctx, "browser.dismiss_dialog", map[string]any{"accept": true})
				reply = s.call(ctx, st.op.primitive, st.tried(name))
			}
			for wait := 0; wait < 20 && reply.Err != nil && reply.Err.Code == fault.NoDialog; wait++ {
				s.changed(ctx, 250*time.Millisecond)
				reply = s.call(ctx, st.op.primitive, st.tried(name))
			}
			if reply.Err != nil {
				return failed(st, reply.Err)
			}
		}
		if i == l.last && st.leaves() {
			if reply := s.call(ctx, "keyboard.press", leaveKey); reply.Err != nil {
				return failed(st, reply.Err)
			}
		}
		if st.op.acts && next != nil && !there {
			st.settle = next.provisional()
		}
		if i == l.last {
			if err := s.ending(ctx, before); err != nil {
				return failed(st, err)
			}
		}
	}
	l.inputs = slices.DeleteFunc(l.inputs, func(in *input) bool {
		return slices.ContainsFunc(l.steps, func(st *step) bool { return st.chosen == in && st.name == "" })
	})
	for _, st := range l.steps { // what was a preliminary name is the one that was found
		if i := slices.Index(l.steps, st); st.settle != nil && i+1 < len(l.steps) && l.steps[i+1].locator != nil {
			st.settle = l.steps[i+1].locator
		}
	}
	return nil
}

// leaveKey has the arguments of the key by which a person leaves a field.
var leaveKey = map[string]any{"key": "Tab"}

// leaves reports whether a step writes into a field that pages hear of when it is left. Fields that show a list while
// something is written keep the focus.
func (st *step) leaves() bool {
	e := st.element()
	if st.op.primitive != "text.insert" || e == nil || e.Tag != "input" && e.Tag != "textarea" {
		return false
	}
	return e.Role == "textbox" || e.Role == "spinbutton"
}

const closesDialog = "browser.dismiss_dialog"

func failed(st *step, err error) error {
	f := fault.From(err)
	return fault.New(
		fault.DriftDetected, "call %d of the session could not be done again: %s: %s", st.op.at, f.Code, f.Message,
	).With("step_id", st.id).With("primitive", st.op.primitive).With("cause", f).
		Next("record the task again from its start, or give another --start; what needs somebody signed in needs " +
			"--storage-state")
}

// rounds are the names that a step is done for: one without a loop.
func (st *step) rounds() []string {
	if st.loop == nil {
		return []string{""}
	}
	return st.loop.names
}

// tried are the arguments of a step with the values of the session.
func (st *step) tried(item string) ordered {
	out := ordered{}
	l := learning{}
	plain := *st
	plain.values = nil
	if st.own != nil {
		plain.locator = map[string]any{}
		if json.Unmarshal(st.op.locator, &plain.locator) != nil {
			plain.locator = nil
		}
	} else if st.locator != nil {
		plain.locator = map[string]any{}
		maps.Copy(plain.locator, st.locator)
		if e := st.element(); st.name != "" && e != nil {
			plain.locator["name"] = e.Name
			if st.loop != nil {
				plain.locator["name"] = strings.Replace(e.Name, st.loop.names[0], item, 1)
			}
		}
	}
	return append(out, l.arguments(&plain)...)
}

// provisional is a locator for an element that was not resolved yet.
func (st *step) provisional() map[string]any {
	if st.op.locator != nil && st.element() == nil {
		var m map[string]any
		if json.Unmarshal(st.op.locator, &m) == nil {
			return m
		}
	}
	if e := st.element(); e != nil {
		for _, c := range locators.Ranked(*e) {
			return locatorFor(c)
		}
	}
	return nil
}

func locatorFor(c locators.Locator) map[string]any {
	m := map[string]any{}
	for name, v := range map[string]string{
		"selector":    c.Selector,
		"role":        c.Role,
		"name":        c.Name,
		"text_equals": c.TextEquals,
	} {
		if v != "" {
			m[name] = v
		}
	}
	return m
}

// resolve finds the element of a step again and the locators that name it. there says
// whether that of the next step is on the page already.
func (s *session) resolve(ctx context.Context, st, next *step) (there bool, err error) {
	there = next == nil || next.element() == nil && next.op.locator == nil
	e := st.element()
	if st.op.primitive == closesDialog {
		return true, nil
	}
	if e == nil {
		if st.op.locator != nil {
			var m map[string]any
			if err := json.Unmarshal(st.op.locator, &m); err != nil {
				return there, err
			}
			st.locator = m
			if st.own != nil {
				st.locator = st.own
			}
		}
		if next == nil || next.element() == nil {
			return there, nil // what is not described is waited for, in case
		}
	}
	err = s.visit(ctx, func(ctx context.Context, page primitives.Page) error {
		if e != nil {
			var err error
			st.locator, err = st.find(ctx, page, *e)
			if err != nil {
				return err
			}
		}
		if to := st.op.to; to != nil && to.Element != nil {
			var err error
			st.to, err = (&step{op: st.op}).find(ctx, page, *to.Element)
			if err != nil {
				return err
			}
		}
		if next != nil && next.element() != nil {
			found, _, err := named(ctx, page, "", *next.element())
			there = err == nil && len(found) > 0
		}
		return nil
	})
	return there, err
}

// find looks for the element of a step until it is there, in the document and then in its
// frames.
func (st *step) find(ctx context.Context, page primitives.Page, e likeness.Seen) (map[string]any, error) {
	var waits sync.WaitGroup
	defer waits.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for {
		wait := observe.Begin(ctx, page, observe.Again, waits.Go)
		for _, frame := range page.Frames() {
			id := frame.ID
			if frame.Parent == "" {
				id = ""
			}
			found, like, err := named(ctx, page, id, e)
			if err != nil && ctx.Err() != nil {
				return nil, err
			}
			if err != nil || len(found) == 0 || like < likeness.Least {
				continue
			}
			return st.take(ctx, page, id, e, found)
		}
		select {
		case <-wait.Over:
		case <-ctx.Done():
			return nil, fault.New(fault.TargetNotFound, "no locator finds the %s %q again", e.Role, clip(e.Name))
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < time.Second {
			return nil, fault.New(fault.TargetNotFound, "no locator finds the %s %q again", e.Role, clip(e.Name))
		}
	}
}

// take chooses among the locators that name the element alone.
func (st *step) take(
	ctx context.Context, page primitives.Page, frame primitives.FrameID, e likeness.Seen, found []locators.Locator,
) (map[string]any, error) {
	var locator map[string]any
	if st.chosen != nil &&
		!slices.ContainsFunc(found, func(l locators.Locator) bool { return l.Kind == locators.RoleName }) {
		st.name = "" // its name tells it from no other: it stays the one that was chosen
	}
	if st.op.goal.Keep != "" { // what it says may be another text each time
		if stable := slices.DeleteFunc(slices.Clone(found), func(l locators.Locator) bool {
			return l.Kind == locators.Text || l.Kind == locators.RoleName && l.Name == e.Text
		}); len(stable) > 0 {
			found = stable
		}
	}
	if st.name != "" {
		i := slices.IndexFunc(found, func(l locators.Locator) bool { return l.Kind == locators.RoleName })
		if i < 0 {
			return nil, fault.New(
				fault.MultipleTargets, "the %s %q differs between sessions and its name does not tell it from others",
				e.Role, clip(e.Name),
			)
		}
		locator = map[string]any{"role": e.Role, "name": "{% " + st.name + " %}"}
	} else {
		locator = locatorFor(found[0])
		kinds := []locators.Kind{found[0].Kind}
		var fallback []string
		for _, l := range found[1:] {
			if l.Kind == locators.Structure {
				continue // its place is that of another element when this one is not there
			}
			if len(fallback) < 2 && l.Selector != "" && l.TextEquals == "" && !slices.Contains(kinds, l.Kind) {
				fallback, kinds = append(fallback, l.Selector), append(kinds, l.Kind)
			}
		}
		if len(fallback) > 0 && st.op.goal.Keep != "assert" { // another element in its place would pass
			locator["fallback"] = fallback
		}
		if e.Shadow && locator["role"] == nil {
			locator["pierce"] = true
		}
	}
	if frame == "" {
		return locator, nil
	}
	var frames []any
	for at := frame; at != ""; {
		parent, handle, ok, err := page.OwnerFrame(ctx, at)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		selector, err := frameSelector(ctx, page, parent, handle)
		if err != nil {
			return nil, err
		}
		frames = append([]any{selector}, frames...)
		at = parent
	}
	if len(frames) > 0 {
		locator["frame"] = frames
	}
	return locator, nil
}

func frameSelector(
	ctx context.Context, page primitives.Page, parent primitives.FrameID, handle string,
) (string, error) {
	seen, err := describe(ctx, page, parent, handle)
	if err != nil {
		return "", err
	}
	found, _, err := named(ctx, page, parent, seen)
	if err != nil {
		return "", err
	}
	for _, l := range found {
		if l.Selector != "" && l.TextEquals == "" {
			return l.Selector, nil
		}
	}
	return "", fault.New(fault.FrameNotFound, "no selector names the frame alone")
}

func describe(
	ctx context.Context, page primitives.Page, frame primitives.FrameID, handle string,
) (likeness.Seen, error) {
	var out struct {
		Elements []*likeness.Seen `json:"elements"`
	}
	if err := page.Call(ctx, frame, "appearances", map[string]any{"handles": []string{handle}}, &out); err != nil {
		return likeness.Seen{}, err
	}
	if len(out.Elements) != 1 || out.Elements[0] == nil {
		return likeness.Seen{}, fault.New(fault.ElementStale, "the element was detached")
	}
	return *out.Elements[0], nil
}

// named are the locators of an element that find one element of a frame which is like it,
// and how like it is.
func named(
	ctx context.Context, page primitives.Page, frame primitives.FrameID, e likeness.Seen,
) ([]locators.Locator, float64, error) {
	ranked := locators.Ranked(e)
	descriptors := make([]descriptor.Descriptor, len(ranked))
	for i, l := range ranked {
		descriptors[i] = l.Descriptor()
	}
	var out struct {
		Matches []descriptor.Match `json:"matches"`
	}
	if err := page.Call(
		ctx, frame, "resolve_descriptors", map[string]any{"descriptors": descriptors}, &out,
	); err != nil || len(out.Matches) != len(ranked) {
		return nil, 0, err
	}
	byHandle := map[string][]locators.Locator{}
	var order []string
	for i, m := range out.Matches {
		if m.Found && m.Count == 1 && len(m.Relaxed) == 0 {
			if byHandle[m.Handle] == nil {
				order = append(order, m.Handle)
			}
			byHandle[m.Handle] = append(byHandle[m.Handle], ranked[i])
		}
	}
	var best []locators.Locator
	top := 0.0
	for _, h := range order {
		seen, err := describe(ctx, page, frame, h)
		if err != nil {
			return nil, 0, err
		}
		like := likeness.Of(e.Describe(true), seen.Describe(true))
		if seen.Role == e.Role && seen.Name == e.Name && e.Name != "" ||
			seen.Attributes["id"] == e.Attributes["id"] && e.Attributes["id"] != "" {
			like = max(like, likeness.Least)
		}
		if like == 0 && e.Name == "" && seen.Tag == e.Tag {
			like = likeness.Least // nothing identifies it but where it is
		}
		if like > top {
			best, top = byHandle[h], like
		}
	}
	return best, top, nil
}

// values are the arguments of the session.
func (l *learning) values() map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for _, in := range l.inputs {
		values[in.name] = in.value
	}
	return values
}

// site calls an action of a map.
func (s *session) site(
	ctx context.Context, action string, text json.RawMessage, values map[string]json.RawMessage,
) runtime.Reply {
	return s.l.h.Do(ctx, runtime.Call{
		ID:        s.l.o.NewID(),
		Target:    s.on,
		Name:      runtime.SiteTool,
		Timeout:   s.l.o.Each + time.Duration(len(s.l.steps))*5*time.Second,
		Arguments: encode(runtime.Site{Mode: runtime.SiteCall, Action: action, Arguments: values}),
		Map:       &runtime.SuppliedMap{Path: "learned/actions.json", JSON: text},
	})
}

// varies reports whether a text has a value in it that is an argument.
func (l *learning) varies(text string) bool {
	return slices.ContainsFunc(l.inputs, func(in *input) bool {
		v := unquote(in.value)
		return len(v) > 1 && strings.Contains(text, v)
	})
}

// changed waits for the page to change, for d at the longest.
func (s *session) changed(ctx context.Context, d time.Duration) {
	_ = s.visit(ctx, func(ctx context.Context, p primitives.Page) error {
		var waits sync.WaitGroup
		defer waits.Wait()
		waiting, stop := context.WithCancel(ctx)
		defer stop()
		quiet := observe.Again
		quiet.Timeout = d
		<-observe.Begin(waiting, p, quiet, waits.Go).Over
		return nil
	})
}

// confirm runs the action from its start in a fresh session: with the values of the
// session, and with others.
func (l *learning) confirm(ctx context.Context) error {
	values := l.values()
	failure, err := l.run(ctx, values)
	// what came once need not again
	for tries := 0; err == nil && failure != "" && l.end() != nil && l.end().lacks(failure) &&
		tries < mostRefused; tries++ {
		l.ends = l.ends[1:]
		if tries == mostRefused-1 {
			l.ends = nil
		}
		err = l.write(ctx)
		if err == nil {
			failure, err = l.run(ctx, values)
		}
	}
	if err != nil {
		return err
	}
	if failure != "" {
		l.out.Unproven = append(l.out.Unproven, "with the values of the session: "+failure)
	} else {
		l.out.Verified = true
		l.out.Proven = append(l.out.Proven, "it runs again from "+l.out.Start+" in a fresh session")
	}
	l.out.Values = values
	switch {
	case l.end() != nil:
		l.out.Proven = append(l.out.Proven, l.end().proven())
	case l.asserts():
		l.out.Proven = append(l.out.Proven, "what was asserted at the end holds, and the action fails without it")
	default:
		l.out.Unproven = append(l.out.Unproven, "nothing was seen to appear or to change at the end, so success "+
			"means that every step was done; the result says that it is unchecked")
	}
	l.out.Cost.ActionCalls, l.out.Cost.ActionBytes = 1, len(encode(values))+len(l.out.Action)
	if len(l.inputs) == 0 || !l.out.Verified {
		return nil
	}
	others, which := l.others(values)
	if which == "" {
		l.out.Unproven = append(
			l.out.Unproven, "with other values: none could be made up for what is chosen from the page",
		)
		return nil
	}
	failure, err = l.run(ctx, others)
	if err != nil {
		return err
	}
	if failure != "" {
		l.out.Unproven = append(l.out.Unproven, "with "+which+": "+failure)
		if which == secondExample {
			l.out.Verified = false
		}
		return nil
	}
	l.out.Proven = append(l.out.Proven, "it runs with "+which)
	return nil
}

const secondExample = "the values of the second session"

// others are other values: those of the second session, or made-up ones.
func (l *learning) others(values map[string]json.RawMessage) (out map[string]json.RawMessage, which string) {
	out = map[string]json.RawMessage{}
	second, made := true, false
	for _, in := range l.inputs {
		second = second && in.other != nil
	}
	for i, in := range l.inputs {
		switch {
		case second:
			out[in.name] = in.other
		case in.choice && !in.isArray && len(in.options) > 1:
			at := slices.Index(in.options, unquote(in.value))
			out[in.name] = encode(in.options[(at+1)%len(in.options)])
			made = true
		case in.choice || in.secret:
			out[in.name] = values[in.name]
		default:
			for n := i; n < i+3; n++ {
				out[in.name] = encode(in.schema.Value(n))
				if string(out[in.name]) != string(in.value) {
					break
				}
			}
			made = true
		}
	}
	switch {
	case second:
		return out, secondExample
	case made:
		return out, "values that were made up"
	}
	return out, ""
}

// run calls the action in a fresh session. failure says why it failed.
func (l *learning) run(ctx context.Context, values map[string]json.RawMessage) (failure string, err error) {
	s, err := l.fresh(ctx)
	if err != nil {
		return "", err
	}
	defer s.close(ctx)
	reply := s.site(ctx, l.out.Action, l.out.Map, values)
	if reply.Err == nil {
		return "", nil
	}
	if ctx.Err() != nil || reply.Err.Code == fault.BrowserLost {
		return "", reply.Err
	}
	return fmt.Sprintf("%s: %s%s", reply.Err.Code, reply.Err.Message, place(reply.Err)), nil
}

func place(e *fault.Error) string {
	if id, ok := e.Fields["step_id"].(string); ok {
		return " (step " + id + ")"
	}
	return ""
}
