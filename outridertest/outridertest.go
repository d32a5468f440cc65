// Package outridertest runs tests in a browser with nothing but package testing: a page that fails its test instead of
// returning errors, and assertions that wait. It does not start the server under test; httptest does. Tests of Go
// programs call it.
//
//	func TestOrder(t *testing.T) {
//		t.Parallel()
//		tab := outridertest.Tab(t, server.URL)
//		tab.ByLabel("Town").Fill("Cape Town")
//		tab.ByRole("button", "Order").Click()
//		tab.ByTestID("said").Expect().Text("Cape Town")
//	}
//
// All tests of a binary share one browser, which starts with the first of them. Each [Tab] has cookies, storage and
// tabs of its own, which end with the test. [Run], called in TestMain, ends the browser too; without it the browser
// ends when the binary does, also when that is killed.
//
// # When a test fails
//
// The log says the locator, what was found, and the nearest names. The folder of t.ArtifactDir gets page.png, page.txt,
// console.txt, requests.txt and two traces: trace.zip for the viewer of Playwright, trace.rec for outrider trace.
// go test -artifacts keeps it.
//
// # Flags
//
//	-outrider.headed    show the browser's window
//	-outrider.slow 1s   wait so long between two acts
//	-outrider.trace     on (also of tests that pass), off, or fail, the default
//	-outrider.update    write the files that Snapshot and Picture compare with
package outridertest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/client"
)

var (
	headed = flag.Bool("outrider.headed", false, "show the browser's window")
	slow   = flag.Duration("outrider.slow", 0, "wait so long between two acts")
	traced = flag.String("outrider.trace", "fail", "keep a trace of each test: on, off, or fail, of those that fail")
	update = flag.Bool("outrider.update", false, "write the files that snapshots and pictures are compared with")
)

const (
	// patience is that of a page that says nothing else.
	patience = 5 * time.Second
	// openPatience bounds the start of the browser, and the first load of a page.
	openPatience = time.Minute
	// endPatience bounds what is read of a test that failed.
	endPatience = 10 * time.Second
)

// shared is the browser of all tests of the binary.
var shared struct {
	mu      sync.Mutex
	session *outrider.Session
	pages   map[testing.TB]int // that a test has opened
}

// options are those of a browser for tests.
func options(o outrider.Options) outrider.Options {
	o.Record = *traced != "off"
	o.Browser.Headed = o.Browser.Headed || *headed
	if *slow > 0 {
		o.Pacing = slow
	}
	return o
}

// browser is the shared browser, started for the first test.
func browser() (*outrider.Session, error) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.session != nil {
		return shared.session, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), openPatience)
	defer cancel()
	s, err := outrider.Open(ctx, options(outrider.Options{
		Browser: outrider.BrowserOptions{DownloadDir: outrider.Temporary},
	}))
	if err == nil {
		shared.session = s
	}
	return s, err
}

// Run runs the tests of a binary and ends the shared browser: TestMain exits with what it returns.
func Run(m *testing.M) int {
	code := m.Run()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.session != nil {
		_ = shared.session.Close()
		shared.session = nil
	}
	return code
}

// Page is a tab of a test. Its methods fail the test where those of [outrider.Tab] return errors.
type Page struct {
	// Patience is how long an act waits for its element, and an assertion for its condition. [Tab] sets 5 s.
	Patience time.Duration

	t         testing.TB
	tab       *outrider.Tab
	session   *outrider.Session
	recording *outrider.Recording // nil where nothing is recorded
	number    int                 // of the test's pages, from 1
}

// numbered is the number of a test's next page, until the test ends.
func numbered(t testing.TB) int {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.pages == nil {
		shared.pages = map[testing.TB]int{}
	}
	shared.pages[t]++
	if shared.pages[t] == 1 {
		t.Cleanup(func() {
			shared.mu.Lock()
			defer shared.mu.Unlock()
			delete(shared.pages, t)
		})
	}
	return shared.pages[t]
}

// artifacts is the folder for what the page leaves: that of the test, or one within it for a page after the first.
func (p *Page) artifacts() string {
	dir := p.t.ArtifactDir()
	if p.number == 1 {
		return dir
	}
	dir = filepath.Join(dir, fmt.Sprint("page-", p.number))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Logf("keeping what the page showed: %v", err)
	}
	return dir
}

// Tab opens a page with cookies and storage of its own in the shared browser. "" is an empty page.
func Tab(t testing.TB, address string) *Page {
	t.Helper()
	s, err := browser()
	if err != nil {
		t.Fatalf("starting the browser: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), openPatience)
	defer cancel()
	own, err := s.NewSession(ctx, "")
	if err != nil {
		t.Fatalf("opening a tab: %v", err)
	}
	return opened(t, own, address)
}

// TabWith opens a page in a browser of its own, with options such as maps and a size.
func TabWith(t testing.TB, address string, o outrider.Options) *Page {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), openPatience)
	defer cancel()
	o.Open = nil
	s, err := outrider.Open(ctx, options(o))
	if err != nil {
		t.Fatalf("starting the browser: %v", err)
	}
	return opened(t, s, address)
}

// opened is the page of a session that ends with the test.
func opened(t testing.TB, s *outrider.Session, address string) *Page {
	t.Helper()
	p := &Page{Patience: patience, t: t, tab: s.Tab(), session: s, number: numbered(t)}
	t.Cleanup(func() {
		if t.Failed() {
			p.keep()
		}
		p.keepTrace()
		if err := s.Close(); err != nil {
			t.Logf("closing the tab: %v", err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), openPatience)
	defer cancel()
	if *traced != "off" {
		recording, err := s.Record()
		if err != nil {
			t.Fatalf("recording: %v", err)
		}
		p.recording = recording
	}
	// What is recorded begins with the first question.
	if _, err := client.ConsoleList(ctx, p.tab, client.ConsoleListArgs{}); err != nil {
		t.Fatalf("recording the console: %v", err)
	}
	if _, err := client.NetworkList(ctx, p.tab, client.NetworkListArgs{}); err != nil {
		t.Fatalf("recording requests: %v", err)
	}
	if address != "" {
		p.Goto(address)
	}
	return p
}

// Outrider is the tab, for everything that a Page has no method for.
func (p *Page) Outrider() *outrider.Tab { return p.tab }

// answerTime is added to the patience of a call, so that the call itself says what it waited for.
const answerTime = 5 * time.Second

// within is the time of one act.
func (p *Page) within(patience time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(p.t.Context(), patience+answerTime)
}

// must fails the test with an error of an act.
func (p *Page) must(what string, err error) {
	if err == nil {
		return
	}
	p.t.Helper()
	p.t.Fatalf("%s: %s", what, explain(err))
}

// Evaluate runs a JavaScript expression in the page and decodes its value into result, which may be nil: see
// [outrider.Evaluate].
func (p *Page) Evaluate(expression string, result any) {
	p.t.Helper()
	value := Evaluate[any](p, expression)
	if result != nil {
		p.must("Evaluate "+expression, convert(value, result))
	}
}

// Evaluate runs a JavaScript expression in the page and returns its value as a T: see [outrider.Evaluate].
func Evaluate[T any](p *Page, expression string, arguments ...any) T {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := outrider.Evaluate[T](ctx, p.tab, expression, arguments...)
	p.must("Evaluate "+expression, err)
	return out
}

// Route has a handler answer requests of the page until stop, or until the test ends: see [outrider.Tab.Route].
func (p *Page) Route(address string, handler func(w outrider.RouteWriter, r *http.Request)) (stop func()) {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	stop, err := p.tab.Route(ctx, address, handler)
	p.must("Route "+address, err)
	p.t.Cleanup(stop)
	return stop
}

// SetHeaders sends headers with each request of the page until stop, or until the test ends: see
// [outrider.Tab.SetHeaders].
func (p *Page) SetHeaders(header http.Header) (stop func()) {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	stop, err := p.tab.SetHeaders(ctx, header)
	p.must("SetHeaders", err)
	p.t.Cleanup(stop)
	return stop
}

// acting is an act of a test, which fails it by itself.
func acting(act func()) func() error {
	return func() error {
		act()
		return nil
	}
}

// other is another tab of the page's session.
func (p *Page) other(tab *outrider.Tab) *Page {
	return &Page{Patience: p.Patience, t: p.t, tab: tab, session: p.session}
}

// keep writes what a failed test left to the folder of its artifacts.
func (p *Page) keep() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.t.Context()), endPatience)
	defer cancel()
	dir := p.artifacts()
	for _, err := range keepAll(ctx, p.tab, dir) {
		p.t.Logf("keeping what the page showed: %v", err)
	}
	p.t.Logf("the page %s is in %s", p.tab.URL(), dir)
}

// keepTrace ends the recording, and writes it where it is wanted.
func (p *Page) keepTrace() {
	p.t.Helper()
	if p.recording == nil {
		return
	}
	var err error
	if p.t.Failed() || *traced == "on" {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(p.t.Context()), endPatience)
		defer cancel()
		dir := p.artifacts()
		err = errors.Join(
			p.recording.Save(ctx, filepath.Join(dir, "trace.rec")),
			p.recording.Save(ctx, filepath.Join(dir, "trace.zip")),
		)
	} else {
		err = p.recording.Close()
	}
	if err != nil {
		p.t.Logf("keeping the trace: %v", err)
	}
}

func quoted(text string) string { return fmt.Sprintf("%q", text) }
