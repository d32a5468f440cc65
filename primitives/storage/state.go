package storage

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
)

// storageState has the shape of Playwright's storageState file, so that either
// tool reads what the other wrote. Partitioned cookies carry Chromium's key.
type storageState struct {
	Cookies []stateCookie `json:"cookies"`
	Origins []stateOrigin `json:"origins"`
}

type stateCookie struct {
	Name     string  `json:"name"`
	Value    string  `json:"value"`
	Domain   string  `json:"domain"`
	Path     string  `json:"path"`
	Expires  float64 `json:"expires"`
	HTTPOnly bool    `json:"httpOnly"`
	Secure   bool    `json:"secure"`
	SameSite string  `json:"sameSite"`
	// PartitionKey is the top-level site of a partitioned cookie.
	PartitionKey string `json:"partitionKey,omitempty"`
	CrossSite    bool   `json:"_crHasCrossSiteAncestor,omitempty"`
}

type stateOrigin struct {
	Origin       string                   `json:"origin"`
	LocalStorage []primitives.StorageItem `json:"localStorage"`
}

type storageStateGetIn struct {
	Origins []string `json:"origins"`
}

// storageStateGet reads what keeps a user signed in: the cookies of the tab's
// browser context, and localStorage of the origins that its tabs show or that
// are named. IndexedDB and sessionStorage are not part of it.
var storageStateGet = primitives.Define("storage_state.get", func(ctx context.Context, p primitives.Page, in storageStateGetIn) (storageState, error) {
	cookies, err := p.Cookies(ctx, nil)
	if err != nil {
		return storageState{}, err
	}
	origins, err := p.LocalStorage(ctx, in.Origins)
	if err != nil {
		return storageState{}, err
	}
	out := storageState{Cookies: []stateCookie{}, Origins: []stateOrigin{}}
	for _, c := range cookies {
		s := stateCookie{
			Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path, Expires: c.Expires, HTTPOnly: c.HTTPOnly, Secure: c.Secure, SameSite: c.SameSite,
		}
		if s.SameSite == "" {
			s.SameSite = "Lax" // what Chromium treats it as
		}
		if c.Partition != nil {
			s.PartitionKey, s.CrossSite = c.Partition.TopLevelSite, c.Partition.CrossSite
		}
		out.Cookies = append(out.Cookies, s)
	}
	for _, o := range origins {
		if len(o.Items) > 0 {
			out.Origins = append(out.Origins, stateOrigin{o.Origin, o.Items})
		}
	}
	return out, nil
})

type storageStateSetIn struct {
	State   storageState `json:"state"`
	Replace bool         `json:"replace"`
}

type storageStateSetOut struct {
	Cookies int `json:"cookies"`
	Origins int `json:"origins"`
	Items   int `json:"items"`
}

// storageStateSet stores a state. A page that is open sees the cookies with its
// next request, and the items at once, but what its scripts have read before
// stays: load it again.
var storageStateSet = primitives.Define("storage_state.set", func(ctx context.Context, p primitives.Page, in storageStateSetIn) (storageStateSetOut, error) {
	if in.Replace {
		old, err := p.Cookies(ctx, nil)
		if err != nil {
			return storageStateSetOut{}, err
		}
		if err := p.DeleteCookies(ctx, old); err != nil {
			return storageStateSetOut{}, err
		}
	}
	cookies := make([]primitives.Cookie, len(in.State.Cookies))
	for i, s := range in.State.Cookies {
		cookies[i] = primitives.Cookie{
			Name: s.Name, Value: s.Value, Domain: s.Domain, Path: s.Path, Expires: s.Expires, HTTPOnly: s.HTTPOnly, Secure: s.Secure, SameSite: s.SameSite,
		}
		if s.PartitionKey != "" {
			cookies[i].Partition = &primitives.CookiePartition{TopLevelSite: s.PartitionKey, CrossSite: s.CrossSite}
		}
		if s.Expires == 0 {
			cookies[i].Expires = -1
		}
	}
	if len(cookies) > 0 {
		if err := p.SetCookies(ctx, cookies); err != nil {
			return storageStateSetOut{}, err
		}
	}
	out := storageStateSetOut{Cookies: len(cookies), Origins: len(in.State.Origins)}
	origins := make([]primitives.OriginStorage, len(in.State.Origins))
	for i, o := range in.State.Origins {
		origins[i] = primitives.OriginStorage{Origin: o.Origin, Items: o.LocalStorage}
		out.Items += len(o.LocalStorage)
	}
	return out, p.SetLocalStorage(ctx, origins, in.Replace)
})
