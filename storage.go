package outrider

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/outrider-run/outrider/client"
	"github.com/outrider-run/outrider/primitives/fault"
)

// StorageState is the session's cookies, local storage and databases as JSON, in the form that Playwright writes and
// reads. Keep it as you keep passwords.
func (s *Session) StorageState(ctx context.Context) (json.RawMessage, error) {
	t, err := s.activeTab()
	if err != nil {
		return nil, err
	}
	var state struct {
		Cookies json.RawMessage `json:"cookies"`
		Origins json.RawMessage `json:"origins"`
	}
	what := client.StorageStateGetArgs{IndexedDb: true}
	if err := t.CallInto(ctx, "storage_state.get", what, &state); err != nil {
		return nil, err
	}
	out, err := json.Marshal(state)
	return out, fromFault(err)
}

// SetStorageState stores what StorageState or Playwright has written. Pages that are open see it when they are loaded
// again.
func (s *Session) SetStorageState(ctx context.Context, state json.RawMessage) error {
	t, err := s.activeTab()
	if err != nil {
		return err
	}
	return t.CallInto(ctx, "storage_state.set", map[string]json.RawMessage{"state": state}, nil)
}

// Cookies are those that requests to some addresses would carry; without an address, all of the session.
func (s *Session) Cookies(ctx context.Context, addresses ...string) ([]*http.Cookie, error) {
	t, err := s.activeTab()
	if err != nil {
		return nil, err
	}
	all, err := client.CookieList(ctx, t, client.CookieListArgs{All: len(addresses) == 0, URLs: addresses})
	if err != nil {
		return nil, err
	}
	out := []*http.Cookie{}
	for _, c := range all.Cookies {
		cookie := &http.Cookie{
			Name:        c.Name,
			Value:       c.Value,
			Domain:      c.Domain,
			Path:        c.Path,
			Secure:      c.Secure,
			HttpOnly:    c.HttpOnly,
			SameSite:    sameSites[c.SameSite],
			Partitioned: c.Partition != "",
		}
		if c.Expires > 0 {
			cookie.Expires = time.UnixMicro(int64(c.Expires * 1e6))
		}
		out = append(out, cookie)
	}
	return out, nil
}

var sameSites = map[string]http.SameSite{
	"Strict": http.SameSiteStrictMode, "Lax": http.SameSiteLaxMode, "None": http.SameSiteNoneMode,
}

// SetCookies stores cookies as if the address had set them.
func (s *Session) SetCookies(ctx context.Context, address string, cookies ...*http.Cookie) error {
	t, err := s.activeTab()
	if err != nil {
		return err
	}
	var arguments client.CookieSetArgs
	for _, c := range cookies {
		set := client.CookieSetCookie{
			Name:     c.Name,
			Value:    c.Value,
			Domain:   c.Domain,
			Path:     c.Path,
			Secure:   c.Secure,
			HttpOnly: c.HttpOnly,
			URL:      address,
		}
		for name, mode := range sameSites {
			if mode == c.SameSite {
				set.SameSite = name
			}
		}
		expires := c.Expires
		if c.MaxAge != 0 { // a negative one deletes
			expires = time.Now().Add(time.Duration(c.MaxAge) * time.Second)
		}
		if !expires.IsZero() {
			set.Expires = new(float64(expires.UnixMicro()) / 1e6)
		}
		arguments.Cookies = append(arguments.Cookies, set)
	}
	_, err = client.CookieSet(ctx, t, arguments)
	return err
}

// ClearCookies deletes all cookies of the session.
func (s *Session) ClearCookies(ctx context.Context) error {
	t, err := s.activeTab()
	if err != nil {
		return err
	}
	_, err = client.CookieClear(ctx, t)
	return err
}

// Grant lets pages of an origin of the session do what they would have to ask for. Permissions have the names of the
// Permissions API, such as geolocation, notifications, camera, microphone and clipboard-read.
func (s *Session) Grant(ctx context.Context, origin string, permissions ...string) error {
	return s.setPermissions(ctx, "granted", origin, permissions)
}

// Deny is the opposite of Grant.
func (s *Session) Deny(ctx context.Context, origin string, permissions ...string) error {
	return s.setPermissions(ctx, "denied", origin, permissions)
}

func (s *Session) setPermissions(ctx context.Context, setting, origin string, permissions []string) error {
	t, err := s.activeTab()
	if err != nil {
		return err
	}
	page, err := t.shown()
	if err != nil {
		return fromFault(err)
	}
	timeout := timeOf(ctx)
	for _, name := range permissions {
		if err := page.SetPermission(ctx, origin, name, setting); err != nil {
			return endedBy(ctx, timeout, fault.From(err).With("permission", name))
		}
	}
	return nil
}
