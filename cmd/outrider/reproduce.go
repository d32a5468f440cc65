package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/cmd/outrider/config"
	"github.com/outrider-run/outrider/cmd/outrider/reproduce"
	"github.com/outrider-run/outrider/runtime"
)

// reproducing is the command as the verbs of package reproduce see it.
type reproducing struct{ *app }

func (r reproducing) AddBrowserFlags(cmd *cobra.Command) { r.addBrowserFlags(cmd) }
func (r reproducing) PrintJSON(v any)                    { r.printJSON(v) }
func (r reproducing) Exit(code int, err error) error     { return &exit{code, err} }

func (r reproducing) OpenHost(ctx context.Context, change func(*runtime.Options) error) (*runtime.Host, func(), error) {
	return r.openHost(ctx, change)
}

func (r reproducing) Bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return r.bounded(ctx)
}

func (r reproducing) Given() reproduce.Given {
	g := reproduce.Given{JSON: r.json, Maps: len(r.browser.maps) > 0, CallTimeout: r.callLimit, Secrets: r.secrets, In: r.stdin, Out: r.stdout, Words: r.stderr}
	if r.origins["profile"] != config.ByDefault {
		g.Profile = r.browser.profile
	}
	return g
}
