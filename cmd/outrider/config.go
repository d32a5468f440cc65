package main

import (
	"os"
	"slices"
	"time"
	_ "time/tzdata" // machines and images without a database of time zones

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/lazyregexp"
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
		if a.origins[name] == fromCommandLine {
			return usage("--%s has no effect %s", name, why)
		}
	}
	return nil
}

// configure fills the flags that the command line left alone.
func (a *app) configure(cmd *cobra.Command) (err error) {
	a.origins, err = fillFlags(cmd)
	if err != nil {
		return usage("%w", err)
	}
	b := &a.browser
	if err := b.checkPlace(); err != nil {
		return err
	}
	if a.origins["maps"] == fromProjectFile {
		trusted, err := a.trustsProject()
		if err != nil {
			return usage("%w", err)
		}
		if !trusted {
			b.projectMaps = slices.Clone(b.maps)
		}
	}
	return nil
}

// languageTag is the form of language tags in RFC 5646: language, script, region, variants and extensions.
var languageTag = lazyregexp.New(`^(?i:[a-z]{2,3}(-[a-z]{3}){0,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?` +
	`(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*(-[a-wy-z0-9](-[a-z0-9]{2,8})+)*(-x(-[a-z0-9]{1,8})+)?)$`)

// checkPlace refuses a time zone and a locale that there are not: a browser would go on with those of the
// machine.
func (b *browserFlags) checkPlace() error {
	if b.timezone != "" {
		_, err := time.LoadLocation(b.timezone)
		if err != nil || b.timezone == "Local" {
			return usage("--timezone is %q: expected a name of the IANA database, such as Europe/Berlin", b.timezone)
		}
	}
	if b.locale != "" && !languageTag().MatchString(b.locale) {
		return usage("--locale is %q: expected a language tag (BCP 47), such as de-DE", b.locale)
	}
	return nil
}

// trustsProject reports whether what the project file names is the user's own.
func (a *app) trustsProject() (bool, error) {
	if a.browser.trustProject {
		return true, nil
	}
	return trustsProject(".")
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// folder is where the files of a flag may be written. What a project file names
// stays below its folder, symbolic links that come with a checkout included.
// Texts in them show no secret; reports are made of texts that show none.
func (a *app) folder(flag string) (to report.Folder) {
	to = report.Anywhere
	if a.origins[flag] == fromProjectFile {
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
