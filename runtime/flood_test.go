package runtime_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/runtime"
)

// A page that gives the browser itself more to do than it gets done does not take the other tabs with it: the
// browser is ended, and after it is ended again the tabs are there without their pages. With OUTRIDER_HOSTILE every
// page of testdata/pages/floods is tried.
func TestFloodedBrowserComesBack(t *testing.T) {
	names := []string{"title.html"}
	root := filepath.Join("..", "testdata", "pages")
	if os.Getenv("OUTRIDER_HOSTILE") != "" {
		names = nil
		files, err := filepath.Glob(filepath.Join(root, "floods", "*.html"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no pages: %v", err)
		}
		for _, file := range files {
			names = append(names, filepath.Base(file))
		}
	}
	srv := httptest.NewServer(http.FileServer(http.Dir(root)))
	t.Cleanup(srv.Close)
	for _, name := range names {
		t.Run(strings.TrimSuffix(name, ".html"), func(t *testing.T) {
			h := launched(t, runtime.Options{Open: []string{srv.URL + "/odd/custom_select.html"}})
			flood := strings.Replace(srv.URL, "127.0.0.1", "localhost", 1) + "/floods/" + name
			do(t, h, "browser.open_tab", `{"url":"`+flood+`","active":false}`, 3*time.Second)
			// A tab answers for a moment before the flood has come far, and between the two ends: it is back when it
			// has answered for some seconds.
			const enough = 12
			const aWhile = `{"source":"return new Promise((r) => setTimeout(r, 300))"}`
			deadline := time.Now().Add(4 * patience)
			for answered := 0; answered < enough; {
				r := do(t, h, "debug.run_javascript", aWhile, 2*time.Second)
				switch {
				case r.Err == nil:
					answered++
				case time.Now().After(deadline):
					t.Fatalf("the other tab does not answer: %v", r.Err)
				default:
					answered = 0
				}
			}
			if n := len(h.Tabs()); n != 2 {
				t.Errorf("there are %d tabs, want 2", n)
			}
		})
	}
}
