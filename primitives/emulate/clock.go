package emulate

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

type emulateClockIn struct {
	At        string  `json:"at"`
	Mode      string  `json:"mode"`
	AdvanceMS float64 `json:"advance_ms"`
	Seed      *int    `json:"seed"`
}

// emulateClock sets what scripts of the page take for the time, in every document and in dedicated
// workers, and seeds Math.random. It replaces what the page's own scripts use, and they can see that.
var emulateClock = primitives.Define("emulate.clock", func(
	ctx context.Context, p primitives.Page, in emulateClockIn,
) (emulateOut, error) {
	at, err := clockTime(in.At)
	if err != nil {
		return emulateOut{}, err
	}
	if in.At == "" && in.Mode == "" && in.AdvanceMS == 0 && in.Seed == nil {
		return emulateOut{}, fault.New(fault.InvalidArguments, "expected one of at, mode, advance_ms and seed")
	}
	return emulate(ctx, p, primitives.Emulation{Clock: &primitives.ClockEmulation{
		At:        at,
		Mode:      in.Mode,
		AdvanceMS: in.AdvanceMS,
		Seed:      in.Seed,
	}})
})

// clockTime reads a time, or a day in UTC; "" is none.
func clockTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fault.New(
		fault.InvalidArguments, "at: expected a time such as 2026-03-01T09:00:00Z, or a day such as 2026-03-01",
	).With("at", fault.Clip(text, 60))
}
