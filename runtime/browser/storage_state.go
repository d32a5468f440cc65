package browser

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// LocalStorage implements primitives.StoredPage.
func (t *Tab) LocalStorage(ctx context.Context, origins []string) ([]primitives.OriginStorage, error) {
	shown := t.shownOrigins()
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
		if err := t.atOrigin(ctx, o, shown, "storage_read", nil, &items); err != nil {
			return nil, err
		}
		out = append(out, primitives.OriginStorage{Origin: o, Items: items.Items})
	}
	return out, nil
}

// SetLocalStorage implements primitives.StoredPage.
func (t *Tab) SetLocalStorage(ctx context.Context, origins []primitives.OriginStorage, replace bool) error {
	shown := t.shownOrigins()
	for _, o := range origins {
		args := map[string]any{"items": o.Items, "replace": replace}
		if err := t.atOrigin(ctx, o.Origin, shown, "storage_write", args, nil); err != nil {
			return err
		}
	}
	return nil
}

// shownFrame is a frame that can answer for an origin.
type shownFrame struct {
	tab   *Tab
	frame primitives.FrameID
}

// shownOrigins are the origins that the tabs of the browser context show. Of
// frames only those count whose storage is not partitioned: the ones of the same
// site as the page around them.
func (t *Tab) shownOrigins() map[string]shownFrame {
	out := map[string]shownFrame{}
	tabs := append([]*Tab{t}, t.b.Tabs()...)
	for _, o := range tabs {
		if o.context != t.context {
			continue
		}
		frames := o.Frames()
		if len(frames) == 0 {
			continue
		}
		top := originOf(frames[0].URL)
		for _, f := range frames {
			origin := originOf(f.URL)
			if _, ok := out[origin]; ok || origin == "" || !sameSite(top, origin) {
				continue
			}
			out[origin] = shownFrame{o, f.ID}
		}
	}
	return out
}

// originOf is the origin of an http address, "" for others.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return ""
	}
	host := strings.ToLower(u.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; strings.HasSuffix(host, port) {
		host = strings.TrimSuffix(host, port)
	}
	return u.Scheme + "://" + host
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

// atOrigin asks the page library in a document of an origin: one that is shown,
// or an empty one in a tab that is opened for it and answers by itself, so that
// nothing is requested.
func (t *Tab) atOrigin(ctx context.Context, origin string, shown map[string]shownFrame, fn string, args, out any) error {
	if originOf(origin) != origin {
		return fault.New(fault.InvalidArguments, "an origin is scheme, host and port of http or https").With("origin", cutText(origin, 200))
	}
	if f, ok := shown[origin]; ok {
		return f.tab.Call(ctx, f.frame, fn, args, out)
	}
	helper, err := t.b.NewTab(ctx, "", TabOptions{Background: true, Context: t.context})
	if err != nil {
		return err
	}
	defer func() { _ = helper.Close(contextWithin(farewell)) }()
	helper.empty.Store(true)
	if err := helper.enableAll(ctx, []*session{helper.s},
		command{method: "Fetch.enable", params: []byte(`{"patterns":[{"urlPattern":"*"}]}`)},
		command{method: "Network.setBypassServiceWorker", params: []byte(`{"bypass":true}`)}); err != nil {
		return t.b.explain(err, "opening an empty document")
	}
	if _, err := helper.Navigate(ctx, primitives.NavigateOptions{URL: origin + "/"}); err != nil {
		return err
	}
	return helper.Call(ctx, "", fn, args, out)
}

// onPaused answers the requests of a tab that is kept empty. It is the reader's.
func (t *Tab) onPaused(s *session, params []byte) {
	id := string(plainString(member(params, "requestId")))
	if !t.empty.Load() {
		return
	}
	body := json.RawMessage(`{"requestId":"` + id + `","responseCode":200,"responseHeaders":[{"name":"content-type","value":"text/html"}],"body":"PCFkb2N0eXBlIGh0bWw+"}`)
	t.b.c.post(command{session: s.id, method: "Fetch.fulfillRequest", params: body})
}
