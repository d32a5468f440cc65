package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/presence"
	"github.com/outrider-run/outrider/fleet/queue"
)

// Show is how a submission is followed and shown to people.
type Show struct {
	Stdout, Stderr io.Writer // Stdout is nil when nothing is printed while it runs
	Progress       *report.Progress
	Trusted        func(fleet.Record) error
	// Artifacts is the folder for the files that jobs make; "" leaves them.
	Artifacts string
	// Cancel ends the jobs when ctx ends.
	Cancel bool

	// Flags of the run: Retries are the cases' and travel with them.
	Check, FailFast, FailOnFlaky bool
	Retries                      int
	RetriesGiven                 bool
}

// Follow shows the jobs until each has ended.
func (s Show) Follow(ctx context.Context, q *queue.Queue, jobs []fleet.Job, to report.Folder) (Outcome, error) {
	began, done := time.Now(), 0
	note := func(text string) { s.Progress.Clear(); fmt.Fprintf(s.Stderr, "outrider: %s\n", report.Printable(text)) }
	if text := unserved(ctx, q, jobs); text != "" {
		note(text)
	}
	many := len(jobs) > 1 || len(jobs) == 1 && selected(jobs[0])
	v := View{Trusted: s.Trusted, Note: note, FailFast: s.FailFast}
	if many {
		s.Progress.Begin("", 0, len(jobs))
	} else {
		v.Step = func(job string, x fleet.Step) { s.Progress.Begin(x.Name, x.Number, x.Of) }
		if s.Stdout != nil {
			v.Text = func(_, text string) { s.Progress.Clear(); fmt.Fprint(s.Stdout, text) }
		}
	}
	v.Done = func(e Ended) {
		s.Progress.Clear()
		if s.Stdout != nil {
			e.Print(s.Stdout, many)
		}
		if done++; many {
			s.Progress.Begin(e.Record.Name+" done", done, len(jobs))
		}
	}
	ended, err := Follow(ctx, q, jobs, v, s.Cancel)
	s.Progress.Clear()
	o := Merge(ended, began)
	if err != nil {
		o.fail()
	}
	if s.Stdout != nil {
		o.Print(s.Stdout)
	}
	o.Saved = true
	for _, e := range ended {
		if s.Artifacts == "" || e.Record.Outcome == nil {
			continue
		}
		if failed := e.Save(ctx, q, to, s.Artifacts); failed != nil {
			note("no artifacts: " + failed.Error())
			o.Saved = false
		}
	}
	return o, err
}

// selected says that a job is one case of several that there were.
func selected(j fleet.Job) bool {
	var p payload
	return json.Unmarshal(j.Payload, &p) == nil && p.Case != nil && !p.Single
}

// unserved says which jobs no worker may take that is there; "" when each has one.
func unserved(ctx context.Context, q *queue.Queue, jobs []fleet.Job) string {
	workers, err := presence.List(ctx, q.Store)
	if err != nil {
		return ""
	}
	waiting, needs := 0, ""
	for _, j := range jobs {
		served := false
		for _, w := range workers {
			served = served || !w.Draining && fleet.Satisfies(w.Labels, j.Labels)
		}
		if !served && j.Kind != "" { // of a submission that is attached to, ended jobs have no kind
			waiting++
			needs = fleet.LabelText(j.Labels)
		}
	}
	switch {
	case waiting == 0:
		return ""
	case len(workers) == 0:
		return "the fleet has no worker now: the jobs wait until one joins"
	}
	return fmt.Sprintf(
		"%d of %d jobs wait for a worker with %s: none of the fleet's %d has that",
		waiting, len(jobs), needs, len(workers),
	)
}
