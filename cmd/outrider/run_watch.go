package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/outrider-run/outrider/authoring/repair"

	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/plan/watch"
	"github.com/outrider-run/outrider/projection/expr"
)

// watch runs the cases, and those that a change touches again, in one browser.
func (r *planRun) watch(ctx context.Context) (plan.RunResult, error) {
	engine, err := expr.New(r.browser.engine, nil)
	if err != nil {
		return plan.RunResult{}, err
	}
	defer engine.Close()
	o := watch.Options{
		Paths:    r.paths,
		Maps:     r.given,
		Run:      r.round,
		Keys:     r.stdin,
		Own:      []string{r.storage.To},
		Settings: []string{projectFile},
	}
	for _, file := range r.out.files {
		o.Own = append(o.Own, file)
	}
	if r.flags.VarsFile != "" {
		o.Every = []string{r.flags.VarsFile}
	}
	if r.origins["maps"] == byDefault { // each case needs those of its plans alone
		o.Maps = nil
	}
	o.Say = func(text string) { fmt.Fprintf(r.stderr, "outrider: %s\n", text) }
	o.Load = func() (*plan.Suite, error) {
		reader := r.reader(r.flags, r.paths, engine)
		reader.Again = true
		suite, _, err := reader.Load()
		if err != nil {
			return nil, err
		}
		for _, m := range suite.Maps() {
			if o.Maps == nil && !slices.Contains(r.given, m) {
				return nil, usage("the browser was started without the map %s: end, and start again", m)
			}
		}
		if r.maps != nil {
			r.maps.Reload()
		}
		r.o.Locks, err = repair.LocksOf(r.given)
		if err != nil {
			return nil, err
		}
		return suite, r.resolved.Resolve(ctx, suite)
	}
	o.Done = func(all plan.RunResult) error {
		_, err := r.finish(all)
		return err
	}
	return watch.Run(ctx, o)
}
