// Package remote sends plans and checks to a fleet and runs them there: what a job
// carries, what the worker does with it, and how the result comes back with its
// report. It decides nothing about queues and owns no browser. The verbs run, check
// and worker use it.
package remote

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Kind is the kind of the jobs that this package makes.
const Kind = "browser"

// bundle is the name of the job's archive.
const bundle = "bundle"

// Mapped is a path of --maps: as the user gave it, and where it is in the archive.
type Mapped struct {
	Given string `json:"given"`
	At    string `json:"at"`
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
	// Plan is where the plan is in the archive, Path as the user named it.
	Plan      string             `json:"plan,omitempty"`
	Path      string             `json:"path,omitempty"`
	Check     *plan.Expectations `json:"check,omitempty"`
	Maps      []Mapped           `json:"maps,omitempty"`
	Settings  Settings           `json:"settings"`
	Evidence  bool               `json:"evidence,omitempty"`
	Artifacts bool               `json:"artifacts,omitempty"`
}

// Answer is the result of a job.
type Answer struct {
	OK bool `json:"ok"`
	// Result is what the verb prints with --json.
	Result json.RawMessage `json:"result"`
	Report report.Run      `json:"report"`
	// Pictures are those of the report's tests, in its order; nil where there is none.
	Pictures []*report.Picture `json:"pictures,omitempty"`
	// Printed is what the verb prints for people, of a check.
	Printed string `json:"printed,omitempty"`
}

// encode makes the answer of a run. Paths of the worker become those of the user.
func encode(ok bool, result any, run report.Run, printed string, paths *strings.Replacer) (json.RawMessage, error) {
	raw, err := fleet.Encode(result)
	if err != nil {
		return nil, err
	}
	a := Answer{OK: ok, Result: raw, Report: run, Printed: printed}
	some := false
	run.Each(func(_ []string, t *report.Test) {
		a.Pictures = append(a.Pictures, t.Picture)
		some = some || t.Picture != nil
	})
	if !some {
		a.Pictures = nil
	}
	if raw, err = fleet.Encode(a); err != nil {
		return nil, err
	}
	return json.RawMessage(paths.Replace(string(raw))), nil
}

// Decode reads the answer of a job.
func Decode(raw json.RawMessage) (Answer, error) {
	var a Answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, fault.Wrap(fault.InvalidResult, err, "reading the result of a job")
	}
	i := 0
	a.Report.Each(func(_ []string, t *report.Test) {
		if i < len(a.Pictures) {
			t.Picture = a.Pictures[i]
		}
		i++
	})
	a.Report.Result = a.Result
	return a, nil
}
