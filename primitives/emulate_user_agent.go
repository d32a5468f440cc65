package primitives

import "context"

// emulateUserAgent sets the user agent of requests and of navigator. Client hints
// are not sent then.
var emulateUserAgent = Define("emulate.user_agent", func(ctx context.Context, p Page, in UserAgentEmulation) (emulateOut, error) {
	return emulate(ctx, p, Emulation{UserAgent: &in})
})
