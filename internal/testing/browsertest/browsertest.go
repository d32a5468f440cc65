// Package browsertest gives tests a real browser: one for each test binary, and a fresh
// tab in a fresh browser context for each test. It judges nothing. Tests of the
// browser's packages and of the runtime call it.
//
// It is the headless shell where there is one. A test of what that lacks says so: it uses
// Chromium, or launches with launch.Chromium as the path.
//
// Without a browser on the machine such tests are skipped, which is logged once.
// With OUTRIDER_REQUIRE_BROWSER=1 they fail instead, so that continuous
// integration cannot be green because nothing ran.
package browsertest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/launch"
)

// RequireEnv makes a missing browser a failure when it is "1".
const RequireEnv = "OUTRIDER_REQUIRE_BROWSER"

// sharedBrowser is a browser of the test binary, which starts at first use.
type sharedBrowser struct {
	once sync.Once
	b    *browser.Browser
	err  error
}

// shared is the browser of most tests, and full that of those that need Chromium.
var shared, full sharedBrowser

var identities struct {
	mu   sync.Mutex
	tabs int // last tab id given
}

// Main is the body of a TestMain: it makes the test binary able to supervise its
// browser, runs the tests, and fails when they leave goroutines, tabs or
// profile directories behind.
func Main(m *testing.M) {
	launch.MaybeSupervise()
	tmp, err := os.MkdirTemp("", "outrider-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) // layering:allow: the body of TestMain
	}
	os.Setenv("TMPDIR", tmp) // so that profile directories can be counted
	code := m.Run()
	if problems := leftovers(tmp); len(problems) > 0 {
		for _, p := range problems {
			fmt.Fprintln(os.Stderr, "browsertest:", p)
		}
		if code == 0 {
			code = 1
		}
	}
	os.RemoveAll(tmp)
	os.Exit(code) // layering:allow: the body of TestMain
}

func leftovers(tmp string) (problems []string) {
	problems = apart.end()
	for _, b := range []*browser.Browser{shared.b, full.b} {
		if b == nil {
			continue
		}
		if err := b.Err(); err != nil { // the tests that met it say only that it is lost
			problems = append(problems, fmt.Sprintf("the browser ended by itself: %v", errors.Unwrap(err)))
		}
		for _, t := range b.Tabs() {
			problems = append(problems, "a tab was left open at "+t.Tab().URL)
		}
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		if err := b.Close(ctx); err != nil {
			problems = append(problems, "closing the browser: "+err.Error())
		}
	}
	if err := goleak.Find(goleak.IgnoreTopFunction("os/signal.signal_recv")); err != nil {
		problems = append(problems, err.Error())
	}
	left, _ := filepath.Glob(filepath.Join(tmp, "outrider-profile-*"))
	for _, dir := range left {
		problems = append(problems, "profile directory left: "+dir)
	}
	return problems
}

// Options are the options of the shared browser, for tests that launch another.
func Options() browser.Options {
	return browser.Options{Patience: OnThisMachine, ExtraArgs: Flags(), Peer: peer}
}

// peer is the tab of an id in the browser of another.
func peer(from *browser.Tab, id int) (primitives.Page, error) {
	for _, t := range from.Browser().Tabs() {
		if t.Tab().ID == id {
			return t, nil
		}
	}
	return nil, fmt.Errorf("no tab %d", id)
}

// Flags are what browsers of tests are started with beside the flags of all. Chromium has a renderer ready for the next
// document of each browser context. A test has one document and a context of its own, so half of the renderers would
// be started for nothing, at a fifth of the processor's time.
// Benchmarks measure the browser that users have.
func Flags() []string {
	if bench := flag.Lookup("test.bench"); bench != nil && bench.Value.String() != "" {
		return nil
	}
	return []string{"--disable-features=" + launch.DisabledFeatures + ",SpareRendererForSitePerProcess"}
}

// Require skips or fails the test when there is no browser.
func Require(tb testing.TB) {
	tb.Helper()
	if _, err := launch.Find("", ""); err != nil {
		if os.Getenv(RequireEnv) == "1" {
			tb.Fatalf("a browser is required: %v", err)
		}
		tb.Skipf("no browser: %v", err)
	}
}

// Environment are the variables with which a program of a test finds the browsers that the test finds.
func Environment(tb testing.TB) []string {
	tb.Helper()
	Require(tb)
	env := []string{launch.PathEnv + "=" + os.Getenv(launch.PathEnv)}
	for variable, kind := range map[string]string{
		launch.ChromiumEnv: launch.Chromium, launch.ShellEnv: launch.Shell,
	} {
		if found, err := launch.Find(kind, ""); err == nil {
			env = append(env, variable+"="+found.Path)
		}
	}
	return env
}

// Browser returns the browser of the test binary, and starts it at first use.
func Browser(tb testing.TB) *browser.Browser {
	tb.Helper()
	return shared.in(tb, "")
}

// Chromium is Browser for what the headless shell lacks.
func Chromium(tb testing.TB) *browser.Browser {
	tb.Helper()
	if b := Browser(tb); !b.Shell() {
		return b
	}
	return full.in(tb, launch.Chromium)
}

func (s *sharedBrowser) in(tb testing.TB, kind string) *browser.Browser {
	tb.Helper()
	Require(tb)
	s.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		options := Options()
		options.Path = kind
		s.b, s.err = browser.Launch(ctx, options)
	})
	if s.err != nil {
		tb.Fatalf("launching the browser: %v", s.err)
	}
	return s.b
}

// Launch starts a browser of its own for a test, with the options that change makes of
// Options. It closes with the test.
func Launch(tb testing.TB, change func(*browser.Options)) *browser.Browser {
	tb.Helper()
	Require(tb)
	opts := Options()
	if change != nil {
		change(&opts)
	}
	b, err := browser.Launch(Within(tb, time.Minute), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		if err := b.Close(ctx); err != nil {
			tb.Errorf("closing: %v", err)
		}
	})
	return b
}

// Patience is what a step of a test may take on a machine under load. A wait that ends
// with what it waits for costs nothing when it is long; it tells late from never.
const Patience = time.Minute

// slower is how much longer work may take on a machine under load.
const slower = 10

// Within bounds work that takes less than d on an idle machine; under load it has ten
// times as long, and Patience at least. Less than a second is a deadline that the test
// is about.
func Within(tb testing.TB, d time.Duration) context.Context {
	if d >= time.Second {
		d = max(slower*d, Patience)
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	tb.Cleanup(cancel)
	return ctx
}

// Eventually waits for a state that no event of ours announces. d is as for Within.
func Eventually(tb testing.TB, d time.Duration, what string, ok func() bool) {
	tb.Helper()
	d = max(slower*d, Patience)
	for end := time.Now().Add(d); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("not within %v: %s", d, what)
		}
	}
}

// Tab opens a tab at about:blank in a browser context of its own. Both end with
// the test.
func Tab(tb testing.TB) *browser.Tab {
	tb.Helper()
	return TabIn(tb, Browser(tb))
}

// TabIn is Tab in another browser than the shared one.
func TabIn(tb testing.TB, b *browser.Browser) *browser.Tab {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	id, err := b.NewContext(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		if err := b.DisposeContext(ctx, id); err != nil {
			tb.Errorf("ending the browser context: %v", err)
		}
		for _, t := range b.Tabs() {
			if t.Context() != id {
				continue
			}
			select {
			case <-t.Done():
			case <-ctx.Done():
				tb.Errorf("a tab outlived its browser context: %s", t.Tab().URL)
			}
		}
	})
	t, err := b.NewTab(ctx, "", browser.TabOptions{Context: id})
	if err != nil {
		tb.Fatal(err)
	}
	identities.mu.Lock()
	identities.tabs++
	t.SetIdentity(primitives.TabInfo{
		ID:         identities.tabs,
		RuntimeID:  fmt.Sprintf("rt-%d", identities.tabs),
		RuntimeKey: fmt.Sprintf("test-tab:%d", identities.tabs),
		Active:     true,
	})
	identities.mu.Unlock()
	return t
}
