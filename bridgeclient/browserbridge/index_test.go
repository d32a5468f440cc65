package browserbridge_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"image/jpeg"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/bridgeclient/browserbridge"
	"github.com/outrider-run/outrider/bridgeclient/browserbridge/backend"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Every group of the conformance checklist and every choice of
// docs/reference/browser-bridge.md has a test that is there.
func TestIndex(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(transcripts, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct{ Groups, Choices map[string][]string }
	if err := json.Unmarshal(b, &index); err != nil {
		t.Fatal(err)
	}
	var source []byte
	files, _ := filepath.Glob("*_test.go")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, b...)
	}
	for _, part := range []struct {
		name  string
		tests map[string][]string
		count int
	}{{"group", index.Groups, 15}, {"choice", index.Choices, 42}} {
		for n := 1; n <= part.count; n++ {
			tests := part.tests[strconv.Itoa(n)]
			if len(tests) == 0 {
				t.Errorf("%s %d has no test", part.name, n)
			}
			for _, test := range tests {
				if name, ok := strings.CutPrefix(test, "transcript:"); ok {
					if _, err := os.Stat(filepath.Join(transcripts, name+".txtar")); err != nil {
						t.Errorf("%s %d: %v", part.name, n, err)
					}
				} else if !bytes.Contains(source, []byte("func "+test+"(t *testing.T)")) {
					t.Errorf("%s %d names %s, which is not there", part.name, n, test)
				}
			}
		}
	}
	doc, err := os.ReadFile("../../docs/reference/browser-bridge.md")
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 42; n++ {
		if !bytes.Contains(doc, []byte("\n"+strconv.Itoa(n)+". **")) {
			t.Errorf("docs/reference/browser-bridge.md lacks choice %d", n)
		}
	}
}

// page opens a tab with a script's page on a new bridge.
func page(t *testing.T, script string) *bridge {
	t.Helper()
	b := connect(t, openHost(t), nil, backend.Options{})
	ask(t, b, `{"type":"navigate","url":"about:blank"}`)
	raw, _ := json.Marshal(map[string]string{"type": "evaluate", "expression": script})
	ask(t, b, string(raw))
	return b
}

func ask(t *testing.T, b *bridge, action string) json.RawMessage {
	t.Helper()
	out, err := b.backend.Do(t.Context(), json.RawMessage(action))
	if err != nil {
		t.Fatalf("%s: %v", action, err)
	}
	return out
}

func TestScreenshotSizes(t *testing.T) {
	b := page(t, `document.documentElement.style.margin = document.body.style.margin = 0; document.body.innerHTML = `+
		`'<div style="height:20000px;background:linear-gradient(red,blue)"></div>'`)
	var view struct {
		Value struct{ W, H int }
	}
	if err := json.Unmarshal(
		ask(t, b, `{"type":"evaluate","expression":"return {W: innerWidth, H: innerHeight}"}`), &view,
	); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		action string
		height int
	}{{`{"type":"screenshot"}`, view.Value.H}, {`{"type":"screenshot","fullPage":true}`, 16384}} {
		var out struct {
			DataURL string `json:"dataUrl"`
		}
		if err := json.Unmarshal(ask(t, b, c.action), &out); err != nil {
			t.Fatal(err)
		}
		data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(out.DataURL, "data:image/jpeg;base64,"))
		if err != nil {
			t.Fatal(err)
		}
		size, err := jpeg.DecodeConfig(bytes.NewReader(data))
		if err != nil || size.Height != c.height || size.Width < view.Value.W-20 {
			t.Errorf(
				"%s is %d by %d (%v), want a height of %d and a width of %d",
				c.action, size.Width, size.Height, err, c.height, view.Value.W,
			)
		}
	}
}

func TestLimitsOfExtract(t *testing.T) {
	b := page(t, `document.body.innerHTML = '<main>' + '<p>Grüße und ein Wort mehr</p>'.repeat(4000) + '</main>'`)
	var out struct{ Text, Markdown string }
	if err := json.Unmarshal(ask(t, b, `{"type":"extract"}`), &out); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, got string
		most      int
	}{{"text", out.Text, 50_000}, {"markdown", out.Markdown, 30_000}} {
		if n := len(c.got); n > c.most || n < c.most-100 || strings.Contains(c.got, "truncated") ||
			strings.ContainsRune(c.got, '\uFFFD') {
			t.Errorf("%s has %d bytes, want up to %d and nearly so, without a marker", c.name, n, c.most)
		}
	}
}

// refusingHost has one tab that takes no commands.
type refusingHost struct{ noHost }

func (*refusingHost) Tabs() []runtime.TabStatus {
	return []runtime.TabStatus{{TabID: 1, URL: "https://a.example/"}}
}

func (*refusingHost) Do(_ context.Context, c runtime.Call) runtime.Reply {
	return runtime.Reply{ID: c.ID, Err: fault.New(fault.TransportFailed, "somebody else holds the tab")}
}

func TestATabThatRefuses(t *testing.T) {
	b := connect(t, &refusingHost{}, nil, backend.Options{})
	_, err := b.backend.Do(t.Context(), json.RawMessage(`{"type":"extract","tabId":1}`))
	if e, ok := err.(*browserbridge.Error); !ok || e.Code != "debugger_attach_failed" {
		t.Errorf("got %v, want debugger_attach_failed", err)
	}
}
