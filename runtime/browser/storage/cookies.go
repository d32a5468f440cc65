package storage

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// Tab is a tab whose storage is read and written.
type Tab interface {
	TopSession() *cdp.Session
	Lifetime() *cdp.Lifetime
	Document
}

// Document answers for what a tab shows.
type Document interface {
	Frames() []primitives.FrameInfo
	Call(ctx context.Context, frame primitives.FrameID, fn string, args, out any) error
}

// Browser is what knows the other tabs.
type Browser interface {
	// SharedTabs are the tabs of the same browser context.
	SharedTabs() []Document
	// OpenEmpty shows an empty document of an origin in a tab of the same browser
	// context, until close is called. Nothing is requested for it.
	OpenEmpty(ctx context.Context, origin string) (shown Document, close func(), err error)
}

// Store is the cookies and the local storage of a tab's browser context. It implements
// primitives.StoredPage.
type Store struct {
	client  *cdp.Client
	context cdp.BrowserContext
	tab     Tab
	browser Browser
}

// New makes the store of a tab.
func New(context cdp.BrowserContext, tab Tab, browser Browser) *Store {
	return &Store{client: context.Client, context: context, tab: tab, browser: browser}
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
func (s *Store) Cookies(ctx context.Context, urls []string) ([]primitives.Cookie, error) {
	var out struct {
		Cookies []protocolCookie `json:"cookies"`
	}
	s.awaitWrites(ctx, len(urls) == 0)
	var err error
	if len(urls) > 0 {
		err = s.client.DoIn(
			ctx, s.tab.Lifetime(), s.tab.TopSession(), "Network.getCookies", map[string]any{"urls": urls}, &out,
		)
	} else {
		err = s.context.Do(ctx, "Storage.getCookies", nil, &out)
	}
	if err != nil {
		return nil, cdp.Explain(err, "reading cookies")
	}
	list := make([]primitives.Cookie, len(out.Cookies))
	for i, c := range out.Cookies {
		list[i] = primitives.Cookie{
			Name:      c.Name,
			Value:     c.Value,
			Domain:    c.Domain,
			Path:      c.Path,
			Expires:   c.Expires,
			HTTPOnly:  c.HTTPOnly,
			Secure:    c.Secure != nil && *c.Secure,
			SameSite:  c.SameSite,
			Partition: c.Partition,
		}
	}
	return list, nil
}

// longestWrite is how long a page that hangs is waited for, at most half of the
// call's time.
const longestWrite = 2 * time.Second

// awaitWrites returns when the browser has the cookies that the frames of the tab, or of
// all tabs of the context, have written: document.cookie is assigned without waiting, and
// each document's writes arrive on a way of their own, after a question of ours too.
func (s *Store) awaitWrites(ctx context.Context, all bool) {
	documents := []Document{s.tab}
	if all {
		documents = s.browser.SharedTabs()
	}
	limit := longestWrite
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var asked sync.WaitGroup
	for _, document := range documents {
		for _, f := range document.Frames() {
			asked.Go(func() { _ = document.Call(ctx, f.ID, "cookies_written", nil, nil) })
		}
	}
	asked.Wait()
}

// SetCookies implements primitives.StoredPage.
func (s *Store) SetCookies(ctx context.Context, cookies []primitives.Cookie) error {
	list := make([]protocolCookie, len(cookies))
	for i, c := range cookies {
		list[i] = protocolCookie{
			Name:      c.Name,
			Value:     c.Value,
			URL:       c.URL,
			Domain:    c.Domain,
			Path:      c.Path,
			HTTPOnly:  c.HTTPOnly,
			SameSite:  c.SameSite,
			Partition: c.Partition,
		}
		if c.Secure || c.URL == "" {
			list[i].Secure = &c.Secure
		}
		if c.Expires >= 0 {
			list[i].Expires = c.Expires
		}
	}
	err := s.context.Do(ctx, "Storage.setCookies", map[string]any{"cookies": list}, nil)
	var pe *cdp.Error
	if errors.As(err, &pe) {
		return &fault.Error{Code: fault.InvalidArguments, Message: "the browser refuses one of the cookies", Err: err,
			NextStep: "check that the domain matches, that SameSite=None goes with secure, and that no partition is " +
				"missing"}
	}
	return cdp.Explain(err, "setting cookies")
}

// DeleteCookies implements primitives.StoredPage.
func (s *Store) DeleteCookies(ctx context.Context, cookies []primitives.Cookie) error {
	own := s.tab.TopSession()
	var commands []cdp.Command
	for _, c := range cookies {
		params := map[string]any{"name": c.Name, "domain": c.Domain, "path": c.Path}
		if c.Partition != nil {
			params["partitionKey"] = c.Partition
		}
		cmd, err := cdp.NewCommand(own.ID, "Network.deleteCookies", params)
		if err != nil {
			return err
		}
		commands = append(commands, cmd)
	}
	if len(commands) == 0 {
		return nil
	}
	l := s.tab.Lifetime()
	calls, err := s.client.Start(ctx, commands...)
	if err != nil {
		return cdp.Explain(err, "deleting cookies")
	}
	defer s.client.Forget(calls...)
	for _, p := range calls {
		if _, err := s.client.Await(ctx, l, p); err != nil {
			return cdp.Explain(err, "deleting cookies")
		}
	}
	return nil
}
