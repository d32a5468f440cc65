// Package states reads the state projections of a page through a host and shows them:
// once, as a difference, or with every change. What a state is, and when it has
// changed, is decided by the runtime. The verb state calls it.
package states

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Host is what a Reader needs of a runtime; *runtime.Host is one.
type Host interface {
	Do(ctx context.Context, call runtime.Call) runtime.Reply
	Subscribe(fn func(runtime.Event)) (unsubscribe func())
}

// Reader shows states of one page.
type Reader struct {
	Host        Host
	Target      runtime.Target
	NewID       func() string
	CallTimeout time.Duration
	// Out gets tables, or with JSON the result objects.
	Out  io.Writer
	JSON bool
}

// Query says what to read. Summary, Baseline, Rows and Watch exclude each other.
type Query struct {
	Name     string
	Summary  string          // shown in place of the state
	Baseline json.RawMessage // the state to compare with; nil for none
	Watch    bool            // go on and show every change
	Settle   time.Duration   // how long the state must have kept still; 0 reads at once
	Rows     *string         // the list in the state whose items are shown, one JSON value a line
	MaxBytes int             // of the state; 0 is the default
}

// Valid reports what excludes each other.
func (q Query) Valid() error {
	n := 0
	for _, given := range []bool{q.Watch, q.Summary != "", q.Baseline != nil, q.Rows != nil} {
		if given {
			n++
		}
	}
	switch {
	case n > 1:
		return errors.New("--summary, --diff-against, --rows and --watch exclude each other")
	case q.MaxBytes < 0:
		return fmt.Errorf("--max-bytes is %d: expected 1 or more", q.MaxBytes)
	}
	return nil
}

// settleLimit bounds the wait for a state to keep still.
const settleLimit = 5 * time.Second

// Baseline is the state in a document to compare with: what the verb printed as JSON
// counts as the state in it.
func Baseline(raw json.RawMessage) json.RawMessage {
	var printed struct {
		Hash  string          `json:"state_hash"`
		State json.RawMessage `json:"state"`
	}
	if json.Unmarshal(raw, &printed) == nil && printed.Hash != "" && len(printed.State) > 0 {
		return printed.State
	}
	return raw
}

// List shows the projections that the maps declare for the page.
func (r *Reader) List(ctx context.Context) error {
	reply := r.call(ctx, runtime.Site{Mode: runtime.SiteList})
	if reply.Err != nil {
		return reply.Err
	}
	var offered struct {
		Projections json.RawMessage `json:"state_projections"`
	}
	if err := json.Unmarshal(reply.Output, &offered); err != nil {
		return fmt.Errorf("reading the result: %w", err)
	}
	return r.show(offered.Projections, func(w io.Writer, raw json.RawMessage) error {
		var list []struct {
			Name        string  `json:"name"`
			Description *string `json:"description"`
			Summaries   []struct {
				Name string `json:"name"`
			} `json:"summaries"`
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			return fmt.Errorf("reading the result: %w", err)
		}
		if len(list) == 0 {
			fmt.Fprintln(w, "no map declares a state projection for this page")
			return nil
		}
		rows := [][]string{{"name", "summaries", "description"}}
		for _, p := range list {
			names := make([]string, len(p.Summaries))
			for i, s := range p.Summaries {
				names[i] = s.Name
			}
			description := ""
			if p.Description != nil {
				description = *p.Description
			}
			rows = append(rows, []string{
				report.Printable(p.Name), report.Shorten(report.Printable(strings.Join(names, ", ")), report.MaxCell),
				report.Shorten(report.Printable(description), report.MaxCell),
			})
		}
		report.Aligned(w, "", rows)
		return nil
	})
}

// Read shows the state that the query names and, if it asks for that, its changes until
// ctx ends.
func (r *Reader) Read(ctx context.Context, q Query) error {
	name := q.Name
	call := func(ctx context.Context, arguments runtime.Site) runtime.Reply {
		arguments.Projection = name
		return r.call(ctx, arguments)
	}
	if q.Rows != nil {
		return r.rows(ctx, call, q)
	}
	events := make(chan runtime.Event, 256)
	defer r.Host.Subscribe(func(ev runtime.Event) {
		if ev.Kind != runtime.DOMEvent || ev.Name != "state."+name || ev.Tab.RuntimeID != r.Target.RuntimeID {
			return
		}
		select {
		case events <- ev:
		default: // a reader that is this slow has lost the thread anyway
		}
	})()
	if q.Settle > 0 {
		settle(ctx, call, events, q.Settle)
	}
	arguments := runtime.Site{Mode: runtime.SiteStateRead, MaxBytes: max(q.MaxBytes, 0)}
	people := report.State
	switch {
	case q.Summary != "":
		arguments.Mode = runtime.SiteStateSummary
		arguments.Summary = q.Summary
	case q.Baseline != nil:
		arguments.Mode = runtime.SiteStateDiff
		arguments.Baseline = q.Baseline
		people = report.Diff
	}
	if q.Watch {
		if reply := call(ctx, runtime.Site{Mode: runtime.SiteStateWatch}); reply.Err != nil {
			return reply.Err
		}
	}
	reply := call(ctx, arguments)
	if reply.Err != nil {
		return reply.Err
	}
	if err := r.show(reply.Output, people); err != nil || !q.Watch {
		return err
	}
	return r.follow(ctx, events, name)
}

func (r *Reader) call(ctx context.Context, arguments runtime.Site) runtime.Reply {
	raw, err := arguments.JSON()
	if err != nil {
		return runtime.Reply{Err: fault.From(err)}
	}
	return r.Host.Do(ctx, runtime.Call{
		ID:        r.NewID(),
		Target:    r.Target,
		Name:      runtime.SiteTool,
		Arguments: raw,
		Timeout:   r.CallTimeout,
	})
}

// settle returns when the state has kept still for quiet, at the latest
// after settleLimit: a page continues to build itself after its load event.
func settle(
	ctx context.Context, call func(context.Context, runtime.Site) runtime.Reply,
	events <-chan runtime.Event, quiet time.Duration,
) {
	limit, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	for {
		r := call(limit, runtime.Site{Mode: runtime.SiteStateWatch, DebounceMS: 50})
		if r.Err == nil {
			break
		}
		// A page that is still empty often does not have the declared form.
		if !slices.Contains([]fault.Code{fault.StateSchemaValidationFailed, fault.StateProjectionFailed}, r.Err.Code) ||
			!primitives.Pause(limit, 200*time.Millisecond) {
			return // the read that follows says what is wrong
		}
	}
	for still := false; !still; {
		select {
		case <-events:
		case <-time.After(quiet):
			still = true
		case <-limit.Done():
			still = true
		}
	}
	call(ctx, runtime.Site{Mode: runtime.SiteStateWatch, Enabled: new(bool)})
	for len(events) > 0 {
		<-events
	}
}

// follow shows the changes of a watched state until ctx ends.
func (r *Reader) follow(ctx context.Context, events <-chan runtime.Event, name string) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case ev := <-events:
			if r.JSON {
				enc := json.NewEncoder(r.Out)
				enc.SetEscapeHTML(false)
				if err := enc.Encode(map[string]any{
					"event":       ev.Name,
					"url":         ev.Tab.URL,
					"observed_at": ev.ObservedAt.UTC().Format(time.RFC3339Nano),
					"payload":     ev.Payload,
				}); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintf(r.Out, "\n%s  %s changed\n", ev.ObservedAt.Format("15:04:05"), name)
			if err := report.Diff(r.Out, ev.Payload); err != nil {
				return err
			}
		}
	}
}

func (r *Reader) show(output json.RawMessage, people func(io.Writer, json.RawMessage) error) error {
	if r.JSON {
		fmt.Fprintf(r.Out, "%s\n", output)
		return nil
	}
	return people(r.Out, output)
}
