package main

import (
	"os"

	"github.com/outrider-run/outrider/evidence/replay"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// replayOptions are those that the flags ask for.
func (a *app) replayOptions(o *replay.Options, l *replay.Log, fill, state string) error {
	o.Open, o.CallTimeout, o.Secrets, o.OwnMaps = a.openHost, a.callLimit, a.secrets, len(a.browser.maps) > 0
	if a.origins["profile"] != byDefault {
		set, ok := quirks.Profile(a.browser.profile)
		if !ok {
			return usage("--profile is %q: expected strict or extension", a.browser.profile)
		}
		o.Quirks = &set
	}
	if fill != "" {
		values, err := replay.ReadFill(fill)
		if err == nil {
			err = l.Fill(values, a.secrets)
		}
		if err != nil {
			return &exit{exitUsage, err}
		}
	}
	if state != "" {
		data, err := os.ReadFile(state)
		if err != nil {
			return usage("--from-state: %w", err)
		}
		o.Prepare = replay.FromState(data)
	}
	return nil
}
