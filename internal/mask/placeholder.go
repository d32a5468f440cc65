package mask

import (
	"slices"
	"strings"

	hosts "github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Used are the names in the placeholders of a text, each once.
func Used(text string) []string {
	var out []string
	for {
		_, rest, ok := strings.Cut(text, opening)
		if !ok {
			return out
		}
		name, after, ok := strings.Cut(rest, closing)
		if !ok {
			return out
		}
		if namePattern().MatchString(name) && !slices.Contains(out, name) {
			out = append(out, name)
			text = after
			continue
		}
		text = rest
	}
}

// Uses reports whether a text has the placeholder of one of the secrets.
func (s *Set) Uses(text string) bool {
	st := s.load()
	if st == nil || !strings.Contains(text, opening) {
		return false
	}
	return slices.ContainsFunc(Used(text), func(name string) bool { _, ok := st.secrets[name]; return ok })
}

// Reveal puts the secrets in place of their placeholders, for a page at an address. A
// secret that is not known, or not for that address, is an error.
func (s *Set) Reveal(text, address string) (string, error) {
	st := s.load()
	for _, name := range Used(text) {
		var sec secret
		known := false
		if st != nil {
			sec, known = st.secrets[name]
		}
		if !known {
			return "", fault.New(fault.InvalidInput, "there is no secret named %s", name).With("secrets", s.Names())
		}
		if len(sec.origins) > 0 && !allowed(sec.origins, address) {
			return "", fault.New(fault.PermissionDenied, "the secret %s is not for this page", name).
				With("origins", sec.origins).With("origin", hosts.Origin(address))
		}
	}
	if st == nil {
		return text, nil
	}
	for _, name := range Used(text) {
		text = strings.ReplaceAll(text, Placeholder(name), st.secrets[name].value)
	}
	return text, nil
}

// allowed reports whether one of the origins is that of an address. An origin may begin
// with *. in its host, for every host below.
func allowed(origins []string, address string) bool {
	at := hosts.Origin(address)
	if at == "" {
		return false
	}
	return slices.ContainsFunc(origins, func(o string) bool {
		scheme, host, ok := strings.Cut(hosts.ASCII(strings.TrimSuffix(o, "/")), "://")
		if below, wild := strings.CutPrefix(host, "*."); ok && wild {
			return strings.HasPrefix(at, scheme+"://") && strings.HasSuffix(at, "."+below)
		}
		return strings.EqualFold(at, hosts.Origin(o))
	})
}
