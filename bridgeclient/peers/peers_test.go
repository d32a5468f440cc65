// Package peers_test sends the same calls to the real upstream extension and to
// this program in both profiles, each through a real upstream bridge, and holds
// every difference against testdata/peers/differences.json. It does not judge
// whether a result is right. make peers calls it.
package peers_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/quirks"
	vocabulary "github.com/outrider-run/outrider/primitives/upstream"
)

const (
	data = "../../testdata/peers/"
	// upstream is the name of the peer with the extension, the others are
	// profiles of this program.
	upstream = "upstream"
)

var (
	profiles = []string{quirks.ExtensionProfile, quirks.StrictProfile}
	peers    = append([]string{upstream}, profiles...)
)

// TestTable holds what is committed together, without the peers.
func TestTable(t *testing.T) {
	groups, table := committed(t)
	table.check(t)
	pages, calls, named := map[string]bool{}, 0, map[string]bool{}
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
	all := os.Getenv("OUTRIDER_PEERS_ALL") != ""
	only := os.Getenv("OUTRIDER_PEERS_PAGE")
	calls, identical, began := 0, map[string]int{}, time.Now()
	for _, g := range groups {
		if !all && !g.Sample && only == "" || only != "" && !strings.Contains(g.Page, only) {
			continue
		}
		s.show(t, g)
		saved := map[string]map[string]any{}
		for i, c := range g.calls(t) {
			calls++
			args := map[string]json.RawMessage{}
			for _, peer := range peers {
				args[peer] = substituted(t, strings.ReplaceAll(string(c.Args), "{pages}", s.pages), saved[peer])
			}
			got := s.call(t, c.Name, args)
			effects := map[string]any{}
			if c.Then != "" {
				effects = s.call(t, "browser.run_javascript", same(map[string]any{"source": "return Boolean(" + c.Then + ")"}))
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
					diffs = walk("then", member(effects[upstream], "body", "output", "result"), member(effects[profile], "body", "output", "result"), diffs)
				}
				if len(diffs) == 0 {
					identical[profile]++
				}
				for _, d := range diffs {
					if !table.explains(profile, g.Page, c.Name, i, d) {
						t.Errorf("%s: call %d, %s %s, profile %s: %s", g.Page, i, c.Name, c.Args, profile, d)
					}
				}
			}
		}
	}
	t.Logf("%d calls in %s; byte for byte as the extension: %d in its profile, %d in the strict one",
		calls, time.Since(began).Round(time.Second), identical[quirks.ExtensionProfile], identical[quirks.StrictProfile])
	if all && only == "" && !t.Failed() {
		table.unused(t)
		table.evidence(t)
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
	in    io.Writer
	out   *bufio.Reader
}

type request struct {
	Op   string                     `json:"op"`
	URL  string                     `json:"url,omitempty"`
	Name string                     `json:"name,omitempty"`
	Args map[string]json.RawMessage `json:"args,omitempty"`
}

func start(t *testing.T) *suite {
	t.Helper()
	folder := os.Getenv("OUTRIDER_PEERS")
	if folder == "" {
		t.Skip("OUTRIDER_PEERS names no folder of the upstream extension and bridge: see make peers")
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "peers.mjs")); err != nil {
		t.Skipf("OUTRIDER_PEERS has no peers.mjs: %v", err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skipf("no Node to run the extension's harness: %v", err)
	}
	program := filepath.Join(t.TempDir(), "outrider")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/outrider").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(servePage))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of sockets that browsers open and drop
	server.StartTLS()
	t.Cleanup(server.Close)

	cmd := exec.Command(node, data+"driver.mjs")
	cmd.Env = append(os.Environ(), "OUTRIDER_PEERS="+folder, "OUTRIDER="+program)
	if browser := os.Getenv("OUTRIDER_BROWSER"); browser != "" {
		cmd.Env = append(cmd.Env, "CHROME="+browser)
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // the driver stops the peers and ends
		forced := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
		defer forced.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the driver of the peers: %v", err)
		}
	})
	s := &suite{pages: server.URL + "/", in: in, out: bufio.NewReader(out)}
	s.ask(t, request{Op: "start", URL: s.pages + "page/info.html"}, nil)
	return s
}

// otherOrigin stands in pages for the origin of the same server by another name.
var otherOrigin = regexp.MustCompile(`\{\{(OTHER|ORIGIN2)\}\}`)

// servePage serves testdata/pages as the pages' own test does.
func servePage(w http.ResponseWriter, r *http.Request) {
	name := filepath.Join("../../testdata/pages", filepath.FromSlash(filepath.Clean("/"+r.URL.Path)))
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
	if _, err := s.in.Write(append(raw(r), '\n')); err != nil {
		t.Fatal(err)
	}
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("the driver of the peers ended: %v", err)
	}
	var answer struct {
		OK    bool            `json:"ok"`
		Error string          `json:"error"`
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
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

func cut(v any) string {
	text := string(raw(v))
	if len(text) > 160 {
		text = text[:157] + "..."
	}
	return text
}

func (d difference) String() string {
	return fmt.Sprintf("%s: extension %s, outrider %s", d.path, cut(d.upstream), cut(d.program))
}
