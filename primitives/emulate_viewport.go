package primitives

import "context"

// emulateViewport sets the size of the viewport and the kind of screen. A page
// that is open gets a resize event.
var emulateViewport = Define("emulate.viewport", func(ctx context.Context, p Page, in ViewportEmulation) (emulateOut, error) {
	return emulate(ctx, p, Emulation{Viewport: &in})
})

// emulateOut is what is emulated after the call.
type emulateOut struct {
	Emulated Emulation `json:"emulated"`
}

func emulate(ctx context.Context, p Page, e Emulation) (emulateOut, error) {
	if err := p.Emulate(ctx, e); err != nil {
		return emulateOut{}, err
	}
	return emulateOut{p.Emulated()}, nil
}
