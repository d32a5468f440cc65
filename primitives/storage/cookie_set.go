package storage

import (
	"context"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

type cookieSetIn struct {
	Cookies []struct {
		Name     string   `json:"name"`
		Value    string   `json:"value"`
		URL      string   `json:"url"`
		Domain   string   `json:"domain"`
		Path     string   `json:"path"`
		Expires  *float64 `json:"expires"`
		HTTPOnly bool     `json:"http_only"`
		Secure   bool     `json:"secure"`
		SameSite string   `json:"same_site"`
	} `json:"cookies"`
}

type cookieSetOut struct {
	Set int `json:"set"`
}

// cookieSet stores cookies in the tab's browser context. A cookie without url
// and domain is one of the page that is shown.
var cookieSet = primitives.Define("cookie.set", func(
	ctx context.Context, p primitives.Page, in cookieSetIn,
) (cookieSetOut, error) {
	list := make([]primitives.Cookie, len(in.Cookies))
	for i, c := range in.Cookies {
		list[i] = primitives.Cookie{
			Name:     c.Name,
			Value:    c.Value,
			URL:      c.URL,
			Domain:   c.Domain,
			Path:     c.Path,
			Expires:  -1,
			HTTPOnly: c.HTTPOnly,
			Secure:   c.Secure,
			SameSite: c.SameSite,
		}
		if c.Expires != nil {
			list[i].Expires = *c.Expires
		}
		switch {
		case c.URL == "" && c.Domain == "":
			list[i].URL = p.Tab().URL
			if !isHTTP(list[i].URL) {
				return cookieSetOut{}, fault.New(
					fault.InvalidArguments, "the page has no cookies of its own: url or domain is needed",
				).With("index", i)
			}
		case c.URL != "" && !isHTTP(c.URL):
			return cookieSetOut{}, fault.New(fault.InvalidArguments, "url is not an http address").With("index", i)
		case c.Domain != "" && c.Path == "":
			list[i].Path = "/"
		}
	}
	if err := p.SetCookies(ctx, list); err != nil {
		return cookieSetOut{}, err
	}
	return cookieSetOut{Set: len(list)}, nil
})

func isHTTP(address string) bool {
	return strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://")
}
