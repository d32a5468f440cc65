package storage

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
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
	// SessionStorage is that of the tab; Playwright does not know it.
	SessionStorage []primitives.StorageItem `json:"sessionStorage,omitempty"`
	IndexedDB      json.RawMessage          `json:"indexedDB,omitempty"`
}

type storageStateGetIn struct {
	Origins        []string `json:"origins"`
	SessionStorage bool     `json:"session_storage"`
	IndexedDB      bool     `json:"indexed_db"`
}

// storageStateGet reads what keeps a user signed in: the cookies of the tab's
// browser context, and localStorage of the origins that its tabs show or that
// are named; when requested also their IndexedDB, and the tab's sessionStorage.
var storageStateGet = primitives.Define("storage_state.get", func(
	ctx context.Context, p primitives.Page, in storageStateGetIn,
) (storageState, error) {
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
			Name:     c.Name,
			Value:    c.Value,
			Domain:   c.Domain,
			Path:     c.Path,
			Expires:  c.Expires,
			HTTPOnly: c.HTTPOnly,
			Secure:   c.Secure,
			SameSite: c.SameSite,
		}
		if s.SameSite == "" {
			s.SameSite = "Lax" // what Chromium treats it as
		}
		if c.Partition != nil {
			s.PartitionKey, s.CrossSite = c.Partition.TopLevelSite, c.Partition.CrossSite
		}
		out.Cookies = append(out.Cookies, s)
	}
	session := stateOrigin{}
	if in.SessionStorage {
		session, err = sessionOf(ctx, p)
		if err != nil {
			return storageState{}, err
		}
	}
	for _, o := range origins {
		one := stateOrigin{Origin: o.Origin, LocalStorage: o.Items}
		if in.IndexedDB {
			one.IndexedDB, err = databasesOf(ctx, p, o.Origin)
			if err != nil {
				return storageState{}, err
			}
		}
		if o.Origin == session.Origin {
			one.SessionStorage = session.SessionStorage
		}
		if len(one.LocalStorage)+len(one.SessionStorage)+len(one.IndexedDB) > 0 {
			if one.LocalStorage == nil {
				one.LocalStorage = []primitives.StorageItem{}
			}
			out.Origins = append(out.Origins, one)
		}
	}
	return out, nil
})

// sessionOf is the sessionStorage of the document that the tab shows.
func sessionOf(ctx context.Context, p primitives.Page) (stateOrigin, error) {
	out := stateOrigin{Origin: address.Origin(p.Tab().URL)}
	if out.Origin == "" {
		return out, nil
	}
	var items struct {
		Items []primitives.StorageItem `json:"items"`
	}
	err := p.Call(ctx, "", "storage_read", map[string]any{"area": "session"}, &items)
	out.SessionStorage = items.Items
	return out, err
}

func databasesOf(ctx context.Context, p primitives.Page, origin string) (json.RawMessage, error) {
	var out struct {
		Databases []json.RawMessage `json:"databases"`
	}
	if err := p.CallAtOrigin(ctx, origin, "indexed_db_read", nil, &out); err != nil || len(out.Databases) == 0 {
		return nil, err
	}
	return json.Marshal(out.Databases)
}

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
var storageStateSet = primitives.Define("storage_state.set", func(
	ctx context.Context, p primitives.Page, in storageStateSetIn,
) (storageStateSetOut, error) {
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
			Name:     s.Name,
			Value:    s.Value,
			Domain:   s.Domain,
			Path:     s.Path,
			Expires:  s.Expires,
			HTTPOnly: s.HTTPOnly,
			Secure:   s.Secure,
			SameSite: s.SameSite,
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
	if err := p.SetLocalStorage(ctx, origins, in.Replace); err != nil {
		return out, err
	}
	for _, o := range in.State.Origins {
		if len(o.IndexedDB) == 0 {
			continue
		}
		if err := p.CallAtOrigin(
			ctx, o.Origin, "indexed_db_write", map[string]any{"databases": o.IndexedDB}, nil,
		); err != nil {
			return out, err
		}
	}
	return out, setSession(ctx, p, in.State.Origins, in.Replace)
})

// setSession fills sessionStorage, which each tab has for itself: that of the origin
// that the tab shows, and those of others while it shows nothing.
func setSession(ctx context.Context, p primitives.Page, origins []stateOrigin, replace bool) error {
	items := map[string]any{}
	var others []string
	for _, o := range origins {
		if len(o.SessionStorage) == 0 {
			continue
		}
		items[o.Origin] = map[string]any{"area": "session", "items": o.SessionStorage, "replace": replace}
		if address.Origin(p.Tab().URL) == o.Origin {
			if err := p.Call(ctx, "", "storage_write", items[o.Origin], nil); err != nil {
				return err
			}
			continue
		}
		if address.Origin(o.Origin) != o.Origin {
			return fault.New(fault.InvalidArguments, "an origin is scheme, host and port of http or https").
				With("origin", fault.Clip(o.Origin, 200))
		}
		others = append(others, o.Origin)
	}
	switch {
	case len(others) == 0:
		return nil
	case p.Tab().URL != "" && p.Tab().URL != "about:blank":
		return fault.New(
			fault.InvalidArguments,
			"sessionStorage belongs to a tab: that of another origin is set in a tab that shows about:blank",
		).With("origins", others).Next("set the state before the tab opens a page")
	}
	return p.CallInEmpty(ctx, others, "storage_write", func(origin string) any { return items[origin] })
}
