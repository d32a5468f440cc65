package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// linked is the version that the linker sets for a release.
var linked string

// unreleased is the version of a build that knows none, such as one
// from a source archive.
const unreleased = "0.1.0-dev"

var version = versionOf(linked, debug.ReadBuildInfo)

// versionOf is the version of a build: what the linker set, else that of the
// module, which go install and a build from a clone record.
func versionOf(linked string, read func() (*debug.BuildInfo, bool)) string {
	if linked != "" {
		return strings.TrimPrefix(linked, "v")
	}
	if info, ok := read(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return unreleased
}

// cliContract is the version of docs/reference/cli.md.
const cliContract = 3

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
			fmt.Fprint(a.stdout, versionText(a.json))
			return nil
		},
	}
}

// versionText is the output of version and of --version.
func versionText(inJSON bool) string {
	if !inJSON {
		return fmt.Sprintf("outrider %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	}
	text, err := json.Marshal(map[string]any{
		"version": version, "revision": revision(), "cli_contract": cliContract,
		"protocols": map[string]any{"actions_bridge": 1, "actions_json": 1},
		"go":        runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
	})
	if err != nil {
		panic(err) // texts and numbers
	}
	return string(text) + "\n"
}
