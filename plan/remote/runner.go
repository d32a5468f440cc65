package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/plan/schedule"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

// Host is a host for one job.
type Host interface {
	plan.Host
	Dictionary() []runtime.DictionaryEntry
	Close(ctx context.Context) error
}

// Runner runs the jobs of this package. Its Open is called for each, with the
// settings of the job and its maps, and refuses what the worker does not allow.
type Runner struct {
	Open  func(ctx context.Context, s Settings, maps []string) (Host, error)
	NewID func() string
	// Temp is the folder in which each job has one of its own; "" is the system's.
	Temp string
}

// Run implements worker.Runner.
func (r Runner) Run(ctx context.Context, j fleet.Job, to worker.Reporter) worker.Result {
	var p payload
	if err := json.Unmarshal(j.Payload, &p); err != nil {
		return worker.Result{Err: fault.New(fault.InvalidInput, "the payload of the job cannot be read: %v", err)}
	}
	dir, err := os.MkdirTemp(r.Temp, "outrider-job-")
	if err != nil {
		return worker.Result{Err: fault.Wrap(fault.Internal, err, "making a folder for the job")}
	}
	defer os.RemoveAll(dir)
	archive, err := to.File(ctx, bundle)
	if err == nil {
		err = unpack(dir, archive)
	}
	if err != nil {
		return worker.Result{Err: err}
	}
	return r.run(ctx, p, dir, to)
}

func (r Runner) run(ctx context.Context, p payload, dir string, to worker.Reporter) worker.Result {
	var maps []string
	names := []string{filepath.Join(dir, artifacts), artifacts}
	for _, m := range p.Maps {
		if !filepath.IsLocal(m.At) {
			return worker.Result{Err: fault.New(fault.UnsafePath, "the job names the map %q, which is not one of its own files", m.At)}
		}
		at := filepath.Join(dir, filepath.FromSlash(m.At))
		maps, names = append(maps, at), append(names, at, m.Given)
	}
	engine, err := expr.New(p.Settings.Engine, nil)
	if err != nil {
		return worker.Result{Err: fault.New(fault.InvalidInput, "the job's expression engine is %q", p.Settings.Engine)}
	}
	defer engine.Close()
	var steps *plan.Suite
	if p.Check == nil {
		if !filepath.IsLocal(p.Plan) {
			return worker.Result{Err: fault.New(fault.UnsafePath, "the job names the plan %q, which is not one of its own files", p.Plan)}
		}
		at := filepath.Join(dir, filepath.FromSlash(p.Plan))
		names = append(names, at, p.Path)
		// The environment and the files of this machine are not the sender's to read.
		source := spec.Source{Engine: engine, Env: func(string) (string, bool) { return "", false }}
		steps, err = plan.Load(plan.Selection{Source: source, Paths: []string{at}, Part: schedule.Part{Index: 1, Of: 1}})
		if err == nil {
			err = steps.StandsAlone()
		}
		if err != nil {
			return worker.Result{Err: fault.New(fault.InvalidInput, "the job's plan: %s", strings.ReplaceAll(err.Error(), at, p.Path))}
		}
	}
	open := ""
	if p.Check == nil && len(p.Settings.Open) > 0 {
		open, p.Settings.Open = p.Settings.Open[0], p.Settings.Open[1:]
	}
	h, err := r.Open(ctx, p.Settings, maps)
	if err != nil {
		return worker.Result{Err: err}
	}
	defer func() { _ = h.Close(context.WithoutCancel(ctx)) }()
	o := plan.Options{NewID: r.NewID, CallTimeout: p.Settings.CallTimeout, Folder: report.Anywhere, Evidence: p.Evidence}
	if p.Artifacts {
		o.Artifacts = filepath.Join(dir, artifacts)
	}
	guard := newGuard(h, to, maps)
	o.Starts = guard.starts
	paths := strings.NewReplacer(inJSON(names)...)
	if p.Check != nil {
		return check(ctx, guard, *p.Check, o, paths)
	}
	o.OnStep = func(s plan.StepResult) {
		var text bytes.Buffer
		s.Print(&text)
		to.Text(paths.Replace(text.String()))
	}
	o.Open = open
	result := steps.Run(ctx, plan.OneTab(guard), plan.RunOptions{Options: o})
	out := worker.Result{OK: result.OK}
	out.JSON, out.Err = encode(result.OK, result.JSON(), result.Report(), "", paths)
	if out.Err == nil {
		out.Files, out.Err = made(filepath.Join(dir, artifacts))
	}
	return out
}

func check(ctx context.Context, h plan.Host, x plan.Expectations, o plan.Options, paths *strings.Replacer) worker.Result {
	checked, err := plan.Check(ctx, h, x, o)
	if err != nil {
		return worker.Result{Err: err}
	}
	var text bytes.Buffer
	for _, p := range checked.Pages {
		p.Print(&text)
	}
	out := worker.Result{OK: checked.OK}
	out.JSON, out.Err = encode(checked.OK, checked, checked.Report(), text.String(), paths)
	return out
}

// artifacts is the folder of a job for what it makes.
const artifacts = "artifacts"

// made reads what the job made.
func made(dir string) (map[string][]byte, error) {
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(at)
		out[filepath.ToSlash(name)] = data
		return err
	})
	if os.IsNotExist(err) || len(out) == 0 {
		return nil, nil
	}
	return out, err
}

// inJSON are pairs of texts as they stand inside JSON strings.
func inJSON(pairs []string) []string {
	out := make([]string, len(pairs))
	for i, text := range pairs {
		raw, err := fleet.Encode(text)
		if err != nil || len(raw) < 2 {
			return nil
		}
		out[i] = string(raw[1 : len(raw)-1])
	}
	return out
}
