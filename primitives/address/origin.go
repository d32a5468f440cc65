package address

import (
	"strconv"
	"strings"
)

// Origin is the origin of an absolute http or https address as a browser writes it, "" for anything else. It reads
// scheme, host and port alone and reads them as a browser does: what stands after them is no concern of an origin,
// and url.Parse refuses some of what a browser takes there, such as the bare percent sign of /sale/50%.
func Origin(raw string) string {
	raw = strings.TrimFunc(raw, func(c rune) bool { return c <= ' ' })
	raw = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(raw)
	scheme, rest, _ := strings.Cut(raw, ":")
	scheme = strings.ToLower(scheme)
	if scheme != "http" && scheme != "https" {
		return ""
	}
	rest = strings.TrimLeft(rest, `/\`)
	if i := strings.IndexAny(rest, `/\?#`); i >= 0 {
		rest = rest[:i]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	host, port := rest, ""
	if i := strings.LastIndexByte(rest, ':'); i > strings.LastIndexByte(rest, ']') {
		host, port = rest[:i], rest[i+1:]
	}
	if host == "" || strings.ContainsAny(host, " <>^|") {
		return ""
	}
	origin := scheme + "://" + strings.ToLower(ASCIIHost(host))
	if port == "" {
		return origin
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return ""
	}
	if scheme == "http" && n == 80 || scheme == "https" && n == 443 {
		return origin
	}
	return origin + ":" + strconv.FormatUint(n, 10)
}
