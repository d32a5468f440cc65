package runtime

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

// fetchMargin is what the answer of the page needs to arrive before the context
// ends.
const fetchMargin = 200 * time.Millisecond

func (f pageFetcher) Fetch(ctx context.Context, address string, limits sites.FetchLimits) (*sites.Fetched, error) {
	patience := limits.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline)-fetchMargin)
	}
	if patience <= 0 {
		return nil, fault.New(fault.Timeout, "there is no time left to read a map")
	}
	args := map[string]any{"url": address, "max_bytes": limits.MaxBytes, "timeout_ms": max(1, patience.Milliseconds()), "redirects": limits.Redirects}
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
	mu   sync.Mutex
	kept map[webKey]*webEntry
	// changed, when set, is called after something was read.
	changed func()
}

type webKey struct {
	base   *offer
	origin string
}

type webEntry struct {
	turn  chan struct{} // holds one token: whoever has it reads
	offer *offer        // nil until read; guarded by the token
	// latest is offer, for those who do not wait.
	latest atomic.Pointer[offer]
	until  time.Time
	used   time.Time // guarded by webImports.mu
}

// withWeb returns o with what the maps of the page import from the web. Calls
// that need the same origin wait for one of them to read it. When ctx ends
// first, o is returned as it is: its own actions need no import.
func (w *webImports) withWeb(ctx context.Context, o *offer, page primitives.Page) *offer {
	address := page.Tab().URL
	if o == nil || !o.library.WantsWeb(address) {
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
		if !e.offer.library.WantsWeb(address) {
			return e.offer
		}
		base = e.offer // another map of this origin applies here
	}
	bounded, cancel := context.WithTimeout(ctx, webImportLimit)
	defer cancel()
	read := base.library.WithWeb(bounded, address, pageFetcher{page}, sites.DefaultFetchLimits)
	e.offer, e.until = &offer{library: read}, time.Now().Add(webImportLife)
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
	e := w.kept[key]
	if e == nil {
		if w.kept == nil {
			w.kept = map[webKey]*webEntry{}
		}
		if len(w.kept) >= maxWebImports {
			w.forgetOldest()
		}
		e = &webEntry{turn: make(chan struct{}, 1)}
		e.turn <- struct{}{}
		w.kept[key] = e
	}
	e.used = time.Now()
	return e
}

func (w *webImports) forgetOldest() {
	var oldest webKey
	for key, e := range w.kept {
		if w.kept[oldest] == nil || e.used.Before(w.kept[oldest].used) {
			oldest = key
		}
	}
	delete(w.kept, oldest)
}
