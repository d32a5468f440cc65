package session

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	defaultPacingMS = 500
	maxPacingMS     = 10_000
)

type runtimeConfigurePacingIn struct {
	// MinIntervalMS is 500 when absent: the interval of a person.
	MinIntervalMS *int `json:"min_interval_ms"`
}

type runtimeConfigurePacingOut struct {
	MinIntervalMS int `json:"min_interval_ms"`
}

// runtimeConfigurePacing checks the bounds itself: upstream has a code of its
// own for them.
var runtimeConfigurePacing = primitives.Define("runtime.configure_pacing", func(
	_ context.Context, p primitives.Page, in runtimeConfigurePacingIn,
) (runtimeConfigurePacingOut, error) {
	s, err := Of(p, "runtime.configure_pacing", "runtime.pacing")
	if err != nil {
		return runtimeConfigurePacingOut{}, err
	}
	ms := defaultPacingMS
	if in.MinIntervalMS != nil {
		ms = *in.MinIntervalMS
	}
	if ms < 0 || ms > maxPacingMS {
		return runtimeConfigurePacingOut{}, fault.New(
			fault.InvalidInterval, "the interval is not between 0 and %d ms", maxPacingMS,
		).With("min_interval_ms", ms)
	}
	s.SetPacing(time.Duration(ms) * time.Millisecond)
	return runtimeConfigurePacingOut{MinIntervalMS: ms}, nil
})
