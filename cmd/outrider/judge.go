package main

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// judge opens plans, what they serve and a host, for a verb that runs their cases and judges them. Each case has a
// session of its own.
func (a *app) judge(
	ctx context.Context, p caseFlags, paths []string, out reports,
	do func(context.Context, *plan.Suite, plan.Browser, plan.Options) error,
) error {
	suite, _, closing, err := a.suite(p, paths, false)
	if err != nil {
		return err
	}
	defer closing()
	if err := a.sparesInputs(suite, out); err != nil {
		return err
	}
	if _, err := a.resolve(ctx, suite); err != nil {
		return err
	}
	settings, begins, err := beginnings(a.hostSettings().withPlanMaps(suite.Maps(), false))
	if err != nil {
		return err
	}
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	o := a.runOptions("")
	o.Open = begins.open
	o.StorageState = begins.state
	o.Apps = a.newApps()
	o.Apps.Start(ctx, suite) // before the browser: they end last
	defer o.Apps.Stop()
	h, closeHost, err := a.openHostAs(ctx, settings, func(o *runtime.Options) error {
		o.NoFirstTab = !o.Browser.Headed // each case has tabs of its own
		return nil
	})
	if err != nil {
		return err
	}
	defer closeHost()
	return do(ctx, suite, plan.Isolated(h), o)
}

// beginning is what the sessions of cases begin with.
type beginning struct {
	storage plan.Storage
	state   json.RawMessage
	open    string // the first --open
}

// beginnings takes out of the settings of a host what belongs to the sessions of its cases.
func beginnings(s hostSettings) (of hostSettings, b beginning, err error) {
	b.storage, err = plan.StorageOf(s.storageState, s.saveStorageState, s.login)
	if err != nil {
		return s, b, usage("%w", err)
	}
	b.state, err = b.storage.Load()
	if err != nil {
		return s, b, usage("%s", fault.From(err).Message)
	}
	s = s.withoutStorage()
	if len(s.open) > 0 {
		b.open = s.open[0]
		s = s.at(s.open[1:])
	}
	return s, b, nil
}
