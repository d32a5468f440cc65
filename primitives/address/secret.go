package address

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/internal/lazyregexp"
)

// Split takes the user and the password out of a web address, as the browser reads it:
// slashes may be backslashes, and the last @ before the path ends the password. has says
// whether there was a user.
func Split(raw string) (address, user, password string, has bool) {
	start, end := authority(raw)
	at := strings.LastIndexByte(raw[start:end], '@')
	if at < 0 {
		return raw, "", "", false
	}
	user, password, _ = strings.Cut(raw[start:start+at], ":")
	return raw[:start] + raw[start+at+1:], unescaped(user), unescaped(password), true
}

// WithoutUser is an address without user and password.
func WithoutUser(raw string) string {
	if !strings.Contains(raw, "@") {
		return raw
	}
	out, _, _, _ := Split(raw)
	return out
}

// authority is where host, port and user of an address stand.
func authority(raw string) (start, end int) {
	colon := strings.IndexByte(raw, ':')
	if colon < 0 || !isScheme(strings.TrimLeft(raw[:colon], " \t\r\n")) {
		return 0, 0
	}
	slash := func(c byte) bool { return c == '/' || c == '\\' || c == '\t' || c == '\r' || c == '\n' }
	start = colon + 1
	for start < len(raw) && slash(raw[start]) {
		start++
	}
	if start < colon+3 && !special(raw[:colon]) {
		return 0, 0 // mailto:ann@example.com has no host
	}
	end = start
	for end < len(raw) && strings.IndexByte(`/\?#`, raw[end]) < 0 {
		end++
	}
	return start, end
}

// special reports whether addresses of a scheme have a host however many slashes there are.
func special(scheme string) bool {
	return slices.Contains([]string{"http", "https", "ws", "wss", "ftp"}, strings.ToLower(strings.TrimSpace(scheme)))
}

func unescaped(text string) string {
	if out, err := url.PathUnescape(text); err == nil {
		return out
	}
	return text
}

// telling are the names of parameters whose values let somebody in.
var telling = lazyregexp.New(
	`(?i)(token|secret|passw|password|pwd|key|auth|credential|signature|session|code|jwt|bearer)`,
)

// Shown is the address of a service as it may stand in a line or a log: without user and
// password, and with dots for values of its query that let somebody in.
func Shown(raw string) string {
	address := WithoutUser(raw)
	address, fragment, hasFragment := strings.Cut(address, "#")
	path, query, has := strings.Cut(address, "?")
	if !has {
		return path
	}
	parts := strings.Split(query, "&")
	for i, part := range parts {
		name, _, valued := strings.Cut(part, "=")
		switch {
		case telling().MatchString(unescaped(name)) && valued:
			parts[i] = name + "=..."
		case !valued && len(part) > 16:
			parts[i] = "..." // a token alone
		}
	}
	out := path + "?" + strings.Join(parts, "&")
	if hasFragment && !telling().MatchString(fragment) {
		out += "#" + fragment
	}
	return out
}

// Unnamed is an error of a connection without the address, which can let somebody in.
func Unnamed(err error) error {
	var named *url.Error
	if errors.As(err, &named) {
		return named.Err
	}
	return err
}
