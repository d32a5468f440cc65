package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/authoring/picker"
	"github.com/outrider-run/outrider/runtime"
)

// locatorsCommand is the verb locators.
func (a *app) locatorsCommand() *cobra.Command {
	var element string
	cmd := &cobra.Command{
		Use:   "locators URL",
		Short: "Show how elements of a page can be named, the best first",
		Long: "Rank the locators of the controls of a page, or of one element: test id, role and name, attributes, " +
			"text, structure.\n" +
			"Each is tried on the page. The target is what a map would say: the best that names the element alone, " +
			"and fallbacks\n" +
			"of other kinds. Ids and classes that look generated are left out.",
		Example: "  outrider locators http://127.0.0.1:8080/ --element 'form button'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			settings := a.hostSettings().at(args)
			return a.withHost(cmd.Context(), settings, func(ctx context.Context, h *runtime.Host) error {
				elements, err := picker.Elements(ctx, h, runtime.Target{}, element)
				if err == nil && a.json {
					a.printJSON(map[string]any{"ok": true, "elements": elements})
				} else if err == nil {
					picker.Print(a.stdout, elements)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(
		&element, "element", "", "CSS selector, or the JSON of a target of a map (default: every control)",
	)
	a.addBrowserFlags(cmd)
	return cmd
}
