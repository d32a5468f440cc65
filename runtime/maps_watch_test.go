package runtime_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

// An edit of a map is on offer without a restart, tabs report it, and a broken
// one takes nothing away.
func TestMapsAreKeptLikeTheirFiles(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "sites", "127.0.0.1", "m", "actions.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	save := func(text string) {
		t.Helper()
		// As editors do it: a new file in the place of the old one.
		if err := os.WriteFile(file+"~", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+"~", file); err != nil {
			t.Fatal(err)
		}
	}
	save(staticMap("one", "1"))
	maps, read := runtime.ReadMaps([]string{root}, catalog.Standard(), runtimetest.Engine(t), runtime.MapOptions{})
	ready := func() error {
		if reports := read(); len(reports) != 1 || !reports[0].OK {
			return fmt.Errorf("reports %+v", reports)
		}
		return nil
	}
	h := open(t, runtime.Options{
		Maps:      maps,
		Ready:     ready,
		WatchMaps: true,
		Open:      []string{serve(t, map[string]string{"/x": ""}) + "/x"},
	})
	ch := subscribe(t, h)
	type report struct {
		Added, Changed, Removed []string
		Kept, Refused           []struct{ File, Pointer, Code string }
	}
	received := func(within time.Duration, matches func(report) bool) bool {
		t.Helper()
		deadline := time.After(within)
		for {
			select {
			case ev := <-ch:
				var p report
				if ev.Name != runtime.MapsChangedEvent {
					continue
				}
				if err := json.Unmarshal(ev.Payload, &p); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(ev.Payload), root) {
					t.Errorf("the event names a folder of this machine: %s", ev.Payload)
				}
				if matches(p) {
					return true
				}
			case <-deadline:
				return false
			}
		}
	}
	await := func(what string, matches func(report) bool) {
		t.Helper()
		if !received(30*time.Second, matches) {
			t.Fatalf("%s was not reported", what)
		}
	}
	names := func() string {
		list, _ := listOf(t, h)
		var out []string
		for _, a := range list.Actions {
			out = append(out, a.Name)
		}
		return strings.Join(out, " ")
	}
	if got := names(); got != "one" {
		t.Fatalf("actions %q", got)
	}
	// What a bridge brought stays beside what the files say.
	bundle := map[string]any{"protocol": "actions.json.storage.bundle", "entries": []map[string]string{
		{"path": "scopes/private/sites/127.0.0.1/m/actions.json", "content": staticMap("bundled", "b")},
	}}
	raw, err := json.Marshal(bundle)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.ImportBundle(t.Context(), raw); err != nil {
		t.Fatal(err)
	}
	const path = "sites/127.0.0.1/m/actions.json"
	// The watch begins beside the host; the first edit is repeated until it is reported.
	for i := 0; ; i++ {
		save(staticMap("two", strings.Repeat("x", i)))
		if received(2*time.Second, func(p report) bool { return len(p.Changed) == 1 && p.Changed[0] == path }) {
			break
		}
		if i == 15 {
			t.Fatal("the first edit was not reported")
		}
	}
	if got := names(); got != "bundled two" {
		t.Errorf("after an edit: actions %q", got)
	}
	save(`{"protocol":`)
	await("a broken edit", func(p report) bool {
		return len(p.Kept) == 1 && p.Kept[0].File == path && p.Kept[0].Code == "invalid_json"
	})
	if got := names(); got != "bundled two" {
		t.Errorf("after a broken edit: actions %q", got)
	}
	if err := os.RemoveAll(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	await("a removal", func(p report) bool { return len(p.Removed) == 1 && p.Removed[0] == path })
	if got := names(); got != "bundled" {
		t.Errorf("after a removal: actions %q", got)
	}
}

// What is wrong with maps is the error, whatever became of the browser that starts beside them.
func TestMapsThatAreWrongEndTheLaunch(t *testing.T) {
	wrong := errors.New("1 of 1 maps is invalid")
	h, err := runtime.Open(t.Context(), runtime.Options{
		Registry: catalog.Standard(), Engine: runtimetest.Engine(t), NewID: newID, Ready: func() error { return wrong },
		Browser: browser.Options{Path: filepath.Join(t.TempDir(), "no-browser")},
	})
	if h != nil || !errors.Is(err, wrong) {
		t.Fatalf("host %v, error %v, want %v", h, err, wrong)
	}
}
