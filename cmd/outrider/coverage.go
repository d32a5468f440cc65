package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/authoring/coverage"
	"github.com/outrider-run/outrider/runtime"
)

// coverageCommand is the verb coverage.
func (a *app) coverageCommand() *cobra.Command {
	var least int
	cmd := &cobra.Command{
		Use:   "coverage",
		Short: "Say which controls of the open pages no action of the maps reaches",
		Long: "Compare the controls of each open page with the targets of all actions of the maps. " +
			"Controls in entries of a list\n" +
			"count once. Exit code 1 when a page is covered less than --least says.",
		Example: "  outrider coverage --open http://127.0.0.1:8080/ --maps ./map/actions.json --least 80",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, err := coverage.Read(a.browser.maps)
			if err != nil {
				return usage("coverage needs --maps: %w", err)
			}
			return a.withHost(cmd.Context(), a.hostSettings(), func(ctx context.Context, h *runtime.Host) error {
				pages, err := coverage.Of(ctx, h, files)
				if err != nil {
					return err
				}
				ok := coverage.Least(pages) >= least
				if a.json {
					a.printJSON(map[string]any{"ok": ok, "pages": pages})
				} else {
					coverage.Print(a.stdout, pages)
				}
				return verdict(ok, true)
			})
		},
	}
	cmd.Flags().IntVar(&least, "least", 0, "share of the controls of each page that actions must reach, in percent")
	a.addBrowserFlags(cmd)
	return cmd
}
