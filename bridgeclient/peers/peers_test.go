// Package peers_test sends the same calls to the real upstream extension and to
// this program in both profiles, each through a real upstream bridge, and holds
// every difference against testdata/peers/differences.json. It does not judge
// whether a result is right. make peers calls it.
package peers_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/quirks"
)

const (
	data = "../../testdata/peers/"
	// upstream is the name of the peer with the extension, the others are
	// profiles of this program.
	upstream = "upstream"
)

// group is the calls on one page, in their order: those that the page brings
// for its own test, then further ones.
type group struct {
	Page  string `json:"page"` // below testdata/pages
	Own   bool   `json:"own,omitempty"`
	Calls []call `json:"calls,omitempty"`
}

// ownCalls finds the calls of a page below testdata/pages.
var ownCalls = regexp.MustCompile(`(?s)<script type="application/json" id="expect">(.*?)</script>`)

func (g group) calls(t *testing.T) []call {
	t.Helper()
	if !g.Own {
		return g.Calls
	}
	html, err := os.ReadFile("../../testdata/pages/" + g.Page)
	if err != nil {
		t.Fatal(err)
	}
	found := ownCalls.FindSubmatch(html)
	if found == nil {
		t.Fatalf("%s brings no calls", g.Page)
	}
	var own struct {
		Calls []call `json:"calls"`
	}
	if err := json.Unmarshal(found[1], &own); err != nil {
		t.Fatalf("%s: %v", g.Page, err)
	}
	return append(own.Calls, g.Calls...)
}

type call struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// TestTable holds what is committed together, without the peers.
func TestTable(t *testing.T) {
	groups, table := committed(t)
	table.check(t)
	for _, g := range groups {
		if len(g.calls(t)) == 0 {
			t.Errorf("%s has no calls", g.Page)
		}
	}
}

func committed(t *testing.T) (groups []group, table differences) {
	t.Helper()
	readJSON(t, "calls.json", &groups)
	readJSON(t, "differences.json", &table)
	return groups, table
}

// TestPeers needs the folder of the peers with its peers.mjs, Node and Chromium.
func TestPeers(t *testing.T) {
	s := start(t)
	groups, table := committed(t)
	calls, identical := 0, 0
	for _, g := range groups {
		address := s.pages + g.Page
		for _, peer := range s.peers {
			s.ask(t, peer, request{Op: "call", Peer: peer, Name: "browser.navigate", Args: raw(map[string]any{"url": address})}, nil)
		}
		for _, peer := range s.peers {
			s.ask(t, peer, request{Op: "showing", Peer: peer, URL: address}, nil)
		}
		for i, c := range g.calls(t) {
			got := map[string]any{}
			for _, peer := range s.peers {
				var answer any
				args := json.RawMessage(strings.ReplaceAll(string(c.Args), "{pages}", s.pages))
				s.ask(t, peer, request{Op: "call", Peer: peer, Name: c.Name, Args: args}, &answer)
				got[peer] = answer
			}
			for _, profile := range s.peers[1:] {
				calls++
				diffs := compare(got[upstream], got[profile])
				if len(diffs) == 0 {
					identical++
				}
				for _, d := range diffs {
					if !table.explains(profile, g.Page, c.Name, d) {
						t.Errorf("%s: call %d, %s %s, profile %s: %s", g.Page, i, c.Name, c.Args, profile, d)
					}
				}
			}
		}
	}
	t.Logf("%d comparisons, %d of them identical", calls, identical)
	if !t.Failed() {
		table.unused(t)
	}
}

func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	f, err := os.Open(data + name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// suite is the running peers.
type suite struct {
	pages string
	peers []string
	in    io.Writer
	out   *bufio.Reader
}

type request struct {
	Op   string          `json:"op"`
	Peer string          `json:"peer,omitempty"`
	URL  string          `json:"url,omitempty"`
	Name string          `json:"name,omitempty"`
	Args json.RawMessage `json:"args,omitempty"`
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
	server := httptest.NewUnstartedServer(http.FileServer(http.Dir("../../testdata/pages")))
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
	s := &suite{
		pages: server.URL + "/", in: in, out: bufio.NewReader(out),
		peers: []string{upstream, quirks.ExtensionProfile, quirks.StrictProfile},
	}
	s.ask(t, "all", request{Op: "start", URL: s.pages + "page/info.html"}, nil)
	return s
}

// ask sends one request to the driver and waits for its answer.
func (s *suite) ask(t *testing.T, peer string, r request, into any) {
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
		t.Fatalf("%s, %s %s: %s", peer, r.Op, r.Name, answer.Error)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(answer.Value, into); err != nil {
		t.Fatal(err)
	}
}

// difference is one place where an answer of this program is not the extension's.
type difference struct {
	path              string // members joined by dots, every index a star
	upstream, program any
}

func (d difference) String() string {
	return fmt.Sprintf("%s: extension %s, outrider %s", d.path, cut(d.upstream), cut(d.program))
}

func cut(v any) string {
	text := string(raw(v))
	if len(text) > 160 {
		text = text[:157] + "..."
	}
	return text
}

// compare lists the differences of two answers. The outcome comes first: where
// one fails and the other does not, or the codes differ, nothing else is reported.
func compare(want, got any) []difference {
	a, b := outcome(want), outcome(got)
	if a != b {
		return []difference{{"outcome", a, b}}
	}
	var out []difference
	if a != "ok" {
		a, b := channel(want), channel(got)
		if a != b {
			out = append(out, difference{"channel", a, b})
		}
		return walk("error", failure(want), failure(got), out)
	}
	return walk("output", member(want, "body", "output"), member(got, "body", "output"), out)
}

// failure is the error of an answer, whichever way it came.
func failure(answer any) any {
	if e := member(answer, "body", "error"); e != nil {
		return e
	}
	return member(answer, "body", "output", "error")
}

func outcome(answer any) string {
	e := failure(answer)
	failed, _ := member(answer, "isError").(bool)
	if e == nil && !failed {
		return "ok"
	}
	code, _ := member(e, "code").(string)
	if !failed {
		code += ", and isError is false"
	}
	return code
}

// channel says which member of an answer the failure is in.
func channel(answer any) string {
	if member(answer, "body", "error") != nil {
		return "error"
	}
	return "output.error"
}

func member(v any, names ...string) any {
	for _, n := range names {
		m, _ := v.(map[string]any)
		v = m[n]
	}
	return v
}

func walk(path string, want, got any, out []difference) []difference {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		names := map[string]bool{}
		for n := range w {
			names[n] = true
		}
		for n := range g {
			names[n] = true
		}
		for _, n := range sorted(names) {
			if ours, ok := g[n]; !ok {
				out = append(out, difference{path + "." + n, w[n], "absent"})
			} else if theirs, ok := w[n]; !ok {
				out = append(out, difference{path + "." + n, "absent", ours})
			} else {
				out = walk(path+"."+n, theirs, ours, out)
			}
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		if len(w) != len(g) {
			return append(out, difference{path + ".length", len(w), len(g)})
		}
		for i := range w {
			out = walk(path+".*", w[i], g[i], out)
		}
		return out
	default:
		if want == got {
			return out
		}
	}
	return append(out, difference{path, want, got})
}

func sorted(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for n := range m {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
