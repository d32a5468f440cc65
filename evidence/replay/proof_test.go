package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/replay"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/sites/demo"
)

// threeTimes replays a recording offline three times: each is the same, byte for byte.
func threeTimes(t *testing.T, path string, calls int) {
	t.Helper()
	first := ""
	for n := range 3 {
		r := play(t, path, func(o *replay.Options) { o.Offline = true })
		got := text(t, r)
		if r.Verdict != replay.Reproduced || len(r.Calls) != calls {
			if r.First > 0 {
				c := r.Calls[r.First-1]
				b, _ := json.MarshalIndent(c, "", " ") // decoded from JSON
				t.Fatalf("replay %d differs at call %d of %d: %s, not fixed: %v", n+1, r.First, calls, b, r.NotFixed)
			}
			t.Fatalf("replay %d: %s with %d of %d calls, missing %v", n+1, r.Verdict, len(r.Calls), calls, r.Missing)
		}
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("replay %d is another report", n+1)
		}
	}
}

// Each action of the demo is replayed offline, with the imports of its map.
func TestTheDemoIsReplayed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(demo.Handler(0))
	path, mapFile := filepath.Join(t.TempDir(), "a.rec"), filepath.Join("..", "..", "sites", "demo", demo.MapName)
	recorder, err := capture.Open(capture.Files{Record: path}, capture.Options{Pages: true, Maps: []string{mapFile}})
	if err != nil {
		t.Fatal(err)
	}
	maps, reports := runtime.LoadMaps(
		[]string{mapFile}, catalog.Standard(), runtimetest.Engine(t), runtime.MapOptions{},
	)
	if len(reports) == 0 || !reports[0].OK {
		t.Fatalf("%+v", reports)
	}
	h := runtimetest.Attached(t, runtime.Options{Recorder: recorder, Maps: maps, Open: []string{server.URL + "/"}})
	calls := 0
	site := func(action, args string, ok bool) {
		t.Helper()
		calls++
		arguments, _ := json.Marshal(map[string]any{
			"mode":      "call",
			"action":    action,
			"arguments": json.RawMessage(args),
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r := h.Do(ctx, runtime.Call{Name: runtime.SiteTool, Arguments: arguments, Timeout: time.Minute})
		if (r.Err == nil) != ok {
			t.Fatalf("%s %s: %v", action, args, r.Err)
		}
	}
	site("helpers.headings", `{}`, true)
	site("helpers.accept_notice", `{}`, true)
	site("board.list_cards", `{"list":"done"}`, true)
	site("board.finish_card", `{}`, false)
	site("board.add_card", `{"list":"todo","title":"Welcome the new pilot"}`, true)
	site("board.label_card", `{"title":"Welcome the new pilot","labels":["urgent"]}`, true)
	site("board.count", `{}`, true)
	site("board.open_card", `{"title":"Welcome the new pilot"}`, true)
	site("board.close_card", `{}`, true)
	site("board.read_activity", `{}`, true)
	site("board.about", `{}`, true)
	site("board.open_card", `{"title":"Welcome the new pilot"}`, true)
	site("board.finish_card", `{}`, true)
	site("board.list_cards", `{"list":"done"}`, true)
	if err := h.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	server.Close()
	threeTimes(t, path, calls)
}

var expectation = regexp.MustCompile(`(?s)<script type="application/json" id="expect">(.*?)</script>`)

// pagesOf are pages of the repository with the calls that they carry: up to most of each topic.
func pagesOf(t *testing.T, base string, most int, topics ...string) (out []runtime.Call, pages int) {
	t.Helper()
	root := filepath.Join("..", "..", "testdata", "pages")
	for _, topic := range topics {
		files, err := filepath.Glob(filepath.Join(root, topic, "*.html"))
		if err != nil {
			t.Fatal(err)
		}
		taken := 0
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m := expectation.FindSubmatch(raw)
			var e struct {
				Viewport json.RawMessage `json:"viewport"`
				Calls    []struct {
					Name    string          `json:"name"`
					Args    json.RawMessage `json:"args"`
					Save    string          `json:"save"`
					Profile string          `json:"profile"`
				} `json:"calls"`
			}
			// Megabytes take long and are replayed as kilobytes are. Other viewports, other hosts secrets, and what one
			// result gives the next call are left to the pages' own test.
			holds := func(part string) bool { return bytes.Contains(raw, []byte(part)) }
			if filepath.Base(file) == "big.html" || holds("{{") || holds("password") || holds("autocomplete") {
				continue
			}
			if m == nil || bytes.Contains(m[1], []byte(`"save"`)) || json.Unmarshal(m[1], &e) != nil {
				continue
			}
			if e.Viewport != nil || len(e.Calls) == 0 || taken == most {
				continue
			}
			taken++
			pages++
			address, _ := json.Marshal(map[string]string{"url": base + "/" + topic + "/" + filepath.Base(file)})
			out = append(out, runtime.Call{Name: "browser.navigate", Arguments: address})
			for _, c := range e.Calls {
				if c.Profile != "extension" {
					out = append(out, runtime.Call{Name: c.Name, Arguments: c.Args})
				}
			}
		}
	}
	return out, pages
}

// Pages of the repository are replayed offline, three times. Then one byte of one of them is another.
func TestPagesAreReplayed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join("..", "..", "testdata", "pages"))))
	calls, pages := pagesOf(
		t, server.URL, 3, "accname", "actionable", "dom", "extract", "keyboard",
		"locator", "markdown", "pointer", "scroll", "select", "snapshot", "text",
	)
	if pages < 30 {
		t.Fatalf("%d pages: expected at least 30", pages)
	}
	t.Logf("%d pages, %d calls", pages, len(calls))
	recorded := recording(t, server.URL+"/keyboard/chords.html", calls)
	server.Close()
	threeTimes(t, recorded, len(calls))

	at := slices.IndexFunc(calls, func(c runtime.Call) bool {
		return strings.Contains(string(c.Arguments), "/pointer/buttons.html")
	})
	changed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "pages", filepath.FromSlash(fileOf(r))))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/buttons.html") {
			data = bytes.Replace(data, []byte("<title>buttons<"), []byte("<title>buttonz<"), 1)
		}
		http.ServeContent(w, r, r.URL.Path, time.Time{}, bytes.NewReader(data))
	}))
	defer changed.Close()
	if r := play(t, recorded, func(o *replay.Options) {
		o.URL = changed.URL + "/keyboard/chords.html"
	}); r.Verdict != replay.Differs || r.First != at+1 {
		t.Errorf(
			"expected a difference at call %d: %s at %d, %+v",
			at+1, r.Verdict, r.First, r.Calls[len(r.Calls)-1].Differences,
		)
	}
}

// fileOf is the file that a request asks for.
func fileOf(r *http.Request) string { return strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/") }

// Logs that the real extension wrote, of workflows on pages with bugs and quirks, go as the log says in the
// profile extension, in one browser. Of some it is known which quirk explains them.
func TestLogsOfTheRealExtension(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "real", "*.json"))
	if err != nil || len(files) < 30 {
		t.Fatalf("%d logs: expected at least 30, %v", len(files), err)
	}
	shared := &hosts{t: t, free: map[string][]*runtime.Host{}}
	known := map[string]string{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var c struct {
				Quirks []string        `json:"quirks"`
				Page   string          `json:"page"`
				Map    json.RawMessage `json:"map"`
				Log    json.RawMessage `json:"log"`
			}
			if err := json.Unmarshal(raw, &c); err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				_, _ = w.Write([]byte(c.Page))
			}))
			defer server.Close()
			l, err := replay.Parse(bytes.ReplaceAll(c.Log, []byte("{{ORIGIN}}"), []byte(server.URL)))
			if err != nil {
				t.Fatal(err)
			}
			for i := range l.Calls {
				l.Calls[i].Map = suppliedFor(server, c.Map, l.Calls[i].Name)
			}
			o := options(t)
			own := o.Open
			o.Open = shared.open
			o.URL = server.URL + "/"
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			r, err := replay.Play(ctx, l, o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != replay.Reproduced || len(r.Calls) != 1 {
				t.Fatalf("expected it reproduced: %s", text(t, r))
			}
			if is := r.Calls[0].Is; !is.OK {
				known[is.Code] = l.Calls[0].Name
			}
			if len(c.Quirks) == 0 {
				return
			}
			o.Open = own
			b, err := replay.BisectQuirks(ctx, l, o)
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, q := range b.Quirks {
				found = append(found, string(q.Name))
			}
			if !slices.Equal(found, c.Quirks) || !b.With {
				t.Errorf("the quirks are %v (%+v): expected %v", found, b, c.Quirks)
			}
		})
	}
	if known["workflow_step_failed"] == "" || known["invalid_workflow"] == "" {
		t.Errorf("no log has a failure: %v", known)
	}
}
