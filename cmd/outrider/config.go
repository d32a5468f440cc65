package main

import (
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/cmd/outrider/config"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

// refuseGiven refuses flags of the command line that would have no effect. It is
// for those that loosen nothing by being ignored: their environment twins and
// what files set are for many verbs at once.
func (a *app) refuseGiven(why string, flags ...string) error {
	for _, name := range flags {
		if a.origins[name] == config.FromCommandLine {
			return usage("--%s has no effect %s", name, why)
		}
	}
	return nil
}

// configure fills the flags that the command line left alone.
func (a *app) configure(cmd *cobra.Command) (err error) {
	if a.origins, err = config.Fill(cmd); err != nil {
		return usage("%w", err)
	}
	return nil
}

// folder is where the files of a flag may be written. What a project file names
// stays below its folder, symbolic links that come with a checkout included.
// Texts in them show no secret; reports are made of texts that show none.
func (a *app) folder(flag string) (to report.Folder) {
	if to = report.Anywhere; a.origins[flag] == config.FromProjectFile {
		to = report.Here()
	}
	if flag == "report" {
		return to
	}
	return report.Changed(to, a.secrets.MaskBytes)
}

// mapsAtHand are the maps that the flags, the environment and the files of the project give.
func (a *app) mapsAtHand(cmd *cobra.Command) (*runtime.Maps, error) {
	if err := a.configure(cmd); err != nil {
		return nil, err
	}
	engine, err := expr.New(expr.Native, nil)
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	profile, _ := quirks.Profile(a.browser.profile)
	how := runtime.MapsIn(profile)
	how.AcceptDrafts = a.browser.acceptDrafts
	m, _ := runtime.LoadMaps(a.browser.maps, catalog.Standard(), engine, how)
	return m, nil
}
