package emulate

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
)

// emulateMedia sets what media queries answer; features that are not named stay.
var emulateMedia = primitives.Define("emulate.media", func(
	ctx context.Context, p primitives.Page, in primitives.MediaEmulation,
) (emulateOut, error) {
	return emulate(ctx, p, primitives.Emulation{Media: &in})
})
