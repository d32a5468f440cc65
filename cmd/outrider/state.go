package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// stateOptions are what the flags of the verb state say.
type stateOptions struct {
	name     string
	summary  string
	baseline json.RawMessage // nil when there is nothing to compare with
	watch    bool
	settle   time.Duration
}

// settleLimit bounds the wait for a state to keep still.
const settleLimit = 5 * time.Second

func (a *app) stateCommand() *cobra.Command {
	var o stateOptions
	var against string
	cmd := &cobra.Command{
		Use:   "state [NAME]",
		Short: "Read one state projection of a page",
		Long: "Read the state projection NAME that a map declares for the page: as a table for people, as the result object with --json.\n" +
			"Without NAME the projections that the maps declare for the page are listed.\n" +
			"With --watch the state is printed, and after it every change of it, until --timeout or an interrupt.",
		Example: `  outrider state board.state --open http://127.0.0.1:8080/ --maps ./map/actions.json
  outrider state board.state --json ... > before.json
  outrider state board.state --diff-against before.json ...
  outrider state board.state --watch ...`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				if o.watch || o.summary != "" || against != "" {
					return usage("--summary, --diff-against and --watch need the NAME of a projection")
				}
				return a.withHost(cmd.Context(), a.listStates)
			}
			o.name = args[0]
			if o.watch && (o.summary != "" || against != "") || o.summary != "" && against != "" {
				return usage("--summary, --diff-against and --watch exclude each other")
			}
			if against != "" {
				var err error
				if o.baseline, err = a.baseline(against); err != nil {
					return err
				}
			}
			return a.withHost(cmd.Context(), func(ctx context.Context, h *runtime.Host) error { return a.state(ctx, h, o) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.summary, "summary", "", "print this summary in place of the state")
	f.StringVar(&against, "diff-against", "", "print what changed since FILE: a state, or what --json printed; - is standard input")
	f.BoolVar(&o.watch, "watch", false, "go on and print every change of the state")
	f.DurationVar(&o.settle, "settle", 500*time.Millisecond, "how long the state must have kept still before it is read; 0 reads at once")
	a.addBrowserFlags(cmd)
	return cmd
}

// listStates prints the projections that the maps declare for the page.
func (a *app) listStates(ctx context.Context, h *runtime.Host) error {
	reply := h.Do(ctx, runtime.Call{
		ID: uuid.NewString(), Target: firstTab(h), Name: runtime.SiteTool, Arguments: json.RawMessage(`{"mode":"list"}`), Timeout: a.callLimit,
	})
	if reply.Err != nil {
		return reply.Err
	}
	var offered struct {
		Projections json.RawMessage `json:"state_projections"`
	}
	if err := json.Unmarshal(reply.Output, &offered); err != nil {
		return fmt.Errorf("reading the result: %w", err)
	}
	return a.show(offered.Projections, func(w io.Writer, raw json.RawMessage) error {
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
			rows = append(rows, []string{report.Printable(p.Name), report.Shorten(report.Printable(strings.Join(names, ", ")), report.MaxCell), report.Shorten(report.Printable(description), report.MaxCell)})
		}
		report.Aligned(w, "", rows)
		return nil
	})
}

// baseline reads the state to compare with. What the verb printed with --json
// counts as the state in it.
func (a *app) baseline(path string) (json.RawMessage, error) {
	text := "@" + path
	if path == "-" {
		text = "-"
	}
	raw, err := a.jsonDocument("--diff-against", text)
	if err != nil {
		return nil, err
	}
	var printed struct {
		Hash  string          `json:"state_hash"`
		State json.RawMessage `json:"state"`
	}
	if json.Unmarshal(raw, &printed) == nil && printed.Hash != "" && len(printed.State) > 0 {
		return printed.State, nil
	}
	return raw, nil
}

func (a *app) state(ctx context.Context, h *runtime.Host, o stateOptions) error {
	target := firstTab(h)
	call := func(ctx context.Context, arguments map[string]any) runtime.Reply {
		arguments["projection_name"] = o.name
		raw, err := json.Marshal(arguments)
		if err != nil {
			return runtime.Reply{Err: fault.From(err)}
		}
		return h.Do(ctx, runtime.Call{ID: uuid.NewString(), Target: target, Name: runtime.SiteTool, Arguments: raw, Timeout: a.callLimit})
	}
	events := make(chan runtime.Event, 256)
	defer h.Subscribe(func(ev runtime.Event) {
		if ev.Kind != runtime.DOMEvent || ev.Name != "state."+o.name || ev.Tab.RuntimeID != target.RuntimeID {
			return
		}
		select {
		case events <- ev:
		default: // a reader that is this slow has lost the thread anyway
		}
	})()
	if o.settle > 0 {
		settleState(ctx, call, events, o.settle)
	}
	arguments := map[string]any{"mode": "state_read"}
	show := report.State
	switch {
	case o.summary != "":
		arguments = map[string]any{"mode": "state_summary", "summary_name": o.summary}
	case o.baseline != nil:
		arguments = map[string]any{"mode": "state_diff", "baseline": o.baseline}
		show = report.Diff
	}
	if o.watch {
		if r := call(ctx, map[string]any{"mode": "state_watch"}); r.Err != nil {
			return r.Err
		}
	}
	reply := call(ctx, arguments)
	if reply.Err != nil {
		return reply.Err
	}
	if err := a.show(reply.Output, show); err != nil || !o.watch {
		return err
	}
	return a.follow(ctx, events, o.name)
}

// settleState returns when the state has kept still for quiet, at the latest
// after settleLimit: a page continues to build itself after its load event.
func settleState(ctx context.Context, call func(context.Context, map[string]any) runtime.Reply, events <-chan runtime.Event, quiet time.Duration) {
	limit, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	for {
		r := call(limit, map[string]any{"mode": "state_watch", "debounce_ms": 50})
		if r.Err == nil {
			break
		}
		// A page that is still empty often does not have the declared form.
		if !slices.Contains([]fault.Code{fault.StateSchemaValidationFailed, fault.StateProjectionFailed}, r.Err.Code) || !pause(limit, 200*time.Millisecond) {
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
	call(ctx, map[string]any{"mode": "state_watch", "enabled": false})
	for len(events) > 0 {
		<-events
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// follow prints the changes of a watched state until ctx ends.
func (a *app) follow(ctx context.Context, events <-chan runtime.Event, name string) error {
	for {
		select {
		case <-ctx.Done():
			return ended(ctx)
		case ev := <-events:
			if a.json {
				a.printJSON(map[string]any{"event": ev.Name, "url": ev.Tab.URL, "observed_at": ev.ObservedAt.UTC().Format(time.RFC3339Nano), "payload": ev.Payload})
				continue
			}
			fmt.Fprintf(a.stdout, "\n%s  %s changed\n", ev.ObservedAt.Format("15:04:05"), name)
			if err := report.Diff(a.stdout, ev.Payload); err != nil {
				return err
			}
		}
	}
}

func (a *app) show(output json.RawMessage, people func(io.Writer, json.RawMessage) error) error {
	if a.json {
		fmt.Fprintf(a.stdout, "%s\n", output)
		return nil
	}
	return people(a.stdout, output)
}
