// Package plan runs things on the pages of a host and reports how each ended: the test
// cases of plans, one site action, or the checks of the maps at hand.
//
// It does not own a browser, does not read plans (package spec does) and prints only
// where it is given a writer. The verbs run and check of cmd/outrider and the workers
// of a fleet give it a host and take its results to the reports of evidence/report.
package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/outrider-run/outrider/authoring/repair"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/element/lock"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/checks"
)

// Host is what runs the calls: a runtime.Host, or one session of it.
type Host interface {
	Do(ctx context.Context, call runtime.Call) runtime.Reply
	Tabs() []runtime.TabStatus
}

// Options say how things are run.
type Options struct {
	NewID       func() string
	CallTimeout time.Duration // of a call that has none of its own
	Artifacts   string        // path for pictures; "" takes none
	Folder      report.Folder // that Artifacts is in
	// Evidence takes a picture, the console and the network of what fails, for a report
	// that shows them.
	Evidence bool
	// Maps finds the files of maps. With it, targets of steps that find nothing are
	// repaired by the lock files beside them. Nil repairs nothing.
	Maps repair.Files
	// Locks are their lock files by the path that results call a map by, see repair.LocksOf.
	Locks map[string]*lock.File
	// Heal lets a step go on with a target that was proposed for one that finds nothing, when
	// the action is done with it. The result says so, with the change as a diff.
	Heal bool
	// Remember requests a description of the elements that steps of actions find.
	Remember bool
	// Secrets are masked in what plans make of results; nil is none.
	Secrets *mask.Set
	own     *mask.Set // what placeholders of the case stand for; nil is what they stand for in all
	prover  *prover   // nil but for a proof
	watcher *watcher  // nil but for a review
	origin  string    // that takes the place of the plan's own; "" leaves it
	repairs bool      // the run was started to repair
	attempt int       // of the case, from 1; 0 when nobody counts
	// Opened are the addresses of the tabs that are checked, and how each was opened.
	Opened Openings
	// Open is the address that the plan of a case opens, in place of its own; "" leaves it.
	Open string
	// StorageState is what the first session of a case begins with, in place of the
	// plan's own; nil leaves it.
	StorageState json.RawMessage
	// SaveState reads the storage of the first session when a case has passed.
	SaveState bool
	// Root is the folder that has every file which plans may name; "" is no bound.
	Root string
	// Apps are the programs that plans serve; nil starts none, and a plan that serves one fails.
	Apps *Apps
	// Many says that several cases write pictures: each gets a folder of its own.
	Many bool
	// Starts is called when a check, or a step of a case, begins, with its number from 1
	// and how many there are; may be nil.
	Starts func(name string, number, of int)
	// OnStep is called after each step of a plan; may be nil.
	OnStep func(StepResult)
	// Now is the time that quarantines are judged by; nil is the clock.
	Now func() time.Time
	// UpdateSnapshots keeps the screenshots and snapshots that expectations are compared with, in place of judging
	// them. Results say which.
	UpdateSnapshots bool
	// Warn is called with what went wrong beside the run; may be nil.
	Warn func(error)
}

func (o Options) warn(format string, args ...any) {
	if o.Warn != nil {
		o.Warn(fmt.Errorf(format, args...))
	}
}

// CaseResult is how one test case ended.
type CaseResult struct {
	OK         bool           `json:"ok"`
	Plan       string         `json:"plan"`
	Steps      []StepResult   `json:"steps"`
	DurationMS int64          `json:"duration_ms"`
	Name       string         `json:"name,omitempty"`
	ID         string         `json:"id,omitempty"`
	Tags       []string       `json:"tags,omitempty"`
	Outcome    report.Outcome `json:"outcome"`
	// Quarantine says that the plan is known to fail.
	Quarantine *spec.Quarantine `json:"quarantine,omitempty"`
	// Failed are the attempts before this one.
	Failed []FailedCase `json:"failed_attempts,omitempty"`
	// Routes are what the routes of the plans did.
	Routes []RouteResult `json:"routes,omitempty"`
	// Serve is what became of the programs that the plans serve.
	Serve []ServeResult `json:"serve,omitempty"`
	// State is the storage of the first session at the end, when it was requested.
	State json.RawMessage `json:"-"`

	started time.Time
}

// FailedCase is an attempt of a case that was repeated.
type FailedCase struct {
	Step       string `json:"step"`
	Detail     string `json:"detail"`
	DurationMS int64  `json:"duration_ms"`

	result StepResult
}

// StepResult is what expect sees, too.
type StepResult struct {
	Name       string            `json:"name"`
	OK         bool              `json:"ok"`
	Skipped    bool              `json:"skipped,omitempty"`
	Action     string            `json:"action,omitempty"`
	State      string            `json:"state,omitempty"`
	Call       string            `json:"call,omitempty"`
	Check      bool              `json:"check,omitempty"`
	Request    string            `json:"request,omitempty"`
	URL        string            `json:"url,omitempty"`
	Output     json.RawMessage   `json:"output,omitempty"`
	Error      *fault.Error      `json:"error,omitempty"`
	Steps      json.RawMessage   `json:"steps,omitempty"`
	DurationMS int64             `json:"duration_ms"`
	Expect     string            `json:"expect,omitempty"`
	Unmet      string            `json:"unmet,omitempty"` // why expect failed
	Artifacts  map[string]string `json:"artifacts,omitempty"`
	Phase      string            `json:"phase,omitempty"` // setup or teardown
	Session    string            `json:"session,omitempty"`
	Tab        string            `json:"tab,omitempty"`
	Captured   map[string]any    `json:"captured,omitempty"`
	Routes     []RouteResult     `json:"routes,omitempty"`
	// Healed is the change of a map with which the action was done, as a diff. It is set when
	// the run repairs targets and the step had failed without the change.
	Healed string `json:"healed,omitempty"`
	// Updated are screenshots and snapshots that were kept, see Options.UpdateSnapshots.
	Updated []string `json:"updated,omitempty"`
	// Failed are the attempts before this one. A step that passes after one is flaky.
	Failed []FailedStep `json:"failed_attempts,omitempty"`

	at         report.Place
	unmet      []report.Failure
	page       *report.Page // of a check
	screenshot *report.Screenshot
	texts      []report.Text
	// remembered are what elements of steps look like. mended are targets with which the
	// action was done, and lost is what it fails with without them.
	remembered []checks.Remembered
	repaired   []repair.Applied
	lost       *fault.Error
	// before are states of the page as they were before the step, for a report.
	before map[string]json.RawMessage
}

// FailedStep is an attempt of a step that was repeated.
type FailedStep struct {
	Detail     string            `json:"detail"`
	DurationMS int64             `json:"duration_ms"`
	Artifacts  map[string]string `json:"artifacts,omitempty"`

	screenshot *report.Screenshot
	texts      []report.Text
}

// Flaky reports whether the step is well after it failed.
func (r StepResult) Flaky() bool { return r.OK && len(r.Failed) > 0 }
