package primitives

import "context"

// emulateMedia sets what media queries answer; features that are not named stay.
var emulateMedia = Define("emulate.media", func(ctx context.Context, p Page, in MediaEmulation) (emulateOut, error) {
	return emulate(ctx, p, Emulation{Media: &in})
})
