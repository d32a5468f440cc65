package emulate

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/truncate"
)

// Options are what the tabs of a browser emulate from the start, and what the process
// of the browser does by itself.
type Options struct {
	// Viewport is emulated in every tab. Zero means no emulation.
	Viewport struct{ Width, Height int }
	// Locale is a language tag and Timezone an IANA name; empty means the system's.
	Locale, Timezone string
	// Launched means that the browser is our process, which has the time zone from
	// its environment.
	Launched bool
}

// Tab is the tab that emulates.
type Tab interface {
	// Sessions are the tab's own session, first, and those of its frames in other
	// processes.
	Sessions() []*cdp.Session
	Lifetime() *cdp.Lifetime
	Tab() primitives.TabInfo
}

// Traffic is who else needs the Network domain of the tab.
type Traffic interface {
	EnableCommand() cdp.Command
	Enabled() bool
}

// Agent is the user agent of a browser, which is read once. Its zero value is ready.
type Agent struct {
	mu   sync.Mutex
	text string
}

// Emulator is what a tab emulates. Its commands go to the tab's session and to the
// sessions of its frames, at once and when they begin. It implements
// primitives.EmulatedPage.
type Emulator struct {
	client  *cdp.Client
	context cdp.BrowserContext
	tab     Tab
	traffic Traffic
	agent   *Agent
	options Options

	changing sync.Mutex // held by one Emulate at a time
	located  []string   // origins that may ask where they are; guarded by changing

	mu  sync.Mutex
	now primitives.Emulation
	// scripts are the new-document scripts of each session, for their removal.
	scripts map[scriptOf]string
}

// New makes the emulator of a tab. agent is shared by the tabs of a browser.
func New(context cdp.BrowserContext, tab Tab, traffic Traffic, agent *Agent, options Options) *Emulator {
	return &Emulator{
		client:  context.Client,
		context: context,
		tab:     tab,
		traffic: traffic,
		agent:   agent,
		options: options,
	}
}

// Emulated implements primitives.EmulatedPage.
func (e *Emulator) Emulated() primitives.Emulation {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

// Emulate implements primitives.EmulatedPage.
func (e *Emulator) Emulate(ctx context.Context, want primitives.Emulation) error {
	e.changing.Lock()
	defer e.changing.Unlock()
	old := e.Emulated()
	next := old
	var commands []cdp.Command
	if want.Viewport != nil {
		next.Viewport = want.Viewport
		commands = append(commands, viewportCommands(want.Viewport)...)
	}
	if want.Locale != nil {
		next.Locale = want.Locale
		if old.Locale != nil || e.options.Locale != "" { // one override has to end before another can begin
			commands = append(commands, cdp.Command{
				Method: "Emulation.setLocaleOverride",
				Params: []byte(`{"locale":""}`),
			})
		}
		commands = append(commands, cdp.Command{
			Method: "Emulation.setLocaleOverride",
			Params: cdp.Object("locale", want.Locale.Locale),
		})
	}
	if want.Timezone != nil {
		next.Timezone = want.Timezone
		commands = append(commands,
			cdp.Command{Method: "Emulation.setTimezoneOverride", Params: []byte(`{"timezoneId":""}`)},
			cdp.Command{
				Method: "Emulation.setTimezoneOverride",
				Params: cdp.Object("timezoneId", want.Timezone.Timezone),
			})
	}
	if want.Geolocation != nil {
		next.Geolocation = want.Geolocation
		origins := want.Geolocation.Origins
		if o := address.Origin(e.tab.Tab().URL); len(origins) == 0 && o != "" {
			origins = []string{o}
		}
		if err := e.setGeolocation(ctx, "granted", origins...); err != nil {
			return err
		}
		e.located = append(e.located, origins...)
		commands = append(commands, geolocationCommand(want.Geolocation))
	}
	if want.Media != nil {
		m := *want.Media
		if o := old.Media; o != nil {
			m = mergeMedia(*o, m)
		}
		next.Media = &m
		commands = append(commands, mediaCommand(&m))
	}
	if want.Network != nil {
		next.Network = want.Network
		commands = append(commands, e.traffic.EnableCommand(), networkCommand(want.Network))
	}
	if want.UserAgent != nil {
		next.UserAgent = want.UserAgent
	}
	if want.WebDriver != nil {
		if err := e.applyWebDriver(ctx, want.WebDriver); err != nil {
			return err
		}
		next.WebDriver = want.WebDriver
	}
	if want.Clock != nil {
		clock, err := mergeClock(old.Clock, *want.Clock)
		if err == nil {
			err = e.applyClock(ctx, clock)
		}
		if err != nil {
			return err
		}
		next.Clock = clock
	}
	if want.UserAgent != nil || want.Locale != nil {
		c, err := e.userAgentCommand(ctx, next)
		if err != nil {
			return err
		}
		commands = append(commands, c)
	}
	return e.apply(ctx, next, commands)
}

// ClearEmulation implements primitives.EmulatedPage.
func (e *Emulator) ClearEmulation(ctx context.Context, kinds []string) error {
	e.changing.Lock()
	defer e.changing.Unlock()
	all := len(kinds) == 0
	has := func(kind string) bool { return all || slices.Contains(kinds, kind) }
	next := e.Emulated()
	var commands []cdp.Command
	if has("viewport") && next.Viewport != nil {
		next.Viewport = nil
		if v := e.options.Viewport; v.Width > 0 && v.Height > 0 {
			commands = append(
				commands, viewportCommands(&primitives.ViewportEmulation{Width: v.Width, Height: v.Height})...,
			)
		} else {
			commands = append(commands, cdp.Command{Method: "Emulation.clearDeviceMetricsOverride"},
				cdp.Command{Method: "Emulation.setTouchEmulationEnabled", Params: []byte(`{"enabled":false}`)})
		}
	}
	relocate := false
	if has("locale") && next.Locale != nil {
		next.Locale, relocate = nil, true
		commands = append(commands, cdp.Command{Method: "Emulation.setLocaleOverride", Params: []byte(`{"locale":""}`)})
		if e.options.Locale != "" {
			commands = append(commands, cdp.Command{
				Method: "Emulation.setLocaleOverride",
				Params: cdp.Object("locale", e.options.Locale),
			})
		}
	}
	if has("timezone") && next.Timezone != nil {
		next.Timezone = nil
		commands = append(commands, cdp.Command{
			Method: "Emulation.setTimezoneOverride",
			Params: []byte(`{"timezoneId":""}`),
		})
		if e.options.Timezone != "" && !e.options.Launched {
			commands = append(commands, cdp.Command{
				Method: "Emulation.setTimezoneOverride",
				Params: cdp.Object("timezoneId", e.options.Timezone),
			})
		}
	}
	if has("geolocation") && next.Geolocation != nil {
		if err := e.setGeolocation(ctx, "prompt", e.located...); err != nil {
			return err
		}
		e.located = nil
		next.Geolocation = nil
		commands = append(commands, cdp.Command{Method: "Emulation.clearGeolocationOverride"})
	}
	if has("media") && next.Media != nil {
		next.Media = nil
		commands = append(commands, cdp.Command{
			Method: "Emulation.setEmulatedMedia",
			Params: []byte(`{"media":"","features":[]}`),
		})
	}
	if has("network") && next.Network != nil {
		next.Network = nil
		commands = append(commands, networkCommand(&primitives.NetworkEmulation{}))
		if !e.traffic.Enabled() {
			commands = append(commands, cdp.Command{Method: "Network.disable"})
		}
	}
	if has("webdriver") && next.WebDriver != nil {
		if err := e.applyWebDriver(ctx, nil); err != nil {
			return err
		}
		next.WebDriver = nil
	}
	if has("clock") && next.Clock != nil {
		if err := e.applyClock(ctx, nil); err != nil {
			return err
		}
		next.Clock = nil
	}
	if (has("user_agent") && next.UserAgent != nil) || relocate {
		if has("user_agent") {
			next.UserAgent = nil
		}
		c, err := e.userAgentCommand(ctx, next)
		if err != nil {
			return err
		}
		commands = append(commands, c)
	}
	return e.apply(ctx, next, commands)
}

// apply sends commands to every session of the tab and notes what is emulated
// when the tab's own has taken them.
func (e *Emulator) apply(ctx context.Context, next primitives.Emulation, commands []cdp.Command) error {
	if len(commands) == 0 {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.now = next
		return nil
	}
	e.mu.Lock()
	old := e.now
	e.now = next // for frames that begin from here on, before the list of sessions is taken
	e.mu.Unlock()
	err := e.client.Broadcast(ctx, e.tab.Lifetime(), e.tab.Sessions(), commands...)
	if err == nil {
		return nil
	}
	e.mu.Lock()
	e.now = old
	e.mu.Unlock()
	var pe *cdp.Error
	if errors.As(err, &pe) {
		return &fault.Error{Code: fault.InvalidArguments, Message: "the browser refuses this emulation", Err: err,
			Evidence: map[string]any{"command": pe.Method, "reason": truncate.Bytes(pe.Message, 200)}}
	}
	return cdp.Explain(err, "emulating")
}

// SessionCommands are those with which a new session of the tab takes part.
func (e *Emulator) SessionCommands(s *cdp.Session) []cdp.Command {
	out := e.options.commands(s)
	if s.Frame == "" {
		if now := e.Emulated(); now.Viewport != nil { // the tab began with it, see Begin
			for _, c := range viewportCommands(now.Viewport) {
				c.Session = s.ID
				out = append(out, c)
			}
		}
	}
	return append(out, e.frameCommands(s)...)
}

// Begin has the tab emulate from its first document on. It is called before its session begins.
func (e *Emulator) Begin(with primitives.Emulation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = with
}

// frameCommands are those with which a session joins in: that of a frame in another process, or the
// tab's own.
func (e *Emulator) frameCommands(s *cdp.Session) []cdp.Command {
	now := e.Emulated()
	var out []cdp.Command
	if now.Locale != nil {
		out = append(out, cdp.Command{
			Method: "Emulation.setLocaleOverride",
			Params: cdp.Object("locale", now.Locale.Locale),
		})
	}
	if now.Timezone != nil {
		out = append(out, cdp.Command{
			Method: "Emulation.setTimezoneOverride",
			Params: cdp.Object("timezoneId", now.Timezone.Timezone),
		})
	}
	if now.Media != nil {
		out = append(out, mediaCommand(now.Media))
	}
	if now.Network != nil {
		out = append(out, e.traffic.EnableCommand(), networkCommand(now.Network))
	}
	if s.Frame != "" && now.Viewport != nil && now.Viewport.Touch {
		out = append(out, touchCommand(true))
	}
	if now.UserAgent != nil || now.Locale != nil {
		if agent := e.agentOf(now); agent != "" {
			out = append(out, agentCommand(now, agent))
		}
	}
	if now.WebDriver != nil {
		c := webDriverCommand(now.WebDriver)
		c.OnReply = e.onScript(s, kindWebDriver, true)
		out = append(out, c)
	}
	if now.Clock != nil {
		c := clockCommand(now.Clock)
		c.OnReply = e.onScript(s, kindClock, true)
		out = append(out, c)
	}
	for i := range out {
		out[i].Session = s.ID
	}
	return out
}

func viewportCommands(v *primitives.ViewportEmulation) []cdp.Command {
	b := strconv.AppendInt([]byte(`{"width":`), int64(v.Width), 10)
	b = strconv.AppendInt(append(b, `,"height":`...), int64(v.Height), 10)
	b = strconv.AppendFloat(append(b, `,"deviceScaleFactor":`...), v.DeviceScaleFactor, 'f', -1, 64)
	b = strconv.AppendBool(append(b, `,"mobile":`...), v.Mobile)
	return []cdp.Command{{Method: "Emulation.setDeviceMetricsOverride", Params: append(b, '}')}, touchCommand(v.Touch)}
}

func touchCommand(on bool) cdp.Command {
	params := `{"enabled":false}`
	if on {
		params = `{"enabled":true,"maxTouchPoints":5}`
	}
	return cdp.Command{Method: "Emulation.setTouchEmulationEnabled", Params: []byte(params)}
}

func geolocationCommand(g *primitives.GeolocationEmulation) cdp.Command {
	if g.Unavailable { // without coordinates the browser reports that it cannot find any
		return cdp.Command{Method: "Emulation.setGeolocationOverride", Params: []byte(`{}`)}
	}
	b := strconv.AppendFloat([]byte(`{"latitude":`), g.Latitude, 'f', -1, 64)
	b = strconv.AppendFloat(append(b, `,"longitude":`...), g.Longitude, 'f', -1, 64)
	b = strconv.AppendFloat(append(b, `,"accuracy":`...), g.Accuracy, 'f', -1, 64)
	return cdp.Command{Method: "Emulation.setGeolocationOverride", Params: append(b, '}')}
}

// setGeolocation sets whether origins may ask where they are, and leaves other permissions alone.
func (e *Emulator) setGeolocation(ctx context.Context, setting string, origins ...string) error {
	for _, o := range origins {
		params := map[string]any{
			"origin": o, "permission": map[string]string{"name": "geolocation"}, "setting": setting,
		}
		if err := e.context.Do(ctx, "Browser.setPermission", params, nil); err != nil {
			return cdp.Explain(err, "setting a permission")
		}
	}
	return nil
}

func mergeMedia(old, m primitives.MediaEmulation) primitives.MediaEmulation {
	for _, f := range []struct{ to, from *string }{
		{&m.Media, &old.Media}, {&m.ColorScheme, &old.ColorScheme}, {&m.ReducedMotion, &old.ReducedMotion},
		{&m.ForcedColors, &old.ForcedColors}, {&m.Contrast, &old.Contrast},
	} {
		if *f.to == "" {
			*f.to = *f.from
		}
	}
	return m
}

func mediaCommand(m *primitives.MediaEmulation) cdp.Command {
	b := cdp.AppendQuoted([]byte(`{"media":`), m.Media)
	b = append(b, `,"features":[`...)
	first := true
	for _, f := range [][2]string{
		{"prefers-color-scheme", m.ColorScheme}, {"prefers-reduced-motion", m.ReducedMotion},
		{"forced-colors", m.ForcedColors}, {"prefers-contrast", m.Contrast},
	} {
		if f[1] == "" {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, cdp.Object("name", f[0], "value", f[1])...)
	}
	return cdp.Command{Method: "Emulation.setEmulatedMedia", Params: append(b, `]}`...)}
}

func networkCommand(n *primitives.NetworkEmulation) cdp.Command {
	rate := func(r float64) float64 {
		if r <= 0 {
			return -1
		}
		return r
	}
	b := strconv.AppendBool([]byte(`{"offline":`), n.Offline)
	b = strconv.AppendFloat(append(b, `,"latency":`...), n.LatencyMS, 'f', -1, 64)
	b = strconv.AppendFloat(append(b, `,"downloadThroughput":`...), rate(n.Download), 'f', -1, 64)
	b = strconv.AppendFloat(append(b, `,"uploadThroughput":`...), rate(n.Upload), 'f', -1, 64)
	return cdp.Command{Method: "Network.emulateNetworkConditions", Params: append(b, '}')}
}

// userAgentCommand sets user agent and languages, which go together in the
// protocol: to set one, the other has to be sent too.
func (e *Emulator) userAgentCommand(ctx context.Context, want primitives.Emulation) (cdp.Command, error) {
	if _, err := e.agent.Read(ctx, e.client); err != nil {
		return cdp.Command{}, err
	}
	return agentCommand(want, e.agentOf(want)), nil
}

func (e *Emulator) agentOf(want primitives.Emulation) string {
	if want.UserAgent != nil {
		return want.UserAgent.UserAgent
	}
	return e.agent.known()
}

// Read is the user agent, which is read of the browser once.
func (a *Agent) Read(ctx context.Context, client *cdp.Client) (string, error) {
	if text := a.known(); text != "" {
		return text, nil
	}
	var version struct {
		UserAgent string `json:"userAgent"`
	}
	if err := client.Do(ctx, "", "Browser.getVersion", nil, &version); err != nil {
		return "", cdp.Explain(err, "reading the user agent")
	}
	a.set(version.UserAgent)
	return version.UserAgent, nil
}

// known is the user agent, empty until it was read.
func (a *Agent) known() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.text
}

func (a *Agent) set(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text = text
}

func agentCommand(want primitives.Emulation, agent string) cdp.Command {
	b := cdp.AppendQuoted([]byte(`{"userAgent":`), agent)
	if want.Locale != nil {
		b = cdp.AppendQuoted(append(b, `,"acceptLanguage":`...), want.Locale.Locale)
	}
	if want.UserAgent != nil && want.UserAgent.Platform != "" {
		b = cdp.AppendQuoted(append(b, `,"platform":`...), want.UserAgent.Platform)
	}
	return cdp.Command{Method: "Emulation.setUserAgentOverride", Params: append(b, '}')}
}
