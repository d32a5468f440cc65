package outrider

import (
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/sites"
)

// Profiles of [Options.Profile].
const (
	// Strict is the default: what is not certain is refused.
	Strict = "strict"
	// Extension behaves as the upstream Chrome extension does, its mistakes
	// included.
	Extension = "extension"
)

// Options say which browser to use, what to open in it and which maps apply.
// The zero value launches the Chromium of this machine, headless, with one
// empty tab and no maps.
type Options struct {
	// Open lists addresses, one tab each. Default: the tabs of an attached
	// browser, else one tab at about:blank.
	Open []string
	// Maps lists actions.json files and storage folders. A file that is invalid
	// makes Open fail with invalid_manifest. Of a folder the invalid maps are left
	// out, which Logger gets as a warning, unless all of them are.
	Maps []string
	// AllowMaps says what the actions of shared and public maps may do beyond
	// their own origin, such as "public=script,cookies" or "shared=origins".
	// Default: nothing.
	AllowMaps []string
	// AcceptDrafts reads maps that deviate from schema v1 in the ways that
	// published drafts do.
	AcceptDrafts bool
	// Secrets are typed where an argument names them, as {{secret:NAME}}, and are shown
	// nowhere: not in results, errors, events and pictures. A map cannot name them.
	Secrets map[string]Secret
	// Profile is Strict (the default) or Extension.
	Profile string
	// Browser says what to launch or to attach to.
	Browser BrowserOptions
	// CallTimeout bounds each call whose context has no earlier deadline.
	// Default 30 s.
	CallTimeout time.Duration
	// LoadTimeout bounds the wait for an address of Open to load. Default 15 s.
	LoadTimeout time.Duration
	// Pacing is the least distance between two visible actions on one tab. Nil
	// is the default of the profile: none in Strict, 500 ms in Extension.
	Pacing *time.Duration
	// ExpressionEngine evaluates the JSONata of maps: "native" (the default) or
	// "blues", which needs the installed outrider binary for its workers.
	ExpressionEngine string
	// Record has what the pages request and write to the console told to recordings: see [Session.Record].
	Record bool
	// Logger gets names, sizes and times, never text of pages or typed text.
	// Nil discards.
	Logger *slog.Logger
}

// Secret is a text of at least four characters that is typed and not shown.
type Secret struct {
	Value string
	// Origins are where it may be used, such as https://*.example.org. Default: everywhere.
	Origins []string
}

// HTTPCredentials are a name and a password for the servers of one origin (HTTP authentication). No other
// origin gets them.
type HTTPCredentials struct {
	// Origin is such as https://app.example.
	Origin string
	// Name is the user's name, Secret the name of the password among Options.Secrets.
	Name, Secret string
}

// Temporary is a [BrowserOptions.DownloadDir] that goes with the session.
const Temporary = browser.TemporaryDownloads

// BrowserOptions say which browser a session uses and how.
type BrowserOptions struct {
	// Path of the browser, or "shell" for the headless shell of Chromium, or "chromium" for Chrome or Chromium.
	// Default: the headless shell where it is installed and enough, else Chrome or Chromium.
	Path string
	// Headed shows the browser's window.
	Headed bool
	// Attach is the address of a running Chrome, http://host:port or ws://...
	// Nothing is launched then, and Close leaves the browser open. AttachHeader
	// goes with the request, such as Authorization.
	Attach       string
	AttachHeader http.Header
	// Flags are more flags for the browser, such as --disable-gpu. They win over
	// those of this package, and can make it fail.
	Flags []string
	// UserDataDir is a profile to use and to keep. Default: a new one that is
	// removed at the end.
	UserDataDir string
	// Width and Height are the viewport in CSS pixels. Default 1280 x 800.
	Width, Height int
	// Locale is a language tag such as de-CH, Timezone an IANA name such as
	// Europe/Zurich. Default: the system's.
	Locale, Timezone string
	// Proxy is the address of a proxy server.
	Proxy string
	// NoSandbox runs Chromium without its sandbox; implied for root on Linux.
	NoSandbox bool
	// AllowOrigins and BlockOrigins say which origins may be reached, such as
	// https://*.example.org. Default: all. They need a browser that is launched.
	AllowOrigins, BlockOrigins []string
	// InsecureOrigins are origins whose certificates are not checked, such as
	// https://localhost:8443.
	InsecureOrigins []string
	// UploadDirs are the folders whose files may be uploaded. Default: none.
	UploadDirs []string
	// HTTPCredentials sign in to servers that ask for a name and a password.
	HTTPCredentials []HTTPCredentials
	// DownloadDir is the folder for downloads, or Temporary. Default: they are refused.
	DownloadDir string
}

// runtimeOptions checks o and turns it into what a host needs. The caller
// closes the engine in it after the host.
func (o Options) runtimeOptions(watchdogLost func(error)) (runtime.Options, error) {
	profile, ok := quirks.Profile(o.Profile)
	if o.Profile == "" {
		profile, ok = quirks.Profile(Strict)
	}
	if !ok {
		return runtime.Options{}, invalidOption("Profile", "is %q: expected %q or %q", o.Profile, Strict, Extension)
	}
	b := o.Browser
	lists := len(b.Flags) + len(b.AllowOrigins) + len(b.BlockOrigins) + len(b.InsecureOrigins)
	if b.Attach != "" && (b.Proxy != "" || lists > 0 || b.UserDataDir != "" || b.Path != "") {
		return runtime.Options{}, invalidOption("Browser.Attach", "goes with none of Path, Flags, UserDataDir, Proxy, "+
			"AllowOrigins, BlockOrigins, InsecureOrigins: they need a browser that is launched")
	}
	if err := browser.CheckOrigins(b.InsecureOrigins...); err != nil {
		return runtime.Options{}, invalidOption("Browser.InsecureOrigins", "%v", err)
	}
	if err := browser.CheckOrigins(slices.Concat(b.AllowOrigins, b.BlockOrigins)...); err != nil {
		return runtime.Options{}, invalidOption("Browser.AllowOrigins or BlockOrigins", "%v", err)
	}
	if b.Width < 0 || b.Height < 0 || (b.Width == 0) != (b.Height == 0) {
		return runtime.Options{}, invalidOption(
			"Browser.Width and Height", "are %d and %d: expected both or neither", b.Width, b.Height,
		)
	}
	for _, address := range o.Open {
		if u, err := url.Parse(address); err != nil || !slices.Contains([]string{"http", "https", "about"}, u.Scheme) {
			return runtime.Options{}, invalidOption(
				"Open", "has %q: expected an http or https address, such as http://localhost:8080/", address,
			)
		}
	}
	permissions, err := sites.ParsePermissions(o.AllowMaps)
	if err != nil {
		return runtime.Options{}, invalidOption("AllowMaps", "has %s", fault.From(err).Message)
	}
	secrets := &mask.Set{}
	for _, name := range slices.Sorted(maps.Keys(o.Secrets)) {
		if err := browser.CheckOrigins(o.Secrets[name].Origins...); err != nil {
			return runtime.Options{}, invalidOption(
				"Secrets", "has %s with an origin: %s", name, fault.From(err).Message,
			)
		}
		if err := secrets.Add(name, o.Secrets[name].Value, o.Secrets[name].Origins...); err != nil {
			return runtime.Options{}, invalidOption("Secrets", "has an entry: %s", fault.From(err).Message)
		}
	}
	credentials, err := o.credentials(secrets)
	if err != nil {
		return runtime.Options{}, err
	}
	engine, err := expr.New(o.ExpressionEngine, nil)
	if errors.Is(err, fault.InvalidInput) {
		return runtime.Options{}, invalidOption(
			"ExpressionEngine", "is %q: expected native or blues", o.ExpressionEngine,
		)
	} else if err != nil {
		return runtime.Options{}, fromFault(err)
	}
	registry := catalog.Standard()
	how := runtime.MapsIn(profile)
	how.AcceptDrafts = o.AcceptDrafts
	offered, reports := runtime.LoadMaps(o.Maps, registry, engine, how)
	if err := refuseInvalid(reports, o.Logger); err != nil {
		_ = engine.Close()
		return runtime.Options{}, err
	}
	options := browser.Options{
		Path:            b.Path,
		Headed:          b.Headed,
		Attach:          b.Attach,
		AttachHeader:    b.AttachHeader,
		ExtraArgs:       b.Flags,
		UserDataDir:     b.UserDataDir,
		Locale:          b.Locale,
		Timezone:        b.Timezone,
		Proxy:           b.Proxy,
		NoSandbox:       b.NoSandbox,
		AllowOrigins:    b.AllowOrigins,
		BlockOrigins:    b.BlockOrigins,
		InsecureOrigins: b.InsecureOrigins,
		HTTPCredentials: credentials,
		UploadDirs:      b.UploadDirs,
		DownloadDir:     b.DownloadDir,
		Logger:          o.Logger,
		OnWatchdogLost:  watchdogLost,
	}
	options.Full = runtime.ShellLacks(o.Profile, o.Open)
	options.Viewport.Width, options.Viewport.Height = b.Width, b.Height
	return runtime.Options{
		Registry:       registry,
		Engine:         engine,
		NewID:          uuid.NewString,
		Maps:           offered,
		MapPermissions: permissions,
		Browser:        options,
		Open:           o.Open,
		CallTimeout:    o.CallTimeout,
		LoadTimeout:    o.LoadTimeout,
		Pacing:         o.Pacing,
		Quirks:         profile,
		Logger:         o.Logger,
		Device:         "go",
		Secrets:        secrets,
	}, nil
}

// credentials are Browser.HTTPCredentials with their passwords.
func (o Options) credentials(secrets *mask.Set) ([]browser.Credentials, error) {
	var out []browser.Credentials
	for _, c := range o.Browser.HTTPCredentials {
		origin := address.Origin(c.Origin)
		if origin == "" || c.Name == "" {
			return nil, invalidOption("Browser.HTTPCredentials", "has %q and a name %q: expected an origin, such as "+
				"https://app.example, and a name", c.Origin, c.Name)
		}
		if _, known := o.Secrets[c.Secret]; !known {
			return nil, invalidOption(
				"Browser.HTTPCredentials", "has the secret %q, which is none of Options.Secrets", c.Secret,
			)
		}
		password, err := secrets.Reveal(mask.Placeholder(c.Secret), origin+"/")
		if err != nil {
			return nil, invalidOption("Browser.HTTPCredentials", "has %s: %s", c.Origin, fault.From(err).Message)
		}
		out = append(out, browser.Credentials{Origin: origin, Name: c.Name, Password: password})
	}
	return out, nil
}

func invalidOption(name, format string, args ...any) error {
	e := fault.New(fault.InvalidInput, "Options."+name+" "+format, args...)
	return fromFault(e.With("option", name))
}
