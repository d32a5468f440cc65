package network

import (
	"log/slog"
	"net/netip"
	"net/url"
)

// Refuses says which rule keeps a request to an address, resolved to addr, back.
func Refuses(allow, block []string, raw string, addr netip.Addr) (string, error) {
	p, err := newOriginPolicy(allow, block)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "", err
	}
	d := destinationOf(u)
	if rule := p.refuses(d); rule != "" {
		return rule, nil
	}
	return p.refusesAddress(d, addr), nil
}

// StartProxy starts the proxy of an origin policy and returns its address.
func StartProxy(allow, block []string, upstream string) (address string, end func(), err error) {
	e, err := StartEgress(allow, block, upstream, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", nil, err
	}
	return e.listener.Addr().String(), e.Close, nil
}

// RemedyOf is what a person is told to do about a rule.
var RemedyOf = remedyOf
