package browserbridge

import (
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/idna"
)

// blocklist is the domains that nothing is done on. An entry blocks its host
// and every subdomain, on label boundaries; an IP address blocks itself.
type blocklist struct {
	mu      sync.RWMutex
	entries []string
}

// normalDomain is an entry as it is compared: lower case, punycode, without www.
// and *. in front; "" for none.
func normalDomain(entry string) string {
	entry = strings.ToLower(strings.TrimSpace(entry))
	if _, rest, ok := strings.Cut(entry, "://"); ok {
		entry = rest
	}
	entry, _, _ = strings.Cut(entry, "/")
	if host, _, err := net.SplitHostPort(entry); err == nil {
		entry = host
	}
	entry = strings.Trim(entry, "[].")
	entry = strings.TrimPrefix(strings.TrimPrefix(entry, "*."), "www.")
	if ascii, err := idna.Lookup.ToASCII(entry); err == nil {
		return ascii
	}
	return entry
}

// domainOf is the domain of a page: the host of an http(s) address, lower case,
// without its port; "" for any other.
func domainOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		return ascii
	}
	return host
}

func (b *blocklist) blocks(domain string) bool {
	if domain == "" {
		return false
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	return slices.ContainsFunc(b.entries, func(e string) bool {
		return domain == e || net.ParseIP(domain) == nil && strings.HasSuffix(domain, "."+e)
	})
}

func (b *blocklist) set(entries []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries = nil
	for _, e := range entries {
		e = normalDomain(e)
		if e != "" {
			b.entries = append(b.entries, e)
		}
	}
}

func (b *blocklist) empty() bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return len(b.entries) == 0
}
