package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker for releases; a build from a checkout says so.
var version = "0.1.0-dev"

// cliContract is the version of docs/reference/cli.md.
const cliContract = 2

func revision() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return ""
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				a.printJSON(map[string]any{
					"version": version, "revision": revision(), "cli_contract": cliContract,
					"protocols": map[string]any{"actions_bridge": 1, "actions_json": 1},
					"go":        runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
				return nil
			}
			fmt.Fprintf(a.stdout, "outrider %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
