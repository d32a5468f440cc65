// Package remote sends test cases and checks to a fleet and runs them there: what a job
// carries, what the worker does with it, and how the results come back as one run. It
// decides nothing about queues and starts no browser itself. The verbs run, check and
// worker use it.
package remote

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/outrider-run/outrider/authoring/repair"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Kind is the kind of the jobs that this package makes.
const Kind = "browser"

// Archives of a job: the files of its plans, and its maps.
const (
	plansArchive = "bundle"
	mapsArchive  = "maps"
)

// Mapped is a path of --maps: as the user gave it, and where it is in the archive.
type Mapped struct {
	Given string `json:"given"`
	At    string `json:"at"`
	// Project: the project file of the submitter names it, which nobody has trusted.
	Project bool `json:"project,omitempty"`
}

// Settings are the flags of the submitter that change what a page is. What they
// loosen is for the worker to allow.
type Settings struct {
	Open         []string       `json:"open,omitempty"`
	Viewport     string         `json:"viewport,omitempty"`
	Locale       string         `json:"locale,omitempty"`
	Timezone     string         `json:"timezone,omitempty"`
	Profile      string         `json:"profile,omitempty"`
	Engine       string         `json:"expr_engine,omitempty"`
	AcceptDrafts bool           `json:"accept_drafts,omitempty"`
	AllowOrigins []string       `json:"allow_origins,omitempty"`
	BlockOrigins []string       `json:"block_origins,omitempty"`
	AllowMaps    []string       `json:"allow_maps,omitempty"`
	Pacing       *time.Duration `json:"pacing,omitempty"`
	CallTimeout  time.Duration  `json:"call_timeout"`
}

// payload is what a job says. It names no file of the worker.
type payload struct {
	Case      *testCase          `json:"case,omitempty"`
	Check     *plan.Expectations `json:"check,omitempty"`
	Before    *testCase          `json:"before,omitempty"` // of a check
	Maps      []Mapped           `json:"maps,omitempty"`
	Settings  Settings           `json:"settings"`
	Evidence  bool               `json:"evidence,omitempty"`
	Artifacts string             `json:"artifacts,omitempty"` // folder of the sender for what the job makes
	// Single says that the submission is this job alone, and shown as one plan is.
	Single bool `json:"single,omitempty"`
}

// testCase is a case of a plan, as it was selected where it was sent.
type testCase struct {
	Plan  string `json:"plan"`  // where the plan is in the archive
	Given string `json:"given"` // its path as the user named it
	// Files are the others of the archive, with their names for the user.
	Files  map[string]string `json:"files,omitempty"`
	ID     string            `json:"id"`
	Name   string            `json:"name"`
	Tags   []string          `json:"tags,omitempty"`
	Vars   json.RawMessage   `json:"vars,omitempty"` // those beside the plan's own
	Env    map[string]string `json:"env,omitempty"`  // variables of the sender's environment
	Row    json.RawMessage   `json:"row,omitempty"`
	Number int               `json:"number,omitempty"`
	// Combination is the one of the plan's matrix.
	Combination *spec.Combination `json:"combination,omitempty"`
	Retries     int               `json:"retries,omitempty"`
	// RetriesGiven says that Retries come before those of the plan.
	RetriesGiven bool `json:"retries_given,omitempty"`
}

// source reads the plan of the case in a folder that has its files.
func (c *testCase) source(root string) (spec.Source, error) {
	s := spec.Source{Root: root, Env: func(name string) (string, bool) { v, ok := c.Env[name]; return v, ok }}
	s.Combination = c.Combination
	if c.Number > 0 {
		s.Row = &spec.Row{Number: c.Number, Values: c.Row}
	}
	if len(c.Vars) > 0 {
		d := json.NewDecoder(bytes.NewReader(c.Vars))
		d.UseNumber()
		if err := d.Decode(&s.Vars); err != nil {
			return s, fault.New(fault.InvalidInput, "the variables of the job cannot be read: %v", err)
		}
	}
	return s, nil
}

// Answer is the result of a job.
type Answer struct {
	OK bool `json:"ok"`
	// Result is what the verb prints with --json: of a case, or of a check.
	Result json.RawMessage `json:"result"`
	Report report.Run      `json:"report"`
	// Pictures are those of the report's tests and steps, in its order; nil where there is none.
	Pictures []*report.Screenshot `json:"pictures,omitempty"`
	// Printed is what the verb prints for people, of a check.
	Printed string `json:"printed,omitempty"`
	// Repairs are the maps of a case as they could be.
	Repairs []repair.Repaired `json:"repairs,omitempty"`
	Single  bool              `json:"single,omitempty"`
}

// encode makes the result of a job. Paths of the worker become those of the user, and
// secrets are masked.
func (a Answer) encode(result any, paths *strings.Replacer, secrets *mask.Set) (json.RawMessage, error) {
	var err error
	a.Result, err = fleet.Encode(result)
	if err != nil {
		return nil, err
	}
	some := false
	a.Report.Walk(func(_ []string, t *report.Test) {
		a.Pictures = append(a.Pictures, t.Screenshot)
		some = some || t.Screenshot != nil
	})
	if !some {
		a.Pictures = nil
	}
	raw, err := fleet.Encode(a)
	if err != nil {
		return nil, err
	}
	return secrets.MaskStrings(json.RawMessage(paths.Replace(string(raw)))), nil
}

// Decode reads the answer of a job.
func Decode(raw json.RawMessage) (Answer, error) {
	var a Answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, fault.Wrap(fault.InvalidResult, err, "reading the result of a job")
	}
	i := 0
	a.Report.Walk(func(_ []string, t *report.Test) {
		if i < len(a.Pictures) {
			t.Screenshot = a.Pictures[i]
		}
		i++
	})
	a.Report.Result = a.Result
	return a, nil
}
