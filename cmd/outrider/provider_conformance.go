package main

import (
	"context"
	"errors"

	"github.com/outrider-run/outrider/conformance/providerkit"
)

// runConformance starts a provider, tests it and says which tier it reaches. A
// provider that is less than certified is a failure of the verb.
func (a *app) runConformance(ctx context.Context, command []string) error {
	if len(command) == 0 {
		return usage(
			"--conformance needs the command that starts the provider: outrider provider --conformance -- CMD [ARGS]",
		)
	}
	opts := providerkit.Options{CallLimit: a.callLimit}
	if !a.json {
		opts.OnResult = func(r providerkit.Result) { r.Print(a.stdout) }
	}
	report, err := providerkit.RunCommand(ctx, command, a.stderr, opts)
	var unstarted *providerkit.StartError
	switch {
	case errors.As(err, &unstarted):
		return &exit{exitEnvironment, unstarted.Err}
	case err != nil:
		return err
	case a.json:
		a.printJSON(report)
	default:
		report.PrintTier(a.stdout)
	}
	return verdict(report.Tier == providerkit.Certified, true)
}
