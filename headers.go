package outrider

import (
	"context"
	"net/http"
	"strings"
	"sync"
)

// SetHeaders sends these headers with each request of the page, its frames and its workers, until stop. Servers of
// other origins get them too: for a secret use [Tab.Route], whose handler sees the address.
func (t *Tab) SetHeaders(ctx context.Context, header http.Header) (stop func(), err error) {
	lines := map[string]string{}
	for name, values := range header {
		lines[name] = strings.Join(values, ", ")
	}
	w, err := t.watch(ctx, []command{
		{"Network.enable", nil}, {"Network.setExtraHTTPHeaders", map[string]any{"headers": lines}},
	})
	if err != nil {
		return nil, err
	}
	following, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { w.nextEvent(following) }) // there is none but of frames and workers, which join
	var once sync.Once
	return func() {
		once.Do(func() {
			cancel()
			w.Close()
			running.Wait()
		})
	}, nil
}
