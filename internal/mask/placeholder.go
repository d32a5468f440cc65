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
	for _, p := range Placeholders(text) {
		if name := nameIn(p); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Placeholders are those of a text, of secrets and of their codes, each once.
func Placeholders(text string) []string {
	var out []string
	for _, opens := range []string{opening, totpOpening} {
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, opens)
			if !ok {
				break
			}
			rest = after
			name, behind, ok := strings.Cut(after, closing)
			if !ok || !namePattern().MatchString(name) {
				continue
			}
			rest = behind
			if p := opens + name + closing; !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// nameIn is the name of a secret in a placeholder.
func nameIn(placeholder string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(placeholder, opening), totpOpening)
	return strings.TrimSuffix(name, closing)
}

// Uses reports whether a text has the placeholder of one of the secrets.
func (s *Set) Uses(text string) bool {
	st := s.load()
	if st == nil || !strings.Contains(text, opening) && !strings.Contains(text, totpOpening) {
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
	for _, p := range Placeholders(text) {
		name := nameIn(p)
		value := st.secrets[name].value
		if strings.HasPrefix(p, totpOpening) {
			code, err := s.totp(name, value)
			if err != nil {
				return "", err
			}
			value = code
		}
		text = strings.ReplaceAll(text, p, value)
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
