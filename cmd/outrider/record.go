package main

import (
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/authoring/learn"
	"github.com/outrider-run/outrider/authoring/recorder"
)

// recordCommand is the verb record.
func (a *app) recordCommand() *cobra.Command {
	c := recorder.Command{Learn: learn.Options{NewID: uuid.NewString, Now: time.Now}}
	var headless bool
	cmd := &cobra.Command{
		Use:   "record URL",
		Short: "Make a site action of what you do in a browser",
		Long: "Open a window and follow what you do in it: click, type, choose, drag, upload, answer dialogs. " +
			"A bar in the page asserts a text,\n" +
			"asserts that something is there, reads, marks an argument, takes back and ends. What you type becomes " +
			"arguments, a password\n" +
			"a reference to a secret. The action is run again in a fresh session, also with other values, before it " +
			"is written. Without a\n" +
			"display the page is shown at an address of this machine, for another browser.",
		Example: "  outrider record http://127.0.0.1:8080/ --name orders.add --out maps/shop",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := url.Parse(args[0])
			if err != nil || u.Host == "" {
				return usage("record needs an address such as http://127.0.0.1:8080/, not %q", args[0])
			}
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			display := os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
			c.Open = a.openHost
			c.URL = args[0]
			c.Secrets = a.secrets
			c.Version = version
			c.Words = a.people
			c.Headed = a.browser.headed || display && !headless && c.View == ""
			if c.Out == "" {
				c.Out = u.Hostname()
			}
			done, err := c.Run(ctx)
			if err != nil {
				return err
			}
			if a.json {
				a.printJSON(done)
				return nil
			}
			done.Print(a.stdout)
			for _, f := range done.Files {
				fmt.Fprintf(a.stdout, "wrote      %s\n", f)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.Learn.Name, "name", "", "name of the action (default: made of the page and the last step)")
	f.StringVar(&c.Out, "out", "", "folder for the map and the plan (default: the name of the host)")
	f.StringVar(&c.Keep, "keep", "", "keep the steps as a recording too, for learn")
	f.StringVar(&c.View, "view", "", "show the page at this HOST:PORT of this machine in place of a window")
	f.BoolVar(&headless, "headless", false, "open no window although there is a display")
	f.BoolVar(&c.Force, "force", false, "replace files that are there")
	f.BoolVar(&c.Learn.Unproven, "unproven", false, "write the action also when it could not be run again")
	a.addBrowserFlags(cmd)
	cmd.AddCommand(a.recordSaveCommand())
	return cmd
}
