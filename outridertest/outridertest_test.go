package outridertest_test

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/outridertest"
)

func TestMain(m *testing.M) { os.Exit(outridertest.Run(m)) } // layering:allow

const form = `<!doctype html><title>Shop</title>
<label>Town <input id=town></label><label><input type=checkbox id=gift> A gift</label>
<label>Size <select id=size><option value=s>Small<option value=l>Large</select></label>
<button class="big red" style="color:rgb(255, 0, 0)" onclick="setTimeout(() => said.textContent = town.value + ' ' +
 gift.checked + ' ' + size.value, 150)">Order</button><button disabled>Pay</button>
<p id=said data-testid=said>nothing</p><ul><li>One<li>Two</ul><p hidden id=gone>Gone</p>
<script>town.value = document.cookie; document.cookie = 'seen=yes'</script>`

func server(t *testing.T, html string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, html)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestPage(t *testing.T) {
	t.Parallel()
	page := outridertest.Tab(t, server(t, form).URL)
	page.ByLabel("Town").Fill("Cape Town")
	page.ByLabel("A gift").Check()
	page.ByLabel("Size").Select("Large")
	page.ByRole("button", "Order").Click()
	said := page.ByTestID("said")
	said.Expect().Text("Cape Town true l")
	said.Expect().Not().Text("nothing")
	said.Expect().Contains("Town")
	said.Expect().Matches(regexp.MustCompile(`true \w$`))
	said.Expect().Visible()
	page.ByLabel("Town").Expect().Value("Cape Town")
	page.ByLabel("A gift").Expect().Checked()
	page.ByLabel("Town").Expect().Editable()
	page.ByLabel("Town").Expect().Name("Town")
	page.ByLabel("Town").Expect().Role("textbox")
	page.ByLabel("Town").Focus()
	page.ByLabel("Town").Expect().Focused()
	page.ByLabel("A gift").Uncheck()
	page.ByLabel("A gift").Expect().Not().Checked()
	order := page.ByRole("button", "Order")
	order.Expect().Enabled()
	order.Expect().Class("red")
	order.Expect().CSS("color", "rgb(255, 0, 0)")
	page.ByRole("button", "Pay").Expect().Disabled()
	page.ByRole("button", "Pay").Expect().Not().Enabled()
	page.BySelector("#gone").Expect().Hidden()
	page.BySelector("#none").Expect().Hidden()
	page.BySelector("#none").Expect().Not().Visible()
	page.BySelector("li").Expect().Count(2)
	page.BySelector("li").Expect().Not().Count(3)
	page.BySelector("#said").Expect().Attribute("data-testid", "said")
	page.Expect().Title("Shop")
	page.Expect().Not().Title("Shops")
	page.Expect().URL("127.0.0.1")
	page.Expect().Not().URL("/else")
	page.Expect().NoConsoleErrors()
	page.Expect().NoFailedRequests()
	page.Expect().Snapshot("shop")
	page.Expect().Not().Snapshot("other")
	var n int
	page.Evaluate("document.links.length + 3", &n)
	if n != 3 {
		t.Error(n)
	}
}

// Each tab has cookies of its own, and all run in one browser.
func TestTabsAreIsolated(t *testing.T) {
	t.Parallel()
	site := server(t, form)
	for i := range 12 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			page := outridertest.Tab(t, site.URL)
			page.ByLabel("Town").Expect().Value("")
			page.Reload()
			page.ByLabel("Town").Expect().Value("seen=yes")
		})
	}
}

// failing is a test that may fail.
type failing struct {
	testing.TB
	dir      string
	mu       sync.Mutex
	failed   bool
	log      strings.Builder
	cleanups []func()
}

func (f *failing) Fatalf(format string, args ...any) {
	f.Logf(format, args...)
	f.failed = true
	runtime.Goexit()
}

func (f *failing) Logf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Fprintf(&f.log, format+"\n", args...)
}
func (f *failing) Failed() bool        { return f.failed }
func (f *failing) ArtifactDir() string { return f.dir }
func (f *failing) Cleanup(do func())   { f.cleanups = append(f.cleanups, do) }

// fails runs a test that must fail, and returns its log and its artifacts.
func fails(t *testing.T, test func(t testing.TB)) (log, dir string) {
	t.Helper()
	f := &failing{TB: t, dir: t.TempDir()}
	var ran sync.WaitGroup
	ran.Go(func() { test(f) })
	ran.Wait()
	for len(f.cleanups) > 0 {
		last := len(f.cleanups) - 1
		f.cleanups[last]()
		f.cleanups = f.cleanups[:last]
	}
	if !f.failed {
		t.Errorf("the test did not fail: %s", &f.log)
	}
	return f.log.String(), f.dir
}

func TestFailureSaysWhatWasFound(t *testing.T) {
	t.Parallel()
	site := server(t, form+"<script>console.error('Broken'); fetch('/none')</script>")
	log, dir := fails(t, func(t testing.TB) {
		page := outridertest.Tab(t, site.URL)
		outridertest.Tab(t, "").SetContent("<h1>Another</h1>")
		page.ByTestID("said").Expect().Text("something")
	})
	for _, want := range []string{`{"test_id":"said"`, `expected the text "something"`, `found    "nothing"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
	for name, want := range map[string]string{
		"page.png": "PNG", "page.txt": "Order", "console.txt": "Broken", "requests.txt": "/none",
		"trace.zip": "trace.network", "trace.rec": "outrider-recording", "page-2/page.txt": "Another",
	} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v, %d bytes without %s", name, err, len(data), want)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	site := server(t, form+"<script>console.error('Broken'); fetch('/none')</script>")
	for name, c := range map[string]struct {
		test func(*outridertest.Page)
		want string
	}{
		"nearest":  {func(p *outridertest.Page) { p.ByRole("button", "Oder").Click() }, `nearest: ["Order","Pay"]`},
		"disabled": {func(p *outridertest.Page) { p.ByRole("button", "Pay").Click() }, "target_not_actionable"},
		"count":    {func(p *outridertest.Page) { p.BySelector("li").Expect().Count(3) }, "found    2 elements"},
		"not":      {func(p *outridertest.Page) { p.BySelector("li").Expect().Not().Count(2) }, "not 2 elements"},
		"several":  {func(p *outridertest.Page) { p.BySelector("li").Expect().Not().Text("x") }, "2 elements"},
		"none":     {func(p *outridertest.Page) { p.BySelector("b").Expect().Not().Text("x") }, "0 elements"},
		"hidden":   {func(p *outridertest.Page) { p.ByTestID("said").Expect().Hidden() }, "is visible"},
		"console":  {func(p *outridertest.Page) { p.Expect().NoConsoleErrors() }, "Broken"},
		"requests": {func(p *outridertest.Page) { p.Expect().NoFailedRequests() }, "/none: 404"},
		"address":  {func(p *outridertest.Page) { p.Expect().URL("/else") }, "found    http"},
		"title":    {func(p *outridertest.Page) { p.Expect().Not().Title("Shop") }, "not the title"},
		"here":     {func(p *outridertest.Page) { p.Expect().Not().URL("127.0.0.1") }, "not the address"},
		"snapshot": {func(p *outridertest.Page) { p.Expect().Snapshot("other") }, "--- got"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log, _ := fails(t, func(t testing.TB) {
				page := outridertest.Tab(t, site.URL)
				page.ByTestID("said").Expect().Visible()
				page.Patience = 300 * time.Millisecond
				c.test(page)
			})
			if !strings.Contains(log, c.want) {
				t.Errorf("the log lacks %s:\n%s", c.want, log)
			}
		})
	}
}

// A picture is compared with the file that the flag update wrote. A test that fails keeps what it saw.
func TestPicture(t *testing.T) {
	site := server(t, "<style>div { width: 40px; height: 30px; background: red }</style><div id=box></div>")
	t.Chdir(t.TempDir())
	written := func(page *outridertest.Page) {
		t.Helper()
		if err := flag.Set("outrider.update", "true"); err != nil {
			t.Fatal(err)
		}
		page.Expect().Picture("shop/box", 0)
		if err := flag.Set("outrider.update", "false"); err != nil {
			t.Fatal(err)
		}
	}
	page := outridertest.Tab(t, site.URL)
	written(page)
	page.Expect().Picture("shop/box", 0)
	later := func(css string) {
		page.Evaluate("setTimeout(() => { document.querySelector('#box').style = '"+css+"' }, 50)", nil)
	}
	later("width: 39px")
	page.Expect().Not().Picture("shop/box", 29)
	page.Expect().Picture("shop/box", 30)
	later("")
	page.Expect().Picture("shop/box", 0)

	for name, c := range map[string]struct {
		test func(*outridertest.Page)
		want string
	}{
		"differs": {func(p *outridertest.Page) {
			p.Evaluate("document.querySelector('#box').style.width = '20px'", nil)
			p.Expect().Picture("shop/box", 30)
		}, "found    600 of 1024000 pixels differ, within 20×30 at 28,8: at most 30 may"},
		"equal": {func(p *outridertest.Page) { p.Expect().Not().Picture("shop/box", 0) }, "expected not the picture"},
		"size": {func(p *outridertest.Page) {
			p.Emulate(outrider.Emulation{Width: 300, Height: 200, Scale: 1})
			p.Expect().Picture("shop/box", 30)
		}, "the size is 300×200, expected 1280×800"},
		"none": {func(p *outridertest.Page) { p.Expect().Picture("none", 0) }, "-outrider.update writes it"},
	} {
		log, dir := fails(t, func(t testing.TB) {
			p := outridertest.Tab(t, site.URL)
			p.Patience = 300 * time.Millisecond
			c.test(p)
		})
		if !strings.Contains(log, c.want) {
			t.Errorf("%s: the log lacks %q:\n%s", name, c.want, log)
		}
		_, err := os.Stat(filepath.Join(dir, "box.got.png"))
		if (err == nil) != (name == "differs" || name == "size") {
			t.Errorf("%s: what was seen: %v", name, err)
		}
	}
}
