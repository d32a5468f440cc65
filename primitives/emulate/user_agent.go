package emulate

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
)

// emulateUserAgent sets the user agent of requests and of navigator. Client hints
// are not sent then.
var emulateUserAgent = primitives.Define("emulate.user_agent", func(
	ctx context.Context, p primitives.Page, in primitives.UserAgentEmulation,
) (emulateOut, error) {
	return emulate(ctx, p, primitives.Emulation{UserAgent: &in})
})
