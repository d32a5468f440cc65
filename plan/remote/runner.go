package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/authoring/repair"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/internal/ownfolder"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/plan/schedule"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/sites"
)

// Options configure a runner.
type Options struct {
	// Open opens a browser for a job, and refuses what the worker does not allow.
	Open  func(context.Context, Request) (Host, error)
	NewID func() string
	// Trace begins the span of a job, and returns the traceparent of what it does; may be nil.
	Trace func(parent, name string) (inside string, end func(fault.Code))
	// Browsers is how many are kept at most.
	Browsers int
	// Temp is the folder below which the runner has one for its jobs; "" is the system's.
	Temp string
}

// Runner runs the jobs of this package. Browsers stay for the next jobs until Close.
type Runner struct {
	opts   Options
	hosts  *hosts
	remove func()
}

// NewRunner makes a runner, and removes what killed ones left on this machine.
func NewRunner(o Options) (*Runner, error) {
	dir, remove, err := ownfolder.New(o.Temp, "outrider-worker-")
	if err != nil {
		return nil, err
	}
	o.Temp = dir
	return &Runner{o, &hosts{open: o.Open, temp: dir, most: max(o.Browsers, 1)}, remove}, nil
}

// Close ends the browsers that wait for jobs.
func (r *Runner) Close() {
	r.hosts.close()
	r.remove()
}

// Run implements worker.Runner.
func (r *Runner) Run(ctx context.Context, j fleet.Job, to worker.Reporter) worker.Result {
	if r.opts.Trace == nil {
		return r.run(ctx, j, to, "")
	}
	inside, end := r.opts.Trace(j.Trace, j.Name)
	out := r.run(ctx, j, to, inside)
	switch {
	case out.Err != nil:
		end(fault.From(out.Err).Code)
	case !out.OK:
		end("failed") // the verdict of the plan, and no fault
	default:
		end("")
	}
	return out
}

func (r *Runner) run(ctx context.Context, j fleet.Job, to worker.Reporter, trace string) worker.Result {
	var p payload
	if err := json.Unmarshal(j.Payload, &p); err != nil {
		return worker.Result{Err: fault.New(fault.InvalidInput, "the payload of the job cannot be read: %v", err)}
	}
	if p.Case == nil && p.Check == nil {
		return worker.Result{Err: fault.New(fault.InvalidInput, "the job has neither a case of a plan nor a check")}
	}
	dir, err := os.MkdirTemp(r.opts.Temp, "outrider-job-")
	if err != nil {
		return worker.Result{Err: fault.Wrap(fault.Internal, err, "making a folder for the job")}
	}
	defer os.RemoveAll(dir)
	engine, err := expr.New(p.Settings.Engine, nil)
	if err != nil {
		return worker.Result{Err: fault.New(fault.InvalidInput, "the job's expression engine is %q", p.Settings.Engine)}
	}
	defer engine.Close()
	archive, mapped := []byte(nil), []byte(nil)
	if p.Case != nil || p.Before != nil {
		archive, err = to.File(ctx, plansArchive)
		if err == nil {
			err = unpack(dir, archive)
		}
	}
	if err == nil && len(p.Maps) > 0 {
		mapped, err = to.File(ctx, mapsArchive)
	}
	if err != nil {
		return worker.Result{Err: err}
	}
	x := &execution{
		runner: r,
		p:      p,
		trace:  trace,
		dir:    dir,
		engine: engine,
		to:     to,
		mapped: mapped,
		names:  map[string]string{filepath.Join(dir, artifacts): p.Artifacts},
	}
	if p.Check != nil {
		return x.check(ctx)
	}
	return x.testCase(ctx)
}

// execution is one run of one job.
type execution struct {
	runner *Runner
	p      payload
	trace  string // the traceparent of what it does
	dir    string
	engine expr.Engine
	to     worker.Reporter
	mapped []byte
	names  map[string]string // files of this machine, as the user knows them
}

// load reads the plan of a case.
func (x *execution) load(c *testCase) (*plan.Suite, error) {
	at := func(name string) string { return filepath.Join(x.dir, filepath.FromSlash(name)) }
	if !filepath.IsLocal(c.Plan) {
		return nil, fault.New(fault.UnsafePath, "the job names the plan %q, which is not one of its own files", c.Plan)
	}
	for name, given := range c.Files {
		x.names[at(name)] = given
	}
	x.names[at(c.Plan)] = c.Given
	source, err := c.source(x.dir)
	if err != nil {
		return nil, err
	}
	source.Engine = x.engine
	suite, err := plan.Load(plan.Selection{
		Source: source,
		Paths:  []string{at(c.Plan)},
		Part:   schedule.Part{Index: 1, Of: 1},
	})
	if err == nil && len(suite.Cases) != 1 {
		err = fault.New(fault.InvalidInput, "a job is one case: this one has %d", len(suite.Cases))
	}
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "the job's plan: %s", pathsOf(x.names).Replace(err.Error()))
	}
	suite.Cases[0].ID = c.ID
	suite.Cases[0].Name = c.Name
	suite.Cases[0].Tags = c.Tags
	return suite, nil
}

// host takes a browser for the job.
func (x *execution) host(ctx context.Context, r Request, shared bool) (*warm, error) {
	r.Settings, r.Tenant = x.p.Settings, x.to.Tenant()
	w, err := x.runner.hosts.take(ctx, r, x.p.Maps, x.mapped, shared)
	if err != nil {
		return nil, err
	}
	if w.Within != nil {
		w.Within(x.trace)
	}
	for i, at := range w.maps {
		given := x.p.Maps[i].Given
		x.names[at], x.names[sites.ShownPath(at)] = given, sites.ShownPath(given)
	}
	return w, nil
}

// options are those of a run here, with everything that it writes in the job's folder.
func (x *execution) options(w *warm, g *guard) plan.Options {
	o := plan.Options{
		NewID:       x.runner.opts.NewID,
		CallTimeout: x.p.Settings.CallTimeout,
		Folder:      report.Changed(report.Anywhere, w.Secrets.MaskBytes),
		Evidence:    x.p.Evidence,
		Secrets:     w.Secrets,
		Root:        x.dir,
		Starts:      g.starts,
		Many:        !x.p.Single,
		Maps:        repair.FilesOf(w.maps),
	}
	if x.p.Artifacts != "" {
		o.Artifacts = filepath.Join(x.dir, artifacts)
	}
	return o
}

// say is what a job prints while it runs.
func (x *execution) say(w *warm, text string) {
	raw, err := fleet.Encode(text)
	if err != nil || json.Unmarshal([]byte(pathsOf(x.names).Replace(string(raw))), &text) != nil {
		return
	}
	x.to.Text(w.Secrets.Mask(text))
}

// testCase runs a case of a plan, with its retries.
func (x *execution) testCase(ctx context.Context) worker.Result {
	suite, err := x.load(x.p.Case)
	if err != nil {
		return worker.Result{Err: err}
	}
	open := ""
	if len(x.p.Settings.Open) > 0 {
		open, x.p.Settings.Open = x.p.Settings.Open[0], x.p.Settings.Open[1:]
	}
	w, err := x.host(ctx, Request{Secrets: suite.Cases[0].Secrets()}, len(x.p.Settings.Open) == 0)
	if err != nil {
		return worker.Result{Err: err}
	}
	well := false
	defer func() { x.runner.hosts.put(w, well) }()
	g := newGuard(w.Dictionary(), x.to, w.maps)
	o := x.options(w, g)
	o.Locks, err = repair.LocksOf(w.maps)
	if err != nil {
		return worker.Result{Err: err}
	}
	o.Open = open
	o.OnStep = func(s plan.StepResult) {
		var text bytes.Buffer
		s.Print(&text)
		x.say(w, text.String())
	}
	result := suite.Run(
		ctx,
		guarded{plan.Isolated(w.Host.Host), g},
		plan.RunOptions{Options: o, Retries: x.p.Case.Retries, RetriesGiven: x.p.Case.RetriesGiven},
	)
	well = ctx.Err() == nil && !broken(result)
	out := worker.Result{OK: result.OK}
	a := Answer{OK: result.OK, Report: result.Report(), Repairs: result.Repairs(), Single: x.p.Single}
	out.JSON, out.Err = a.encode(result.Cases[0], pathsOf(x.names), w.Secrets)
	if out.Err == nil {
		out.Files, out.Err = made(filepath.Join(x.dir, artifacts))
	}
	return out
}

// broken says that something failed for the sake of the browser and not of the page.
func broken(r plan.RunResult) bool {
	of := []fault.Code{fault.BrowserLost, fault.TabCrashed, fault.Internal, fault.RuntimeNotReady, fault.Cancelled}
	return slices.ContainsFunc(r.Cases, func(c plan.CaseResult) bool {
		return slices.ContainsFunc(c.Steps, func(s plan.StepResult) bool {
			return s.Error != nil && slices.Contains(of, s.Error.Code)
		})
	})
}

// check runs the checks of the maps on the pages that the job opens.
func (x *execution) check(ctx context.Context) worker.Result {
	var opened plan.Openings
	request := Request{Secrets: map[string][]string{}, OnOpen: opened.Add}
	var g *guard
	if c := x.p.Before; c != nil {
		before, err := x.load(c)
		if err != nil {
			return worker.Result{Err: err}
		}
		request.Secrets = before.Cases[0].Secrets()
		request.Prepare = func(ctx context.Context, h *runtime.Host) error {
			g := newGuard(h.Dictionary(), x.to, nil)
			result := before.Run(ctx, guarded{plan.Shared(h), g}, plan.RunOptions{Options: plan.Options{
				NewID: x.runner.opts.NewID, CallTimeout: x.p.Settings.CallTimeout, Root: x.dir, Starts: g.starts,
			}})
			return result.Failure("--before " + c.Given)
		}
	}
	w, err := x.host(ctx, request, false)
	if err != nil {
		return worker.Result{Err: err}
	}
	defer x.runner.hosts.put(w, false)
	g = newGuard(w.Dictionary(), x.to, w.maps)
	o := x.options(w, g)
	o.Evidence, o.Opened = o.Evidence || x.p.Artifacts != "", opened
	h := guardedHost{w.Host, g}
	checked := plan.Check(ctx, h, *x.p.Check, o)
	_ = checked.ProposeRepairs(ctx, h, *x.p.Check, o) // its errors are among those of the check, as no file is written
	var text bytes.Buffer
	checked.Print(&text)
	checked.PrintRepairs(&text)
	for _, f := range checked.Errors {
		fmt.Fprintf(&text, "broken  repair  %s\n", report.Printable(f.Error()))
	}
	a := Answer{OK: checked.OK, Report: checked.Report(), Printed: text.String(), Single: x.p.Single}
	out := worker.Result{OK: checked.OK}
	out.JSON, out.Err = a.encode(checked, pathsOf(x.names), w.Secrets)
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

// pathsOf replaces the names of the worker's files by those that the user knows, those
// first that begin with others.
func pathsOf(names map[string]string) *strings.Replacer {
	var pairs []string
	for _, path := range slices.SortedFunc(maps.Keys(names), func(a, b string) int { return len(b) - len(a) }) {
		pairs = append(pairs, path, names[path])
	}
	return strings.NewReplacer(inJSON(pairs)...)
}

// inJSON are texts as they stand inside JSON strings.
func inJSON(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		raw, err := fleet.Encode(text)
		if err != nil || len(raw) < 2 {
			return nil
		}
		out[i] = string(raw[1 : len(raw)-1])
	}
	return out
}
