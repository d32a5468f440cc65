package replay_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/evidence/replay"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/runtime"
)

const shelf = `<!doctype html><title>Shelf</title><button onclick="setTimeout(() => { const e = ` +
	`document.createElement('li'); e.textContent = 'Cat'; shelf.append(e) }, 50)">Add</button><ul id="shelf">` +
	`<li>Ant</li></ul>`

const shelfMap = `{"protocol":"actions.json","version":1,"surface":{"name":"Shelf"},"tools":[],"state_projections":[{"name":"shelf.items","snapshot":{"version":1,"source":"dom",
"extract":[{"id":"items","selector":"li","fields":{"name":{"trim":true}}}],
"projection":{"language":"jsonata","expression":"{% {'items': [records.items.name]} %}"},"output_schema":{"type":"object"}}}]}`

var shelfCalls = [][2]string{
	{runtime.SiteTool, `{"mode":"state_read","projection_name":"shelf.items"}`},
	{"page.info", `{}`},
	{"pointer.click", `{"locator":{"role":"button","name":"Add"}}`},
	{"locator.wait_for", `{"locator":{"selector":"li:nth-child(2)"},"timeout_ms":25000}`},
	{runtime.SiteTool, `{"mode":"state_diff","projection_name":"shelf.items"}`},
}

// shelfRecorded records calls on a shelf; before, which may be nil, is called before each.
func shelfRecorded(t *testing.T, address string, calls [][2]string, before func(call string)) string {
	t.Helper()
	mapFile := filepath.Join(t.TempDir(), "actions.json")
	if err := os.WriteFile(mapFile, []byte(shelfMap), 0o600); err != nil {
		t.Fatal(err)
	}
	maps, reports := runtime.LoadMaps(
		[]string{mapFile}, catalog.Standard(), runtimetest.Engine(t), runtime.MapOptions{},
	)
	if len(reports) == 0 || !reports[0].OK {
		t.Fatalf("%+v", reports)
	}
	path := filepath.Join(t.TempDir(), "a.rec")
	recorder, err := capture.Open(capture.Files{Record: path}, capture.Options{Pages: true, Maps: []string{mapFile}})
	if err != nil {
		t.Fatal(err)
	}
	h := runtimetest.Attached(t, runtime.Options{Recorder: recorder, Maps: maps, Open: []string{address + "/"}})
	ctx := browsertest.Within(t, time.Minute)
	for _, c := range calls {
		if before != nil {
			before(c[0])
		}
		if r := h.Do(ctx, runtime.Call{Name: c[0], Arguments: json.RawMessage(c[1])}); r.Err != nil {
			t.Fatalf("%s: %v", c, r.Err)
		}
	}
	if err := h.Close(context.WithoutCancel(ctx)); err != nil {
		t.Fatal(err)
	}
	return path
}

// A click whose result is the same, and after which the page holds something else, is found by the projection that a
// map declares. The reads for it leave what callers compare with alone.
func TestStatesAreRecordedAndCompared(t *testing.T) {
	t.Parallel()
	server := site(t, shelf)
	path := shelfRecorded(t, server.URL, shelfCalls, nil)
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	list := record.Calls(r.Events)
	if len(list) != 5 || len(list[4].After) != 1 || len(list[0].States) != 1 || list[0].States[0].Patches != nil {
		t.Fatalf("the states of the recording: %+v", list)
	}
	data, err := r.Data(list[4].After[0].Resource)
	patches := ""
	for _, c := range list { // a slow machine sees it after the click, or the wait
		patches += string(c.After[0].Patches)
	}
	if err != nil || string(data) != `{"items":["Ant","Cat"]}` || strings.Count(patches, `"Cat"`) != 1 {
		t.Errorf("the last state is %s, %v; the differences %s", data, err, patches)
	}
	server.Close()
	if r := play(t, path, func(o *replay.Options) { o.Offline = true }); r.Verdict != replay.Reproduced {
		t.Errorf("the same page: %s", text(t, r))
	}
	changed := site(t, strings.Replace(shelf, "'Cat'", "'Cow'", 1))
	got := play(t, path, func(o *replay.Options) { o.URL = changed.URL + "/" })
	if got.Verdict != replay.Differs || got.First < 3 || got.First > 4 ||
		len(got.Calls[got.First-1].Differences) != 1 ||
		got.Calls[got.First-1].Differences[0].Pointer != "/state/shelf.items/items/1" {
		t.Errorf("another item: %s", text(t, got))
	}
}

// A page that changes by itself can be ahead of the recording: what it has after a click, it had there after a call
// that only waited. Another item is a difference all the same, and so is one that a call between may have made.
func TestAStateThatComesSoonerIsTheSame(t *testing.T) {
	t.Parallel()
	now := strings.Replace(strings.Replace(shelf, "setTimeout(() => {", "{", 1), "}, 50)", "}", 1)
	for _, c := range []struct {
		name    string
		between [2]string // what is called before the item comes
		page    string
		verdict string
		first   int
	}{
		{"at once", [2]string{"page.info", `{}`}, now, replay.Reproduced, 0},
		{
			"another item at once", [2]string{"page.info", `{}`},
			strings.Replace(now, "'Cat'", "'Cow'", 1), replay.Differs, 3,
		},
		{"before a call that acts", [2]string{"keyboard.press", `{"key":"Tab"}`}, now, replay.Differs, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			add := make(chan struct{})
			slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/":
					w.Header().Set("Content-Type", "text/html")
					_, _ = w.Write([]byte(strings.Replace(shelf, "setTimeout(() =>", "fetch('item').then(() =>", 1)))
				case "/item":
					select {
					case <-add:
					case <-r.Context().Done():
					}
				}
			}))
			t.Cleanup(slow.Close)
			// The state that the click leaves is read when the call after it begins.
			path := shelfRecorded(t, slow.URL, slices.Insert(slices.Clone(shelfCalls), 3, c.between), func(
				call string,
			) {
				if call == "locator.wait_for" {
					close(add)
				}
			})
			at := site(t, c.page)
			if r := play(t, path, func(o *replay.Options) {
				o.URL = at.URL + "/"
			}); r.Verdict != c.verdict || r.First != c.first {
				t.Errorf("%s", text(t, r))
			}
		})
	}
}
