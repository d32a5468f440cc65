package outrider_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/client"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
)

func open(t *testing.T, o outrider.Options) *outrider.Session {
	t.Helper()
	browsertest.Require(t)
	s, err := outrider.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return s
}

func TestLibraryRefusesOptionsByName(t *testing.T) {
	for name, o := range map[string]outrider.Options{
		"Profile": {Profile: "lenient"},
		"Open":    {Open: []string{"localhost:8080/x"}},
		"Browser.Attach": {
			Browser: outrider.BrowserOptions{Attach: "http://127.0.0.1:9", Proxy: "http://127.0.0.1:9"},
		},
		"Browser.Width and Height": {Browser: outrider.BrowserOptions{Width: 100}},
		"ExpressionEngine":         {ExpressionEngine: "other"},
		"AllowMaps":                {AllowMaps: []string{"private=script"}},
		"Secrets":                  {Secrets: map[string]outrider.Secret{"PW": {Value: "abc"}}},
	} {
		_, err := outrider.Open(t.Context(), o)
		var e *outrider.Error
		if !errors.As(err, &e) || e.Code != "invalid_input" || e.Evidence["option"] != name || e.Retryable {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A secret is in the field, and in nothing that a caller gets.
func TestLibraryTypesSecretsUnseen(t *testing.T) {
	const canary = "c4nary-of-the-library"
	site := page(`<input id="pw"><p id="p"></p><script>pw.oninput = () => p.textContent = pw.value + ' has ' + ` +
		`pw.value.length</script>`)
	defer site.Close()
	s := open(t, outrider.Options{Open: []string{site.URL}, Secrets: map[string]outrider.Secret{
		"PW":    {Value: canary, Origins: []string{site.URL}},
		"OTHER": {Value: "another-secret", Origins: []string{"https://example.org"}},
	}})
	type typed struct {
		Target string `json:"target"`
		Text   string `json:"text"`
	}
	if _, err := s.Tab().Call(t.Context(), "text.insert", typed{"#pw", "{{secret:PW}}"}); err != nil {
		t.Fatal(err)
	}
	out, err := s.Tab().Call(t.Context(), "locator.text_content", map[string]any{
		"locator": map[string]any{"selector": "#p"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if text := string(out); strings.Contains(text, canary) || !strings.Contains(text, "{{secret:PW}} has 21") {
		t.Errorf("the page's text is %s", text)
	}
	_, err = s.Tab().Call(t.Context(), "text.insert", typed{"#pw", "{{secret:OTHER}}"})
	if e := new(outrider.Error); !errors.As(err, &e) || e.Code != "permission_denied" {
		t.Errorf("a secret of another origin: %v", err)
	}
}

func TestLibraryNamesWhatIsWrongWithAMap(t *testing.T) {
	file := filepath.Join(t.TempDir(), "actions.json")
	if err := os.WriteFile(
		file, []byte(`{"protocol":"actions.json","version":1,"tools":[{"name":"a"}]}`), 0o600,
	); err != nil {
		t.Fatal(err)
	}
	_, err := outrider.Open(t.Context(), outrider.Options{Maps: []string{file}})
	var e *outrider.Error
	if !errors.As(err, &e) || e.Code != "invalid_manifest" || !strings.Contains(e.Message, "/tools/0") ||
		e.NextStep == "" {
		t.Errorf("got %v", err)
	}
}

func TestLibraryCallsEnd(t *testing.T) {
	site := page("<h1>One</h1>")
	defer site.Close()
	s := open(t, outrider.Options{Open: []string{site.URL}})

	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := client.LocatorWaitFor(short, s.Tab(), client.LocatorWaitForArgs{
		Locator:   &client.Query{Selector: "h6"},
		TimeoutMS: new(20000),
	})
	if !errors.Is(err, outrider.Code("handler_timeout")) {
		t.Errorf("a call past its deadline: got %v", err)
	}
	if _, err := client.PageInfo(short, s.Tab()); err == nil {
		t.Error("a call after its deadline succeeded")
	}
	if _, err := client.PageInfo(t.Context(), s.Tab()); err != nil {
		t.Errorf("the call after it: %v", err)
	}
	if _, err := s.Call(t.Context(), "page.unknown", nil); !errors.Is(err, outrider.Code("unknown_action")) {
		t.Errorf("an unknown primitive: got %v", err)
	}
	if _, err := s.Call(t.Context(), "page.info", make(chan int)); !errors.Is(err, outrider.Code("invalid_input")) {
		t.Errorf("arguments that JSON cannot hold: got %v", err)
	}

	// Calls of several goroutines at once, while the session closes.
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			never := client.PageEvaluateArgs{Body: "await new Promise(() => {})"}
			_, _ = client.PageEvaluate(t.Context(), s.Tab(), never)
		})
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	calls.Wait()
	if err := s.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	if _, err := s.Call(t.Context(), "page.info", nil); err == nil {
		t.Error("a closed session answered")
	}
	for range s.Events(t.Context()) {
		t.Fatal("a closed session has events")
	}
}

// A call has nearly all of its context's time, and its error is that of the context.
func TestLibraryDeadlines(t *testing.T) {
	stop := make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/never" {
			select {
			case <-stop:
			case <-r.Context().Done():
			}
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<h1>One</h1>")
	}))
	defer site.Close()
	defer close(stop)
	s := open(t, outrider.Options{Open: []string{site.URL}})
	calls := map[string]func(context.Context) error{
		"wait": func(ctx context.Context) error {
			never := []client.PageWaitCondition{{Text: "never"}}
			_, err := client.PageWait(ctx, s.Tab(), client.PageWaitArgs{Conditions: never})
			return err
		},
		"click": func(ctx context.Context) error {
			none := &client.Query{Selector: "#none"}
			_, err := client.PointerClick(ctx, s.Tab(), client.PointerClickArgs{Locator: none})
			return err
		},
		"navigate": func(ctx context.Context) error {
			_, err := client.BrowserNavigate(ctx, s.Tab(), client.BrowserNavigateArgs{URL: site.URL + "/never"})
			return err
		},
		"evaluate": func(ctx context.Context) error {
			_, err := client.PageEvaluate(ctx, s.Tab(), client.PageEvaluateArgs{Body: "return new Promise(() => {})"})
			return err
		},
	}
	for name, call := range calls {
		for _, d := range []time.Duration{300 * time.Millisecond, time.Second} {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			began := time.Now()
			err := call(ctx)
			took := time.Since(began)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
				t.Errorf("%s within %v: got %v", name, d, err)
			}
			if took < d*7/10 {
				t.Errorf("%s had %v of %v", name, took, d)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(100*time.Millisecond, cancel)
		if err := call(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s, cancelled: got %v", name, err)
		}
		timer.Stop()
	}
	// What fails for a reason of its own is not an end of the time.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	none := client.LocatorWaitForArgs{Locator: &client.Query{Selector: "#none"}, TimeoutMS: new(50)}
	if _, err := client.LocatorWaitFor(ctx, s.Tab(), none); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait that ended within its own time: got %v", err)
	}
	if _, err := s.NewTab(done(t), site.URL); !errors.Is(err, context.Canceled) {
		t.Errorf("a new tab after the end: got %v", err)
	}
}

func done(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// A tab opens whatever becomes of the active one meanwhile.
func TestLibraryOpensATabWhileTheActiveOneCloses(t *testing.T) {
	one := page("<h1>One</h1>")
	defer one.Close()
	asked, answer := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(asked) })
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			once()
			<-answer
		}
		_, _ = io.WriteString(w, "<title>Slow</title>")
	}))
	defer slow.Close()
	s := open(t, outrider.Options{Open: []string{one.URL}})
	active, err := s.NewTab(t.Context(), one.URL)
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() {
		<-asked
		closed <- active.Close(t.Context())
		close(answer)
	}()
	tab, err := s.NewTab(t.Context(), slow.URL)
	if err != nil || tab.Title() != "Slow" {
		t.Errorf("the new tab: %v, %v", tab, err)
	}
	if err := <-closed; err != nil {
		t.Errorf("closing the active tab: %v", err)
	}
	tab, err = s.NewTab(t.Context(), "data:text/html,<title>Data</title>")
	if err != nil || tab.Title() != "Data" {
		t.Errorf("a tab of another scheme: %v, %v", tab, err)
	}
}

func TestLibraryOpensActivatesAndClosesTabs(t *testing.T) {
	one, two := page("<h1>One</h1>"), page("<h1>Two</h1>")
	defer one.Close()
	defer two.Close()
	main := open(t, outrider.Options{Open: []string{one.URL}})
	isolated, err := main.NewSession(t.Context(), one.URL)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*outrider.Session{"of the browser": main, "isolated": isolated} {
		first := s.Tab()
		second, err := s.NewTab(t.Context(), two.URL)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.Tab().ID() != second.ID() || len(s.Tabs()) != 2 || second.URL() != two.URL+"/" ||
			second.Title() != "Example" {
			t.Errorf("%s: the new tab is %s %s of %d", name, s.Tab().ID(), second.URL(), len(s.Tabs()))
		}
		if err := first.Activate(t.Context()); err != nil || s.Tab().ID() != first.ID() {
			t.Errorf("%s: activating the first: %v", name, err)
		}
		if err := second.Close(t.Context()); err != nil || len(s.Tabs()) != 1 || second.URL() != "" {
			t.Errorf("%s: closing the second: %v", name, err)
		}
		if _, err := client.PageInfo(t.Context(), second); !errors.Is(err, outrider.Code("runtime_not_found")) {
			t.Errorf("%s: a call on a closed tab: %v", name, err)
		}
	}
	if err := isolated.Close(); err != nil {
		t.Error(err)
	}
	if len(main.Tabs()) != 1 {
		t.Errorf("the session of the browser has %d tabs", len(main.Tabs()))
	}
}

// TestLibraryReportsTheLossOfTheWatchdog kills the process that would end the
// browser.
func TestLibraryReportsTheLossOfTheWatchdog(t *testing.T) {
	if goruntime.GOOS != "linux" {
		t.Skip("the watchdog is found through /proc")
	}
	s := open(t, outrider.Options{})
	events := s.Events(t.Context())
	killWatchdogs(t)
	for e := range events {
		if e.Kind == outrider.WatchdogLost {
			if !strings.Contains(e.Message, "watchdog") {
				t.Errorf("the event says %q", e.Message)
			}
			break
		}
	}
	if _, err := client.PageInfo(t.Context(), s.Tab()); err != nil {
		t.Errorf("a call without the watchdog: %v", err)
	}
}

// TestLibraryRunsWorkersInTheInstalledBinary uses the engine that needs worker
// processes, which this program cannot be.
func TestLibraryRunsWorkersInTheInstalledBinary(t *testing.T) {
	site := board()
	defer site.Close()
	options := outrider.Options{
		Open:             []string{site.URL},
		Maps:             []string{"sites/demo/actions.json"},
		ExpressionEngine: "blues",
	}
	path, bin := os.Getenv("PATH"), t.TempDir()
	t.Setenv("PATH", bin)
	var e *outrider.Error
	if _, err := outrider.Open(t.Context(), options); !errors.As(err, &e) || e.Code != "capability_unavailable" ||
		!strings.Contains(e.NextStep, "PATH") {
		t.Errorf("without the binary: %v", err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+path)
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./cmd/outrider").
		CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := open(t, options).Action(t.Context(), "board.list_cards", map[string]any{"list": "doing"})
	if err != nil || !strings.Contains(string(out), `"count":2`) {
		t.Errorf("got %s, %v", out, err)
	}
}

func TestLibraryLeavesOutTheInvalidMapsOfAFolder(t *testing.T) {
	site := board()
	defer site.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"good.actions.json": `{"protocol":"actions.json","version":1,"tools":[{"name":"heading",` +
			`"description":"Read the heading.","input_schema":{"type":"object"},"workflow":{"version":1,` +
			`"expression_language":"jsonata",` +
			`"steps":[{"id":"read","primitive":"locator.text_content","args":{"locator":{"selector":"h1"}}}],` +
			`"output":"{% steps.read.output.text %}"}}]}`,
		"bad.actions.json": `{"protocol":"actions.json","version":1,"tools":[{"name":"a"}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	s := open(t, outrider.Options{
		Open:   []string{site.URL},
		Maps:   []string{dir},
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	out, err := s.Action(t.Context(), "heading", nil)
	if err != nil || string(out) != `"Harbour board"` || !strings.Contains(log.String(), "bad.actions.json") {
		t.Errorf("got %s, %v\n%s", out, err, log.String())
	}
}

// killWatchdogs kills the shells that are children of this process.
func killWatchdogs(t *testing.T) {
	t.Helper()
	killed := 0
	dirs, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range dirs {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it ended
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 2 || fields[1] != strconv.Itoa(os.Getpid()) || !strings.Contains(string(stat), "sh)") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		if p, err := os.FindProcess(pid); err == nil && p.Kill() == nil {
			killed++
		}
	}
	if killed == 0 {
		t.Fatal("found no watchdog to kill")
	}
}

// TestLocatorHasTheMembersOfTheDictionary keeps Locator and the fragment of the
// dictionary alike.
func TestLocatorHasTheMembersOfTheDictionary(t *testing.T) {
	i := slices.IndexFunc(primitives.Dictionary(), func(r *primitives.Record) bool {
		return r.Name == "locator.text_content"
	})
	var input struct {
		Properties struct {
			Locator struct {
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"locator"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(primitives.Dictionary()[i].InputSchema, &input); err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(maps.Keys(input.Properties.Locator.Properties))
	want = slices.DeleteFunc(want, func(n string) bool { return n == "text_contains" }) // another name of text
	var have []string
	for f := range reflect.TypeFor[client.Query]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		have = append(have, name)
	}
	slices.Sort(have)
	if !slices.Equal(have, want) {
		t.Errorf("Locator has %v\nthe dictionary %v", have, want)
	}
}

func TestTextMatchEncodes(t *testing.T) {
	for want, m := range map[string]*client.TextMatch{
		`"Save"`:                       client.Text("Save"),
		`{"contains":"av"}`:            client.Contains("av"),
		`{"flags":"i","regex":"^sav"}`: client.Regexp("^sav", "i"),
	} {
		if have, err := json.Marshal(m); err != nil || string(have) != want {
			t.Errorf("got %s, %v; want %s", have, err, want)
		}
	}
}

// TestLibraryIsEmbeddedByAnotherModule builds testdata/embed, a program in a
// module of its own, runs it, and kills it in the middle of its work.
func TestLibraryIsEmbeddedByAnotherModule(t *testing.T) {
	browsertest.Require(t)
	source, err := os.ReadFile("testdata/embed/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(source), "func main() {\n")
	if n := strings.Count(string(source), "\n"); n > 25 || strings.Count(body, "\n") > 20 {
		t.Errorf("the program has %d lines", n)
	}
	binary := buildEmbedded(t, string(source))
	site := board()
	defer site.Close()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), binary, site.URL, filepath.Join(wd, "sites/demo/actions.json")).
		CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"count":2`) || !strings.Contains(string(out), `"name":"Doing"`) {
		t.Errorf("%v\n%s", err, out)
	}

	// A program that is killed leaves neither a browser nor a profile.
	killed := buildEmbedded(t, `package main

import (
	"context"
	"fmt"
	"log"

	"github.com/outrider-run/outrider"
)

func main() {
	s, err := outrider.Open(context.Background(), outrider.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready")
	for range s.Events(context.Background()) {
	}
}
`)
	cmd := exec.Command(killed)
	dir, err := os.MkdirTemp("", "k") // a short path: the browser puts a socket there
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the program said %q, %v", line, err)
	}
	if len(profiles(dir, 0)) != 1 {
		t.Errorf("profiles while it runs: %v", profiles(dir, 0))
	}
	_ = cmd.Process.Kill()
	_, _ = io.Copy(io.Discard, stdout)
	_ = cmd.Wait()
	if left := profiles(dir, 30*time.Second); len(left) > 0 {
		t.Errorf("after the kill these are left: %v", left)
	}
}

// buildEmbedded builds source as the main package of a module that replaces
// outrider by this repository.
func buildEmbedded(t *testing.T, source string) string {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	gomod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, requirements, _ := strings.Cut(string(gomod), "\n")
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string]string{
		"main.go": source,
		"go.sum":  string(sums),
		"go.mod": "module example.org/embed\n" + requirements +
			"\nrequire github.com/outrider-run/outrider v0.0.0\n\nreplace github.com/outrider-run/outrider => " + wd +
			"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(dir, "embed")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-o", binary, ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-trimpath -ldflags=-w")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return binary
}
