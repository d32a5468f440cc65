package runtime_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

func TestMain(m *testing.M) {
	expr.MaybeWorker()
	browsertest.Main(m)
}

var ids atomic.Int64

func newID() string { return fmt.Sprintf("%04d", ids.Add(1)) }

// serve serves pages by path; each is the body of an HTML document.
func serve(t *testing.T, pages map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!doctype html><title>%s</title>%s", strings.Trim(r.URL.Path, "/"), body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// open opens a host that ends with the test.
func open(t *testing.T, opts runtime.Options) *runtime.Host {
	t.Helper()
	opts.NewID = newID
	return runtimetest.Open(t, opts)
}

// launched is open with a browser of the host's own, which the test may end.
func launched(t *testing.T, opts runtime.Options) *runtime.Host {
	t.Helper()
	opts.NewID = newID
	return runtimetest.Launched(t, opts)
}

// openMap is open with one map that applies to every page.
func openMap(t *testing.T, urls []string, manifest string) *runtime.Host {
	t.Helper()
	return open(t, runtime.Options{Open: urls, Maps: mapsOf(t, manifest)})
}

func mapsOf(t *testing.T, manifest string) *runtime.Maps {
	t.Helper()
	maps, err := runtime.MapFromBytes("test/actions.json", []byte(manifest), catalog.Standard(), runtimetest.Engine(t))
	if err != nil {
		t.Fatal(err)
	}
	return maps
}

// do runs one call on the tab that was opened first. A timeout of some seconds is for
// an idle machine; under load the call has patience.
func do(t *testing.T, h *runtime.Host, name, args string, timeout time.Duration) runtime.Reply {
	t.Helper()
	if timeout >= 5*time.Second {
		timeout = max(timeout, patience)
	}
	return h.Do(t.Context(), runtime.Call{
		ID:        newID(),
		Target:    first(t, h),
		Name:      name,
		Arguments: json.RawMessage(args),
		Timeout:   timeout,
	})
}

func first(t *testing.T, h *runtime.Host) runtime.Target {
	t.Helper()
	tabs := h.Tabs()
	if len(tabs) == 0 {
		t.Fatal("the host has no tab")
	}
	return runtime.Target{RuntimeID: tabs[0].RuntimeID}
}

// value returns the value of a success envelope.
func value(t *testing.T, r runtime.Reply) map[string]any {
	t.Helper()
	if r.Err != nil {
		t.Fatalf("the call failed: %v %v", r.Err, r.Err.Evidence)
	}
	var out map[string]any
	if err := json.Unmarshal(r.Output, &out); err != nil {
		t.Fatalf("%v in %s", err, r.Output)
	}
	if v, ok := out["value"].(map[string]any); ok {
		return v
	}
	return out
}

// events collects what a host announces.
type events chan runtime.Event

func subscribe(t *testing.T, h *runtime.Host) events {
	t.Helper()
	ch := make(events, 1000)
	t.Cleanup(h.Subscribe(func(ev runtime.Event) { ch <- ev }))
	return ch
}

// wait returns the next event of a kind for which ok holds.
func (e events) wait(t *testing.T, kind runtime.EventKind, ok func(runtime.TabStatus) bool) runtime.TabStatus {
	t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case ev := <-e:
			if ev.Kind == kind && ok(ev.Tab) {
				return ev.Tab
			}
		case <-timeout:
			t.Fatalf("no %s event within %s", kind, patience)
		}
	}
}
