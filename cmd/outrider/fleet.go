package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/server"
	"github.com/outrider-run/outrider/fleet/status"
	"github.com/outrider-run/outrider/fleet/tenant"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/plan/remote"
)

func (a *app) fleetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Run work on many machines: start a fleet, look at it, end what it runs",
	}
	cmd.AddCommand(a.fleetUpCommand())
	cmd.AddCommand(a.fleetAttachCommand())
	cmd.AddCommand(a.fleetViewVerbs()...)
	return cmd
}

func (a *app) fleetUpCommand() *cobra.Command {
	var o server.Options
	var domain string
	var flags workerFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Be a fleet on this machine: a server with its data folder, and a worker",
		Long: "Run the fleet's server in this process, and a worker that takes its jobs, until interrupted. " +
			"What is queued and\n" +
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
			if info, err := os.Stat(o.Data); err == nil && !info.IsDir() {
				return usage("--data is %s, which is a file: name a folder", o.Data)
			}
			o.Logger = a.log
			if flags.Tenants != "" {
				file, err := tenant.Read(ctx, flags.Tenants)
				if err != nil {
					return usage("--tenants: %w", err)
				}
				o.Users = file.Users()
			}
			s, err := server.Start(ctx, o)
			if err != nil {
				return a.fleetRefused(err)
			}
			defer s.Close()
			a.printJSONOr(
				map[string]any{"fleet": s.URL(), "data": o.Data}, "the fleet is at %s, its data in %s\n",
				s.URL(), o.Data,
			)
			if flags.Slots == 0 {
				<-ctx.Done()
				return ended(ctx)
			}
			return a.work(
				ctx, wire.Options{Name: "outrider fleet up", Logger: a.log, InProcess: s, Domain: domain}, flags,
			)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "127.0.0.1:4222", "address for workers and submitters")
	f.StringVar(
		&o.Data, "data", "", "folder for queues and results (default: outrider/fleet below the user's cache folder)",
	)
	f.StringVar(&o.CertFile, "cert", "", "PEM file of the server's certificate: it speaks TLS")
	f.StringVar(&o.KeyFile, "key", "", "PEM file of its key")
	f.StringVar(&o.Monitor, "monitor", "", "HOST:PORT of the server's own monitoring page, which autoscalers read")
	listVar(
		f, &o.Leaf, "leaf",
		"address of a cluster's leaf port: be a way into that cluster instead of a fleet of one's own (repeatable)",
	)
	f.StringVar(&domain, "leaf-domain", "", "JetStream domain of that cluster")
	flags.Add(f)
	opsFlag(cmd, &flags.OpsAt)
	a.addBrowserFlags(cmd)
	return cmd
}

func (a *app) fleetAttachCommand() *cobra.Command {
	var reports reportFlags
	var artifacts string
	var at fleetFlags
	cmd := a.fleetVerb(
		"attach SUBMISSION", "Follow a submission to its end, as the run that sent it would",
		cobra.ExactArgs(1), func(ctx context.Context, q *queue.Queue, args []string) error {
			out, err := reports.open(a)
			if err != nil {
				return err
			}
			jobs, err := status.Submission(ctx, q, args[0])
			if err != nil {
				return err
			}
			artifacts, leave := a.artifactsFolder(artifacts)
			defer leave()
			return a.followFleet(ctx, q, jobs, at, out, remote.Show{Artifacts: artifacts})
		},
	)
	reports.add(cmd.Flags())
	at.AddVerify(cmd.Flags())
	cmd.Flags().StringVar(&artifacts, "artifacts", "", "directory for the pictures that jobs made")
	return cmd
}
