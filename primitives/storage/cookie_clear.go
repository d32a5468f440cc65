package storage

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
)

type cookieClearOut struct {
	Cleared int `json:"cleared"`
}

// cookieClear deletes every cookie of the tab's browser context, which other
// tabs may share.
var cookieClear = primitives.Define("cookie.clear", func(
	ctx context.Context, p primitives.Page, _ struct{},
) (cookieClearOut, error) {
	cookies, err := p.Cookies(ctx, nil)
	if err != nil {
		return cookieClearOut{}, err
	}
	if err := p.DeleteCookies(ctx, cookies); err != nil {
		return cookieClearOut{}, err
	}
	return cookieClearOut{Cleared: len(cookies)}, nil
})
