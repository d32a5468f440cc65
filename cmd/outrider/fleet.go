package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/fleet/server"
	"github.com/outrider-run/outrider/fleet/tenant"
	"github.com/outrider-run/outrider/fleet/wire"
)

func (a *app) fleetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Run work on many machines: start a fleet, look at it, end what it runs",
	}
	cmd.AddCommand(a.fleetUpCommand())
	cmd.AddCommand(a.fleetLook()...)
	return cmd
}

func (a *app) fleetUpCommand() *cobra.Command {
	var o server.Options
	var flags workerFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Be a fleet on this machine: a server with its data folder, and a worker",
		Long: "Run the fleet's server in this process, and a worker that takes its jobs, until interrupted. What is queued and\n" +
			"what was recorded is in --data and survives. More machines join with 'outrider worker --fleet'.",
		Example: `  outrider fleet up
  outrider run smoke.yaml --fleet nats://127.0.0.1:4222`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			if err := checkAddress(ctx, "--listen", o.Listen); err != nil {
				return err
			}
			if o.Data == "" {
				base, err := os.UserCacheDir()
				if err != nil {
					return usage("--data: there is no folder for this user's data: give one")
				}
				o.Data = filepath.Join(base, "outrider", "fleet")
			}
			o.Logger = a.log
			if flags.tenants != "" {
				file, err := tenant.Read(ctx, flags.tenants)
				if err != nil {
					return usage("--tenants: %w", err)
				}
				o.Users = file.Users()
			}
			s, err := server.Start(ctx, o)
			if err != nil {
				return fleetRefused(err)
			}
			defer s.Close()
			a.printJSONOr(map[string]any{"fleet": s.URL(), "data": o.Data}, "the fleet is at %s, its data in %s\n", s.URL(), o.Data)
			if flags.slots == 0 {
				<-ctx.Done()
				return ended(ctx)
			}
			sources, closeAll, err := a.sources(ctx, wire.Options{Name: "outrider fleet up", Logger: a.log, InProcess: s}, flags)
			if err != nil {
				return err
			}
			defer closeAll()
			return a.work(ctx, sources, flags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "127.0.0.1:4222", "address for workers and submitters")
	f.StringVar(&o.Data, "data", "", "folder for queues and results (default: outrider/fleet below the user's cache folder)")
	f.StringVar(&o.CertFile, "cert", "", "PEM file of the server's certificate: it speaks TLS")
	f.StringVar(&o.KeyFile, "key", "", "PEM file of its key")
	f.StringVar(&o.Monitor, "monitor", "", "HOST:PORT of the server's own monitoring page, which autoscalers read")
	f.StringArrayVar(&o.Leaf, "leaf", nil, "address of a cluster's leaf port: be a way into that cluster instead of a fleet of one's own (repeatable)")
	flags.add(f)
	opsFlag(cmd, &flags.opsAt)
	a.addBrowserFlags(cmd)
	return cmd
}
