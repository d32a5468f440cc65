package network

import "net/url"

// Insecure are the origins whose certificates are not checked. A nil one is none.
type Insecure struct{ rules []originRule }

// NewInsecure reads patterns of origins, see CheckOrigins. No patterns are nil.
func NewInsecure(patterns []string) (*Insecure, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	in := &Insecure{}
	for _, text := range patterns {
		r, err := parseOrigin(text)
		if err != nil {
			return nil, err
		}
		in.rules = append(in.rules, r)
	}
	return in, nil
}

// Trusts reports whether the certificate of a request is not checked.
func (in *Insecure) Trusts(address string) bool {
	u, err := url.Parse(address)
	if in == nil || err != nil || u.Host == "" {
		return false
	}
	to := destinationOf(u)
	for _, r := range in.rules {
		if r.matches(to) {
			return true
		}
	}
	return false
}
