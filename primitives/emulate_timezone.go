package primitives

import "context"

// emulateTimezone sets the time zone of scripts.
var emulateTimezone = Define("emulate.timezone", func(ctx context.Context, p Page, in TimezoneEmulation) (emulateOut, error) {
	return emulate(ctx, p, Emulation{Timezone: &in})
})
