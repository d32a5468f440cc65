package browser_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/browsertest"
)

func TestP2Temp(t *testing.T) {
	reg := primitives.Standard()
	root := "../../testdata/pages"
	for _, topic := range strings.Split(os.Getenv("P2_TOPICS"), ",") {
		files, _ := filepath.Glob(filepath.Join(root, topic, "*.html"))
		for _, file := range files {
			b, _ := os.ReadFile(file)
			t.Run(topic+"/"+filepath.Base(file), func(t *testing.T) {
				m := regexp.MustCompile(`(?s)<script type="application/json" id="expect">(.*?)</script>`).FindSubmatch(b)
				var e struct {
					Calls []struct {
						Name     string
						Args     json.RawMessage
						Expect   json.RawMessage
						Error    string
						Evidence json.RawMessage
						Then     string
						Save     string
					}
				}
				if m == nil {
					t.Fatal("no expect")
				}
				if err := json.Unmarshal(m[1], &e); err != nil {
					t.Fatal(err)
				}
				s := newSite(t, map[string]string{"/": string(b), "/other.html": "<!doctype html><title>other</title><body style='margin:0'><input id=i style='position:absolute;left:10px;top:10px;width:120px;height:30px'><div id=e contenteditable style='position:absolute;left:10px;top:60px;width:120px;height:30px'></div>"})
				tab := browsertest.Tab(t)
				if err := tab.Raw(within(t, 5*time.Second), "Emulation.setDeviceMetricsOverride", map[string]any{"width": 1280, "height": 720, "deviceScaleFactor": dpr(), "mobile": false}, nil); err != nil {
					t.Fatal(err)
				}
				open(t, tab, s.origin+"/")
				for i, c := range e.Calls {
					start := time.Now()
					r := reg.Invoke(within(t, 20*time.Second), tab, c.Name, c.Args)
					_ = start
					got := ""
					if r.Err != nil {
						got = string(r.Err.Code)
					}
					if got != c.Error {
						t.Fatalf("call %d %s: error %q (%v) want %q", i, c.Name, got, r.Err, c.Error)
					}
					var v, w any
					json.Unmarshal(r.Payload, &v)
					if len(c.Expect) > 0 {
						json.Unmarshal(c.Expect, &w)
						if p := subset(w, v, ""); p != "" {
							t.Errorf("call %d %s: %s in %s", i, c.Name, p, clipb(r.Payload))
						}
					}
					if len(c.Evidence) > 0 {
						eb, _ := json.Marshal(r.Err)
						var ev struct{ Evidence any }
						json.Unmarshal(eb, &ev)
						json.Unmarshal(c.Evidence, &w)
						if p := subset(w, ev.Evidence, ""); p != "" {
							t.Errorf("call %d %s: evidence %s in %s", i, c.Name, p, eb)
						}
					}
					if c.Then != "" {
						out, err := tab.Eval(within(t, 5*time.Second), "", c.Then)
						if err != nil || out != "true" {
							dbg, _ := tab.Eval(within(t, 5*time.Second), "", "JSON.stringify(window.log||window.debug||null)")
							t.Errorf("call %d %s: then %s = %s %v; log %s; payload %s", i, c.Name, c.Then, out, err, dbg, clipb(r.Payload))
						}
					}
				}
				if t.Failed() || testing.Verbose() {
					t.Log(file)
				}
			})
		}
	}
}

func clipb(b []byte) string {
	if len(b) > 900 {
		return string(b[:900]) + "..."
	}
	return string(b)
}

func subset(want, got any, at string) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: got %T", at, got)
		}
		for k, x := range w {
			y, ok := g[k]
			if !ok {
				return at + "." + k + " missing"
			}
			if p := subset(x, y, at+"."+k); p != "" {
				return p
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s: got %v", at, got)
		}
		for i := range w {
			if p := subset(w[i], g[i], fmt.Sprintf("%s[%d]", at, i)); p != "" {
				return p
			}
		}
	default:
		if want != got {
			return fmt.Sprintf("%s: got %v, want %v", at, got, want)
		}
	}
	return ""
}

func dpr() float64 {
	if os.Getenv("P2_DPR") != "" {
		return 2
	}
	return 1
}
