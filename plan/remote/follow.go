package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/authoring/repair"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/submit"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Ended is how a job of a submission ended.
type Ended struct {
	Record fleet.Record
	Answer Answer
	// Report is the answer's, or what there is to report of a job without one.
	Report report.Run
	OK     bool
	Error  *fault.Error // why there is no result that counts
	// Skipped says that the job did not run: the run ended before it.
	Skipped bool
}

// View shows a submission while it runs. Its functions are called by one goroutine
// and may be nil.
type View struct {
	Step func(job string, s fleet.Step)
	Text func(job, text string)
	// Note says what happens beside the steps: a worker that was lost, a retry.
	Note func(text string)
	Done func(Ended)
	// Trusted says why a result is not to be believed; nil believes every one.
	Trusted func(fleet.Record) error
	// FailFast withdraws jobs that wait when one has failed.
	FailFast bool
}

func (v View) text(job, text string) {
	if v.Text != nil {
		v.Text(job, safe(text))
	}
}

// steps are the lines of steps that were not reported while the job ran: nobody
// listened, or an event was lost.
func (e Ended) steps(said int) []string {
	var r plan.CaseResult
	if json.Unmarshal(e.Answer.Result, &r) != nil || said >= len(r.Steps) {
		return nil
	}
	var out []string
	for _, s := range r.Steps[said:] {
		var text strings.Builder
		s.Print(&text)
		out = append(out, text.String())
	}
	return out
}

// cancelWithin bounds cancelling the jobs of a submission that was interrupted.
const cancelWithin = 10 * time.Second

// Follow waits for jobs that were sent, here or elsewhere, and returns how each ended, in
// their order. When ctx ends and cancel says so, jobs that have not ended are cancelled.
func Follow(ctx context.Context, q *queue.Queue, jobs []fleet.Job, v View, cancel bool) ([]Ended, error) {
	if v.Trusted == nil {
		v.Trusted = func(fleet.Record) error { return nil }
	}
	at := map[string]int{}
	for i, j := range jobs {
		at[j.ID] = i
	}
	ended := make([]*Ended, len(jobs))
	losses, said := map[string]int{}, map[string]int{}
	withdrawn := withdrawal{queue: q, jobs: jobs, done: map[string]bool{}}
	defer withdrawn.life.Wait()
	err := submit.Follow(ctx, q, jobs, submit.Handlers{
		Event: func(e fleet.Event) {
			i, ok := at[e.ID]
			switch {
			case !ok:
			case e.Kind == "step" && e.Step != nil && v.Step != nil:
				v.Step(jobs[i].Name, *e.Step)
			case e.Kind == "begins":
				said[e.ID] = 0 // another worker begins again
			case e.Kind == "text":
				said[e.ID]++
				v.text(jobs[i].Name, e.Text)
			}
		},
		Record: func(r fleet.Record) {
			if n := len(r.Losses); n > losses[r.ID] && r.Phase != fleet.Done && v.Note != nil {
				losses[r.ID] = n
				v.Note(fmt.Sprintf(
					"%s: worker %s was lost; worker %s runs it again",
					jobs[at[r.ID]].Name, r.Losses[n-1].Worker, r.Worker,
				))
			}
		},
		Done: func(r fleet.Record) {
			e := read(ctx, q, jobs[at[r.ID]], r, v.Trusted)
			e.Skipped = withdrawn.has(r.ID)
			if e.Skipped {
				e = skipped(jobs[at[r.ID]])
			}
			if v.FailFast && !e.OK && !e.Skipped {
				withdrawn.begin(ctx) // first, as what follows may fetch the job's files
			}
			ended[at[r.ID]] = &e
			for _, text := range e.steps(said[r.ID]) {
				v.text(jobs[at[r.ID]].Name, text)
			}
			if v.Done != nil {
				v.Done(e)
			}
		},
	})
	if err != nil && ctx.Err() != nil && cancel {
		cancelAll(context.WithoutCancel(ctx), q, jobs, ended)
	}
	out := make([]Ended, len(jobs))
	for i, e := range ended {
		if e == nil {
			out[i] = skipped(jobs[i])
		} else {
			out[i] = *e
		}
	}
	return out, err
}

// withdrawal takes the jobs that wait out of the queue, once.
type withdrawal struct {
	queue *queue.Queue
	jobs  []fleet.Job
	once  sync.Once
	life  sync.WaitGroup

	mu   sync.Mutex
	done map[string]bool
}

func (w *withdrawal) has(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done[id]
}

func (w *withdrawal) begin(ctx context.Context) {
	w.once.Do(func() {
		w.life.Go(func() {
			for _, j := range w.jobs {
				w.mu.Lock()
				did, err := submit.Withdraw(ctx, w.queue, j)
				w.done[j.ID] = did
				w.mu.Unlock()
				if err != nil {
					w.queue.Log().Warn("withdrawing a job", "job", j.Key(), "error", err)
				}
			}
		})
	})
}

// skipped is a job that did not run.
func skipped(j fleet.Job) Ended {
	c := plan.CaseResult{Plan: j.Name, Name: j.Name, Steps: []plan.StepResult{}, Outcome: report.Skipped}
	var p payload
	if json.Unmarshal(j.Payload, &p) == nil && p.Case != nil {
		c.Plan = p.Case.Given
		c.ID = p.Case.ID
		c.Tags = p.Case.Tags
	}
	e := Ended{
		Record:  fleet.Record{Run: j.Run, ID: j.ID, Name: j.Name},
		Skipped: true,
		Report:  plan.RunResult{Cases: []plan.CaseResult{c}}.Report(),
	}
	e.Answer.Result, _ = fleet.Encode(c) // a result without a page's values
	return e
}

func cancelAll(ctx context.Context, q *queue.Queue, jobs []fleet.Job, ended []*Ended) {
	ctx, stop := context.WithTimeout(ctx, cancelWithin)
	defer stop()
	var left []fleet.Job
	for i, j := range jobs {
		if ended[i] == nil {
			left = append(left, j)
		}
	}
	submit.CancelAll(ctx, q, left, func(j fleet.Job, _ bool, err error) {
		if err != nil {
			q.Log().Warn("cancelling a job", "job", j.Key(), "error", err)
		}
	})
}

// read makes of a record what it means.
func read(ctx context.Context, q *queue.Queue, j fleet.Job, r fleet.Record, trusted func(fleet.Record) error) Ended {
	e := Ended{Record: r}
	var raw json.RawMessage
	var err error
	if r.Outcome.Error == nil { // what others record has no result
		err = trusted(r)
	}
	if err == nil {
		raw, err = q.Result(ctx, r.Outcome)
	}
	if err == nil && len(raw) > 0 {
		e.Answer, err = Decode(raw)
	}
	f := r.Outcome.Error
	if f == nil && err != nil {
		f = fault.From(err)
	}
	if f == nil && len(raw) == 0 {
		f = fault.New(fault.InvalidResult, "the job ended without a result")
	}
	e.Error = f
	e.OK = f == nil && r.Outcome.OK && e.Answer.OK
	e.Report = e.Answer.Report
	if f != nil {
		e.Report = withoutResult(j, r, f, e.Answer.Report)
		if e.Answer.Result == nil {
			lost := struct {
				plan.CaseResult
				Error *fault.Error `json:"error"`
			}{plan.CaseResult{
				Plan:       j.Name,
				Name:       j.Name,
				Steps:      []plan.StepResult{},
				Outcome:    report.Failed,
				DurationMS: r.Outcome.DurationMS,
			}, f}
			var p payload
			if json.Unmarshal(j.Payload, &p) == nil && p.Case != nil {
				lost.Plan = p.Case.Given
				lost.ID = p.Case.ID
				lost.Tags = p.Case.Tags
			}
			e.Answer.Result, _ = fleet.Encode(lost)
			e.Answer.Single = p.Single
		}
	}
	e.Report.Result = e.Answer.Result
	return e
}

// withoutResult is the report of a job that did not end by itself: what there is of
// its own, and a test that says why.
func withoutResult(j fleet.Job, r fleet.Record, f *fault.Error, own report.Run) report.Run {
	t := report.Test{
		Name:       "fleet",
		Class:      "fleet",
		Outcome:    report.Broken,
		Kind:       string(f.Code),
		Message:    string(f.Code) + ": " + f.Message,
		Failures:   []report.Failure{{Message: string(f.Code) + ": " + f.Message}},
		Texts:      report.EvidenceText(f),
		DurationMS: r.Outcome.DurationMS,
	}
	if len(own.Suites) == 0 {
		own.Suites = []report.Suite{{Name: j.Name}}
		own.Title = j.Name
	}
	own.OK = false
	own.Suites[0].Tests = append(own.Suites[0].Tests, t)
	return own
}

// Save writes the files that a job made into a folder.
func (e Ended) Save(ctx context.Context, q *queue.Queue, to report.Folder, dir string) error {
	var failed error
	for name, at := range e.Record.Outcome.Files {
		if !filepath.IsLocal(name) {
			failed = errors.Join(
				failed, fault.New(fault.UnsafePath, "the job made a file %q, which is outside its folder", name),
			)
			continue
		}
		data, err := q.Download(ctx, at)
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err == nil {
			err = to.MkdirAll(filepath.Dir(path), 0o755)
		}
		if err == nil {
			err = to.WriteFile(path, data, 0o644)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// safe is text of a worker, line by line, without what a terminal would obey.
func safe(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = report.Printable(line)
	}
	return strings.Join(lines, "\n")
}

// Outcome is what a submission came to, as a run here says it.
type Outcome struct {
	OK      bool
	Report  report.Run
	Repairs []repair.Repaired
	Saved   bool // every file that jobs made and that was wanted

	single  bool
	results []json.RawMessage
	totals  plan.RunResult
}

// Merge makes one outcome of the jobs of a submission.
func Merge(ended []Ended, began time.Time) Outcome {
	o := Outcome{
		OK:      true,
		results: []json.RawMessage{},
		totals:  plan.RunResult{Totals: map[string]int{}, DurationMS: time.Since(began).Milliseconds()},
	}
	o.single = len(ended) == 1 && ended[0].Answer.Single
	o.Report = report.Run{Title: "run", Suites: []report.Suite{}}
	for _, e := range ended {
		if o.single {
			o.Report = e.Report
		}
		o.OK = o.OK && (e.OK || e.Skipped)
		o.results = append(o.results, e.Answer.Result)
		var c struct{ Outcome string }
		if json.Unmarshal(e.Answer.Result, &c) == nil && c.Outcome != "" {
			o.totals.Totals[c.Outcome]++
		}
		for _, r := range e.Answer.Repairs {
			if !slices.ContainsFunc(o.Repairs, func(x repair.Repaired) bool {
				return x.File == r.File && x.Diff == r.Diff
			}) {
				o.Repairs = append(o.Repairs, r)
			}
		}
		if o.single {
			continue
		}
		if at := e.Report.StartedAt; at != "" && (o.Report.StartedAt == "" || at < o.Report.StartedAt) {
			o.Report.StartedAt = at
		}
		o.Report.Suites = report.Join(o.Report.Suites, e.Report.Suites...)
	}
	o.Report.OK = o.OK
	if !o.single {
		o.Report = o.Report.Distinct()
		o.Report.DurationMS, o.Report.Result = o.totals.DurationMS, o.JSON()
	}
	return o
}

// fail says that the outcome is not all there is to know.
func (o *Outcome) fail() {
	o.OK, o.Report.OK = false, false
	if !o.single {
		o.Report.Result = o.JSON()
	}
}

// Flaky reports whether a case passed only after it failed.
func (o Outcome) Flaky() bool { return o.totals.Totals[string(report.Flaky)] > 0 }

// JSON is what the verb prints.
func (o Outcome) JSON() any {
	if o.single {
		return o.results[0]
	}
	return struct {
		OK         bool              `json:"ok"`
		Cases      []json.RawMessage `json:"cases"`
		Totals     map[string]int    `json:"totals"`
		DurationMS int64             `json:"duration_ms"`
	}{o.OK, o.results, o.totals.Totals, o.totals.DurationMS}
}

// Print shows what comes after the cases.
func (o Outcome) Print(w io.Writer) {
	if !o.single {
		o.totals.PrintTotals(w)
	}
	repair.Print(w, nil, o.Repairs, false)
}

// Print shows how a job ended: of a check all of it, of a case among others its line.
// The steps of a single case were shown while it ran.
func (e Ended) Print(w io.Writer, many bool) {
	fmt.Fprint(w, e.Answer.Printed)
	var c plan.CaseResult
	switch {
	case e.Error != nil:
		fmt.Fprintf(w, "failed   %s\n         %s\n", report.Printable(e.Record.Name), report.Printable(e.Error.Line()))
		if e.Error.NextStep != "" {
			fmt.Fprintf(w, "         next: %s\n", report.Printable(e.Error.NextStep))
		}
	case many && !e.Skipped && e.Answer.Printed == "" && json.Unmarshal(e.Answer.Result, &c) == nil:
		c.Print(w)
	}
}
