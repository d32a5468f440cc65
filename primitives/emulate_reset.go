package primitives

import "context"

type emulateResetIn struct {
	Kinds []string `json:"kinds"`
}

// emulateReset ends emulations: what the options of the browser ask for is there
// again.
var emulateReset = Define("emulate.reset", func(ctx context.Context, p Page, in emulateResetIn) (emulateOut, error) {
	if err := p.EmulateNothing(ctx, in.Kinds); err != nil {
		return emulateOut{}, err
	}
	return emulateOut{p.Emulated()}, nil
})
