package emulate

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
)

// emulateTimezone sets the time zone of scripts.
var emulateTimezone = primitives.Define("emulate.timezone", func(
	ctx context.Context, p primitives.Page, in primitives.TimezoneEmulation,
) (emulateOut, error) {
	return emulate(ctx, p, primitives.Emulation{Timezone: &in})
})
