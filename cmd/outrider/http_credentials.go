package main

import (
	"net/url"
	"strings"

	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// readHTTPCredentials reads the values of --http-credentials. The password is never in them:
// they name a secret.
func (s *hostSettings) readHTTPCredentials() ([]browser.Credentials, error) {
	var out []browser.Credentials
	for _, text := range s.httpCredentials {
		const expected = "--http-credentials: expected ORIGIN=NAME:SECRET, such as https://app.example=ann:PW, and " +
			"--secret PW=env:VARIABLE"
		origin, rest, ok := strings.Cut(text, "=")
		end := strings.LastIndexByte(rest, ':')
		if !ok || end < 1 || end == len(rest)-1 {
			return nil, usage(expected)
		}
		u, err := url.Parse(origin)
		if err != nil || u.User != nil || address.Origin(origin) == "" || strings.Trim(u.Path, "/") != "" ||
			u.RawQuery != "" {
			return nil, usage(expected)
		}
		placeholder := rest[end+1:]
		if !strings.HasPrefix(placeholder, "{{") {
			placeholder = mask.Placeholder(placeholder)
		}
		if !s.secrets.Uses(placeholder) {
			return nil, usage(
				"--http-credentials: for %s there is no --secret of the name that follows %s:", origin, rest[:end],
			)
		}
		password, err := s.secrets.Reveal(placeholder, address.Origin(origin)+"/")
		if err != nil {
			return nil, usage("--http-credentials: %s", fault.From(err).Message)
		}
		out = append(out, browser.Credentials{Origin: address.Origin(origin), Name: rest[:end], Password: password})
	}
	return out, nil
}
