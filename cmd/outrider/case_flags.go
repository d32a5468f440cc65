package main

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/plan"

	"github.com/outrider-run/outrider/plan/schedule"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/sites"
)

// caseFlags say which cases of plans run, and how.
type caseFlags struct {
	Workers, Retries                     int
	FailFast, FailOnFlaky, DryRun, Watch bool
	UpdateLock, Fix, Heal                bool
	UpdateSnapshots                      bool
	VarsFile                             string
	vars, durations                      []string
	grep, grepInvert, shard              string
	repeat                               int
}

// runOnce are the flags of a plan that runs once, as it is.
func runOnce() caseFlags { return caseFlags{Workers: 1, repeat: 1} }

// Add adds the flags.
func (p *caseFlags) Add(f *pflag.FlagSet) {
	listVar(f, &p.vars, "var", "variable of plans: NAME=VALUE (repeatable)")
	f.StringVar(&p.VarsFile, "vars", "", "YAML or JSON file with variables of plans")
	f.StringVar(&p.grep, "grep", "", "run only cases whose name or tag matches this regular expression")
	f.StringVar(&p.grepInvert, "grep-invert", "", "leave out cases whose name or tag matches this regular expression")
	f.StringVar(&p.shard, "shard", "", "run one of several equal parts of the cases, such as 1/8")
	listVar(
		f, &p.durations, "durations",
		"json report of an earlier run, by whose durations shards are balanced (repeatable)",
	)
	f.IntVar(&p.Workers, "workers", 1, "how many cases run at once, each in a session of its own")
	f.IntVar(&p.Retries, "retries", 0, "how often a case that failed is run again; one that passes then is flaky")
	f.IntVar(&p.repeat, "repeat-each", 1, "run each case so many times")
	f.BoolVar(&p.FailFast, "fail-fast", false, "start no more cases after one has failed")
	f.BoolVar(&p.FailOnFlaky, "fail-on-flaky", false, "exit with 1 when a case is flaky")
	f.BoolVar(
		&p.UpdateLock, "update-lock", false,
		"remember in actions.lock.json what the elements looked like that steps of actions found",
	)
	f.BoolVar(&p.Fix, "fix", false, "write the repairs of actions into the maps")
	f.BoolVar(
		&p.Watch, "watch", false,
		"run what a changed plan, map, lock file or file of data touches again, until q or an interrupt",
	)
	f.BoolVar(
		&p.Heal, "heal", false,
		"go on with a proposed target where an action is done with it; the result is healed, and its diff is shown",
	)
	f.BoolVar(
		&p.UpdateSnapshots, "update-snapshots", false,
		"keep the screenshots and snapshots that expectations are compared with, in place of judging them",
	)
	f.BoolVar(&p.DryRun, "dry-run", false, "print what would run, without a browser")
}

// caseReader has what plans are read with.
type caseReader struct {
	Flags    caseFlags
	Paths    []string
	Secrets  []string // assignments of --secret
	Maps     []string // given beside the plans; MoreMaps says whether those of the plans come with them
	MoreMaps bool
	Again    bool // what changed is read: names are judged when steps run, since a map may change next
	Engine   expr.Engine
	MapsAs   runtime.MapOptions
}

// Load reads the cases. There may be none.
func (r caseReader) Load() (*plan.Suite, map[string]any, error) {
	s, err := r.selection()
	if err != nil {
		return nil, nil, err
	}
	suite, err := plan.Load(s)
	if err != nil {
		return nil, nil, err
	}
	if _, err := suite.Nothing(); err != nil {
		return nil, nil, err
	}
	if r.Again {
		return suite, s.Source.Vars, nil
	}
	maps := r.Maps
	if r.MoreMaps || len(maps) == 0 {
		maps = append(maps[:len(maps):len(maps)], suite.Maps()...)
	}
	return suite, s.Source.Vars, plan.CheckNames(suite.Cases, maps, r.known())
}

func (r caseReader) selection() (plan.Selection, error) {
	p := r.Flags
	s := plan.Selection{Paths: r.Paths, Repeat: p.repeat, Source: spec.Source{Engine: r.Engine}}
	outside := func(n, low, high int) bool { return n < low || n > high }
	if outside(p.Workers, 1, 64) || outside(p.Retries, 0, 10) || outside(p.repeat, 1, 10_000) {
		return s, errors.New("expected --workers 1 to 64, --retries 0 to 10 and --repeat-each 1 to 10000")
	}
	var err error
	s.Source.Vars, err = spec.ReadVars(p.VarsFile, p.vars)
	if err == nil {
		s.Source.Secrets, err = spec.SecretNames(r.Secrets)
	}
	if err == nil {
		s.Filter, err = schedule.NewFilter(p.grep, p.grepInvert)
	}
	if err == nil {
		s.Part, err = schedule.ParsePart(p.shard)
	}
	if err == nil {
		s.Costs, err = plan.ReadCosts(p.durations)
	}
	return s, err
}

// known lists the names that steps may use.
func (r caseReader) known() plan.KnownNames {
	known := catalog.Standard()
	return plan.KnownNames{Primitives: known.Names(), Maps: func(paths []string) (*sites.Library, bool) {
		maps, read := runtime.ReadMaps(paths, known, r.Engine, r.MapsAs)
		for _, report := range read() {
			if !report.OK || len(report.Left) > 0 {
				return nil, false // what is wrong with it is said when the host reads it
			}
		}
		l := maps.Current().Library
		return l, plan.WholeLibrary(l)
	}}
}
