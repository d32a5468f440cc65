package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/plan/spec"
)

// ReviewOptions say what a review compares.
type ReviewOptions struct {
	Options
	Base, Head string // addresses whose origins take the place of that of each plan
	// Noise is what differs between two runs of base, from an earlier review. Nil has base run twice.
	Noise *Noise
}

// moment is a page after a step.
type moment struct {
	key, name string
	at        report.Place
	ok        bool
	detail    string
	path      string
	title     string
	rows      []string // of the outline
	states    map[string]json.RawMessage
	console   []string
	requests  []string
	picture   []byte
	took      time.Duration
}

// watcher collects the moments of one run. It is for one goroutine.
type watcher struct {
	moments []moment
	at      map[string]int
	heard   map[string]marks // by tab
}

func (w *watcher) add(m moment) {
	if i, again := w.at[m.key]; again {
		w.moments[i] = m
		return
	}
	w.at[m.key] = len(w.moments)
	w.moments = append(w.moments, m)
}

// rebased is an address at another origin, when it is of the origin of the plan.
func (r *run) rebased(text string) string {
	to, err := url.Parse(r.o.origin)
	if r.o.origin == "" || err != nil {
		return text
	}
	u, err := url.Parse(text)
	from, _ := r.scope.Text(r.c.Plan.Open)
	own, err2 := url.Parse(from)
	if err != nil || err2 != nil || u.Host == "" || own.Host != "" && own.Host != u.Host {
		return text
	}
	u.Scheme, u.Host = to.Scheme, to.Host
	if below := own.Path[:strings.LastIndex(own.Path, "/")+1]; len(to.Path) > 1 {
		if rest, ok := strings.CutPrefix(u.Path, below); ok {
			u.Path = strings.TrimSuffix(to.Path, "/") + "/" + rest
		}
	}
	return u.String()
}

// below is the path of an address below that of its side.
func (r *run) below(address string) string {
	path := pathOf(address)
	to, err := url.Parse(r.o.origin)
	if err != nil || len(to.Path) < 2 {
		return path
	}
	if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(to.Path, "/")+"/"); ok {
		return "/" + rest
	}
	return path
}

// watch notes the page after a step.
func (r *run) watch(ctx context.Context, at place, result StepResult) {
	m := moment{
		key:    stepKey(result),
		name:   result.Name,
		at:     result.at,
		ok:     result.OK,
		detail: result.Detail(),
		took:   time.Duration(result.DurationMS) * time.Millisecond,
	}
	m.picture, _ = r.picture(ctx, at, spec.Expectation{}, 2*time.Second) // a page that moves has none
	var page info
	if r.value(ctx, at, "page.info", `{}`, &page) == nil {
		m.path, m.title = r.below(page.URL), page.Title
	}
	var tree struct{ Text string }
	if r.value(ctx, at, "page.snapshot", `{"max_bytes":1000000,"max_nodes":10000}`, &tree) == nil {
		m.rows = rowsOf(tree.Text)
	}
	m.states = r.states(ctx, at)
	m.console, m.requests = r.heard(ctx, at)
	r.o.watcher.add(m)
}

// heard are the messages of the console and the requests since the last step of a tab.
func (r *run) heard(ctx context.Context, at place) (console, requests []string) {
	since := r.o.watcher.heard[at.target.RuntimeID]
	var messages struct {
		Cursor  int
		Entries []struct{ Level, Text string }
	}
	in := fmt.Sprintf(`{"levels":["error","warning"],"since":%d,"limit":200}`, since.console)
	if r.value(ctx, at, "console.list", in, &messages) == nil {
		for _, e := range messages.Entries {
			console = append(console, e.Level+": "+e.Text)
		}
	}
	var list struct {
		Cursor  int
		Entries []struct {
			Method, URL, State string
			Status             int
		}
	}
	if r.value(ctx, at, "network.list", fmt.Sprintf(`{"since":%d,"limit":500}`, since.network), &list) == nil {
		for _, e := range list.Entries {
			// Whether a browser asks again for what it has depends on how old a file is, and not on the change.
			if e.State != "pending" && e.Status != http.StatusNotModified {
				requests = append(requests, fmt.Sprintf("%s %s %d", e.Method, r.below(e.URL), e.Status))
			}
		}
	}
	r.o.watcher.heard[at.target.RuntimeID] = marks{console: messages.Cursor, network: list.Cursor}
	return console, requests
}

// Reviewed is what differs between base and head.
type Reviewed struct {
	OK    bool         `json:"ok"` // no case that passes on base fails on head
	Base  string       `json:"base"`
	Head  string       `json:"head"`
	Steps []StepReview `json:"steps"` // those that differ
	Same  int          `json:"same"`  // how many do not
	// Noise is what differs between two runs of base, to be kept for the next review.
	Noise      *Noise `json:"-"`
	DurationMS int64  `json:"duration_ms"`
}

// Review runs the cases of a suite on base and on head, and says what differs beyond what differs on base alone.
func (s *Suite) Review(ctx context.Context, b Browser, o ReviewOptions) Reviewed {
	started := time.Now()
	out := Reviewed{OK: true, Base: o.Base, Head: o.Head, Steps: []StepReview{}, Noise: o.Noise}
	learns := out.Noise == nil
	if learns {
		out.Noise = &Noise{Steps: map[string]*StepNoise{}}
	}
	for _, c := range s.Cases {
		if ctx.Err() != nil {
			break
		}
		o.own = s.own[c.Plan.Path()]
		var base, again, head []moment
		var both sync.WaitGroup
		both.Go(func() { base = o.ran(ctx, b, c, o.Base) })
		both.Go(func() { head = o.ran(ctx, b, c, o.Head) })
		both.Wait()
		if learns {
			again = o.ran(ctx, b, c, o.Base)
			out.Noise.learn(c.ID, base, again)
		}
		out.compare(c, base, head)
	}
	out.DurationMS = time.Since(started).Milliseconds()
	return out
}

// ran is one run of a case on one side.
func (o ReviewOptions) ran(ctx context.Context, b Browser, c *spec.Case, origin string) []moment {
	how := o.Options
	how.watcher = &watcher{at: map[string]int{}, heard: map[string]marks{}}
	how.origin = origin
	result := RunCase(ctx, b, c, how)
	for _, s := range result.Steps {
		key := stepKey(s)
		if _, seen := how.watcher.at[key]; !seen && !s.Skipped {
			how.watcher.add(moment{key: key, name: s.Name, at: s.at, ok: s.OK, detail: s.Detail()})
		}
	}
	return how.watcher.moments
}
