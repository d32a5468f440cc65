package outrider_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider"
)

// office is a page with much that can be waited for, and a frame of another origin in a process of its own.
func office(t *testing.T) *httptest.Server {
	t.Helper()
	var site *httptest.Server
	site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/echo":
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s %s", r.Method, r.Header.Get("X-Kind"), body)
		case "/moved":
			http.Redirect(w, r, "/echo", http.StatusFound)
		case "/file":
			w.Header().Set("Content-Disposition", `attachment; filename="`+r.URL.Query().Get("name")+`"`)
			fmt.Fprint(w, "content")
		case "/frame":
			fmt.Fprint(w, `<!doctype html><button onclick="fetch('/echo?frame'); console.log('framed')">Inside</button>
<button onclick="choice.click()">Choose inside</button><input type=file hidden id=choice
 onchange="title = [...this.files].map(f => f.name + ' ' + f.size).join()">`)
		default:
			elsewhere := strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
			fmt.Fprint(w, `<!doctype html><title>Office</title><iframe src="`+elsewhere+`/frame"></iframe>
<button onclick="fetch('/echo', {method: 'POST', body: 'x'.repeat(100000), headers: {'X-Kind': 'large'}})">Post</button>
<button onclick="console.log('one'); console.warn('two', 2); setTimeout(() => nothing.there)">Log</button>
<button onclick="title = [confirm('A?'), prompt('B?', 'b'), alert('C')].join()">Ask</button>
<button onclick="choice.click()">Choose</button><input type=file multiple hidden id=choice
 onchange="for (const f of this.files) f.text().then(text => title += f.name + ':' + text + ';')">
<label>File <input type=file id=direct onchange="this.files[0].text().then(text => title = text)"></label>
<a href="/file?name=a.txt">a</a><a href="/file?name=b.txt">b</a>
<a href="/echo?1" target=_blank>p1</a><a href="/echo?2" target=_blank>p2</a>`)
		}
	}))
	t.Cleanup(site.Close)
	return site
}

// officeTab opens the page, and gives a context for the test.
func officeTab(t *testing.T) (*outrider.Tab, context.Context, string) {
	t.Helper()
	site := office(t)
	s := open(t, outrider.Options{
		Open: []string{site.URL}, Browser: outrider.BrowserOptions{DownloadDir: outrider.Temporary},
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return s.Tab(), ctx, site.URL
}

// some are the first n of an iterator.
func some[T any](t *testing.T, all iter.Seq2[T, error], n int) (out []T) {
	t.Helper()
	for item, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, item)
		if len(out) == n {
			return out
		}
	}
	t.Fatalf("there were %d, not %d", len(out), n)
	return nil
}

// must fails the test with an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRequestsAreWaitedForAndListed(t *testing.T) {
	tab, ctx, _ := officeTab(t)
	post := func() error { return tab.ByRole("button", "Post").Click(ctx) }
	inside := func() error { return tab.ByRole("button", "Inside").In("iframe").Click(ctx) }

	r, err := tab.WaitRequest(ctx, "**/echo", post)
	must(t, err)
	if r.Method != "POST" || len(r.Body) != 100000 || r.Header.Get("X-Kind") != "large" || r.Kind != "Fetch" {
		t.Errorf("%s %s, %d bytes, %v", r.Method, r.Kind, len(r.Body), r.Header)
	}
	r, err = tab.WaitRequest(ctx, "frame", inside)
	must(t, err)
	if r.Method != "GET" || !strings.HasSuffix(r.URL, "/echo?frame") || r.Body != nil {
		t.Errorf("in a frame of another process: %+v", r)
	}
	answer, err := tab.WaitResponse(ctx, "frame", inside)
	must(t, err)
	if body, err := io.ReadAll(answer.Body); err != nil || string(body) != "GET  " {
		t.Errorf("the body in a frame: %q, %v", body, err)
	}
	moved, err := tab.WaitResponse(ctx, "/moved", func() error {
		_, err := outrider.Evaluate[string](ctx, tab, "fetch('/moved').then(r => r.text())")
		return err
	})
	must(t, err)
	if moved.Status != http.StatusFound || moved.Header.Get("Location") != "/echo" {
		t.Errorf("the redirect: %+v", moved)
	}

	requests, answers := tab.Requests(ctx), tab.Responses(ctx)
	must(t, post())
	must(t, inside())
	for i, r := range some(t, requests, 2) {
		if want := []string{"/echo", "/echo?frame"}[i]; !strings.HasSuffix(r.URL, want) {
			t.Errorf("request %d is %s, not %s", i, r.URL, want)
		}
	}
	for _, r := range some(t, answers, 2) {
		if r.Status != http.StatusOK {
			t.Errorf("answer: %+v", r)
		}
	}
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	_, err = tab.WaitRequest(short, "/none", post)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(fmt.Sprint(err), "no request came") {
		t.Errorf("a request that does not come: %v", err)
	}
}

func TestConsoleDialogsDownloadsAndPopupsAreListed(t *testing.T) {
	tab, ctx, address := officeTab(t)
	console := tab.Console(ctx)
	must(t, tab.ByRole("button", "Log").Click(ctx))
	var lines []string
	for _, line := range some(t, console, 3) {
		lines = append(lines, line.Level+" "+strings.SplitN(line.Text, "\n", 2)[0])
		if line.URL != address+"/" || line.Line == 0 {
			t.Errorf("%+v", line)
		}
	}
	want := []string{"log one", "warning two 2", "exception Uncaught ReferenceError: nothing is not defined"}
	if !slices.Equal(lines, want) {
		t.Errorf("the console: %q", lines)
	}
	console = tab.Console(ctx)
	must(t, tab.ByRole("button", "Inside").In("iframe").Click(ctx))
	if line := some(t, console, 1)[0]; line.Text != "framed" {
		t.Errorf("what was said before the call, or nothing of a frame: %+v", line)
	}

	dialogs := tab.Dialogs(ctx)
	must(t, tab.ByRole("button", "Ask").Click(ctx))
	var asked []string
	for d, err := range dialogs {
		must(t, err)
		asked = append(asked, d.Type+" "+d.Message)
		must(t, d.Accept(ctx, "typed"))
		if len(asked) == 3 {
			break
		}
	}
	if !slices.Equal(asked, []string{"confirm A?", "prompt B?", "alert C"}) {
		t.Errorf("the dialogs: %q", asked)
	}
	if title, _, err := tab.ByRole("button", "Ask").Attribute(ctx, "title"); err != nil || title != "true,typed," {
		t.Errorf("%q, %v", title, err)
	}

	downloads, popups := tab.Downloads(ctx), tab.Popups(ctx)
	for _, name := range []string{"a", "b"} { // the next click would end a navigation that is not yet a download
		_, err := tab.WaitDownload(ctx, func() error { return tab.ByRole("link", name).Click(ctx) })
		must(t, err)
	}
	for _, name := range []string{"p1", "p2"} {
		must(t, tab.ByRole("link", name).Click(ctx))
	}
	var names []string
	for _, d := range some(t, downloads, 2) {
		names = append(names, d.Name)
		f, err := d.Open()
		must(t, err)
		if content, err := io.ReadAll(f); err != nil || string(content) != "content" {
			t.Errorf("%q, %v", content, err)
		}
		must(t, f.Close())
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"a.txt", "b.txt"}) {
		t.Errorf("the downloads: %q", names)
	}
	if opened := some(t, popups, 2); opened[0].ID() == opened[1].ID() || opened[0].ID() == tab.ID() {
		t.Error("the popups are one")
	}
	again := tab.Downloads(ctx)
	must(t, tab.ByRole("link", "a").Click(ctx))
	first := some(t, again, 1)[0]
	if filepath.Base(first.Path) != "a (1).txt" {
		t.Errorf("a second iterator begins with %s", first.Path)
	}
	must(t, tab.Session().Close())
	if _, err := os.Stat(first.Path); err == nil {
		t.Error("a temporary download outlives its session")
	}
}

func TestFilesAreChosen(t *testing.T) {
	tab, ctx, _ := officeTab(t)
	choose := func(name string, frames ...string) *outrider.FileChooser {
		t.Helper()
		c, err := tab.WaitFileChooser(ctx, func() error { return tab.ByRole("button", name).In(frames...).Click(ctx) })
		must(t, err)
		return c
	}
	file := func(name, content string) outrider.File { return outrider.File{name, strings.NewReader(content)} }
	title := func(l outrider.Locator, want string) {
		t.Helper()
		found, err := l.Changed(ctx, outrider.Reading{Attributes: []string{"title"}}, "", 0)
		for err == nil && (found.Count == 0 || found.List[0].Attributes["title"] != want) {
			state := found.State
			found, err = l.Changed(ctx, outrider.Reading{Attributes: []string{"title"}}, state, 5*time.Second)
			if err == nil && found.State == state {
				t.Fatalf("the title is %q, not %q", found.List[0].Attributes["title"], want)
			}
		}
		must(t, err)
	}
	c := choose("Choose")
	if !c.Multiple {
		t.Error("it takes several files")
	}
	must(t, c.UploadFiles(ctx, file("a.txt", "one"), file("b.txt", "two")))
	title(tab.BySelector("#choice"), "a.txt:one;b.txt:two;")

	c = choose("Choose inside", "iframe")
	err := c.UploadFiles(ctx, file("a.txt", "one"), file("b.txt", "two"))
	if c.Multiple || !errors.Is(err, outrider.Code("invalid_arguments")) {
		t.Errorf("two files where one is asked for: %v", err)
	}
	if err := c.Upload(ctx, "/etc/hostname"); !errors.Is(err, outrider.Code("capability_unavailable")) {
		t.Errorf("a path without a declared folder: %v", err)
	}
	must(t, c.UploadFiles(ctx, file("c.txt", "three")))
	title(tab.BySelector("#choice").In("iframe"), "c.txt 5")
	choose("Choose").Cancel()

	direct := tab.ByLabel("File")
	must(t, direct.UploadFiles(ctx, file("d.txt", "four")))
	title(direct, "four")
	for _, name := range []string{"", ".", "..", "a/b", "../a"} {
		if err := direct.UploadFiles(ctx, file(name, "x")); !errors.Is(err, outrider.Code("invalid_input")) {
			t.Errorf("the name %q: %v", name, err)
		}
	}
	broken := outrider.File{"e.txt", io.MultiReader(strings.NewReader("x"), iotest{})}
	if err := direct.UploadFiles(ctx, broken); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a reader that fails: %v", err)
	}
}

// iotest is a reader that fails.
type iotest struct{}

func (iotest) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestStateCookiesAndPermissionsOfASession(t *testing.T) {
	tab, ctx, address := officeTab(t)
	s := tab.Session()
	expires := time.Now().Add(time.Hour).Truncate(time.Second)
	must(t, s.SetCookies(ctx, address,
		&http.Cookie{Name: "a", Value: "1", HttpOnly: true, SameSite: http.SameSiteStrictMode, Expires: expires},
		&http.Cookie{Name: "b", Value: "2", Path: "/echo"}, &http.Cookie{Name: "gone", Value: "3", MaxAge: -1}))
	cookies, err := s.Cookies(ctx)
	must(t, err)
	if len(cookies) != 2 {
		t.Fatalf("%d cookies: %v", len(cookies), cookies)
	}
	for _, c := range cookies {
		is := c.Name == "a" && c.HttpOnly && c.SameSite == http.SameSiteStrictMode && c.Expires.Equal(expires)
		if !is && (c.Name != "b" || c.Path != "/echo" || !c.Expires.IsZero()) {
			t.Errorf("%+v", c)
		}
	}
	if sent, err := s.Cookies(ctx, address); err != nil || len(sent) != 1 {
		t.Errorf("%v, %v", sent, err)
	}
	_, err = outrider.Evaluate[string](ctx, tab, "localStorage.kept = 'yes'")
	must(t, err)
	state, err := s.StorageState(ctx)
	must(t, err)
	other, err := s.NewSession(ctx, "")
	must(t, err)
	defer other.Close()
	must(t, other.SetStorageState(ctx, state))
	_, err = other.Tab().Goto(ctx, address)
	must(t, err)
	if kept, err := outrider.Evaluate[string](ctx, other.Tab(), "localStorage.kept"); err != nil || kept != "yes" {
		t.Errorf("local storage: %q, %v", kept, err)
	}
	must(t, other.ClearCookies(ctx))
	if left, err := other.Cookies(ctx); err != nil || len(left) != 0 {
		t.Errorf("after clear: %v, %v", left, err)
	}

	may := func(tab *outrider.Tab, name string) string {
		t.Helper()
		const query = "name => navigator.permissions.query({name}).then(p => p.state)"
		out, err := outrider.Evaluate[string](ctx, tab, query, name)
		must(t, err)
		return out
	}
	must(t, s.Grant(ctx, address, "notifications", "clipboard-read"))
	must(t, tab.Emulate(ctx, outrider.Emulation{Position: &outrider.Position{Latitude: 47, Longitude: 8}}))
	must(t, s.Deny(ctx, address, "camera"))
	for name, want := range map[string]string{
		"notifications": "granted", "clipboard-read": "granted", "geolocation": "granted", "camera": "denied",
	} {
		if got := may(tab, name); got != want {
			t.Errorf("%s is %s, not %s", name, got, want)
		}
	}
	if got := may(other.Tab(), "notifications"); got == "granted" {
		t.Error("another session has the permission")
	}
	must(t, tab.ResetEmulation(ctx))
	if here, there := may(tab, "geolocation"), may(tab, "notifications"); here == "granted" || there != "granted" {
		t.Errorf("after the end of the emulation: %s, %s", here, there)
	}
	if err := s.Grant(ctx, address, "none"); err == nil {
		t.Error("a permission that is not there was granted")
	}
}

func TestATabIsEmulatedPrintedAndFilled(t *testing.T) {
	tab, ctx, address := officeTab(t)
	phone := outrider.Device("iPhone 15")
	phone.Timezone, phone.Locale = "Asia/Tokyo", "ja-JP"
	phone.ColorScheme = "dark"
	must(t, tab.Emulate(ctx, phone))
	_, err := tab.Goto(ctx, address)
	must(t, err)
	got, err := outrider.Evaluate[[]any](ctx, tab, `[innerWidth, devicePixelRatio, navigator.userAgent.slice(13, 19),
		Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.language,
		matchMedia('(prefers-color-scheme: dark)').matches, navigator.maxTouchPoints > 0]`)
	if want := "[980 3 iPhone Asia/Tokyo ja-JP true true]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
	must(t, tab.ResetEmulation(ctx))
	if err := tab.Emulate(ctx, outrider.Emulation{Scale: 2}); !errors.Is(err, outrider.Code("invalid_input")) {
		t.Errorf("a scale without a viewport: %v", err)
	}
	if outrider.Device("none") != (outrider.Emulation{}) {
		t.Error("a device that is not known")
	}
	must(t, tab.Emulate(ctx, outrider.Emulation{Offline: true}))
	if _, err := outrider.Evaluate[string](ctx, tab, "fetch('/echo').then(r => r.text())"); err == nil {
		t.Error("a request succeeds without network")
	}
	must(t, tab.ResetEmulation(ctx))

	must(t, tab.SetContent(ctx, `<title>Made</title><input autofocus><p>text</p>`))
	must(t, tab.BySelector("input").Focus(ctx))
	must(t, tab.Type(ctx, "Ada"))
	if value, err := tab.BySelector("input").Value(ctx); err != nil || value != "Ada" {
		t.Errorf("%q, %v", value, err)
	}
	if html, err := tab.HTML(ctx); err != nil || !strings.HasPrefix(html, "<html><head><title>Made</title>") {
		t.Errorf("%q, %v", html, err)
	}
	if html, err := tab.BySelector("p").HTML(ctx); err != nil || html != "<p>text</p>" {
		t.Errorf("%q, %v", html, err)
	}
	if pdf, err := tab.PDF(ctx); err != nil || !strings.HasPrefix(string(pdf), "%PDF") {
		t.Errorf("%d bytes, %v", len(pdf), err)
	}
	_, err = tab.Goto(ctx, address+"/echo?next")
	must(t, err)
	if err := tab.Back(ctx); err != nil || strings.Contains(tab.URL(), "next") {
		t.Errorf("back: %v, %s", err, tab.URL())
	}
	if err := tab.Forward(ctx); err != nil || !strings.Contains(tab.URL(), "next") {
		t.Errorf("forward: %v, %s", err, tab.URL())
	}
	if err := tab.Forward(ctx); !errors.Is(err, outrider.Code("navigation_failed")) {
		t.Errorf("forward, where nothing is: %v", err)
	}
}

func TestAPageCallsTheProgram(t *testing.T) {
	tab, ctx, address := officeTab(t)
	type order struct{ Name string }
	stop, err := outrider.Expose(ctx, tab, "greet", func(_ context.Context, o order) (string, error) {
		if o.Name == "panic" {
			panic("the program's")
		}
		if o.Name == "" {
			return "", errors.New("no name")
		}
		return "hello " + o.Name, nil
	})
	must(t, err)
	stopSum, err := outrider.Expose(ctx, tab, "sum", func(_ context.Context, all []int) (sum int, err error) {
		for _, n := range all {
			sum += n
		}
		return sum, nil
	})
	must(t, err)
	defer stopSum()
	ask := func(call string) string {
		t.Helper()
		out, err := outrider.Evaluate[string](ctx, tab, call+".then(String, e => 'rejected: ' + e.message)")
		must(t, err)
		return out
	}
	both := func() {
		t.Helper()
		for call, want := range map[string]string{
			"greet({name: 'Ada'})":                "hello Ada",
			"greet({name: ''})":                   "rejected: no name",
			"greet({name: 'panic'})":              "rejected: an exposed function panicked",
			"greet()":                             "rejected: greet takes one argument, not 0",
			"sum(1, 2, 3)":                        "6",
			"sum()":                               "0",
			"Promise.all([sum(1, 1), sum(2, 2)])": "2,4",
		} {
			if got := ask(call); got != want {
				t.Errorf("%s: %q, not %q", call, got, want)
			}
		}
		if got := ask("greet({})"); !strings.Contains(got, "Name is missing") {
			t.Errorf("a part that is missing: %q", got)
		}
	}
	both()
	must(t, tab.Reload(ctx))
	both()
	_, err = tab.WaitConsole(ctx, func() error {
		return tab.ByRole("button", "Inside").In("iframe").Click(ctx)
	})
	must(t, err)
	stop()
	stop()
	if _, err := tab.Goto(ctx, address); err != nil {
		t.Fatal(err)
	}
	if left, err := outrider.Evaluate[string](ctx, tab, "typeof greet + typeof sum"); err != nil ||
		left != "undefinedfunction" {
		t.Errorf("after stop: %q, %v", left, err)
	}
}

func TestHeadersGoWithEachRequest(t *testing.T) {
	tab, ctx, address := officeTab(t)
	stop, err := tab.SetHeaders(ctx, http.Header{"X-Kind": {"own"}})
	must(t, err)
	here := func() string {
		t.Helper()
		text, err := outrider.Evaluate[string](ctx, tab, "fetch('/echo').then(r => r.text())")
		must(t, err)
		return text
	}
	if got := here(); got != "GET own " {
		t.Errorf("a fetch: %q", got)
	}
	_, err = tab.Goto(ctx, address) // the frame is a new one, in another process
	must(t, err)
	answer, err := tab.WaitResponse(ctx, "frame", func() error {
		return tab.ByRole("button", "Inside").In("iframe").Click(ctx)
	})
	must(t, err)
	if body, err := io.ReadAll(answer.Body); err != nil || string(body) != "GET own " {
		t.Errorf("in a frame: %q, %v", body, err)
	}
	stop()
	if got := here(); got != "GET  " {
		t.Errorf("after stop: %q", got)
	}
}

// A handler of a route changes what goes on to the server.
func TestARouteChangesARequest(t *testing.T) {
	tab, ctx, _ := officeTab(t)
	stop, err := tab.Route(ctx, "*/echo*", func(w outrider.RouteWriter, r *http.Request) {
		r.Header.Set("X-Kind", "changed")
		if r.URL.Query().Has("broken") {
			r.Body = io.NopCloser(iotest{})
		}
		if r.URL.Query().Has("put") {
			r.Method = http.MethodPut
			r.Body = io.NopCloser(strings.NewReader("new body"))
		}
		w.Continue()
	})
	must(t, err)
	defer stop()
	for path, want := range map[string]string{
		"/echo": "POST changed old", "/echo?put": "PUT changed new body", "/echo?broken": "failed",
	} {
		const post = "path => fetch(path, {method: 'POST', body: 'old'}).then(r => r.text(), () => 'failed')"
		got, err := outrider.Evaluate[string](ctx, tab, post, path)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", path, got, err, want)
		}
	}
}
