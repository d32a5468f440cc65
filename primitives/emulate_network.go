package primitives

import "context"

// emulateNetwork makes the tab's requests slow, or fail as if there were no
// network. WebSockets and requests of workers are not slowed.
var emulateNetwork = Define("emulate.network", func(ctx context.Context, p Page, in NetworkEmulation) (emulateOut, error) {
	return emulate(ctx, p, Emulation{Network: &in})
})
