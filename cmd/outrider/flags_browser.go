package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/evidence/outfile"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/checkcache"
	"github.com/outrider-run/outrider/sites"
)

// browserFlags are the flags of every verb that owns a browser.
type browserFlags struct {
	path, attach, userDataDir, viewport, locale, timezone, proxy, profile, engine string
	headed, isolated, noSandbox, acceptDrafts                                     bool
	maps, open, allowMaps                                                         []string
	// no flag: those of maps that the project file names, and nobody trusts
	projectMaps                                             []string
	trustProject                                            bool
	allowOrigins, blockOrigins, insecureOrigins, uploadDirs []string
	downloadDir, tabMemory, maxState                        string
	maxTabs                                                 int
	pacing                                                  time.Duration
	webMCP                                                  bool
	secrets                                                 []string
	httpCredentials                                         []string
	recording                                               recordingFlags
	cdpLog                                                  string
	storageState, saveStorageState, login                   string
}

// browserUsage is of --browser.
const browserUsage = "shell (the headless shell), chromium (Chrome or Chromium) or a path " +
	"(default: the shell where it is installed and enough)"

func (a *app) addBrowserFlags(cmd *cobra.Command) {
	f, b := cmd.Flags(), &a.browser
	f.StringVar(&b.path, "browser", "", browserUsage)
	f.BoolVar(&b.headed, "headed", false, "show the browser's window")
	f.StringVar(&b.attach, "attach", "", "use a running Chrome: http://host:port or ws://...")
	f.BoolVar(
		&b.isolated, "isolated", false,
		"with --attach: in a browser context of its own, without the cookies, storage and tabs of that Chrome",
	)
	f.StringVar(
		&b.userDataDir, "user-data-dir", "",
		"profile directory to use and keep (default: a new one, removed at the end)",
	)
	f.StringVar(&b.viewport, "viewport", "", "size of the viewport, such as 1280x720")
	f.StringVar(&b.locale, "locale", "", "locale of the pages, such as de-DE")
	f.StringVar(&b.timezone, "timezone", "", "time zone of the pages, such as Europe/Berlin")
	f.StringVar(&b.proxy, "proxy", "", "proxy server for the browser; one with credentials is given in OUTRIDER_PROXY")
	listVar(
		f, &b.allowOrigins, "allow-origin",
		"only these origins may be reached, such as https://*.example.org (repeatable)",
	)
	listVar(f, &b.blockOrigins, "block-origin", "these origins may not be reached (repeatable)")
	listVar(
		f, &b.insecureOrigins, "insecure-origin",
		"the certificates of these origins are not checked, such as https://localhost:8443 (repeatable)",
	)
	listVar(f, &b.uploadDirs, "upload-dir", "folder whose files may be uploaded (repeatable; default: none)")
	f.StringVar(&b.downloadDir, "download-dir", "", "folder for downloads (default: downloads are refused)")
	f.BoolVar(&b.noSandbox, "no-sandbox", false, "run the browser without its sandbox (implied for root)")
	f.BoolVar(
		&b.webMCP, "webmcp", false, "let pages declare tools for agents (WebMCP; in Chromium; pages can see it)",
	)
	f.StringVar(
		&b.profile, "profile", quirks.StrictProfile,
		"strict, or extension: behave as the upstream Chrome extension does",
	)
	listVar(f, &b.maps, "maps", "an actions.json file or a storage folder (repeatable)")
	listVar(
		f, &b.allowMaps, "allow-maps",
		"what actions of shared and public maps may do beyond their own origin: "+
			"SCOPE=script,cookies,origins,files,tabs (repeatable)",
	)
	addTrustFlag(f, &b.trustProject)
	f.BoolVar(&b.acceptDrafts, "accept-drafts", false, "read maps that deviate from schema v1 in the ways real ones do")
	b.recording.Add(f)
	listVar(f, &b.open, "open", "address to open, one tab each (repeatable)")
	f.StringVar(
		&b.storageState, "storage-state", "",
		"file with cookies and storage to begin with, as --save-storage-state or Playwright wrote it",
	)
	listVar(f, &b.secrets, "secret", "secret that {{secret:NAME}} stands for: NAME=env:VARIABLE, "+
		"NAME=file:PATH or NAME=cmd:PROGRAM ARGUMENTS (repeatable)")
	listVar(
		f, &b.httpCredentials, "http-credentials",
		"name and secret for servers of an origin that ask for them (HTTP authentication): ORIGIN=NAME:SECRET, "+
			"where SECRET is the name of a --secret (repeatable)",
	)
	f.StringVar(&b.engine, "expr-engine", "", "JSONata engine: native or blues (default "+expr.Default+")")
	f.StringVar(
		&b.cdpLog, "cdp-log", "",
		"write what goes over the DevTools protocol to this file: times, names and sizes, no texts",
	)
	f.DurationVar(
		&b.pacing, "pacing", 0,
		"least distance between two human-visible actions (default: 0s, or 500ms in the profile extension)",
	)
}

// addTrustFlag adds the flag by which a user says that a checkout is his own.
func addTrustFlag(f *pflag.FlagSet, trust *bool) {
	f.BoolVar(
		trust, "trust-project", false, "the maps that outrider.yaml names are your own: they may do what yours may",
	)
}

// inProfile reports whether tabs are opened in a profile that was there before.
func (b *browserFlags) inProfile() bool {
	return b.userDataDir != "" || b.attach != "" && !b.isolated
}

var viewportPattern = lazyregexp.New(`^([1-9][0-9]{1,4})x([1-9][0-9]{1,4})$`)

// runtimeOptions turns settings into what a host needs. The caller closes the
// engine in it after the host.
func (a *app) runtimeOptions(s hostSettings) (out runtime.Options, err error) {
	out, err = a.readingOptions(s)
	if err == nil {
		err = out.Ready()
		if err != nil {
			out.Engine.Close()
		}
	}
	return out, err
}

// refuseLaunchFlags refuses, for --attach, what only a browser that is launched can do.
func (b *browserFlags) refuseLaunchFlags() error {
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"--proxy", b.proxy != ""},
		{"--allow-origin", len(b.allowOrigins) > 0},
		{"--block-origin", len(b.blockOrigins) > 0},
		{"--insecure-origin", len(b.insecureOrigins) > 0},
	} {
		if flag.given {
			return usage("%s needs a browser that is launched, so it does not go with --attach", flag.name)
		}
	}
	return nil
}

// readingOptions is runtimeOptions that leaves maps to be read beside the start of the browser.
// What is wrong with them is the error of Ready, after which the engine may be closed.
func (a *app) readingOptions(s hostSettings) (out runtime.Options, err error) {
	b := &s.browserFlags
	profile, ok := quirks.Profile(b.profile)
	if !ok {
		return runtime.Options{}, usage("--profile is %q: expected strict or extension", b.profile)
	}
	options := browser.Options{
		Path:            b.path,
		Headed:          b.headed,
		Attach:          b.attach,
		OwnContext:      b.isolated,
		UserDataDir:     b.userDataDir,
		Locale:          b.locale,
		Timezone:        b.timezone,
		Proxy:           b.proxy,
		NoSandbox:       b.noSandbox,
		PageTools:       b.webMCP,
		Logger:          a.log,
		AllowOrigins:    b.allowOrigins,
		BlockOrigins:    b.blockOrigins,
		InsecureOrigins: b.insecureOrigins,
		UploadDirs:      b.uploadDirs,
		DownloadDir:     b.downloadDir,
	}
	for i, origins := range [][]string{b.allowOrigins, b.blockOrigins, b.insecureOrigins} {
		if err := browser.CheckOrigins(origins...); err != nil {
			return runtime.Options{}, usage(
				"%w",
				fault.From(err).With("flag", []string{"--allow-origin", "--block-origin", "--insecure-origin"}[i]),
			)
		}
	}
	if browser.ProxyHasCredentials(b.proxy) && a.origins["proxy"] == fromCommandLine {
		return runtime.Options{}, usage("--proxy holds credentials, which everybody on this machine can read: " +
			"set OUTRIDER_PROXY, or proxy in the user's config.yaml")
	}
	if err := browser.CheckProxy(b.proxy); err != nil {
		return runtime.Options{}, usage("--proxy: %w", err)
	}
	permissions, err := sites.ParsePermissions(b.allowMaps)
	if err != nil {
		return runtime.Options{}, usage("--allow-maps: %s", fault.From(err).Message)
	}
	if b.attach != "" {
		if err := b.refuseLaunchFlags(); err != nil {
			return runtime.Options{}, err
		}
		if err := a.refuseGiven(
			"with --attach, whose browser is running already", "browser", "headed", "user-data-dir", "no-sandbox",
		); err != nil {
			return runtime.Options{}, err
		}
	} else if b.isolated {
		return runtime.Options{}, usage(
			"--isolated is for --attach: a browser that is launched has a profile of its own",
		)
	}
	open := make([]string, len(b.open))
	for i, text := range b.open {
		open[i], err = plan.Address(text)
		if err != nil {
			return runtime.Options{}, usage("--open: %w", err)
		}
	}
	options.Full = runtime.ShellLacks(b.profile, open)
	if b.viewport != "" {
		m := viewportPattern().FindStringSubmatch(b.viewport)
		if m == nil {
			return runtime.Options{}, usage("--viewport is %q: expected WIDTHxHEIGHT, such as 1280x720", b.viewport)
		}
		options.Viewport.Width, _ = strconv.Atoi(m[1])
		options.Viewport.Height, _ = strconv.Atoi(m[2])
	}
	if options.Attach == "" {
		options.NoSandbox = a.withoutSandbox(s)
	}
	if b.pacing < 0 || b.pacing > 10*time.Second {
		return runtime.Options{}, usage("--pacing is %s: expected 0s to 10s", b.pacing)
	}
	storage, err := plan.StorageOf(b.storageState, b.saveStorageState, b.login)
	if err != nil {
		return runtime.Options{}, usage("%w", err)
	}
	prepare, err := storage.Prepare(a.optionsOfRun(s, ""))
	if err != nil {
		return runtime.Options{}, usage("%s", fault.From(err).Message)
	}
	engine, err := expr.New(b.engine, nil)
	if err != nil {
		return runtime.Options{}, usage("--expr-engine is %q: expected native or blues", b.engine)
	}
	defer func() {
		if err != nil {
			engine.Close()
		}
	}()
	var pacing *time.Duration
	if a.origins["pacing"] != byDefault {
		pacing = &b.pacing // also when it is 0: the profile may have another
	}
	err = a.readSecrets(context.Background())
	if err != nil {
		return runtime.Options{}, err
	}
	options.HTTPCredentials, err = s.readHTTPCredentials()
	if err != nil {
		return runtime.Options{}, err
	}
	limits, err := a.limits(b)
	if err != nil {
		return runtime.Options{}, err
	}
	options.CDPLog, err = a.cdpLog()
	if err != nil {
		return runtime.Options{}, err
	}
	out = runtime.Options{
		Registry:       catalog.Standard(),
		Engine:         engine,
		NewID:          uuid.NewString,
		WatchMaps:      s.watchMaps,
		MapPermissions: permissions,
		Browser:        options,
		Open:           open,
		CallTimeout:    s.callLimit,
		Pacing:         pacing,
		Quirks:         profile,
		Version:        version,
		Device:         device(),
		Logger:         a.log,
		OnCall:         s.onCall,
		Spans:          a.traces.Listener(),
		Limits:         limits,
		Secrets:        s.secrets,
		Prepare:        plan.Both(prepare, s.prepare),
	}
	maps, read := runtime.ReadMaps(b.maps, out.Registry, engine, b.mapsAs(profile))
	out.Maps, out.Ready = maps, sync.OnceValue(func() error { return a.refuseInvalid(read()) })
	recorded := recordedRun{
		Verb:    a.verb,
		Profile: b.profile,
		Maps:    b.maps,
		Secrets: s.secrets,
		Face:    s.face,
		AtEnd:   func(f func()) { a.atEnd = append(a.atEnd, f) },
		Log:     a.log,
		Lost:    a.lost.add,
	}
	err = b.recording.Record(&out, recorded)
	if errors.Is(err, outfile.ErrHeld) {
		return runtime.Options{}, &exit{exitEnvironment, err}
	}
	if err != nil {
		return runtime.Options{}, usage("%w", err)
	}
	return out, nil
}

// readSecrets reads the secrets of --secret, once.
func (a *app) readSecrets(ctx context.Context) error {
	a.secretsRead.Do(func() {
		for _, reference := range a.browser.secrets {
			if err := a.secrets.AddReference(ctx, reference); err != nil {
				a.secretsFailed = usage("--secret %w", err)
				return
			}
		}
	})
	return a.secretsFailed
}

// mapsAs are the options that maps are read with.
func (b *browserFlags) mapsAs(profile quirks.Set) runtime.MapOptions {
	how := runtime.MapsIn(profile)
	how.AcceptDrafts = b.acceptDrafts
	how.Checked = checkcache.User(version)
	how.Project = b.projectMaps
	return how
}

// withoutSandbox reports whether the browser runs without its sandbox. For root it
// does, which is reported: somebody who gave no flag could not know.
func (a *app) withoutSandbox(s hostSettings) bool {
	if s.noSandbox || os.Geteuid() != 0 {
		return s.noSandbox
	}
	if !s.quiet {
		fmt.Fprintln(a.stderr, "outrider: running as root, so the browser runs without its sandbox")
	}
	return true
}

// refuseInvalid shows what is wrong with the given maps. A folder offers its
// other maps; a file that was named, or a folder without any map that can be
// read, is an error.
func (a *app) refuseInvalid(reports []sites.FileReport) error {
	bad, named := 0, false
	for _, r := range reports {
		if r.OK {
			if len(r.Left) > 0 {
				a.printReport(r)
			}
			continue
		}
		bad++
		named = named || r.Named
		a.printReport(r)
	}
	switch {
	case bad == 0:
		return nil
	case named || bad == len(reports):
		return usage("%d of %d maps are invalid", bad, len(reports))
	}
	fmt.Fprintf(a.stderr, "%d of %d maps are invalid and left out; the others are on offer\n", bad, len(reports))
	return nil
}

func device() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return goruntime.GOOS
	}
	return goruntime.GOOS + " · " + report.Shorten(name, 24)
}

// addStateFlags adds what verbs that end by themselves can do with storage.
func (a *app) addStateFlags(cmd *cobra.Command) {
	f, b := cmd.Flags(), &a.browser
	f.StringVar(
		&b.saveStorageState, "save-storage-state", "",
		"file to write cookies and storage to at the end, readable by its owner only; a plan that fails writes none",
	)
	f.StringVar(
		&b.login, "login", "",
		"name of a sign-in that is kept in the user's configuration: loaded when it is there, and saved at the end",
	)
}
