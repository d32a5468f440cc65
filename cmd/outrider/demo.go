package main

import (
	"errors"
	"net"
	"os"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/bridgeclient/demo"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

func (a *app) demoCommand() *cobra.Command {
	var keep, path string
	var headed bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the main job on bundled pages and end",
		Long: "Start a demo site and the embedded bridge on loopback, launch Chromium, connect to the bridge as a " +
			"runtime, and let\n" +
			"an agent's calls run: what the site offers, some of its actions, its state and an event when it " +
			"changes, a call that is refused,\n" +
			"one that fails, a picture.\n" +
			"With --json every protocol item is one line on stdout, and nothing else is.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			if keep == "" {
				dir, err := os.MkdirTemp("", "outrider-demo-")
				if err != nil {
					return &exit{exitEnvironment, err}
				}
				keep = dir
			} else if err := os.MkdirAll(keep, 0o755); err != nil {
				return usage("--keep: %w", err)
			}
			engine, err := expr.New("", nil)
			if err != nil {
				return err
			}
			defer engine.Close()
			err = demo.Run(ctx, demo.Options{
				Keep: keep, JSON: a.json, Out: a.stdout, Warn: a.warn,
				Runtime: runtime.Options{
					Registry:    catalog.Standard(),
					Engine:      engine,
					NewID:       uuid.NewString,
					CallTimeout: a.callLimit,
					Version:     version,
					Device:      device(),
					Logger:      a.log,
					Browser: browser.Options{
						Path:      path,
						Headed:    headed,
						NoSandbox: a.withoutSandbox(a.hostSettings()),
						Logger:    a.log,
					},
				},
			})
			if errors.Is(err, demo.ErrIncomplete) {
				return &exit{code: exitEnvironment}
			}
			var op *net.OpError
			if errors.As(err, &op) && op.Op == "listen" {
				return listenFailed(err, "", "127.0.0.1:0")
			}
			return err
		},
	}
	cmd.Flags().StringVar(
		&keep, "keep", "", "directory for the screenshot and the conversation (default: a new temporary one)",
	)
	cmd.Flags().StringVar(&path, "browser", "", browserUsage)
	cmd.Flags().BoolVar(&headed, "headed", false, "show the browser's window")
	return cmd
}
