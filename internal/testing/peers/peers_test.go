// Package peers_test sends the same calls to the real upstream extension and to
// this program in both profiles, each through a real upstream bridge, and holds
// every difference against testdata/peers/differences.json. It does not judge
// whether a result is right. make peers calls it.
package peers_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/peerstest"
	"github.com/outrider-run/outrider/primitives/quirks"
	vocabulary "github.com/outrider-run/outrider/primitives/upstream"
)

// upstream is the name of the peer with the extension, the others are
// profiles of this program.
const upstream = "upstream"

var (
	data     = peerstest.Data
	profiles = []string{quirks.ExtensionProfile, quirks.StrictProfile}
	peers    = append([]string{upstream}, profiles...)
)

// TestTable holds what is committed together, without the peers.
func TestTable(t *testing.T) {
	groups, table := committed(t)
	table.check(t)
	pages := map[string]bool{}
	calls := 0
	named := map[string]bool{}
	for _, g := range groups {
		pages[g.Page] = true
		list := g.calls(t)
		if len(list) == 0 {
			t.Errorf("%s has no calls", g.Page)
		}
		calls += len(list)
		for _, c := range list {
			named[c.Name] = true
		}
	}
	if calls < 600 || len(pages) < 40 {
		t.Errorf("%d calls on %d pages are compared, want 600 on 40", calls, len(pages))
	}
	for _, name := range vocabulary.Names() {
		if !named[name] {
			t.Errorf("no call of %s is compared", name)
		}
	}
}

// TestPeers needs the folder of the peers with its peers.mjs, Node and Chromium.
// Without OUTRIDER_PEERS_ALL it makes the calls of the sample only.
func TestPeers(t *testing.T) {
	s := start(t)
	groups, table := committed(t)
	all := peerstest.All()
	only := os.Getenv("OUTRIDER_PEERS_PAGE")
	report := reporter(t)
	found := evidence{Same: map[string]int{}}
	pages := map[string]bool{}
	began := time.Now()
	for _, g := range groups {
		if !all && !g.Sample && only == "" || only != "" && !strings.Contains(g.Page, only) {
			continue
		}
		shown, before := time.Now(), found.Calls
		pages[g.Page] = true
		s.show(t, g)
		saved := map[string]map[string]any{}
		for i, c := range g.calls(t) {
			found.Calls++
			args := map[string]json.RawMessage{}
			for _, peer := range peers {
				args[peer] = substituted(t, strings.ReplaceAll(string(c.Args), "{pages}", s.pages), saved[peer])
			}
			got := s.call(t, c.Name, args)
			effects := map[string]any{}
			if c.Then != "" {
				effects = s.call(
					t, "browser.run_javascript", same(map[string]any{"source": "return Boolean(" + c.Then + ")"}),
				)
			}
			for _, peer := range peers {
				if c.Save != "" {
					if saved[peer] == nil {
						saved[peer] = map[string]any{}
					}
					saved[peer][c.Save] = payload(got[peer])
				}
			}
			for _, profile := range profiles {
				diffs := compare(got[upstream], got[profile])
				if c.Then != "" {
					diffs = walk(
						"then", member(effects[upstream], "body", "output", "result"),
						member(effects[profile], "body", "output", "result"), diffs,
					)
				}
				same := true
				for _, d := range diffs {
					where := seen{Page: g.Page, Call: c.Name, Args: clip(string(c.Args)), At: i}
					by := table.explains(profile, where, d)
					if by == nil {
						t.Errorf("%s: call %d, %s %s, profile %s: %s", g.Page, i, c.Name, c.Args, profile, d)
					}
					same = same && by != nil && (by.Kind == "program" || by.Kind == "addition")
					report(where, profile, d, by)
				}
				if same {
					found.Same[profile]++
				}
			}
		}
		t.Logf("%s: %d calls in %s", g.Page, found.Calls-before, time.Since(shown).Round(time.Millisecond))
	}
	found.Pages = len(pages)
	t.Logf(
		"%d calls on %d pages in %s; answered and done as by the extension: %v",
		found.Calls, found.Pages, time.Since(began).Round(time.Second), found.Same,
	)
	if all && only == "" && !t.Failed() {
		table.unused(t)
		found.write(t, table)
	}
}

// show brings all peers to the page of a group. The pace is one of the document
// in the extension, so it is set on each.
func (s *suite) show(t *testing.T, g group) {
	t.Helper()
	address := s.pages + g.Page
	s.call(t, "browser.navigate", same(map[string]any{"url": address}))
	s.ask(t, request{Op: "showing", URL: address}, nil)
	if !g.Paced {
		s.call(t, "runtime.configure_pacing", same(map[string]any{"min_interval_ms": 0}))
	}
}

// same are arguments that all peers get.
func same(args any) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, peer := range peers {
		out[peer] = raw(args)
	}
	return out
}

// payload is what a caller works with of an answer: its value, or the output of
// one without an envelope.
func payload(answer any) any {
	if v := member(answer, "body", "output", "value"); v != nil {
		return v
	}
	return member(answer, "body", "output")
}

// substituted replaces strings "$name.path" by parts of saved payloads, as the
// pages' own test does. What is not there is null.
func substituted(t *testing.T, args string, saved map[string]any) json.RawMessage {
	t.Helper()
	if args == "" {
		args = "{}"
	}
	if !strings.Contains(args, `"$`) {
		return json.RawMessage(args)
	}
	var v any
	if err := json.Unmarshal([]byte(args), &v); err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k := range v {
				v[k] = walk(v[k])
			}
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case string:
			name, ok := strings.CutPrefix(v, "$")
			steps := strings.Split(name, ".")
			at, there := saved[steps[0]]
			if !ok || !there {
				return v
			}
			for _, step := range steps[1:] {
				if list, ok := at.([]any); ok {
					i, err := strconv.Atoi(step)
					if err != nil || i >= len(list) {
						return nil
					}
					at = list[i]
				} else {
					at = member(at, step)
				}
			}
			return at
		}
		return v
	}
	return raw(walk(v))
}

func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// suite is the running peers.
type suite struct {
	pages string
	*peerstest.Driver
}

type request struct {
	Op   string                     `json:"op"`
	URL  string                     `json:"url,omitempty"`
	Name string                     `json:"name,omitempty"`
	Args map[string]json.RawMessage `json:"args,omitempty"`
}

func start(t *testing.T) *suite {
	t.Helper()
	peerstest.Folder(t) // before the build
	driver := peerstest.Drive(t, "driver.mjs", "OUTRIDER="+peerstest.Program(t))
	s := &suite{pages: peerstest.Site(t, "https", http.HandlerFunc(servePage)).URL + "/", Driver: driver}
	s.ask(t, request{Op: "start", URL: s.pages + "page/info.html"}, nil)
	return s
}

// otherOrigin stands in pages for the origin of the same server by another name.
var otherOrigin = regexp.MustCompile(`\{\{(OTHER|ORIGIN2)\}\}`)

// servePage serves testdata/pages as the pages' own test does.
func servePage(w http.ResponseWriter, r *http.Request) {
	name := filepath.Join("../../../testdata/pages", filepath.FromSlash(filepath.Clean("/"+r.URL.Path)))
	if !strings.HasSuffix(name, ".html") {
		http.ServeFile(w, r, name)
		return
	}
	b, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	other := "https://" + strings.Replace(r.Host, "127.0.0.1", "localhost", 1)
	_, _ = w.Write(otherOrigin.ReplaceAll(b, []byte(other)))
}

func (s *suite) call(t *testing.T, name string, args map[string]json.RawMessage) map[string]any {
	t.Helper()
	var answers map[string]any
	s.ask(t, request{Op: "call", Name: name, Args: args}, &answers)
	return answers
}

// ask sends one request to the driver and waits for its answer.
func (s *suite) ask(t *testing.T, r request, into any) {
	t.Helper()
	var answer struct {
		OK    bool            `json:"ok"`
		Error string          `json:"error"`
		Value json.RawMessage `json:"value"`
	}
	s.Ask(t, r, &answer)
	if !answer.OK {
		t.Fatalf("%s %s %s: %s", r.Op, r.Name, r.URL, answer.Error)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(answer.Value, into); err != nil {
		t.Fatal(err)
	}
}

// reporter writes every difference as a line of JSON to the file that
// OUTRIDER_PEERS_REPORT names, with the row that explains it.
func reporter(t *testing.T) func(where seen, profile string, d difference, by *row) {
	t.Helper()
	name := os.Getenv("OUTRIDER_PEERS_REPORT")
	if name == "" {
		return func(seen, string, difference, *row) {}
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	lines := json.NewEncoder(f)
	return func(where seen, profile string, d difference, by *row) {
		where.Path = d.path
		where.Upstream = string(raw(d.upstream))
		where.Program = string(raw(d.program))
		if err := lines.Encode(map[string]any{"profile": profile, "where": where, "by": by}); err != nil {
			t.Error(err)
		}
	}
}

func cut(v any) string { return clip(string(raw(v))) }

func clip(text string) string {
	if len(text) > 160 {
		text = text[:157] + "..."
	}
	return text
}

func (d difference) String() string {
	return fmt.Sprintf("%s: extension %s, outrider %s", d.path, cut(d.upstream), cut(d.program))
}
