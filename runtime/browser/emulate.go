package browser

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// emulated is what a tab pretends. Commands of it go to the tab's session and to
// the sessions of its frames, now and when they begin.
type emulated struct {
	changing sync.Mutex // held by one Emulate at a time

	mu  sync.Mutex
	now primitives.Emulation
	// scripts are the new-document scripts of each session, for their removal.
	scripts map[*session]string
}

// Emulated implements primitives.EmulatedPage.
func (t *Tab) Emulated() primitives.Emulation {
	t.pretends.mu.Lock()
	defer t.pretends.mu.Unlock()
	return t.pretends.now
}

// Emulate implements primitives.EmulatedPage.
func (t *Tab) Emulate(ctx context.Context, e primitives.Emulation) error {
	t.pretends.changing.Lock()
	defer t.pretends.changing.Unlock()
	old := t.Emulated()
	next := old
	var commands []command
	if e.Viewport != nil {
		next.Viewport = e.Viewport
		commands = append(commands, viewportCommands(e.Viewport)...)
	}
	if e.Locale != nil {
		next.Locale = e.Locale
		if old.Locale != nil || t.b.opts.Locale != "" { // one override has to end before another can begin
			commands = append(commands, command{method: "Emulation.setLocaleOverride", params: []byte(`{"locale":""}`)})
		}
		commands = append(commands, command{method: "Emulation.setLocaleOverride", params: object("locale", e.Locale.Locale)})
	}
	if e.Timezone != nil {
		next.Timezone = e.Timezone
		commands = append(commands,
			command{method: "Emulation.setTimezoneOverride", params: []byte(`{"timezoneId":""}`)},
			command{method: "Emulation.setTimezoneOverride", params: object("timezoneId", e.Timezone.Timezone)})
	}
	if e.Geolocation != nil {
		next.Geolocation = e.Geolocation
		if err := t.grantGeolocation(ctx, e.Geolocation); err != nil {
			return err
		}
		commands = append(commands, geolocationCommand(e.Geolocation))
	}
	if e.Media != nil {
		m := *e.Media
		if o := old.Media; o != nil {
			m = mergeMedia(*o, m)
		}
		next.Media = &m
		commands = append(commands, mediaCommand(&m))
	}
	if e.Network != nil {
		next.Network = e.Network
		commands = append(commands, command{method: "Network.enable", params: []byte(enableNetwork)}, networkCommand(e.Network))
	}
	if e.UserAgent != nil {
		next.UserAgent = e.UserAgent
	}
	if e.WebDriver != nil {
		if err := t.sayWebDriver(ctx, e.WebDriver); err != nil {
			return err
		}
		next.WebDriver = e.WebDriver
	}
	if e.UserAgent != nil || e.Locale != nil {
		c, err := t.userAgentCommand(ctx, next)
		if err != nil {
			return err
		}
		commands = append(commands, c)
	}
	return t.pretend(ctx, next, commands)
}

// EmulateNothing implements primitives.EmulatedPage.
func (t *Tab) EmulateNothing(ctx context.Context, kinds []string) error {
	t.pretends.changing.Lock()
	defer t.pretends.changing.Unlock()
	all := len(kinds) == 0
	has := func(kind string) bool { return all || slices.Contains(kinds, kind) }
	next := t.Emulated()
	var commands []command
	if has("viewport") && next.Viewport != nil {
		next.Viewport = nil
		if v := t.b.opts.Viewport; v.Width > 0 && v.Height > 0 {
			commands = append(commands, viewportCommands(&primitives.ViewportEmulation{Width: v.Width, Height: v.Height})...)
		} else {
			commands = append(commands, command{method: "Emulation.clearDeviceMetricsOverride"},
				command{method: "Emulation.setTouchEmulationEnabled", params: []byte(`{"enabled":false}`)})
		}
	}
	relocate := false
	if has("locale") && next.Locale != nil {
		next.Locale, relocate = nil, true
		commands = append(commands, command{method: "Emulation.setLocaleOverride", params: []byte(`{"locale":""}`)})
		if t.b.opts.Locale != "" {
			commands = append(commands, command{method: "Emulation.setLocaleOverride", params: object("locale", t.b.opts.Locale)})
		}
	}
	if has("timezone") && next.Timezone != nil {
		next.Timezone = nil
		commands = append(commands, command{method: "Emulation.setTimezoneOverride", params: []byte(`{"timezoneId":""}`)})
		if t.b.opts.Timezone != "" && t.b.proc == nil {
			commands = append(commands, command{method: "Emulation.setTimezoneOverride", params: object("timezoneId", t.b.opts.Timezone)})
		}
	}
	if has("geolocation") && next.Geolocation != nil {
		if err := t.askStorage(ctx, "Browser.resetPermissions", nil, nil); err != nil {
			return t.b.explain(err, "resetting permissions")
		}
		next.Geolocation = nil
		commands = append(commands, command{method: "Emulation.clearGeolocationOverride"})
	}
	if has("media") && next.Media != nil {
		next.Media = nil
		commands = append(commands, command{method: "Emulation.setEmulatedMedia", params: []byte(`{"media":"","features":[]}`)})
	}
	if has("network") && next.Network != nil {
		next.Network = nil
		commands = append(commands, networkCommand(&primitives.NetworkEmulation{}))
		if !t.net.recording() {
			commands = append(commands, command{method: "Network.disable"})
		}
	}
	if has("webdriver") && next.WebDriver != nil {
		if err := t.sayWebDriver(ctx, nil); err != nil {
			return err
		}
		next.WebDriver = nil
	}
	if (has("user_agent") && next.UserAgent != nil) || relocate {
		if has("user_agent") {
			next.UserAgent = nil
		}
		c, err := t.userAgentCommand(ctx, next)
		if err != nil {
			return err
		}
		commands = append(commands, c)
	}
	return t.pretend(ctx, next, commands)
}

// pretend sends commands to every session of the tab and notes what is emulated
// when the tab's own has taken them.
func (t *Tab) pretend(ctx context.Context, next primitives.Emulation, commands []command) error {
	if len(commands) == 0 {
		t.pretends.mu.Lock()
		defer t.pretends.mu.Unlock()
		t.pretends.now = next
		return nil
	}
	t.mu.Lock()
	t.pretends.mu.Lock()
	old := t.pretends.now
	t.pretends.now = next // for frames that begin from now on
	t.pretends.mu.Unlock()
	sessions := t.sessionsLocked()
	t.mu.Unlock()
	err := t.enableAll(ctx, sessions, commands...)
	if err == nil {
		return nil
	}
	t.pretends.mu.Lock()
	t.pretends.now = old
	t.pretends.mu.Unlock()
	var pe *protocolError
	if errors.As(err, &pe) {
		return &fault.Error{Code: fault.InvalidArguments, Message: "the browser refuses this emulation", Err: err,
			Evidence: map[string]any{"command": pe.method, "reason": cutText(pe.Message, 200)}}
	}
	return t.b.explain(err, "emulating")
}

// pretending are the commands with which a frame in another process joins in.
func (t *Tab) pretending(s *session) []command {
	if s.frame == "" {
		return nil
	}
	e := t.Emulated()
	var out []command
	if e.Locale != nil {
		out = append(out, command{method: "Emulation.setLocaleOverride", params: object("locale", e.Locale.Locale)})
	}
	if e.Timezone != nil {
		out = append(out, command{method: "Emulation.setTimezoneOverride", params: object("timezoneId", e.Timezone.Timezone)})
	}
	if e.Media != nil {
		out = append(out, mediaCommand(e.Media))
	}
	if e.Network != nil {
		out = append(out, command{method: "Network.enable", params: []byte(enableNetwork)}, networkCommand(e.Network))
	}
	if e.Viewport != nil && e.Viewport.Touch {
		out = append(out, touchCommand(true))
	}
	if e.UserAgent != nil || e.Locale != nil {
		if agent := t.agentOf(e); agent != "" {
			out = append(out, agentCommand(e, agent))
		}
	}
	if e.WebDriver != nil {
		c := webDriverCommand(e.WebDriver)
		c.then = t.noteScript(s)
		out = append(out, c)
	}
	for i := range out {
		out[i].session = s.id
	}
	return out
}

func viewportCommands(v *primitives.ViewportEmulation) []command {
	b := strconv.AppendInt([]byte(`{"width":`), int64(v.Width), 10)
	b = strconv.AppendInt(append(b, `,"height":`...), int64(v.Height), 10)
	b = strconv.AppendFloat(append(b, `,"deviceScaleFactor":`...), v.DeviceScaleFactor, 'f', -1, 64)
	b = strconv.AppendBool(append(b, `,"mobile":`...), v.Mobile)
	return []command{{method: "Emulation.setDeviceMetricsOverride", params: append(b, '}')}, touchCommand(v.Touch)}
}

func touchCommand(on bool) command {
	params := `{"enabled":false}`
	if on {
		params = `{"enabled":true,"maxTouchPoints":5}`
	}
	return command{method: "Emulation.setTouchEmulationEnabled", params: []byte(params)}
}

func geolocationCommand(g *primitives.GeolocationEmulation) command {
	if g.Unavailable { // without coordinates the browser says that it cannot find any
		return command{method: "Emulation.setGeolocationOverride", params: []byte(`{}`)}
	}
	b := strconv.AppendFloat([]byte(`{"latitude":`), g.Latitude, 'f', -1, 64)
	b = strconv.AppendFloat(append(b, `,"longitude":`...), g.Longitude, 'f', -1, 64)
	b = strconv.AppendFloat(append(b, `,"accuracy":`...), g.Accuracy, 'f', -1, 64)
	return command{method: "Emulation.setGeolocationOverride", params: append(b, '}')}
}

func (t *Tab) grantGeolocation(ctx context.Context, g *primitives.GeolocationEmulation) error {
	origins := g.Origins
	if len(origins) == 0 {
		if o := originOf(t.Tab().URL); o != "" {
			origins = []string{o}
		}
	}
	for _, o := range origins {
		params := map[string]any{"origin": o, "permissions": []string{"geolocation"}}
		if err := t.askStorage(ctx, "Browser.grantPermissions", params, nil); err != nil {
			return t.b.explain(err, "granting a permission")
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

func mediaCommand(m *primitives.MediaEmulation) command {
	b := appendQuoted([]byte(`{"media":`), m.Media)
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
		b = append(b, object("name", f[0], "value", f[1])...)
	}
	return command{method: "Emulation.setEmulatedMedia", params: append(b, `]}`...)}
}

func networkCommand(n *primitives.NetworkEmulation) command {
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
	return command{method: "Network.emulateNetworkConditions", params: append(b, '}')}
}

// userAgentCommand sets user agent and languages, which go together in the
// protocol: to set one, the other has to be said too.
func (t *Tab) userAgentCommand(ctx context.Context, e primitives.Emulation) (command, error) {
	if t.b.userAgent() == "" {
		var version struct {
			UserAgent string `json:"userAgent"`
		}
		if err := t.b.c.do(ctx, "", "Browser.getVersion", nil, &version); err != nil {
			return command{}, t.b.explain(err, "reading the user agent")
		}
		t.b.mu.Lock()
		t.b.agent = version.UserAgent
		t.b.mu.Unlock()
	}
	return agentCommand(e, t.agentOf(e)), nil
}

func (b *Browser) userAgent() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.agent
}

func (t *Tab) agentOf(e primitives.Emulation) string {
	if e.UserAgent != nil {
		return e.UserAgent.UserAgent
	}
	return t.b.userAgent()
}

func agentCommand(e primitives.Emulation, agent string) command {
	b := appendQuoted([]byte(`{"userAgent":`), agent)
	if e.Locale != nil {
		b = appendQuoted(append(b, `,"acceptLanguage":`...), e.Locale.Locale)
	}
	if e.UserAgent != nil && e.UserAgent.Platform != "" {
		b = appendQuoted(append(b, `,"platform":`...), e.UserAgent.Platform)
	}
	return command{method: "Emulation.setUserAgentOverride", params: append(b, '}')}
}
