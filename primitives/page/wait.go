package page

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

type pageWaitIn struct {
	Conditions []waitCondition `json:"conditions"`
	Mode       string          `json:"mode"`
	TimeoutMS  *int            `json:"timeout_ms"`
}

// waitCondition is one thing to wait for; exactly one member but State is set.
type waitCondition struct {
	Text          *string          `json:"text,omitempty"`
	Names         bool             `json:"names,omitempty"`
	TextGone      *string          `json:"text_gone,omitempty"`
	Locator       *locator.Locator `json:"locator,omitempty"`
	Ref           *string          `json:"ref,omitempty"`
	State         string           `json:"state,omitempty"`
	URL           *urlPattern      `json:"url,omitempty"`
	Load          *string          `json:"load,omitempty"`
	NetworkIdleMS *int             `json:"network_idle_ms,omitempty"`
}

// urlPattern matches URLs. A string is a glob when it has a
// star, and else a part of the address.
type urlPattern struct {
	Equals   *string `json:"equals,omitempty"`
	Contains *string `json:"contains,omitempty"`
	Glob     *string `json:"glob,omitempty"`
	Regex    *string `json:"regex,omitempty"`
}

func (u *urlPattern) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		if bytes.ContainsRune([]byte(s), '*') {
			*u = urlPattern{Glob: &s}
		} else {
			*u = urlPattern{Contains: &s}
		}
	} else {
		type plain urlPattern
		if err := json.Unmarshal(b, (*plain)(u)); err != nil {
			return err
		}
	}
	for _, text := range []*string{u.Equals, u.Contains, u.Glob} {
		if text != nil {
			*text = address.Part(*text)
		}
	}
	return nil
}

type pageWaitOut struct {
	Matched   bool   `json:"matched"`
	Mode      string `json:"mode"`
	Met       []bool `json:"met"`
	ElapsedMS int64  `json:"elapsed_ms"`
	URL       string `json:"url"`
}

const (
	pageWaitDefault = 10 * time.Second
	pageWaitLongest = 2 * time.Minute
)

// pageWait waits in the page for what the page can observe, and for the browser's
// events where it cannot. A navigation ends the wait in the old document and
// continues it in the new one.
var pageWait = primitives.Define("page.wait", func(
	ctx context.Context, p primitives.Page, in pageWaitIn,
) (pageWaitOut, error) {
	w := pageWaiting{p: p, in: in, start: time.Now(), timeout: pageWaitDefault, met: make([]bool, len(in.Conditions))}
	if in.Mode == "" {
		w.in.Mode = "all"
	}
	if in.TimeoutMS != nil {
		w.timeout = min(time.Duration(*in.TimeoutMS)*time.Millisecond, pageWaitLongest)
	}
	if end, ok := ctx.Deadline(); ok {
		left := time.Until(end)
		w.timeout = max(0, min(w.timeout, left-primitives.AnswerMargin(ctx, left, actionability.AnswerMargin)))
	}
	groups, err := w.groups(ctx)
	if err != nil {
		return pageWaitOut{}, err
	}
	if err := w.run(ctx, groups); err != nil {
		return pageWaitOut{}, err
	}
	return pageWaitOut{
		Matched:   true,
		Mode:      w.in.Mode,
		Met:       w.met,
		ElapsedMS: time.Since(w.start).Milliseconds(),
		URL:       p.Tab().URL,
	}, nil
})

type pageWaiting struct {
	p       primitives.Page
	in      pageWaitIn
	start   time.Time
	timeout time.Duration
	met     []bool
}

// waitGroup has the conditions that one party can answer at once: the main document, the
// document of one frame, all documents, or the browser.
type waitGroup struct {
	loc      *locator.Locator // of the document; nil for the main one
	anywhere bool             // a text, in whatever frame
	idle     time.Duration
	indexes  []int
}

// groups sorts the conditions by who can answer them.
func (w *pageWaiting) groups(ctx context.Context) ([]waitGroup, error) {
	var groups []waitGroup
	var main []int
	for i, c := range w.in.Conditions {
		switch {
		case c.NetworkIdleMS != nil:
			groups = append(groups, waitGroup{
				idle:    max(time.Duration(*c.NetworkIdleMS)*time.Millisecond, time.Millisecond),
				indexes: []int{i},
			})
		case c.Text != nil || c.TextGone != nil:
			groups = append(groups, waitGroup{anywhere: true, indexes: []int{i}})
		case c.Ref != nil:
			frame, err := w.p.Refs().Frame(*c.Ref)
			if err != nil {
				return nil, err
			}
			if frame == "" {
				main = append(main, i)
				continue
			}
			l := locator.RefLocator(*c.Ref)
			groups = append(groups, waitGroup{loc: &l, indexes: []int{i}})
		case c.Locator != nil && (len(c.Locator.Frame) > 0 || c.Locator.Ref != ""):
			groups = append(groups, waitGroup{loc: c.Locator, indexes: []int{i}})
		default:
			main = append(main, i)
		}
	}
	if len(main) > 0 {
		groups = append(groups, waitGroup{indexes: main})
	}
	return groups, ctx.Err()
}

// run waits until one group, or all of them together, hold. When several have
// to hold together, those that can change again are evaluated once more after the
// last has come.
func (w *pageWaiting) run(ctx context.Context, groups []waitGroup) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		group int
		met   []bool
		err   error
	}
	for {
		results := make(chan outcome, len(groups))
		round, stop := context.WithCancel(ctx)
		for i, g := range groups {
			go func() {
				met, err := w.wait(round, g, w.left())
				results <- outcome{i, met, err}
			}()
		}
		var failed error
		held := false
		for range groups {
			r := <-results
			for k, met := range r.met {
				w.met[groups[r.group].indexes[k]] = met
			}
			switch {
			case r.err == nil && w.in.Mode == "any":
				held = true
				stop()
			case r.err != nil && !held && (w.in.Mode == "all" || fault.CodeOf(r.err) != fault.Timeout):
				if failed == nil {
					failed = r.err
				}
				stop()
			case r.err != nil && failed == nil:
				failed = r.err
			}
		}
		stop()
		switch {
		case held || failed == nil && len(groups) == 1:
			return nil
		case failed != nil && fault.CodeOf(failed) == fault.Timeout:
			return w.timedOut(ctx)
		case failed != nil:
			return failed
		}
		together := true
		for _, g := range groups {
			if g.idle > 0 {
				continue // it held for a while, up to a moment ago
			}
			met, err := w.wait(ctx, g, 0)
			for k := range met {
				w.met[g.indexes[k]] = met[k]
			}
			if err != nil {
				together = false
			}
		}
		if together {
			return nil
		}
		if w.left() <= 0 {
			return w.timedOut(ctx)
		}
	}
}

func (w *pageWaiting) left() time.Duration { return max(0, w.timeout-time.Since(w.start)) }

// wait waits for one group and returns which of its conditions hold.
func (w *pageWaiting) wait(ctx context.Context, g waitGroup, patience time.Duration) ([]bool, error) {
	end := time.Now().Add(patience)
	if g.idle > 0 {
		ctx, cancel := context.WithDeadline(ctx, end)
		defer cancel()
		if err := w.p.NetworkQuiet(ctx, g.idle, 0); err != nil {
			if fault.CodeOf(err) == fault.Cancelled || ctx.Err() != nil {
				err = fault.Translate(fault.Timeout, err, "the network did not become quiet in time")
			}
			return []bool{false}, err
		}
		return []bool{true}, nil
	}
	if g.anywhere {
		return w.waitText(ctx, w.in.Conditions[g.indexes[0]], end)
	}
	conditions := make([]waitCondition, len(g.indexes))
	for k, i := range g.indexes {
		conditions[k] = w.in.Conditions[i]
	}
	none := make([]bool, len(conditions))
	for {
		met, err := w.evaluate(ctx, g, conditions, max(0, time.Until(end)))
		if err == nil || ctx.Err() != nil {
			return met, err
		}
		switch code := fault.CodeOf(err); {
		case code == fault.PageNavigated, locator.IsFrameFault(code),
			code == fault.ElementStale && g.loc != nil && g.loc.Ref != "":
			if state := conditions[0].State; code != fault.PageNavigated && (state == "hidden" || state == "detached") {
				return []bool{true}, nil // what is not there is neither visible nor attached
			}
			if code == fault.ElementStale {
				return none, err
			}
			if time.Until(end) <= 0 || !primitives.Pause(ctx, locator.FrameRetry) {
				return none, fault.Translate(fault.Timeout, err, "the document did not come in time")
			}
		case code == fault.Timeout && time.Until(end) > 0:
			// a slice ended
		default:
			return met, err
		}
	}
}

func (w *pageWaiting) evaluate(
	ctx context.Context, g waitGroup, conditions []waitCondition, left time.Duration,
) ([]bool, error) {
	args := map[string]any{"conditions": conditions, "mode": w.in.Mode}
	var at locator.Place
	if g.loc != nil {
		var err error
		at, err = g.loc.Enter(ctx, w.p)
		if err != nil {
			return nil, err
		}
		if at.View != nil {
			args["view"] = at.View
			left = min(left, locator.ViewSlice) // its ancestors scroll without telling it
		}
		if at.Searching {
			left = min(left, locator.ViewSlice) // it may come in another document
		}
	}
	args["timeout_ms"] = left.Milliseconds()
	var out struct {
		Matched bool   `json:"matched"`
		Met     []bool `json:"met"`
	}
	if err := primitives.CallWithin(ctx, w.p, at.Frame, "page_wait", args, &out, w.left()); err != nil {
		return nil, err
	}
	if len(out.Met) != len(conditions) {
		return nil, fault.New(
			fault.Internal, "the page library answered %d of %d conditions", len(out.Met), len(conditions),
		)
	}
	if !out.Matched {
		return out.Met, fault.New(fault.Timeout, "the conditions did not hold in time")
	}
	return out.Met, nil
}

func (w *pageWaiting) timedOut(ctx context.Context) error {
	f := fault.New(fault.Timeout, "the conditions did not hold in time").
		With("mode", w.in.Mode).
		With("met", w.met).With("timeout_ms", w.timeout.Milliseconds()).With("url", w.p.Tab().URL)
	for i, c := range w.in.Conditions {
		if c.NetworkIdleMS == nil || w.met[i] {
			continue
		}
		if requests := w.underWay(ctx); len(requests) > 0 {
			f.With("requests", requests)
		}
		break
	}
	return f
}

// mostUnderWay is how many requests that are waited for are named.
const mostUnderWay = 5

// underWay names requests that keep the network from being idle.
func (w *pageWaiting) underWay(ctx context.Context) []string {
	log, err := w.p.Network(ctx)
	if err != nil {
		return nil
	}
	var out []string
	for _, r := range log.Requests {
		stream := r.Type == "websocket" || r.Type == "eventsource"
		if r.State == "pending" && !stream && len(out) < mostUnderWay {
			out = append(out, r.Method+" "+r.URL)
		}
	}
	return out
}
