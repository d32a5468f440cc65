package emulate

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
)

// emulateNetwork makes the tab's requests slow, or fail as if there were no
// network. WebSockets and requests of workers are not slowed.
var emulateNetwork = primitives.Define("emulate.network", func(
	ctx context.Context, p primitives.Page, in primitives.NetworkEmulation,
) (emulateOut, error) {
	return emulate(ctx, p, primitives.Emulation{Network: &in})
})
