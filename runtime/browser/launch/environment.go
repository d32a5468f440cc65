package launch

import (
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
)

// ours starts the names of the variables that this program reads. They hold tokens,
// credentials of proxies and policies, none of which is the browser's business.
const ours = "OUTRIDER_"

// places are variables that a browser cannot do without. A secret that stands in one of
// them is a name of a folder or of a user as well.
var places = []string{
	"PATH", "HOME", "USER", "LOGNAME", "PWD", "SHELL", "TMPDIR", "TEMP", "TMP", "LD_LIBRARY_PATH", "DISPLAY",
	"WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
	"SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA",
}

// profileFallback names the folder below which Chromium looks for a profile when it cannot
// use the one that it was given. Without it that is the person's own.
const profileFallback = "CHROME_CONFIG_HOME"

// browserEnv is the environment of a browser with the profile dir: that of this process
// without what is not its business.
func browserEnv(o *Options, dir string) []string {
	env := withoutSecrets(os.Environ(), o.Secrets)
	env = append(env, "GOOGLE_API_KEY=no", profileFallback+"="+dir)
	if o.Timezone != "" {
		env = append(env, "TZ="+o.Timezone)
	}
	return env
}

// withoutSecrets leaves out our own variables and those that hold a secret, and takes the
// credentials out of the addresses of proxies.
func withoutSecrets(env, secrets []string) []string {
	out := make([]string, 0, len(env))
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case strings.HasPrefix(name, ours) || holds(name, value, secrets):
			continue
		case strings.HasSuffix(strings.ToLower(name), "_proxy") && strings.Contains(value, "@"):
			bare, ok := withoutCredentials(value)
			if !ok {
				continue
			}
			variable = name + "=" + bare
		}
		out = append(out, variable)
	}
	return out
}

func holds(name, value string, secrets []string) bool {
	if slices.Contains(places, strings.ToUpper(name)) {
		return false
	}
	return slices.ContainsFunc(secrets, func(secret string) bool {
		return secret != "" && (strings.Contains(value, secret) || strings.Contains(value, url.QueryEscape(secret)))
	})
}

// withoutCredentials is the address of a proxy without a user and a password. One that
// cannot be read is none.
func withoutCredentials(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || strings.Contains(u.Host, "@") {
		return "", false
	}
	u.User = nil
	return u.String(), !strings.Contains(u.String(), "@")
}

// supervisorEnv is what the watchdog of a browser needs to find its programs.
func supervisorEnv() []string {
	env := []string{}
	for _, name := range []string{"PATH", "TMPDIR", "TEMP", "TMP"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	if runtime.GOOS == "windows" {
		env = append(env, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"))
	}
	return env
}
