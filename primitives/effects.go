package primitives

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives/effect"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Every primitive that acts takes a further argument, effects: with it the
// answer is the report of effects, as the page and the browser give it. It is one
// mechanism around the handlers, so that no handler can claim more than was seen.

const (
	// defaultEffectsWindow bounds the wait for what follows; a page on which
	// nothing happens ends it early.
	defaultEffectsWindow = 300 * time.Millisecond
	// effectsQuiet is how long a document must not change to count as quiet.
	effectsQuiet = 30 * time.Millisecond
	// effectsNone is that time for a document that has not changed since the action began.
	effectsNone = 8 * time.Millisecond
	// effectsNext is that time for an action that another one follows at once: scripts that the action runs, and the
	// tasks that these begin at once, have run.
	effectsNext = 2 * time.Millisecond
	// effectsMoving is how much longer what fades in or moves may take to come to rest.
	effectsMoving = 400 * time.Millisecond
	// effectsOpening is how much longer a tab that the page has asked for may take to open.
	effectsOpening = 3 * time.Second
	// effectsFrames bounds the frames that are watched.
	effectsFrames = 8
	// effectsShown bounds each list of the report.
	effectsShown = 5
	// effectsBegin is how long an action waits for its watch, effectsExtraWait how late the watch
	// may answer, and effectsCap bounds the page calls after the action.
	effectsBegin     = 500 * time.Millisecond
	effectsExtraWait = 3 * time.Second
	effectsCap       = time.Second
	// effectsOfNone bounds what is observed of an action that did not take place.
	effectsOfNone = 100 * time.Millisecond
	// effectsOver is how far the report may go beyond the time that the caller gave the
	// action, and effectsLeast how long is watched in any case.
	effectsOver  = 150 * time.Millisecond
	effectsLeast = 50 * time.Millisecond
	// effectsShort is the time of the page for its report when the caller's time is shorter: a time like 0 is
	// for finding the target, and a report that is not read says nothing.
	effectsShort = 500 * time.Millisecond
	// dialogShown bounds the text of a dialog, in bytes.
	dialogShown = 300
)

// effectsSchema is the schema of the argument effects of each acting primitive.
const effectsSchema = `{"type":["boolean","object"],"properties":{"window_ms":{"type":"integer","minimum":0,` +
	`"maximum":5000,"default":300},"quiet_ms":{"type":"integer","minimum":1,"maximum":1000,"default":30}},` +
	`"additionalProperties":false,"default":false,"description":"Report what followed within a short window: url, ` +
	`dialog, focus, values, requests, DOM, tabs."}`

// withEffects declares the argument in the input schema of an acting primitive
// that does not use the name itself.
func withEffects(input json.RawMessage) json.RawMessage {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(input, &s) != nil {
		return input
	}
	if _, taken := s.Properties["effects"]; taken {
		return input
	}
	mark := []byte(`"properties":`)
	compact := &bytes.Buffer{}
	if json.Compact(compact, input) != nil {
		return input
	}
	var whole map[string]json.RawMessage
	if json.Unmarshal(input, &whole) != nil {
		return input
	}
	old := whole["properties"]
	if old == nil {
		return append(
			append(compact.Bytes()[:compact.Len()-1:compact.Len()-1], `,"properties":{"effects":`+effectsSchema+`}`...),
			'}',
		)
	}
	small := &bytes.Buffer{}
	if json.Compact(small, old) != nil {
		return input
	}
	text := small.String()
	sep := ","
	if text == "{}" {
		sep = ""
	}
	extended := text[:len(text)-1] + sep + `"effects":` + effectsSchema + `}`
	return json.RawMessage(strings.Replace(compact.String(), string(mark)+text, string(mark)+extended, 1))
}

// effectsTimes are how long an action is watched. A window of 0 is no report.
type effectsTimes struct {
	window, moving, opening time.Duration
	quiet, none             time.Duration
	named                   bool      // the caller has named the window
	answer                  bool      // documents that are quiet say what they have seen
	end                     time.Time // of the whole report; zero without one
}

// within are the times for an action that began at start, whose caller may have given it a
// time of its own. Only a window that the caller has named goes beyond that.
func (t effectsTimes) within(args json.RawMessage, start time.Time) effectsTimes {
	var in struct {
		TimeoutMS *float64 `json:"timeout_ms"`
	}
	if t.named || json.Unmarshal(args, &in) != nil || in.TimeoutMS == nil {
		return t
	}
	own := time.Duration(*in.TimeoutMS * float64(time.Millisecond))
	left := max(time.Until(start.Add(own+effectsOver)), effectsLeast)
	t.end = time.Now().Add(left)
	if own < effectsShort {
		t.end = time.Now().Add(max(left, effectsShort))
	}
	t.window = min(t.window, left)
	t.moving, t.opening = min(t.moving, left-t.window), min(t.opening, left-t.window)
	return t
}

// effectsWanted reads the argument.
func effectsWanted(v any) effectsTimes {
	out := effectsTimes{
		window:  defaultEffectsWindow,
		moving:  effectsMoving,
		opening: effectsOpening,
		quiet:   effectsQuiet,
		none:    effectsNone,
		answer:  true,
	}
	switch v := v.(type) {
	case bool:
		if !v {
			out.window = 0
		}
	case map[string]any:
		of := func(name string) (time.Duration, bool) {
			n, ok := v[name].(json.Number)
			ms, _ := n.Float64()
			return time.Duration(ms) * time.Millisecond, ok
		}
		if own, ok := of("window_ms"); ok { // a caller that names a window gets that
			out.window = max(own, time.Nanosecond)
			out.moving = 0
			out.opening = 0
			out.named = true
		}
		if own, ok := of("quiet_ms"); ok {
			out.quiet, out.none = own, own
		}
	default:
		out.window = 0
	}
	return out
}

type toTheEndKey struct{}

// ToTheEnd marks an action of which somebody may ask later what became of it: what follows is watched also when the
// call is cancelled meanwhile.
func ToTheEnd(ctx context.Context) context.Context {
	return context.WithValue(ctx, toTheEndKey{}, true)
}

// toTheEnd is ctx for the report of an action.
func toTheEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	if marked, _ := ctx.Value(toTheEndKey{}).(bool); !marked {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), effectsCap+effectsOpening)
}

// effectsWatch is a watch around one action.
type effectsWatch struct {
	page   Page
	id     string
	frames []FrameID
	events PageWatch
	unseen []string
	silent time.Duration // how long the page has answered nothing; 0 when it answers

	sent   chan struct{}   // closed when the watch has been sent to every frame
	begun  chan struct{}   // closed when every frame has answered, or is given up
	late   <-chan struct{} // closed when the action waits for neither any longer
	ok     []bool          // of the frames; to be read once begun is closed
	cancel context.CancelFunc

	on      watching       // the watches of the tab, and who acts
	before  *laterWatch    // of the action before, which this one ends; nil without one
	earlier []frameEffects // what it has noted in each frame; to be read once begun is closed
}

var effectsIDs atomic.Int64

// watchEffects begins before the action. What cannot be watched is named in the
// report and never prevents the action. Of an action that finds its element in the page first, the frames of one
// process are not waited for here: their calls are answered in order, and input waits for the watch (BeforeInput).
func watchEffects(ctx context.Context, p Page, finds bool) *effectsWatch {
	w := &effectsWatch{page: p, id: "e" + strconv.FormatInt(effectsIDs.Add(1), 10), on: watchingIn(ctx)}
	w.before = w.on.end()
	start := time.Now()
	patience, impatient := context.WithTimeout(context.WithoutCancel(ctx), effectsBegin)
	w.late = patience.Done()
	ctx, cancel := context.WithTimeout(ctx, effectsExtraWait)
	w.cancel = func() {
		cancel()
		impatient()
	}
	var err error
	w.events, err = p.Watch(ctx)
	if err != nil {
		w.unseen = append(w.unseen, "browser: "+string(fault.CodeOf(err)))
	}
	frames := p.Frames()
	if len(frames) > effectsFrames {
		w.unseen = append(w.unseen, strconv.Itoa(len(frames)-effectsFrames)+" frames")
		frames = frames[:effectsFrames]
	}
	w.ok = make([]bool, len(frames))
	w.sent, w.begun = make(chan struct{}), make(chan struct{})
	w.earlier = make([]frameEffects, len(frames))
	var all, sending sync.WaitGroup
	main := make(chan struct{})
	for i, f := range frames {
		w.frames = append(w.frames, f.ID)
		finds = finds && !f.Remote
		sending.Add(1)
		all.Go(func() {
			sent := sync.OnceFunc(sending.Done)
			defer sent()
			ctx := WhenSent(ctx, sent)
			var began struct{ Earlier *frameEffects }
			args := map[string]any{"id": w.id, "keep": w.on.keeps()}
			w.ok[i] = p.Call(ctx, f.ID, "effects_begin", args, &began) == nil
			if began.Earlier != nil {
				w.earlier[i] = *began.Earlier
			}
			if i == 0 {
				close(main)
			}
		})
	}
	go func() { // report waits for it
		sending.Wait()
		close(w.sent)
		all.Wait()
		close(w.begun)
	}()
	awaited := w.begun
	if finds {
		awaited = w.sent
	}
	select {
	case <-awaited:
	case <-w.late:
		// Calls of a document run in order: the watch begins before the action also where
		// its answer comes later.
		select {
		case <-main:
		default:
			w.silent = time.Since(start)
		}
	}
	return w
}

// findsFirst reports whether arguments name an element: it is found by a page call, before anything is done.
func findsFirst(args json.RawMessage) bool {
	var in struct {
		Ref     string          `json:"ref"`
		Locator json.RawMessage `json:"locator"`
		Target  json.RawMessage `json:"target"`
		From    json.RawMessage `json:"from"`
	}
	if json.Unmarshal(args, &in) != nil {
		return false
	}
	for _, named := range []json.RawMessage{in.Locator, in.Target, in.From} {
		if len(named) > 0 && named[0] != 'n' {
			return true
		}
	}
	return in.Ref != ""
}

type beforeInputKey struct{}

// guard returns a context under which input waits until the watch has begun, for as long as an action does.
func (w *effectsWatch) guard(ctx context.Context) context.Context {
	return context.WithValue(ctx, beforeInputKey{}, w)
}

// BeforeInput is for implementations of Page, which call it before they send input: the browser keeps no order between
// page calls and input, and what follows the input is to be seen.
func BeforeInput(ctx context.Context) {
	w, ok := ctx.Value(beforeInputKey{}).(*effectsWatch)
	if !ok {
		return
	}
	select {
	case <-w.begun:
	case <-w.late:
	case <-ctx.Done():
	}
}

// await waits for the documents that have not answered yet, and leaves those out that do not.
func (w *effectsWatch) await(ctx context.Context) {
	select {
	case <-w.begun:
	case <-ctx.Done():
	}
	w.cancel()
	<-w.begun
	w.on.note(w.before, w.earlier)
	w.before = nil // a watch that goes on must not hold those before it
	frames := w.frames
	w.frames = nil
	for i, f := range frames {
		if w.ok[i] {
			w.frames = append(w.frames, f)
		} else {
			w.unseen = append(w.unseen, "a document that does not answer")
		}
	}
}

type frameEffects struct {
	Known   bool             `json:"known"`
	DOM     effect.DOM       `json:"dom"`
	Texts   []string         `json:"texts"`
	Passed  []string         `json:"passed"`
	Invalid []effect.Invalid `json:"invalid"`
	Opened  []*effect.Target `json:"opened"`
	Closed  []*effect.Target `json:"closed"`
	Focus   *effect.Focus    `json:"focus"`
	Values  []effect.Value   `json:"values"`
}

// report waits for what follows, within the window, and returns it. Of an action that
// failed before it took place little is to be expected, and its time is over.
func (w *effectsWatch) report(ctx context.Context, times effectsTimes, failed *fault.Error) json.RawMessage {
	if failed != nil {
		switch failed.Code {
		case fault.TargetNotFound, fault.TargetNotActionable, fault.PageUnresponsive, fault.ElementStale:
			times.window = min(times.window, effectsOfNone)
			times.moving = 0
			times.opening = 0
			bounded, cancel := context.WithTimeout(ctx, 2*effectsOfNone)
			defer cancel()
			ctx = bounded
		}
	}
	if !times.end.IsZero() {
		bounded, cancel := context.WithDeadline(ctx, times.end)
		defer cancel()
		ctx = bounded
	}
	w.await(ctx)
	start := time.Now()
	said := w.settle(ctx, start.Add(times.window), times)
	out := effect.Report{WindowMS: time.Since(start).Milliseconds(), Unseen: w.unseen}
	var seen PageEvents
	var after PageWatch
	if w.events != nil {
		after = w.on.goOn(ctx, w.page)
		seen = w.events.Events()
	}
	describe(&out, w.page, seen)
	if _, open := w.page.Dialog(); !open && !seen.Gone {
		if seen.NewDocument {
			said = nil // of the document before
		}
		w.read(ctx, &out, said)
	} else if len(w.frames) > 0 {
		out.Unseen = append(out.Unseen, "documents behind a dialog or gone")
	}
	out.Sum()
	out.Earlier = w.on.keep(w, after, seen)
	b, err := json.Marshal(out)
	if err != nil {
		return nil
	}
	return b
}

// settle returns when nothing more is to be expected: the documents have been
// quiet for a moment and no request or navigation is under way. Documents of a watch that is
// kept say then what they have seen; it is nil when something was waited for since.
func (w *effectsWatch) settle(ctx context.Context, end time.Time, times effectsTimes) (said []frameEffects) {
	for ctx.Err() == nil {
		said = nil
		if left := time.Until(end); left > 0 {
			said = w.quiet(ctx, left, times)
			if w.events == nil {
				return said
			}
			// What a page does is reported by other ways than its answers, and may come later.
			w.events.Reported(ctx)
		} else if w.events == nil {
			return nil
		}
		seen := w.events.Events()
		_, open := w.page.Dialog()
		arriving := seen.Pending > 0 || seen.Loading || seen.awaited() || seen.downloading()
		if open || seen.Gone || seen.NewDocument || !arriving {
			return said
		}
		until := end
		if seen.Opening > 0 {
			until = end.Add(times.opening)
		}
		left := time.Until(until)
		if left <= 0 {
			return said
		}
		w.events.Next(ctx, left)
	}
	return nil
}

// quiet returns when no document has changed for a moment.
func (w *effectsWatch) quiet(ctx context.Context, left time.Duration, times effectsTimes) []frameEffects {
	ctx, cancel := context.WithTimeout(ctx, left+times.moving+50*time.Millisecond)
	defer cancel()
	args := map[string]any{
		"id":         w.id,
		"quiet_ms":   times.quiet.Milliseconds(),
		"none_ms":    times.none.Milliseconds(),
		"timeout_ms": left.Milliseconds(),
		"moving_ms":  times.moving.Milliseconds(),
		"answer":     times.answer && w.on.keeps(),
	}
	said := make([]frameEffects, len(w.frames))
	var all sync.WaitGroup
	for i, f := range w.frames {
		all.Go(func() {
			if w.page.Call(ctx, f, "effects_quiet", args, &said[i]) != nil {
				said[i] = frameEffects{}
			}
		})
	}
	all.Wait()
	return said
}

// awaited reports whether a document was requested that nothing has come of yet: a download
// is reported after the answer to its request.
func (e PageEvents) awaited() bool {
	if e.Opening > 0 {
		return true
	}
	if e.NewDocument || len(e.Downloads) > 0 || len(e.Tabs) > 0 || e.Refused > 0 {
		return false
	}
	for _, r := range e.Requests {
		// The request of a download ends as one that was given up.
		if r.Type == "document" && (r.Failure == "" || r.Failure == effect.Aborted) && !effect.HasNoContent(r.Status) {
			return true
		}
	}
	return false
}

// downloading reports whether a download is under way.
func (e PageEvents) downloading() bool {
	for _, d := range e.Downloads {
		if d.Ended.IsZero() {
			return true
		}
	}
	return false
}

func describe(out *effect.Report, p Page, seen PageEvents) {
	if seen.From != seen.To || seen.NewDocument || seen.Loading {
		out.URL = &effect.URL{From: seen.From, To: seen.To, NewDocument: seen.NewDocument, Loading: seen.Loading}
	}
	if n := len(seen.Dialogs); n > 0 {
		_, open := p.Dialog()
		out.Dialog = &effect.Dialog{
			Type:    seen.Dialogs[n-1].Type,
			Open:    open,
			Message: CutText(seen.Dialogs[n-1].Message, dialogShown),
		}
	}
	if len(seen.Requests) > 0 {
		r := &effect.Requests{Started: len(seen.Requests), Pending: seen.Pending, First: []effect.Request{}}
		for _, x := range seen.Requests[:min(effectsShown, len(seen.Requests))] {
			r.First = append(r.First, effect.Request{
				Method: x.Method,
				URL:    x.URL,
				Type:   x.Type,
				Status: x.Status,
				Error:  x.Failure,
			})
		}
		out.Requests = r
	}
	for _, t := range seen.Tabs[:min(effectsShown, len(seen.Tabs))] {
		out.Tabs = append(out.Tabs, effect.Tab{TabID: t.ID, RuntimeID: t.RuntimeID, URL: t.URL})
	}
	for _, t := range seen.Navigated[:min(effectsShown, len(seen.Navigated))] {
		out.Tabs = append(out.Tabs, effect.Tab{TabID: t.ID, RuntimeID: t.RuntimeID, URL: t.URL, Navigated: true})
	}
	if seen.Refused > 0 {
		out.TabsRefused = &effect.Refused{Count: seen.Refused, Limit: seen.MostTabs}
	}
	for _, d := range seen.Downloads[:min(effectsShown, len(seen.Downloads))] {
		out.Downloads = append(out.Downloads, describeDownload(d))
	}
	out.TabGone = seen.Gone
}

func describeDownload(d Download) effect.Download {
	e := effect.Download{
		ID:       d.ID,
		URL:      d.URL,
		Filename: d.Filename,
		State:    d.State,
		Path:     d.Path,
		Received: d.Received,
		Total:    d.Total,
	}
	if !d.Ended.IsZero() {
		e.EndedAt = d.Ended.UTC().Format(time.RFC3339Nano)
	}
	return e
}

// read queries the documents for what they have seen, but for those that have said it.
func (w *effectsWatch) read(ctx context.Context, out *effect.Report, said []frameEffects) {
	ctx, cancel := context.WithTimeout(ctx, effectsCap)
	defer cancel()
	answers := make([]frameEffects, len(w.frames))
	failed := make([]string, len(w.frames)) // why a document says nothing
	args := map[string]any{"id": w.id, "keep": w.on.keeps()}
	var all sync.WaitGroup
	for i, f := range w.frames {
		if said != nil && said[i].Known {
			answers[i] = said[i]
			continue
		}
		all.Go(func() {
			switch err := w.page.Call(ctx, f, "effects_end", args, &answers[i]); {
			case err == nil && !answers[i].Known, fault.CodeOf(err) == fault.PageNavigated,
				fault.CodeOf(err) == fault.FrameNotFound:
				failed[i] = "a document that was replaced"
			case err != nil:
				failed[i] = "a document: " + fault.From(err).Error()
			}
		})
	}
	all.Wait()
	var known []frameEffects
	for i, a := range answers {
		if failed[i] != "" {
			out.Unseen = append(out.Unseen, failed[i])
			continue
		}
		known = append(known, a)
	}
	addDocuments(out, known)
}

// addDocuments adds what documents have seen.
func addDocuments(out *effect.Report, answers []frameEffects) {
	var dom effect.DOM
	for _, a := range answers {
		dom.Added += a.DOM.Added
		dom.Removed += a.DOM.Removed
		dom.Attributes += a.DOM.Attributes
		dom.Text += a.DOM.Text
		if a.Focus != nil && (out.Focus == nil || a.Focus.To != nil) {
			out.Focus = a.Focus
		}
		out.Texts = append(out.Texts, a.Texts[:min(effectsShown-min(effectsShown, len(out.Texts)), len(a.Texts))]...)
		out.Passed = append(
			out.Passed, a.Passed[:min(effectsShown-min(effectsShown, len(out.Passed)), len(a.Passed))]...,
		)
		out.Opened = append(out.Opened, a.Opened...)
		out.Closed = append(out.Closed, a.Closed...)
		out.Invalid = append(out.Invalid, a.Invalid[:min(effectsShown, len(a.Invalid))]...)
		out.Values = append(out.Values, a.Values[:min(effectsShown, len(a.Values))]...)
	}
	if dom != (effect.DOM{}) {
		out.DOM = &dom
	}
}
