package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/locator"
	"github.com/outrider-run/outrider/runtime"
)

const (
	// probeTime bounds the wait for a probe to be sent, and reading the page for a picture.
	probeTime = 500 * time.Millisecond
	// answerTime bounds the wait for what a page answers.
	answerTime = 10 * time.Second
)

// still are acting primitives that do not change the document.
var still = []string{
	"locator.element_info", "a11y.", "browser.claimed_tabs.", "emulate.", "cookie.",
	"storage_state.", "runtime.", "overlay.", "browser.close_tab", "browser.open_tab",
}

func changesDocument(in runtime.Invocation) bool {
	return in.Acts &&
		!slices.ContainsFunc(still, func(prefix string) bool { return strings.HasPrefix(in.Primitive, prefix) })
}

// Primitive implements runtime.Recorder. What it reads of the page is under way when it returns: a page
// answers calls in the order in which they were sent, so the primitive comes after it. The primitive does
// not wait for the answer.
func (r *Recorder) Primitive(ctx context.Context, in runtime.Invocation) (done func(primitives.Result)) {
	began := time.Now()
	r.mu.Lock()
	r.nextStep++
	id := "s" + strconv.FormatInt(r.nextStep, 10)
	state := r.byTab[in.TabID]
	r.mu.Unlock()
	changes := changesDocument(in) && state != nil
	begin := record.StepBegin{
		ID:        id,
		Call:      in.Call,
		Step:      in.Step,
		Primitive: in.Primitive,
		Acts:      in.Acts,
		URL:       in.Page.Tab().URL,
	}
	probe := &probe{}
	var previous *ended
	if changes {
		r.awaitBodies(ctx, state)
		r.mu.Lock()
		state.acted = began
		previous = state.takeEnded()
		r.mu.Unlock()
		probe = r.probe(ctx, in, state)
	}
	r.queue.add(func() {
		snapshot := probe.wait()
		snapshots := r.keep(state, snapshot.documents)
		if previous != nil { // what is there before this step is what the step before has left
			r.putSnapshots(in.TabID, previous.step, "after", snapshots)
		}
		begin.Arguments = object(in.Arguments)
		if changes {
			begin.Target, begin.To = snapshot.target.target(snapshots), snapshot.to.target(snapshots)
			begin.Arguments = r.typed(in, snapshot.target, begin.Target)
		}
		begin.Arguments = withoutStores(in.Primitive, begin.Arguments)
		r.log.PutAt(began, record.KindStepBegin, in.TabID, begin)
		r.putSnapshots(in.TabID, id, "before", snapshots)
	})
	runs := time.Now()
	return func(res primitives.Result) {
		at := time.Now()
		failed := res.Err.Clone() // a workflow may add to it while this one waits
		r.queue.add(func() {
			end := record.StepEnd{
				ID:         id,
				OK:         res.OK(),
				DurationMS: ms(at.Sub(runs)),
				WaitMS:     ms(res.Wait),
				Effects:    res.Effects,
			}
			if failed != nil {
				end.Error = jsonOf(failed)
			}
			end.Output = r.output(in.Primitive, res.Payload)
			r.log.PutAt(at, record.KindStepEnd, in.TabID, end, resources(end.Output)...)
		})
		if changes && r.opts.Pages {
			r.after(state, in.TabID, id)
		}
		r.queue.awaitSpace()
	}
}

// targetAnswer is what the page library says of the element that a call is about.
type targetAnswer struct {
	known   bool             // the page answered
	Token   string           `json:"token"`
	Element *likeness.Seen   `json:"element"`
	Box     *primitives.Rect `json:"box"`
	Path    []int            `json:"path"`
	Secret  bool             `json:"secret"`
	point   *primitives.Point
	// Snapshot is the document, where it was asked for too.
	Snapshot *snapshotAnswer `json:"snapshot"`
}

// TakeText implements primitives.TextTaker.
func (a *targetAnswer) TakeText(text []byte) {
	if a.Snapshot != nil {
		a.Snapshot.TakeText(text)
	}
}

// place is what arguments say of the element.
type place struct {
	Locator json.RawMessage `json:"locator"`
	Target  json.RawMessage `json:"target"`
	Ref     string          `json:"ref"`
	X       *float64        `json:"x"`
	Y       *float64        `json:"y"`
	From    json.RawMessage `json:"from"` // ends of a drag
	To      json.RawMessage `json:"to"`
}

// drags is the primitive that is about two elements.
const drags = "pointer.drag"

// findTarget describes the element that a primitive is about, with more arguments for the page. An answer
// that is not known means that it cannot be said.
func findTarget(ctx context.Context, in runtime.Invocation, more map[string]any) (out targetAnswer) {
	var at place
	if json.Unmarshal(in.Arguments, &at) != nil {
		return out
	}
	if in.Primitive == drags {
		at = at.end(at.From)
	}
	return at.find(ctx, in, more)
}

// end is one of the ends of a drag.
func (at place) end(raw json.RawMessage) place {
	var end place
	if json.Unmarshal(raw, &end) != nil {
		return place{}
	}
	end.Target, end.Ref = nil, "" // a ref is a member of a locator here
	if end.X == nil && end.Y == nil {
		end.Target = raw
	}
	return end
}

// findEnd describes the element on which a drag ends.
func findEnd(ctx context.Context, in runtime.Invocation) targetAnswer {
	var at place
	if json.Unmarshal(in.Arguments, &at) != nil {
		return targetAnswer{}
	}
	return at.end(at.To).find(ctx, in, nil)
}

func (at place) find(ctx context.Context, in runtime.Invocation, more map[string]any) (out targetAnswer) {
	if more == nil {
		more = map[string]any{}
	}
	var named locator.SelectorOrLocator
	switch {
	case at.Ref != "":
		named.Locator = locator.RefLocator(at.Ref)
	case len(at.Locator) > 0 && at.Locator[0] != 'n':
		if json.Unmarshal(at.Locator, &named.Locator) != nil {
			return out
		}
	case len(at.Target) > 0 && at.Target[0] != 'n':
		if json.Unmarshal(at.Target, &named) != nil {
			return out
		}
	case at.X != nil && at.Y != nil:
		out.point = &primitives.Point{X: *at.X, Y: *at.Y}
		more["x"], more["y"] = *at.X, *at.Y
		out.known = in.Page.Call(ctx, "", "record_target", more, &out) == nil
		return out
	case primitives.StepOf(in.Primitive).Typed != nil:
		more["focused"] = true
		out.known = locator.CallFocused(ctx, in.Page, "record_target", more, &out) == nil
		return out
	default:
		if len(more) > 0 { // the document alone
			_ = in.Page.Call(ctx, "", "record_target", more, &out) // without it there is none
		}
		out.known = true
		return out
	}
	out.known = named.Locator.Evaluate(ctx, in.Page, "record_target", more, &out) == nil
	return out
}

// target is the answer as it is recorded. The snapshot with its token is that of its frame.
func (a targetAnswer) target(snapshots []taken) *record.Target {
	if a.Element == nil {
		return nil
	}
	t := &record.Target{
		Element:    a.Element,
		Candidates: locators.Ranked(*a.Element),
		Box:        a.Box,
		Path:       a.Path,
		Secret:     a.Secret,
		Point:      a.point,
	}
	if t.Point == nil && a.Box != nil {
		t.Point = &primitives.Point{X: a.Box.X + a.Box.Width/2, Y: a.Box.Y + a.Box.Height/2}
	}
	for _, s := range snapshots {
		if s.token == a.Token && !s.Main {
			t.Frame = s.Frame
		}
	}
	return t
}

// typed are the arguments of a step. What is typed into a secret field is a placeholder in them, and a
// secret of the recording from here on. So it is where nobody can say which field it is.
func (r *Recorder) typed(in runtime.Invocation, snapshot targetAnswer, t *record.Target) json.RawMessage {
	members := primitives.StepOf(in.Primitive).Typed
	if members == nil || snapshot.known && (snapshot.Element == nil || !snapshot.Secret) {
		return object(in.Arguments)
	}
	if !snapshot.known && strings.HasPrefix(in.Primitive, "keyboard.") && !singleKey(in.Arguments) {
		return object(in.Arguments) // Enter and such
	}
	name := "password"
	if t != nil && t.Element != nil {
		name = t.Element.Attributes["name"]
		if name == "" {
			name = t.Element.Attributes["id"]
		}
	}
	var args map[string]json.RawMessage
	if json.Unmarshal(in.Arguments, &args) != nil {
		return json.RawMessage("{}")
	}
	for _, m := range members {
		var text string
		if json.Unmarshal(args[m], &text) != nil || text == "" {
			continue
		}
		switch {
		case !strings.HasPrefix(in.Primitive, "keyboard."):
			args[m] = jsonOf(r.secrets.learn(name, text))
		case singleKey(in.Arguments):
			args[m] = jsonOf(r.secrets.key(name, text))
		}
	}
	return jsonOf(args)
}

// singleKey reports whether a key types one character.
func singleKey(args json.RawMessage) bool {
	var in struct {
		Key string `json:"key"`
	}
	return json.Unmarshal(args, &in) == nil && len([]rune(in.Key)) == 1
}

// withoutStores takes the values of cookies and storage out of arguments: they are sessions.
func withoutStores(primitive string, args json.RawMessage) json.RawMessage {
	if !strings.HasPrefix(primitive, "cookie.") && !strings.HasPrefix(primitive, "storage_state.") {
		return args
	}
	return hideValues(args)
}

// hideValues replaces each string member named value by a placeholder.
func hideValues(raw json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return json.RawMessage("{}")
	}
	var hide func(v any) any
	hide = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				if _, text := e.(string); text && k == "value" {
					v[k] = "{{secret:storage}}"
					continue
				}
				v[k] = hide(e)
			}
		case []any:
			for i, e := range v {
				v[i] = hide(e)
			}
		}
		return v
	}
	return jsonOf(hide(v))
}
