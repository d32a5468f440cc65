package runtime_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/runtime"
)

// TestAffordances drives the cases below testdata/affordances: pages, some with
// frames of another origin, and what their maps attach to them and hear of them
// while pages and maps change. Each case is a storage bundle of its actions.json
// and of the files in its folder storage; steps are those of testdata/sites.
func TestAffordances(t *testing.T) {
	paths, err := filepath.Glob("../testdata/affordances/*/calls.json")
	if err != nil || len(paths) < 5 {
		t.Fatalf("found %d cases: %v", len(paths), err)
	}
	for _, path := range paths {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			var steps []siteStep
			d := json.NewDecoder(bytes.NewReader(readFile(t, path)))
			d.DisallowUnknownFields()
			if err := d.Decode(&steps); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			h := open(t, runtime.Options{Open: []string{"about:blank"}})
			siteStep{dir: dir, Map: "actions.json"}.importMap(t, h)
			ev := subscribe(t, h)
			value(t, do(t, h, "browser.navigate", `{"url":"`+serveFrames(t, dir)+`/index.html"}`, 20*time.Second))
			for i, s := range steps {
				s.dir = dir
				s.check(t, h, ev, fmt.Sprintf("step %d, %s", i+1, s.About))
			}
		})
	}
}

// serveFrames serves a folder under two origins of two sites. {{OTHER}} in a page
// is the other one.
func serveFrames(t *testing.T, dir string) string {
	t.Helper()
	var other string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(r.URL.Path)))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		fmt.Fprint(w, strings.ReplaceAll(string(b), "{{OTHER}}", other))
	}))
	t.Cleanup(s.Close)
	other = strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	return s.URL
}

// filled is a stored file as it is offered: {{2MiB}} in it is that much text.
func filled(file []byte) string {
	return strings.ReplaceAll(string(file), "{{2MiB}}", strings.Repeat("0123456789abcde\n", 2<<20/16))
}

// importMap offers the case's storage with another map in it.
func (s siteStep) importMap(t *testing.T, h *runtime.Host) {
	t.Helper()
	entries := []map[string]string{{
		"path":    "scopes/private/sites/127.0.0.1/actions.json",
		"content": string(readFile(t, filepath.Join(s.dir, s.Map))),
	}}
	stored := filepath.Join(s.dir, "storage")
	if _, err := os.Stat(stored); err == nil {
		if err := fs.WalkDir(os.DirFS(stored), ".", func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				entries = append(entries, map[string]string{
					"path":    path,
					"content": filled(readFile(t, filepath.Join(stored, path))),
				})
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	bundle, err := json.Marshal(map[string]any{
		"protocol": "actions.json.storage.bundle",
		"version":  1,
		"entries":  entries,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.ImportBundle(t.Context(), bundle); err != nil {
		t.Fatalf("importing %s: %v %v", s.Map, err, err.Evidence)
	}
}
