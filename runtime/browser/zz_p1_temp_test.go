package browser_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/browsertest"
)

func p1subset(want, got any, at string) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: got %v, want object", at, got)
		}
		for k, e := range w {
			v, ok := g[k]
			if !ok {
				if e == nil && false {
					continue
				}
				return fmt.Sprintf("%s.%s missing", at, k)
			}
			if s := p1subset(e, v, at+"."+k); s != "" {
				return s
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			b, _ := json.Marshal(got)
			return fmt.Sprintf("%s: got %.300s, want %d items", at, b, len(w))
		}
		for i := range w {
			if s := p1subset(w[i], g[i], fmt.Sprintf("%s[%d]", at, i)); s != "" {
				return s
			}
		}
		return ""
	case float64:
		if g, ok := got.(float64); ok && math.Abs(g-w) < 0.01 {
			return ""
		}
	default:
		if want == got {
			return ""
		}
	}
	return fmt.Sprintf("%s: got %v, want %v", at, got, want)
}

func TestP1Temp(t *testing.T) {
	reg := primitives.Standard()
	root := "../../testdata/pages"
	var other string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(r.URL.Path)))
		if err != nil {
			w.WriteHeader(404)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write([]byte(strings.ReplaceAll(string(b), "{{OTHER}}", other)))
	}))
	defer srv.Close()
	other = strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
	only := regexp.MustCompile(os.Getenv("P1"))
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() || !strings.HasSuffix(path, ".html") || !only.MatchString(rel) {
			return nil
		}
		b, _ := os.ReadFile(path)
		m := regexp.MustCompile(`(?s)<script type="application/json" id="expect">(.*?)</script>`).FindSubmatch(b)
		if m == nil {
			return nil
		}
		t.Run(rel, func(t *testing.T) {
			var e struct {
				Viewport []int
				Calls    []struct {
					Name     string
					Args     json.RawMessage
					Expect   any
					Error    string
					Evidence any
					Then     string
					Save     string
				}
			}
			if err := json.Unmarshal(m[1], &e); err != nil {
				t.Fatal(err)
			}
			tab := browsertest.Tab(t)
			vp := []int{1280, 720}
			if len(e.Viewport) == 2 {
				vp = e.Viewport
			}
			if err := tab.Raw(within(t, 5*time.Second), "Emulation.setDeviceMetricsOverride", map[string]any{"width": vp[0], "height": vp[1], "deviceScaleFactor": 1, "mobile": false}, nil); err != nil {
				t.Fatal(err)
			}
			open(t, tab, srv.URL+"/"+filepath.ToSlash(rel))
			for i, c := range e.Calls {
				start := time.Now()
				r := reg.Invoke(within(t, 20*time.Second), tab, c.Name, c.Args)
				t.Logf("call %d %s %s", i, c.Name, time.Since(start))
				got := ""
				if r.Err != nil {
					got = string(r.Err.Code)
				}
				eb, _ := json.Marshal(r.Err)
				if r.Err != nil && r.Err.Err != nil && got != c.Error {
					t.Logf("cause %v", r.Err.Err)
				}
				if got != c.Error {
					t.Errorf("call %d %s: error %q want %q: %.1500s %v\npayload %.800s", i, c.Name, got, c.Error, eb, r.Err, r.Payload)
					continue
				}
				var v any
				json.Unmarshal(r.Payload, &v)
				if c.Expect != nil {
					if s := p1subset(c.Expect, v, "$"); s != "" {
						t.Errorf("call %d %s: %s\n%.1500s", i, c.Name, s, r.Payload)
					}
				}
				if c.Evidence != nil {
					var ev struct{ Evidence any }
					json.Unmarshal(eb, &ev)
					if s := p1subset(c.Evidence, ev.Evidence, "evidence"); s != "" {
						t.Errorf("call %d %s: %s\n%.1500s", i, c.Name, s, eb)
					}
				}
				if c.Then != "" {
					out, err := tab.Eval(within(t, 5*time.Second), "", c.Then)
					if err != nil || out != "true" {
						t.Errorf("call %d %s: then %s gave %s %v", i, c.Name, c.Then, out, err)
					}
				}
			}
		})
		return nil
	})
}
