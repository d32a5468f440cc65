package storage

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/truncate"
)

// LocalStorage implements primitives.StoredPage.
func (s *Store) LocalStorage(ctx context.Context, origins []string) ([]primitives.OriginStorage, error) {
	shown := s.shownOrigins()
	if len(origins) == 0 {
		for o := range shown {
			origins = append(origins, o)
		}
		slices.Sort(origins)
	}
	var out []primitives.OriginStorage
	for _, o := range origins {
		var items struct {
			Items []primitives.StorageItem `json:"items"`
		}
		if err := s.atOrigin(ctx, o, shown, "storage_read", map[string]any{"area": "local"}, &items); err != nil {
			return nil, err
		}
		out = append(out, primitives.OriginStorage{Origin: o, Items: items.Items})
	}
	return out, nil
}

// SetLocalStorage implements primitives.StoredPage.
func (s *Store) SetLocalStorage(ctx context.Context, origins []primitives.OriginStorage, replace bool) error {
	shown := s.shownOrigins()
	for _, o := range origins {
		args := map[string]any{"area": "local", "items": o.Items, "replace": replace}
		if err := s.atOrigin(ctx, o.Origin, shown, "storage_write", args, nil); err != nil {
			return err
		}
	}
	return nil
}

// shownFrame is a frame that can answer for an origin.
type shownFrame struct {
	document Document
	frame    primitives.FrameID
}

// shownOrigins are the origins that the tabs of the browser context show. Of
// frames only those count whose storage is not partitioned: the ones of the same
// site as the page around them.
func (s *Store) shownOrigins() map[string]shownFrame {
	out := map[string]shownFrame{}
	for _, document := range append([]Document{s.tab}, s.browser.SharedTabs()...) {
		frames := document.Frames()
		if len(frames) == 0 {
			continue
		}
		top := address.Origin(frames[0].URL)
		for _, f := range frames {
			origin := address.Origin(f.URL)
			if _, ok := out[origin]; ok || origin == "" || !sameSite(top, origin) {
				continue
			}
			out[origin] = shownFrame{document, f.ID}
		}
	}
	return out
}

// sameSite is careful: hosts are of one site when they are equal or one is below
// the other, which needs no list of public suffixes.
func sameSite(a, b string) bool {
	ua, errA := url.Parse(a)
	ub, errB := url.Parse(b)
	if errA != nil || errB != nil || ua.Scheme != ub.Scheme {
		return false
	}
	x, y := ua.Hostname(), ub.Hostname()
	return x == y || strings.HasSuffix(x, "."+y) || strings.HasSuffix(y, "."+x)
}

// atOrigin calls a function of the page library in a document of an origin: one that is
// shown, or an empty one that is opened for it.
func (s *Store) atOrigin(
	ctx context.Context, origin string, shown map[string]shownFrame, fn string, args, out any,
) error {
	if address.Origin(origin) != origin {
		return fault.New(fault.InvalidArguments, "an origin is scheme, host and port of http or https").
			With("origin", truncate.Bytes(origin, 200))
	}
	if f, ok := shown[origin]; ok {
		return f.document.Call(ctx, f.frame, fn, args, out)
	}
	empty, closeEmpty, err := s.browser.OpenEmpty(ctx, origin)
	if err != nil {
		return err
	}
	defer closeEmpty()
	return empty.Call(ctx, "", fn, args, out)
}

// CallAtOrigin implements primitives.StoredPage.
func (s *Store) CallAtOrigin(ctx context.Context, origin, fn string, args, out any) error {
	return s.atOrigin(ctx, origin, s.shownOrigins(), fn, args, out)
}
