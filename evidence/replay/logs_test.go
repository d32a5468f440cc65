package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/evidence/replay"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// logCase is a file of testdata: a page, a log of a session on it, and what a replay must say.
type logCase struct {
	Page   string            `json:"page"`
	Map    json.RawMessage   `json:"map"`
	Log    json.RawMessage   `json:"log"`
	Lines  []json.RawMessage `json:"lines"`
	Fill   replay.Fill       `json:"fill"`
	Until  int               `json:"until"`
	Expect struct {
		Error   string     `json:"error"` // of reading it
		Verdict string     `json:"verdict"`
		Calls   int        `json:"calls"`
		First   int        `json:"first"`
		Code    string     `json:"code"` // with which call Last fails
		Last    int        `json:"last"`
		Name    string     `json:"name"` // of the first call
		Missing [][]string `json:"missing"`
		Quirks  []string   `json:"quirks"`
		// LenientOutputs: the outputs in the log are shortened.
		LenientOutputs bool `json:"lenient_outputs"`
	} `json:"expect"`
}

func TestSessionLogs(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	if err != nil || len(files) < 30 {
		t.Fatalf("%d logs: expected at least 30, %v", len(files), err)
	}
	shared := &hosts{t: t, free: map[string][]*runtime.Host{}}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel() // most of the time goes into waiting for browsers that start
			testLog(t, file, shared)
		})
	}
}

// hosts are those that replays of the same profile use one after the other.
type hosts struct {
	t    *testing.T
	mu   sync.Mutex
	free map[string][]*runtime.Host
}

// open is Options.Open of a replay that needs no host of its own: of a log that says nothing of secrets.
func (s *hosts) open(ctx context.Context, change func(*runtime.Options) error) (*runtime.Host, func(), error) {
	var o runtime.Options
	if err := change(&o); err != nil {
		return nil, nil, err
	}
	key := fmt.Sprint(o.Quirks.Names())
	s.mu.Lock()
	var h *runtime.Host
	if list := s.free[key]; len(list) > 0 {
		h, s.free[key] = list[0], list[1:]
	}
	s.mu.Unlock()
	if h == nil {
		h = runtimetest.Attached(s.t, runtime.Options{Quirks: o.Quirks})
	}
	address, _ := json.Marshal(map[string]string{"url": o.Open[0]})
	if r := h.Do(ctx, runtime.Call{Name: "browser.navigate", Arguments: address}); r.Err != nil {
		return nil, nil, r.Err
	}
	return h, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.free[key] = append(s.free[key], h)
	}, nil
}

func testLog(t *testing.T, file string, shared *hosts) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var c logCase
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	server := site(t, c.Page)
	log := c.Log
	if len(c.Lines) > 0 {
		log = bytes.Join(asBytes(c.Lines), []byte("\n"))
	}
	log = bytes.ReplaceAll(log, []byte("{{ORIGIN}}"), []byte(server.URL))
	l, err := replay.Parse(log)
	if c.Expect.Error != "" {
		if fault.CodeOf(err) != fault.Code(c.Expect.Error) {
			t.Fatalf("%v: expected %s", err, c.Expect.Error)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range l.Calls {
		if c.Map != nil {
			l.Calls[i].Map = suppliedFor(server, c.Map, l.Calls[i].Name)
		}
		if c.Expect.LenientOutputs {
			l.Calls[i].Expected.Output = nil
		}
	}
	o := options(t)
	own := o.Open
	if len(c.Fill.Secrets) == 0 {
		o.Open = shared.open
	}
	o.Until = c.Until
	if l.Open == "" {
		o.URL = server.URL + "/"
	}
	if err := l.Fill(c.Fill, o.Secrets); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	r, err := replay.Play(ctx, l, o)
	if err != nil {
		t.Fatal(err)
	}
	e := c.Expect
	if r.Verdict != e.Verdict || r.First != e.First || e.Verdict == replay.Reproduced && len(r.Calls) != e.Calls {
		t.Fatalf("expected %+v: %s", e, text(t, r))
	}
	if e.Name != "" && r.Calls[0].Name != e.Name {
		t.Errorf("the first call is %s: expected %s", r.Calls[0].Name, e.Name)
	}
	if e.Code != "" && e.Verdict == replay.Reproduced {
		if is := r.Calls[max(e.Last, 1)-1].Is; is.OK || is.Code != e.Code {
			t.Errorf("call %d: %+v: expected %s", e.Last, is, e.Code)
		}
	}
	var missing [][]string
	for _, m := range r.Missing {
		missing = append(missing, []string{m.Event, m.Pointer, m.Why})
	}
	if !slices.EqualFunc(missing, e.Missing, slices.Equal[[]string]) {
		t.Errorf("missing: %v: expected %v", missing, e.Missing)
	}
	if e.Quirks == nil {
		return
	}
	o.Open = own // what it learns of a replay it learns of the host
	b, err := replay.BisectQuirks(ctx, l, o)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, q := range b.Quirks {
		found = append(found, string(q.Name))
	}
	if !slices.Equal(found, e.Quirks) || !b.With || !b.Without {
		t.Errorf("the quirks are %v (%+v): expected %v", found, b, e.Quirks)
	}
}

func asBytes(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, l := range list {
		var b bytes.Buffer
		if json.Compact(&b, l) == nil {
			out[i] = b.Bytes()
		}
	}
	return out
}

// suppliedFor gives a call of a site action the map of its site.
func suppliedFor(s *httptest.Server, m json.RawMessage, name string) *runtime.SuppliedMap {
	if !bytes.Contains(m, []byte(`"name": "`+name+`"`)) && !bytes.Contains(m, []byte(`"name":"`+name+`"`)) {
		return nil
	}
	host := strings.TrimPrefix(s.URL, "http://")
	return &runtime.SuppliedMap{Path: "shared/sites/" + strings.Split(host, ":")[0] + "/actions.json", JSON: m}
}

// smallestOf minimises what a recording shows on a page that has changed. words gets what the search says.
func smallestOf(
	t *testing.T, ctx context.Context, was, is string, words io.Writer, calls ...runtime.Call,
) (m *replay.Minimal, dir string, opened int) {
	t.Helper()
	server := site(t, was)
	path := recording(t, server.URL+"/", calls)
	server.Close()
	renamed := site(t, is)
	l, err := replay.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.Calls[1].Expected.Known = false // the page says that the button is disabled
	o := options(t)
	o.URL = renamed.URL + "/"
	open := o.Open
	o.Open = func(ctx context.Context, change func(*runtime.Options) error) (*runtime.Host, func(), error) {
		opened++
		return open(ctx, change)
	}
	dir = t.TempDir()
	m, err = replay.Minimise(ctx, l, o, dir, words)
	if err != nil {
		t.Fatal(err)
	}
	return m, dir, opened
}

var clickAdd = runtime.Call{
	Name:      "pointer.click",
	Arguments: json.RawMessage(`{"locator":{"role":"button","name":"Add"},"timeout_ms":500}`),
}

func TestTheSmallestCaseIsFound(t *testing.T) {
	t.Parallel()
	var words strings.Builder
	look := runtime.Call{Name: "page.info"}
	m, dir, opened := smallestOf(
		t, t.Context(), list, strings.Replace(list, "<button>Add", "<button disabled>Add", 1), &words,
		look, runtime.Call{Name: "page.snapshot"}, calls[0], clickAdd,
	)
	if len(m.Calls) != 1 || m.Calls[0].Name != "pointer.click" || m.Result.OK || m.Ended || len(m.Differences) != 1 {
		t.Errorf("%+v: expected the click alone", m)
	}
	for _, name := range []string{"calls.json", "site/index.html", "site/a.js"} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	// The whole log, the browser that all searches share, and the proof.
	if opened != 3 || m.Runs < 4 {
		t.Errorf("%d hosts for %d runs: expected 3 hosts\n%s", opened, m.Runs, words.String())
	}
	for _, want := range []string{"replaying 4 calls\n", "call 4 pointer.click shows it", "as they were recorded"} {
		if !strings.Contains(words.String(), want) {
			t.Errorf("it says %q: expected %q in it", words.String(), want)
		}
	}
}

// onText calls do when a text is written.
type onText struct {
	text string
	do   func()
}

func (o onText) Write(b []byte) (int, error) {
	if strings.Contains(string(b), o.text) {
		o.do()
	}
	return len(b), nil
}

// A search that is ended leaves the shortest list so far.
func TestTheSearchIsEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stays := runtime.Call{
		Name:      "locator.wait_for",
		Arguments: json.RawMessage(`{"locator":{"selector":"p"},"state":"hidden","timeout_ms":500}`),
	}
	const adds = `<!doctype html><title>Adds</title><button onclick="p.hidden = false">Add</button>` +
		`<p id="p" hidden>added</p>`
	var words strings.Builder
	out := io.MultiWriter(&words, onText{"of 4 calls after", cancel})
	m, dir, _ := smallestOf(
		t, ctx, adds, adds, out, runtime.Call{Name: "page.info"}, runtime.Call{Name: "page.snapshot"}, clickAdd, stays,
	)
	if !m.Ended || len(m.Calls) < 2 || len(m.Calls) == 4 {
		t.Errorf("%+v: expected the shortest list until the end\n%s", m, words.String())
	}
	if _, err := os.Stat(filepath.Join(dir, "calls.json")); err != nil {
		t.Error(err)
	}
}
