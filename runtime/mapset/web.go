package mapset

import (
	"context"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
)

// pageFetcher reads maps through a page: of its own origin with its cookies, of
// any other without, and only where that origin lets other sites read it. The
// rules of the page's browser apply, its proxy and the page's content security
// policy included.
type pageFetcher struct{ page primitives.Page }

// fetchMargin is left for the answer of the page to arrive before the context
// ends.
const fetchMargin = 200 * time.Millisecond

// Fetch implements sites.Fetcher.
func (f pageFetcher) Fetch(ctx context.Context, address string, limits sites.FetchLimits) (*sites.Fetched, error) {
	patience := limits.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline)-fetchMargin)
	}
	if patience <= 0 {
		return nil, fault.New(fault.Timeout, "there is no time left to read a map")
	}
	args := map[string]any{
		"url":        address,
		"max_bytes":  limits.MaxBytes,
		"timeout_ms": max(1, patience.Milliseconds()),
		"redirects":  limits.Redirects,
	}
	var out struct {
		URL    string `json:"url"`
		Status int    `json:"status"`
		Body   string `json:"body"`
	}
	if err := f.page.Call(ctx, "", "map_fetch", args, &out); err != nil {
		return nil, err
	}
	return &sites.Fetched{URL: out.URL, Status: out.Status, Body: []byte(out.Body)}, nil
}

// Bounds of reading the imports of one origin.
const (
	// webImportLimit bounds the wait of a call for all of them.
	webImportLimit = 10 * time.Second
	// webImportLife is how long they are kept; webFailureLife, while one of them
	// has failed.
	webImportLife  = 10 * time.Minute
	webFailureLife = 15 * time.Second
	// maxWebImports bounds the origins that are remembered.
	maxWebImports = 32
)

// webImports remembers what the maps of an offer import from the web, by the
// origin of the page that it was read through.
type webImports struct {
	mu      sync.Mutex
	entries map[webKey]*webEntry
	// changed, when set, is called after something was read.
	changed func()
}

type webKey struct {
	base   *Offer
	origin string
}

type webEntry struct {
	turn  chan struct{} // holds one token: whoever has it reads
	offer *Offer        // nil until read; guarded by the token
	// latest is offer, for those who do not wait.
	latest atomic.Pointer[Offer]
	until  time.Time
	used   time.Time // guarded by webImports.mu
}

// withWeb returns o with what the maps of the page import from the web. Calls
// that need the same origin wait for one of them to read it. When ctx ends
// first, o is returned as it is: its own actions need no import.
func (w *webImports) withWeb(ctx context.Context, o *Offer, page primitives.Page) *Offer {
	address := page.Tab().URL
	if o == nil || !o.Library.WantsWeb(address) {
		return o
	}
	at, err := url.Parse(address)
	if err != nil {
		return o
	}
	e := w.entry(webKey{o, at.Scheme + "://" + at.Host})
	select {
	case <-e.turn:
		defer func() { e.turn <- struct{}{} }()
	case <-ctx.Done():
		return o
	}
	base := o
	if e.offer != nil && time.Now().Before(e.until) {
		if !e.offer.Library.WantsWeb(address) {
			return e.offer
		}
		base = e.offer // another map of this origin applies here
	}
	bounded, cancel := context.WithTimeout(ctx, webImportLimit)
	defer cancel()
	read := base.Library.WithWeb(bounded, address, pageFetcher{page}, sites.DefaultFetchLimits)
	e.offer, e.until = &Offer{Library: read}, time.Now().Add(webImportLife)
	for _, i := range read.List(address).Imports {
		if i.Status == "failed" {
			e.until = time.Now().Add(webFailureLife)
		}
	}
	e.latest.Store(e.offer)
	if w.changed != nil {
		w.changed()
	}
	return e.offer
}

func (w *webImports) entry(key webKey) *webEntry {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.entries[key]
	if e == nil {
		if w.entries == nil {
			w.entries = map[webKey]*webEntry{}
		}
		if len(w.entries) >= maxWebImports {
			w.forgetOldest()
		}
		e = &webEntry{turn: make(chan struct{}, 1)}
		e.turn <- struct{}{}
		w.entries[key] = e
	}
	e.used = time.Now()
	return e
}

func (w *webImports) forgetOldest() {
	var oldest webKey
	for key, e := range w.entries {
		if w.entries[oldest] == nil || e.used.Before(w.entries[oldest].used) {
			oldest = key
		}
	}
	delete(w.entries, oldest)
}

// read are the offers that were read from the web for base, of any origin.
func (w *webImports) read(base *Offer) []*Offer {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*Offer
	for key, e := range w.entries {
		if o := e.latest.Load(); key.base == base && o != nil {
			out = append(out, o)
		}
	}
	return out
}

// readFor returns the maps that were read from the web for base and the pages of an origin, nil
// when nothing was.
func (w *webImports) readFor(base *Offer, address string) *Offer {
	at, err := url.Parse(address)
	if err != nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.entries[webKey{base, at.Scheme + "://" + at.Host}]; e != nil {
		return e.latest.Load()
	}
	return nil
}

// OnRead has changed called after something was read from the web.
func (m *Maps) OnRead(changed func()) { m.web.changed = changed }

// WithWeb is o with what its maps import from the web for a page.
func (m *Maps) WithWeb(ctx context.Context, o *Offer, page primitives.Page) *Offer {
	return m.web.withWeb(ctx, o, page)
}

// All are the maps on offer, and what has been read of the web for them.
func (m *Maps) All() []*Offer {
	o := m.Current()
	if o.Library == nil {
		return nil
	}
	return append([]*Offer{o}, m.web.read(o)...)
}

// At returns the offer for a page's URL without reading anything for it.
func (m *Maps) At(url string) *Offer {
	o := m.Current()
	if o.Library != nil {
		if web := m.web.readFor(o, url); web != nil {
			return web
		}
	}
	return o
}
