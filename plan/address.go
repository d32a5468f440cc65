package plan

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// schemes are those that an address may have.
var schemes = []string{"http", "https", "file", "about", "data", "blob", "chrome"}

// Address is the address that a user means. One without a scheme is a host: by
// http on this machine and for IP addresses, else by https.
func Address(text string) (string, error) {
	scheme, rest, ok := strings.Cut(text, ":")
	switch {
	case ok && slices.Contains(schemes, strings.ToLower(scheme)):
		return text, nil
	case ok && strings.HasPrefix(rest, "//"):
		return "", fmt.Errorf("the address %q has the scheme %s: expected http or https", text, scheme)
	}
	u, err := url.Parse("http://" + text)
	if err != nil || u.Hostname() == "" || strings.ContainsAny(text, " \t") || strings.HasPrefix(text, "/") {
		return "", fmt.Errorf("the address %q has no host: expected one such as http://127.0.0.1:8080/", text)
	}
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host) != nil {
		return "http://" + text, nil
	}
	return "https://" + text, nil
}
