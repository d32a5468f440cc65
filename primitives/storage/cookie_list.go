package storage

import (
	"context"
	"slices"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/entries"
)

type cookieListIn struct {
	URLs  []string `json:"urls"`
	Names []string `json:"names"`
	All   bool     `json:"all"`
}

type cookieListOut struct {
	Cookies []cookieOut `json:"cookies"`
	Count   int         `json:"count"`
}

type cookieOut struct {
	Name      string  `json:"name"`
	Value     string  `json:"value"`
	Domain    string  `json:"domain"`
	Path      string  `json:"path"`
	Expires   float64 `json:"expires"` // -1 for the end of the session
	HTTPOnly  bool    `json:"http_only"`
	Secure    bool    `json:"secure"`
	SameSite  string  `json:"same_site,omitempty"`
	Partition string  `json:"partition,omitempty"`
}

// cookieList reads the cookies that requests to some addresses would carry.
var cookieList = primitives.Define("cookie.list", func(
	ctx context.Context, p primitives.Page, in cookieListIn,
) (cookieListOut, error) {
	urls := in.URLs
	if in.All {
		urls = nil
	} else if len(urls) == 0 {
		urls = shownAddresses(p)
	}
	out := cookieListOut{Cookies: []cookieOut{}}
	if len(urls) == 0 && !in.All {
		return out, nil // no page has cookies
	}
	cookies, err := p.Cookies(ctx, urls)
	if err != nil {
		return cookieListOut{}, err
	}
	for _, c := range cookies {
		if !entries.Passes(in.Names, c.Name) {
			continue
		}
		o := cookieOut{
			Name:     c.Name,
			Value:    c.Value,
			Domain:   c.Domain,
			Path:     c.Path,
			Expires:  c.Expires,
			HTTPOnly: c.HTTPOnly,
			Secure:   c.Secure,
			SameSite: c.SameSite,
		}
		if c.Partition != nil {
			o.Partition = c.Partition.TopLevelSite
		}
		out.Cookies = append(out.Cookies, o)
	}
	out.Count = len(out.Cookies)
	return out, nil
})

// shownAddresses are the addresses of the tab's frames that can have cookies.
func shownAddresses(p primitives.Page) []string {
	var out []string
	for _, f := range p.Frames() {
		if isHTTP(f.URL) && !slices.Contains(out, f.URL) {
			out = append(out, f.URL)
		}
	}
	return out
}
