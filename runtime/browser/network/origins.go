package network

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/truncate"
)

// originRule is one pattern of an allow or a block list: [scheme://]host[:port].
// The host is a name, *.name for what is below it, *, an address, or a range of
// addresses such as 10.0.0.0/8. Without a scheme any is meant, and without a port
// the scheme's, or any when there is no scheme either.
type originRule struct {
	text   string
	scheme string // "" is any
	host   string // "" for a range
	below  bool   // *.host
	any    bool   // *
	prefix netip.Prefix
	port   int  // 0 is any
	block  bool // a rule of a block list
}

var schemePorts = map[string]int{"http": 80, "ws": 80, "https": 443, "wss": 443}

// parseOrigin reads a pattern.
func parseOrigin(text string) (originRule, error) {
	bad := fault.New(
		fault.InvalidArguments,
		"not an origin pattern: expected [scheme://]host[:port], such as https://*.example.org or 10.0.0.0/8",
	).With("pattern", truncate.Bytes(text, 200))
	r := originRule{text: text}
	rest := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(text)), "/")
	if scheme, host, ok := strings.Cut(rest, "://"); ok {
		if schemePorts[scheme] == 0 {
			return r, bad
		}
		r.scheme = scheme
		rest = host
		r.port = schemePorts[scheme]
	}
	if p, err := netip.ParsePrefix(rest); err == nil && r.scheme == "" {
		r.prefix = p.Masked()
		return r, nil
	}
	host, port := rest, ""
	if strings.HasPrefix(rest, "[") {
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return r, bad
		}
		host, port = rest[1:end], strings.TrimPrefix(rest[end+1:], ":")
	} else if strings.Count(rest, ":") == 1 {
		host, port, _ = strings.Cut(rest, ":")
	}
	switch {
	case port == "*":
		r.port = 0
	case port != "":
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 {
			return r, bad
		}
		r.port = n
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		r.prefix = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen())
		return r, nil
	}
	if host == "*" {
		r.any = true
		return r, nil
	}
	host, r.below = strings.CutPrefix(host, "*.")
	r.host = address.ASCIIHost(strings.TrimSuffix(host, "."))
	if r.host == "" || strings.ContainsAny(r.host, "*/:?#@ []") {
		return r, bad
	}
	return r, nil
}

// destination is where a request wants to go. scheme is "" where only host and
// port are known, as for a tunnel.
type destination struct {
	scheme string
	host   string // lower case, without brackets
	port   int
}

func destinationOf(u *url.URL) destination {
	d := destination{
		scheme: strings.ToLower(u.Scheme),
		host:   address.ASCIIHost(strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")),
	}
	d.port, _ = strconv.Atoi(u.Port())
	if d.port == 0 {
		d.port = schemePorts[d.scheme]
	}
	return d
}

func (r originRule) matchesPlace(d destination) bool {
	if r.port != 0 && r.port != d.port {
		return false
	}
	// A socket is of the origin of its page.
	web := map[string]string{"ws": "http", "wss": "https"}
	plain := func(s string) string {
		if w := web[s]; w != "" {
			return w
		}
		return s
	}
	return r.scheme == "" || d.scheme == "" || plain(r.scheme) == plain(d.scheme)
}

// matches reports whether the rule names the destination.
func (r originRule) matches(d destination) bool {
	if !r.matchesPlace(d) {
		return false
	}
	switch addr, err := netip.ParseAddr(d.host); {
	case r.any:
		return true
	case r.prefix.IsValid():
		return err == nil && (r.prefix.Contains(addr.Unmap()) || r.block && r.prefix.Contains(effectiveAddr(addr)))
	case r.below:
		return strings.HasSuffix(d.host, "."+r.host)
	}
	return d.host == r.host
}

// effectiveAddr is where a connection to an address goes: the one that is unspecified is this
// machine, as loopback is.
func effectiveAddr(addr netip.Addr) netip.Addr {
	switch addr = addr.Unmap(); {
	case addr.Is4() && addr.IsUnspecified():
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case addr.IsUnspecified():
		return netip.IPv6Loopback()
	}
	return addr
}

// originPolicy decides where requests may go.
type originPolicy struct{ allow, block []originRule }

func newOriginPolicy(allow, block []string) (*originPolicy, error) {
	p := &originPolicy{}
	for _, l := range []struct {
		texts []string
		into  *[]originRule
	}{{allow, &p.allow}, {block, &p.block}} {
		for _, text := range l.texts {
			r, err := parseOrigin(text)
			if err != nil {
				return nil, err
			}
			r.block = l.into == &p.block
			*l.into = append(*l.into, r)
		}
	}
	return p, nil
}

// notAllowed is the rule of a destination that no pattern allows.
const notAllowed = "not in the allow list"

// privateAddress is the rule of a name that leads to an address that only a pattern that names it opens.
const privateAddress = "private address"

// refuses returns the rule that forbids a destination by its name, "" when none
// does.
func (p *originPolicy) refuses(d destination) string {
	for _, r := range p.block {
		if r.matches(d) {
			return "block " + r.text
		}
	}
	if len(p.allow) == 0 {
		return ""
	}
	for _, r := range p.allow {
		if r.matches(d) {
			return ""
		}
	}
	// A range allows the addresses of names too, but not the names themselves.
	return notAllowed
}

// refusesAddress decides about the address that a name stands for, so that a name
// cannot lead where it should not: with an allow list, private, loopback and
// link-local addresses are closed unless a pattern names them.
func (p *originPolicy) refusesAddress(d destination, addr netip.Addr) string {
	addr = addr.Unmap()
	at := destination{scheme: d.scheme, host: addr.String(), port: d.port}
	for _, r := range p.block {
		if r.prefix.IsValid() && r.matches(at) {
			return "block " + r.text
		}
	}
	if len(p.allow) == 0 || !closedAddress(addr) {
		return ""
	}
	for _, r := range p.allow {
		if r.prefix.IsValid() && r.matches(at) {
			return ""
		}
		if addr.IsLoopback() && isLocalhost(d.host) && !r.any && r.matches(d) {
			return ""
		}
	}
	return privateAddress
}

func isLocalhost(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

func closedAddress(a netip.Addr) bool {
	if a.IsPrivate() || a.IsLoopback() || a.IsUnspecified() {
		return true
	}
	if a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() || a.IsMulticast() {
		return true
	}
	return netip.MustParsePrefix("100.64.0.0/10").Contains(a) || netip.MustParsePrefix("0.0.0.0/8").Contains(a)
}

// CheckOrigins returns what is wrong with patterns of origins.
func CheckOrigins(patterns ...string) error {
	_, err := newOriginPolicy(patterns, nil)
	return err
}
