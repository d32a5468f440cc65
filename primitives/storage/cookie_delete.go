package storage

import (
	"context"
	"strings"

	"github.com/outrider-run/outrider/primitives"
)

type cookieDeleteIn struct {
	Name   string `json:"name"`
	Domain string `json:"domain"`
	Path   string `json:"path"`
}

type cookieDeleteOut struct {
	Deleted int `json:"deleted"`
}

// cookieDelete deletes the cookies of one name that the page's frames would
// send, or those of a domain.
var cookieDelete = primitives.Define("cookie.delete", func(
	ctx context.Context, p primitives.Page, in cookieDeleteIn,
) (cookieDeleteOut, error) {
	var urls []string
	if in.Domain == "" {
		urls = shownAddresses(p)
		if len(urls) == 0 {
			return cookieDeleteOut{}, nil
		}
	}
	cookies, err := p.Cookies(ctx, urls)
	if err != nil {
		return cookieDeleteOut{}, err
	}
	var list []primitives.Cookie
	for _, c := range cookies {
		if c.Name == in.Name && (in.Path == "" || c.Path == in.Path) &&
			(in.Domain == "" ||
				strings.EqualFold(strings.TrimPrefix(c.Domain, "."), strings.TrimPrefix(in.Domain, "."))) {
			list = append(list, c)
		}
	}
	if err := p.DeleteCookies(ctx, list); err != nil {
		return cookieDeleteOut{}, err
	}
	return cookieDeleteOut{Deleted: len(list)}, nil
})
