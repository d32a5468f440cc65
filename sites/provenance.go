package sites

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/location"
	"github.com/outrider-run/outrider/sites/manifest"
)

// What a public map should not reveal in its provenance (schema v1, "provenance").
// These are guesses at what a text is, and so warnings; they do not repeat it.
var (
	mailAddress = lazyregexp.New(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.[A-Za-z0-9.-]+`)
	localPath   = lazyregexp.New(
		`(^|[\s"'=(])(~/|/(home|Users|root|var|mnt|opt|srv)/|[A-Za-z]:[\\/]|\\\\[A-Za-z0-9])`,
	)
	webAddress  = lazyregexp.New(`(?i)\b(https?|wss?|ssh|git|ftp|file)://[^\s"'<>]+`)
	secretParam = lazyregexp.New(`(?i)(token|secret|passw|api_?key|signature|session|auth)`)
)

// unsafeProvenance warns of what a public map reveals of people and machines.
func (m *Map) unsafeProvenance() []manifest.Problem {
	if m.Location.Scope != location.Public {
		return nil
	}
	var out []manifest.Problem
	check := func(at string, raw json.RawMessage) {
		var v any
		if len(raw) > 0 && json.Unmarshal(raw, &v) == nil {
			eachText(at, v, func(pointer, text string) {
				if what := privateIn(text); what != "" {
					out = append(out, manifest.Problem{
						Pointer: pointer,
						Code:    fault.InvalidValue,
						Message: "a public map should not reveal " + what,
					})
				}
			})
		}
	}
	check("/provenance", m.Manifest.Provenance.Raw)
	for i := range m.Manifest.Imports {
		for _, name := range slices.Sorted(maps.Keys(m.Manifest.Imports[i].Provenance)) {
			check(
				fmt.Sprintf("/imports/%d/provenance/%s", i, strings.NewReplacer("~", "~0", "/", "~1").Replace(name)),
				m.Manifest.Imports[i].Provenance[name],
			)
		}
	}
	return out
}

func eachText(at string, v any, f func(pointer, text string)) {
	switch v := v.(type) {
	case string:
		f(at, v)
	case []any:
		for i, e := range v {
			eachText(fmt.Sprintf("%s/%d", at, i), e, f)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			eachText(at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), v[name], f)
		}
	}
}

// privateIn says what of a text is nobody's business, "" when nothing seems to be.
func privateIn(text string) string {
	for _, address := range webAddress().FindAllString(text, 20) {
		u, err := url.Parse(address)
		if err != nil {
			continue
		}
		switch {
		case strings.EqualFold(u.Scheme, "file"):
			return "a path of a machine"
		case u.User != nil && !(u.Scheme == "ssh" && u.User.Username() == "git"):
			return "an address with an account in it"
		case privateHost(u.Hostname()):
			return "an address of a private network"
		}
		for name := range u.Query() {
			if secretParam().MatchString(name) {
				return "an address with a secret in it"
			}
		}
	}
	rest := webAddress().ReplaceAllString(text, "")
	switch {
	case mailAddress().MatchString(rest) && !strings.Contains(rest, "git@"):
		return "an account or a mail address"
	case localPath().MatchString(rest):
		return "a path of a machine"
	}
	return ""
}

func privateHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	if host == "localhost" || host != "" && !strings.Contains(host, ".") {
		return true
	}
	return slices.ContainsFunc(
		[]string{".local", ".internal", ".corp", ".lan", ".intranet", ".localhost"},
		func(end string) bool { return strings.HasSuffix(host, end) },
	)
}
