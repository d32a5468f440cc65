package main

import (
	"context"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/authoring/ident"
	"github.com/outrider-run/outrider/authoring/scaffold"
	"github.com/outrider-run/outrider/runtime"
)

// initCommand is the verb init.
func (a *app) initCommand() *cobra.Command {
	var out string
	var force, submit bool
	cmd := &cobra.Command{
		Use:   "init URL",
		Short: "Write a first map and plan of a page",
		Long: "Write actions.json and plan.yaml of a page: its forms become actions, its lists and tables " +
			"projections, its landmarks\n" +
			"and headings states, its links transitions. Everything is tried before it is written; " +
			"what is ambiguous, empty or\n" +
			"fails is left out and named. On pages of this machine forms are sent; elsewhere --submit sends them.",
		Example: "  outrider init http://127.0.0.1:8080/ --out sites/127.0.0.1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := url.Parse(args[0])
			if err != nil || u.Host == "" {
				return usage("init needs an address such as http://127.0.0.1:8080/, not %q", args[0])
			}
			if out == "" {
				out = u.Hostname()
			}
			o := scaffold.Options{NewID: uuid.NewString, Now: time.Now, Submit: submit || ident.Local(u.Hostname())}
			settings := a.hostSettings().at(args)
			return a.withHost(cmd.Context(), settings, func(ctx context.Context, h *runtime.Host) error {
				progress := a.progress()
				o.Progress = progress.Begin
				written, err := scaffold.InitInto(ctx, h, o, out, force)
				progress.Clear()
				if len(written.Files) > 0 && a.json {
					a.printJSON(written)
				} else if len(written.Files) > 0 {
					written.Print(a.stdout)
				}
				return err
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "folder for the files (default: the name of the host)")
	f.BoolVar(&force, "force", false, "replace files that are there")
	f.BoolVar(&submit, "submit", false, "try actions that may change something on the site: send forms, click buttons")
	a.addBrowserFlags(cmd)
	return cmd
}
