package emulate

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
)

type emulateResetIn struct {
	Kinds []string `json:"kinds"`
}

// emulateReset ends emulations: what the options of the browser ask for is there
// again.
var emulateReset = primitives.Define("emulate.reset", func(
	ctx context.Context, p primitives.Page, in emulateResetIn,
) (emulateOut, error) {
	if err := p.ClearEmulation(ctx, in.Kinds); err != nil {
		return emulateOut{}, err
	}
	return emulateOut{p.Emulated()}, nil
})
