package outriderrod_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"
	"go.uber.org/goleak"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/outriderrod"
)

const first = `<!doctype html><title>First</title><label>Town <input id=town></label>
<button onclick="said.textContent = town.value; document.cookie = 'town=' + town.value">Order</button>
<p id=said>nothing</p><a href="/second">Second</a><iframe id=within src="/frame"></iframe>
<button onclick="setTimeout(() => this.title = String(confirm('Sure?')))">Ask</button>`

func site(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/second":
			fmt.Fprint(w, "<title>Second</title><h1>Second</h1>")
		case "/frame":
			fmt.Fprint(w, `<!doctype html><button onclick="this.textContent = 'Pressed'">Inside</button>`)
		default:
			fmt.Fprint(w, first)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func open(t *testing.T, address string) (*outrider.Session, context.Context) {
	s, err := outrider.Open(t.Context(), outrider.Options{Open: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return s, ctx
}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "outriderrod:", err)
		code = 1
	}
	os.Exit(code) // layering:allow
}

// noPanic turns a panic of rod's Must into a failure.
func noPanic(t *testing.T) {
	if p := recover(); p != nil {
		t.Fatalf("%v\n%s", p, debug.Stack())
	}
}

func TestRodAndOursWorkOnOneTab(t *testing.T) {
	address := site(t).URL
	s, ctx := open(t, address)
	tab := s.Tab()
	page, stop, err := outriderrod.Page(ctx, tab)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	defer noPanic(t)
	page = page.Context(ctx)

	page.MustElement("#town").MustInput("Cape Town")
	if err := tab.ByRole("button", "Order").Click(ctx); err != nil {
		t.Fatal(err)
	}
	if got := page.MustElement("#said").MustText(); got != "Cape Town" {
		t.Errorf("rod reads %q", got)
	}
	if err := tab.ByLabel("Town").Fill(ctx, "Ulm"); err != nil {
		t.Fatal(err)
	}
	page.MustElementR("button", "Order").MustClick()
	if got, err := tab.BySelector("#said").Text(ctx); err != nil || got != "Ulm" {
		t.Errorf("we read %q, %v", got, err)
	}

	if got := page.MustEval("(a, b) => a + b", 2, 3).Int(); got != 5 {
		t.Errorf("eval: %d", got)
	}
	frame := page.MustElement("#within").MustFrame()
	frame.MustElement("button").MustClick()
	if got, err := tab.ByRole("button", "").In("#within").Text(ctx); err != nil || got != "Pressed" {
		t.Errorf("frame: %q, %v", got, err)
	}
	if got := page.MustElements("button"); len(got) != 2 {
		t.Errorf("%d buttons", len(got))
	}
	page.MustElement("#town").MustFocus()
	page.Keyboard.MustType(input.KeyA)
	if got, err := tab.ByLabel("Town").Value(ctx); err != nil || got != "Ulma" {
		t.Errorf("typed: %q, %v", got, err)
	}

	wait, handle := page.MustHandleDialog()
	go page.MustElementR("button", "Ask").MustClick()
	wait()
	handle(true, "")
	if got, _, err := tab.ByRole("button", "Ask").Attribute(ctx, "title"); err != nil || got != "true" {
		t.Errorf("dialog: %q, %v", got, err)
	}

	loaded := page.MustWaitNavigation()
	if err := tab.ByRole("link", "Second").Click(ctx); err != nil {
		t.Fatal(err)
	}
	loaded()
	if got := page.MustElement("h1").MustText(); got != "Second" {
		t.Errorf("after our click rod is at %q", got)
	}
	page.MustNavigate(address).MustWaitLoad()
	if got, err := outrider.Evaluate[string](ctx, tab, "document.title"); err != nil || got != "First" {
		t.Errorf("after rod's navigation we are at %q, %v", got, err)
	}
	if got := len(page.MustScreenshot()); got < 1000 {
		t.Errorf("a screenshot of %d bytes", got)
	}

	// Failures are those that rod's own connection gives.
	_, err = page.Timeout(100 * time.Millisecond).Element("#nowhere")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an element that is not there: %v", err)
	}
	_, err = proto.RuntimeGetProperties{ObjectID: "1.2.3"}.Call(page)
	var refused *cdp.Error
	if !errors.As(err, &refused) || refused.Code == 0 || refused.Message == "" {
		t.Errorf("a refused command: %v", err)
	}
	if err := page.Browser().Close(); err == nil {
		t.Error("rod has closed the browser")
	}
	stop()
	if _, err := page.Eval("() => 1"); err == nil {
		t.Error("rod answers after stop")
	}
	if err := tab.ByLabel("Town").Fill(ctx, "Bonn"); err != nil {
		t.Errorf("after stop: %v", err)
	}
}

// What rod opens and closes are tabs of the session; what was set on in rod is off with stop.
func TestRodOpensAndClosesTabs(t *testing.T) {
	address := site(t).URL
	s, ctx := open(t, address)
	isolated, err := s.NewSession(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer isolated.Close()
	if _, err := outrider.Evaluate[string](ctx, isolated.Tab(), "document.cookie = 'kind=own'"); err != nil {
		t.Fatal(err)
	}
	page, stop, err := outriderrod.Page(ctx, isolated.Tab())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	defer noPanic(t)
	opened := page.Browser().Context(ctx).MustPage(address + "/second").MustWaitLoad()
	if got := opened.MustEval("() => document.cookie").Str(); got != "kind=own" {
		t.Errorf("a page that rod opened has the cookies %q", got)
	}
	var second *outrider.Tab
	for _, tab := range isolated.Tabs() {
		if strings.HasSuffix(tab.URL(), "/second") {
			second = tab
		}
	}
	if second == nil {
		t.Fatalf("the session has %d tabs", len(isolated.Tabs()))
	}
	if got, err := second.ByRole("heading", "").Text(ctx); err != nil || got != "Second" {
		t.Errorf("%q, %v", got, err)
	}
	opened.MustClose()
	if _, err := opened.Eval("() => 1"); !errors.Is(err, context.Canceled) && !errors.Is(err, cdp.ErrSessionNotFound) {
		t.Errorf("a page that was closed: %v", err)
	}
	if len(s.Tabs()) != 1 {
		t.Errorf("the browser's own tabs are %d", len(s.Tabs()))
	}
}

// A page of rod ends with the browser, and its goroutines with it.
func TestRodEndsWithTheSession(t *testing.T) {
	s, ctx := open(t, site(t).URL)
	var pages []*rod.Page
	for range 3 {
		page, _, err := outriderrod.Page(ctx, s.Tab())
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page)
	}
	waits := make(chan error, 1)
	go func() {
		_, err := pages[0].Eval("() => new Promise(() => {})")
		waits <- err
	}()
	pages[1].MustEval("() => 1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; err == nil {
		t.Error("a call outlives the browser")
	}
}
