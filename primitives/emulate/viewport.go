package emulate

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
)

// emulateViewport sets the size of the viewport and the kind of screen. A page
// that is open gets a resize event.
var emulateViewport = primitives.Define("emulate.viewport", func(
	ctx context.Context, p primitives.Page, in primitives.ViewportEmulation,
) (emulateOut, error) {
	return emulate(ctx, p, primitives.Emulation{Viewport: &in})
})

// emulateOut is the emulation after the call.
type emulateOut struct {
	Emulated primitives.Emulation `json:"emulated"`
}

func emulate(ctx context.Context, p primitives.Page, e primitives.Emulation) (emulateOut, error) {
	if err := p.Emulate(ctx, e); err != nil {
		return emulateOut{}, err
	}
	return emulateOut{p.Emulated()}, nil
}
