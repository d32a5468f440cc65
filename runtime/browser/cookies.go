package browser

import (
	"context"
	"errors"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// askStorage asks about the tab's browser context. Chromium knows the context of
// the profile by the absence of a name only.
func (t *Tab) askStorage(ctx context.Context, method string, params map[string]any, out any) error {
	if params == nil {
		params = map[string]any{}
	}
	t.b.mu.Lock()
	ours := t.b.contexts[t.context]
	t.b.mu.Unlock()
	if ours {
		params["browserContextId"] = t.context
	}
	return t.b.c.do(ctx, "", method, params, out)
}

type protocolCookie struct {
	Name      string                      `json:"name"`
	Value     string                      `json:"value"`
	URL       string                      `json:"url,omitempty"`
	Domain    string                      `json:"domain,omitempty"`
	Path      string                      `json:"path,omitempty"`
	Secure    *bool                       `json:"secure,omitempty"`
	HTTPOnly  bool                        `json:"httpOnly,omitempty"`
	SameSite  string                      `json:"sameSite,omitempty"`
	Expires   float64                     `json:"expires,omitempty"`
	Partition *primitives.CookiePartition `json:"partitionKey,omitempty"`
}

// Cookies implements primitives.StoredPage.
func (t *Tab) Cookies(ctx context.Context, urls []string) ([]primitives.Cookie, error) {
	var out struct {
		Cookies []protocolCookie `json:"cookies"`
	}
	var err error
	if len(urls) > 0 {
		err = t.ask(ctx, "Network.getCookies", map[string]any{"urls": urls}, &out)
	} else {
		err = t.askStorage(ctx, "Storage.getCookies", nil, &out)
	}
	if err != nil {
		return nil, t.b.explain(err, "reading cookies")
	}
	list := make([]primitives.Cookie, len(out.Cookies))
	for i, c := range out.Cookies {
		list[i] = primitives.Cookie{
			Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path, Expires: c.Expires, HTTPOnly: c.HTTPOnly,
			Secure: c.Secure != nil && *c.Secure, SameSite: c.SameSite, Partition: c.Partition,
		}
	}
	return list, nil
}

// SetCookies implements primitives.StoredPage.
func (t *Tab) SetCookies(ctx context.Context, cookies []primitives.Cookie) error {
	list := make([]protocolCookie, len(cookies))
	for i, c := range cookies {
		list[i] = protocolCookie{
			Name: c.Name, Value: c.Value, URL: c.URL, Domain: c.Domain, Path: c.Path, HTTPOnly: c.HTTPOnly, SameSite: c.SameSite, Partition: c.Partition,
		}
		if c.Secure || c.URL == "" {
			list[i].Secure = &c.Secure
		}
		if c.Expires >= 0 {
			list[i].Expires = c.Expires
		}
	}
	err := t.askStorage(ctx, "Storage.setCookies", map[string]any{"cookies": list}, nil)
	var pe *protocolError
	if errors.As(err, &pe) {
		return &fault.Error{Code: fault.InvalidArguments, Message: "the browser refuses one of the cookies", Err: err,
			NextStep: "check that the domain matches, that SameSite=None goes with secure, and that no partition is missing"}
	}
	return t.b.explain(err, "setting cookies")
}

// DeleteCookies implements primitives.StoredPage.
func (t *Tab) DeleteCookies(ctx context.Context, cookies []primitives.Cookie) error {
	var commands []command
	for _, c := range cookies {
		params := map[string]any{"name": c.Name, "domain": c.Domain, "path": c.Path}
		if c.Partition != nil {
			params["partitionKey"] = c.Partition
		}
		cmd, err := newCommand(t.s.id, "Network.deleteCookies", params)
		if err != nil {
			return err
		}
		commands = append(commands, cmd)
	}
	if len(commands) == 0 {
		return nil
	}
	l := t.currentLife()
	calls, err := t.b.c.start(ctx, commands...)
	if err != nil {
		return t.b.explain(err, "deleting cookies")
	}
	defer t.b.c.drop(calls...)
	for _, p := range calls {
		if _, err := t.await(ctx, l, p); err != nil {
			return t.b.explain(named(err, "Network.deleteCookies"), "deleting cookies")
		}
	}
	return nil
}
