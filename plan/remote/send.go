package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/submit"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Work is one plan, or one check, to run somewhere else.
type Work struct {
	Path  string             // of the plan
	Check *plan.Expectations // instead of a plan
	Maps  []string
}

// Submission is work for a fleet, and how it is to be treated there.
type Submission struct {
	Queue *queue.Queue
	// Run names the submission. One of the same name is the same: its jobs are not
	// run again. "" makes a new name.
	Run      string
	Settings Settings
	// Evidence takes pictures for a report that shows them, Artifacts those that
	// are kept as files.
	Evidence, Artifacts bool
	// How each job is treated; what is left out is the fleet's default.
	Job fleet.Job
}

// Pack makes the jobs of a submission, and puts their files into the fleet.
func (s *Submission) Pack(ctx context.Context, works []Work) ([]fleet.Job, error) {
	s.Run = cmp.Or(s.Run, submit.NewRun())
	jobs := make([]fleet.Job, 0, len(works))
	for i, work := range works {
		j := s.Job
		j.Run, j.ID, j.Kind = s.Run, fmt.Sprintf("%04d", i+1), Kind
		p := payload{Check: work.Check, Path: work.Path, Settings: s.Settings, Evidence: s.Evidence, Artifacts: s.Artifacts}
		j.Name = "check"
		archive := newPacker()
		if work.Check == nil {
			j.Name, p.Plan = filepath.Base(work.Path), "plan"+filepath.Ext(work.Path)
			text, err := os.ReadFile(work.Path)
			if err != nil {
				return nil, fault.New(fault.InvalidInput, "reading the plan: %v", err)
			}
			if err := archive.file(p.Plan, text); err != nil {
				return nil, err
			}
		}
		var err error
		if p.Maps, err = archive.maps(work.Maps); err != nil {
			return nil, err
		}
		data, err := archive.close()
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "packing %s", j.Name)
		}
		at, err := s.Queue.Upload(ctx, data)
		if err != nil {
			return nil, err
		}
		j.Files = map[string]fleet.Object{bundle: at}
		raw, err := fleet.Encode(p)
		if err != nil {
			return nil, err
		}
		if err := s.Queue.PackPayload(ctx, &j, raw); err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// Ended is how a job of a submission ended.
type Ended struct {
	Record fleet.Record
	Answer Answer
	// Report is the answer's, or what there is to report of a job without one.
	Report report.Run
	OK     bool
	Error  *fault.Error // why there is no result that counts
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

// Follow waits for jobs that were sent, here or elsewhere. When ctx ends and cancel
// says so, jobs that have not ended are cancelled.
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
	err := submit.Follow(ctx, q, jobs, submit.Hears{
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
				v.Note(fmt.Sprintf("%s: worker %s was lost; worker %s runs it again", jobs[at[r.ID]].Name, r.Losses[n-1].Worker, r.Worker))
			}
		},
		Done: func(r fleet.Record) {
			e := read(ctx, q, jobs[at[r.ID]], r, v.Trusted)
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
	var out []Ended
	for _, e := range ended {
		if e != nil {
			out = append(out, *e)
		}
	}
	return out, err
}

func cancelAll(ctx context.Context, q *queue.Queue, jobs []fleet.Job, ended []*Ended) {
	ctx, stop := context.WithTimeout(ctx, cancelWithin)
	defer stop()
	for i, j := range jobs {
		if ended[i] == nil {
			if _, err := submit.Cancel(ctx, q, j.Run, j.ID); err != nil {
				q.Log().Warn("cancelling a job", "job", j.Key(), "error", err)
			}
		}
	}
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
	e.Error, e.OK, e.Report = f, f == nil && r.Outcome.OK && e.Answer.OK, e.Answer.Report
	if f != nil {
		e.Report = withoutResult(j, r, f, e.Answer.Report)
		if e.Answer.Result == nil {
			e.Answer.Result, _ = json.Marshal(map[string]any{"ok": false, "plan": j.Name, "steps": []any{}, "error": f, "duration_ms": r.Outcome.DurationMS})
		}
	}
	e.Report.Result = e.Answer.Result
	return e
}

// withoutResult is the report of a job that did not end by itself: what there is of
// its own, and a test that says why.
func withoutResult(j fleet.Job, r fleet.Record, f *fault.Error, own report.Run) report.Run {
	t := report.Test{
		Name: "fleet", Class: "fleet", Outcome: report.Broken, Kind: string(f.Code), Message: string(f.Code) + ": " + f.Message,
		Failures: []report.Failure{{Message: string(f.Code) + ": " + f.Message}}, Texts: report.EvidenceText(f), DurationMS: r.Outcome.DurationMS,
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
			failed = errors.Join(failed, fault.New(fault.UnsafePath, "the job made a file %q, which is outside its folder", name))
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

// Merge adds the report of a job to that of its submission.
func Merge(all report.Run, e Ended) report.Run {
	if all.Suites == nil {
		all.Title, all.StartedAt, all.Result = e.Report.Title, e.Report.StartedAt, e.Report.Result
	} else {
		all.Title, all.Result = "fleet", nil
	}
	all.OK = all.OK && e.OK
	all.DurationMS += e.Report.DurationMS
	all.Suites = append(all.Suites, e.Report.Suites...)
	return all
}
