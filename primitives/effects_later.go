package primitives

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/effect"
)

// Watches are the watches of one tab that go on after their actions were answered. What comes then is kept for who has
// acted, until that caller's next answer. The zero value is ready. It is safe for concurrent use.
type Watches struct {
	mu   sync.Mutex
	open *laterWatch
	kept map[string][]effect.Report // by who acted
}

// mostReports bounds what is kept for one caller, and mostCallers for how many.
const (
	mostReports = 8
	mostCallers = 100
)

// laterWatch is a watch that goes on.
type laterWatch struct {
	watch *effectsWatch // its documents
	owner string
	after PageWatch        // what has come since the answer
	then  PageWatch        // what the answer was about
	told  []NetworkRequest // requests that the answer was about
}

type watchesKey struct{}

// watching is who acts on a tab.
type watching struct {
	all   *Watches // nil where nothing is kept
	owner string   // "" where nobody asks for what comes later
}

// OnTab marks calls on a tab. An action of an owner goes on to be watched after its answer.
func OnTab(ctx context.Context, all *Watches, owner string) context.Context {
	return context.WithValue(ctx, watchesKey{}, watching{all, owner})
}

type beforeNextKey struct{}

// BeforeNext marks an action that another one of the same owner follows at once. It waits less for what follows: the
// next one tells what comes later.
func BeforeNext(ctx context.Context) context.Context {
	return context.WithValue(ctx, beforeNextKey{}, true)
}

func (t effectsTimes) beforeNext(ctx context.Context) effectsTimes {
	if next, _ := ctx.Value(beforeNextKey{}).(bool); next && watchingIn(ctx).keeps() {
		t.none = min(t.none, effectsNext)
	}
	return t
}

func watchingIn(ctx context.Context) watching {
	on, _ := ctx.Value(watchesKey{}).(watching)
	return on
}

func (on watching) keeps() bool { return on.all != nil && on.owner != "" }

// end takes the watch that goes on, which another action ends.
func (on watching) end() *laterWatch {
	if on.all == nil {
		return nil
	}
	on.all.mu.Lock()
	defer on.all.mu.Unlock()
	open := on.all.open
	on.all.open = nil
	if open != nil { // what follows from here on is of the other action
		open.after = endedWatch{open.after.Events()}
		open.then = endedWatch{open.then.Events()}
	}
	return open
}

// endedWatch keeps the events of a watch that has ended.
type endedWatch struct{ seen PageEvents }

func (w endedWatch) Events() PageEvents                { return w.seen }
func (endedWatch) Reported(context.Context)            {}
func (endedWatch) Next(context.Context, time.Duration) {}

// note keeps what a watch has seen since its answer, for its owner.
func (on watching) note(l *laterWatch, documents []frameEffects) {
	if l == nil {
		return
	}
	var out effect.Report
	seen := l.after.Events()
	for i, r := range l.then.Events().Requests[:min(len(l.told), len(l.then.Events().Requests))] {
		if l.told[i].State == "pending" && r.State != "pending" {
			seen.Requests = append(seen.Requests, r)
		}
	}
	describe(&out, l.watch.page, seen)
	addDocuments(&out, documents)
	out.DOM = nil // a page changes by itself, too
	out.Focus = nil
	out.Sum()
	if !out.Observed && len(out.Texts)+len(out.Passed) == 0 {
		return
	}
	on.all.mu.Lock()
	defer on.all.mu.Unlock()
	if on.all.kept == nil || len(on.all.kept) > mostCallers { // of callers that went long ago
		on.all.kept = map[string][]effect.Report{}
	}
	list := append(on.all.kept[l.owner], out)
	on.all.kept[l.owner] = list[max(0, len(list)-mostReports):]
}

// close ends the watch that goes on, before an action that nobody watches: what follows from then on is of that one.
func (on watching) close(ctx context.Context, p Page) {
	l := on.end()
	if l == nil {
		return
	}
	on.note(l, l.documents(ctx, p))
}

// documents are the effects that the documents of a watch have noted since its answer.
func (l *laterWatch) documents(ctx context.Context, p Page) []frameEffects {
	if _, dialog := p.Dialog(); dialog {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, laterTime)
	defer cancel()
	var out []frameEffects
	for _, f := range l.watch.frames {
		var one frameEffects
		if p.Call(ctx, f, "effects_later", map[string]any{"id": l.watch.id}, &one) == nil && one.Known {
			out = append(out, one)
		}
	}
	return out
}

// goOn begins to note what comes after an answer, before the answer is made: what comes between is told twice sooner
// than never.
func (on watching) goOn(ctx context.Context, p Page) PageWatch {
	if !on.keeps() {
		return nil
	}
	after, err := p.Watch(ctx)
	if err != nil {
		return nil
	}
	return after
}

// keep lets a watch go on whose answer is made, and returns what is kept for its owner.
func (on watching) keep(w *effectsWatch, after PageWatch, seen PageEvents) []effect.Report {
	if !on.keeps() {
		return nil
	}
	on.all.mu.Lock()
	defer on.all.mu.Unlock()
	if after != nil && !seen.Gone {
		on.all.open = &laterWatch{watch: w, owner: on.owner, after: after, then: w.events, told: seen.Requests}
	}
	return on.all.take(on.owner)
}

// take gives what is kept for an owner. The caller has w.mu.
func (w *Watches) take(owner string) []effect.Report {
	kept := w.kept[owner]
	delete(w.kept, owner)
	return kept
}

// laterTime bounds a page's answer about what came later.
const laterTime = 250 * time.Millisecond

// Later returns the effects of an owner's actions since its last answer, as a list of reports. With a quiet
// time it waits until the documents have not changed for so long, within the window of effects.
func (w *Watches) Later(ctx context.Context, p Page, owner string, quiet time.Duration) json.RawMessage {
	w.mu.Lock()
	open := w.open
	w.mu.Unlock()
	if open != nil && open.owner == owner {
		w.read(ctx, p, open, quiet)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := w.take(owner)
	b, err := json.Marshal(kept)
	if err != nil || len(kept) == 0 {
		return json.RawMessage("[]")
	}
	return b
}

// read notes what the watch that goes on has seen. It goes on.
func (w *Watches) read(ctx context.Context, p Page, open *laterWatch, quiet time.Duration) {
	open.watch.page = p
	if quiet > 0 {
		times := effectsTimes{window: defaultEffectsWindow, quiet: quiet, none: quiet}
		watch := *open.watch
		watch.events = open.after
		watch.settle(ctx, time.Now().Add(times.window), times)
	}
	documents := open.documents(ctx, p)
	next, err := p.Watch(ctx)
	if err != nil {
		return
	}
	seen := open.after.Events()
	watching{all: w}.note(open, documents)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == open {
		w.open = &laterWatch{watch: open.watch, owner: open.owner, after: next, then: open.after, told: seen.Requests}
	}
}
