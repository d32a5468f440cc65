package provider_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/outrider-run/outrider/faces/provider"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/providertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

func TestMain(m *testing.M) {
	expr.MaybeWorker()
	browsertest.Main(m)
}

const formPage = `<form onsubmit="event.preventDefault(); out.dataset.sent = q.value"><input id="q"></form><p id="out">out</p>
<select id="s"><option value="a">First</option><option value="b">Second</option></select><button onclick="confirm('sure?')">Ask</button><a id="next" href="/form/next">Next</a>`

// serve serves one page at every path, whose title is the path.
func serve(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!doctype html><title>%s</title>%s", r.URL.Path, formPage)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// client is one connection.
type client struct {
	t    *testing.T
	in   *bufio.Reader
	out  io.WriteCloser
	done <-chan struct{}
	next int
}

func connect(t *testing.T, s *provider.Server) *client {
	t.Helper()
	c := providertest.Connect(t, s)
	return &client{t: t, in: bufio.NewReader(c.In), out: c.Out, done: c.Done}
}

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.out, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) read() map[string]any {
	c.t.Helper()
	line, err := c.in.ReadBytes('\n')
	var v map[string]any
	if err != nil || json.Unmarshal(line, &v) != nil {
		c.t.Fatalf("reading: %v, line %q", err, line)
	}
	return v
}

// start sends a request without waiting.
func (c *client) start(method string, params map[string]any) (id string) {
	c.t.Helper()
	c.next++
	id = fmt.Sprint("r", c.next)
	line, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	c.send(string(line))
	return id
}

// call sends a request that must succeed.
func (c *client) call(method string, params map[string]any) map[string]any {
	c.t.Helper()
	id := c.start(method, params)
	a := c.read()
	if a["id"] != id || a["ok"] != true {
		c.t.Fatalf("%s: %v", method, a)
	}
	return a["result"].(map[string]any)
}

// refused sends a request that must fail, and returns its code.
func (c *client) refused(method string, params map[string]any) string {
	c.t.Helper()
	c.start(method, params)
	a := c.read()
	e, ok := a["error"].(map[string]any)
	if !ok {
		c.t.Fatalf("%s succeeded: %v", method, a)
	}
	return e["code"].(string)
}

func (c *client) ensure(name string, more map[string]any) string {
	c.t.Helper()
	params := map[string]any{"client_session_id": name}
	for k, v := range more {
		params[k] = v
	}
	return c.call("session.ensure", params)["session_id"].(string)
}

type object = map[string]any

// TestTranscripts runs testdata/bridge/provider: each line of a client is
// answered by the lines below it, whose members must be in the answer. A string
// $NAME stands for the value it had before, or takes the one it meets.
func TestTranscripts(t *testing.T) {
	host, site := runtimetest.Open(t, runtime.Options{}), serve(t)
	files, err := filepath.Glob("../../testdata/bridge/provider/*.txtar")
	if err != nil || len(files) < 3 {
		t.Fatalf("transcripts: %v, %d files", err, len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			script, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := connect(t, providertest.New(t, host, nil))
			names := map[string]string{"$SITE": site}
			for _, part := range script.Files {
				for line := range strings.Lines(string(part.Data)) {
					line = strings.TrimSpace(line)
					if line == "" {
						continue
					}
					if part.Name == "client" {
						for _, name := range slices.Backward(slices.Sorted(maps.Keys(names))) { // $SITE before $S
							line = strings.ReplaceAll(line, name, names[name])
						}
						c.send(line)
						continue
					}
					var want any
					if err := json.Unmarshal([]byte(line), &want); err != nil {
						t.Fatalf("the transcript: %v in %s", err, line)
					}
					got := c.read()
					if why := differs(want, got, names, ""); why != "" {
						t.Fatalf("got %v\nwant %s\n%s", got, line, why)
					}
				}
			}
		})
	}
}

// differs says where got lacks what want has.
func differs(want, got any, names map[string]string, at string) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return at + " is no object"
		}
		for k, v := range w {
			if _, there := g[k]; !there {
				return at + "/" + k + " is missing"
			}
			if why := differs(v, g[k], names, at+"/"+k); why != "" {
				return why
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s is not a list of %d", at, len(w))
		}
		for i := range w {
			if why := differs(w[i], g[i], names, fmt.Sprint(at, "/", i)); why != "" {
				return why
			}
		}
		return ""
	case string:
		if strings.HasPrefix(w, "$SITE") {
			w = strings.Replace(w, "$SITE", names["$SITE"], 1)
		} else if strings.HasPrefix(w, "$") {
			if known, ok := names[w]; ok {
				w = known
			} else if s, ok := got.(string); ok && s != "" {
				names[w] = s
				return ""
			}
		}
		want = w
	}
	if want != got {
		return fmt.Sprintf("%s is %v, want %v", at, got, want)
	}
	return ""
}

// Requests on one page run in the order in which they came, and are answered
// when the input ends; another page does not wait for them.
func TestOrderAndTheEndOfInput(t *testing.T) {
	host, site := runtimetest.Open(t, runtime.Options{}), serve(t)
	c := connect(t, providertest.New(t, host, nil))
	s := c.ensure("order", nil)
	a := c.call("page.open", object{"session_id": s, "url": site + "/a"})["page_id"]
	b := c.call("page.open", object{"session_id": s, "url": site + "/b", "new_page": true})["page_id"]
	slow := c.start("page.wait", object{"session_id": s, "page_id": a, "text_present": "never", "timeout_ms": 3000})
	var ids []string
	for i := range 5 {
		ids = append(ids, c.start("page.eval", object{
			"session_id": s,
			"page_id":    a,
			"expression": fmt.Sprintf("window.n = (window.n || '') + '%d'", i),
		}))
	}
	other := c.start("page.eval", object{"session_id": s, "page_id": b, "expression": "1"})
	_ = c.out.Close() // the input ends while all of them are under way
	if got := c.read(); got["id"] != other {
		t.Errorf("the first answer is %v, want that of the other page, %s", got, other)
	}
	if got := c.read(); got["id"] != slow || got["result"].(object)["satisfied"] != false {
		t.Errorf("the second answer is %v, want that of the wait", got)
	}
	for i, id := range ids {
		got := c.read()
		if want := "01234"[:i+1]; got["id"] != id || got["result"].(object)["value"] != want {
			t.Errorf("answer %d is %v, want %s with %q", i, got, id, want)
		}
	}
	<-c.done
}

func TestCancel(t *testing.T) {
	host, site := runtimetest.Open(t, runtime.Options{}), serve(t)
	c := connect(t, providertest.New(t, host, nil))
	s := c.ensure("cancel", nil)
	c.call("page.open", object{"session_id": s, "url": site})
	waiting := c.start("page.wait", object{"session_id": s, "text_present": "never", "timeout_ms": 30000})
	queued := c.start("page.snapshot", object{"session_id": s})
	stop := c.start("request.cancel", object{"request_id": queued})
	stop2 := c.start("request.cancel", object{"request_id": waiting})
	seen := map[string]object{}
	for range 4 {
		a := c.read()
		seen[a["id"].(string)] = a
	}
	for _, id := range []string{waiting, queued} {
		e, _ := seen[id]["error"].(object)
		if details, _ := e["details"].(object); e["code"] != "internal_error" || details["code"] != "cancelled" {
			t.Errorf("the cancelled request was answered with %v", seen[id])
		}
	}
	for _, id := range []string{stop, stop2} {
		if result, _ := seen[id]["result"].(object); result["cancelled"] != true {
			t.Errorf("request.cancel was answered with %v", seen[id])
		}
	}
	if r := c.call("request.cancel", object{"request_id": waiting}); r["cancelled"] != false {
		t.Errorf("cancelling what is over: %v", r)
	}
	c.call("page.snapshot", object{"session_id": s}) // the page works on
}

// A session ends with its connection unless it persists; another connection
// then gets it back.
func TestPersist(t *testing.T) {
	host, site := runtimetest.Open(t, runtime.Options{}), serve(t)
	server := providertest.New(t, host, nil)
	first := connect(t, server)
	brief, kept := first.ensure("brief", nil), first.ensure("kept", object{"persist": true})
	first.call("page.open", object{"session_id": kept, "url": site + "/kept"})
	_ = first.out.Close()
	<-first.done
	second := connect(t, server)
	if code := second.refused("page.snapshot", object{"session_id": brief}); code != "session_not_found" {
		t.Errorf("a session whose connection ended: %s", code)
	}
	if again := second.ensure("kept", object{"persist": true}); again != kept {
		t.Errorf("the persistent session is %s, want %s", again, kept)
	}
	if r := second.call("page.snapshot", object{"session_id": kept}); r["url"] != site+"/kept" {
		t.Errorf("its page is at %v", r["url"])
	}
}

func TestSessionsAreMadeOnce(t *testing.T) {
	server := providertest.New(t, runtimetest.Open(t, runtime.Options{}), nil)
	var all sync.WaitGroup
	ids := make([]string, 6)
	for i := range ids {
		c := connect(t, server)
		all.Go(func() { ids[i] = c.ensure("same", object{"persist": true}) })
	}
	all.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("one client got several sessions: %v", ids)
		}
	}
}

func TestIdleSessionsEnd(t *testing.T) {
	c := connect(t, providertest.New(t, runtimetest.Open(t, runtime.Options{}), func(o *provider.Options) {
		o.SessionIdle = 300 * time.Millisecond
	}))
	s := c.ensure("idle", object{"events": []string{"session.closed"}})
	if ev := c.read(); ev["event"] != "session.closed" || ev["payload"].(object)["session_id"] != s {
		t.Errorf("got %v, want the event session.closed", ev)
	}
	if code := c.refused("tab.list", object{"session_id": s}); code != "session_not_found" {
		t.Errorf("after that: %s", code)
	}
}

func TestEvents(t *testing.T) {
	host, site := runtimetest.Open(t, runtime.Options{}), serve(t)
	c := connect(t, providertest.New(t, host, nil))
	s := c.ensure("events", object{"events": true})
	id := c.start("page.open", object{"session_id": s, "url": site + "/seen"})
	var events []string
	navigated := false
	for range 20 {
		m := c.read()
		if m["id"] == id && m["ok"] == true {
			if navigated {
				break
			}
			continue
		}
		name, _ := m["event"].(string)
		payload, _ := m["payload"].(object)
		events = append(events, name)
		if payload["session_id"] != s || payload["page_id"] == nil || m["protocol_version"] != "0.1" {
			t.Fatalf("an event is %v", m)
		}
		if name == "page.navigated" && payload["url"] == site+"/seen" {
			navigated = true
			break
		}
	}
	if !navigated {
		t.Errorf("the events were %v, want page.navigated", events)
	}
}

// A browser that crashes is browser_not_running, and a status that is not ready,
// until it restarts; then the session continues.
func TestBrowserDies(t *testing.T) {
	host, site := runtimetest.Launched(t, runtime.Options{}), serve(t)
	c := connect(t, providertest.New(t, host, nil))
	s := c.ensure("killed", nil)
	c.call("page.open", object{"session_id": s, "url": site + "/there"})
	waiting := c.start("page.wait", object{"session_id": s, "text_present": "never", "timeout_ms": 30000})
	if code := c.call("provider.status", nil)["availability"]; code != "ready" {
		t.Errorf("availability is %v before", code)
	}
	_, err := host.Protocol(t.Context(), runtime.Target{TabID: host.Tabs()[0].TabID}, "Browser.crash", nil)
	if err == nil {
		t.Fatal("the browser survived its crash")
	}
	a := c.read()
	e, _ := a["error"].(object)
	if a["id"] != waiting || e["code"] != "browser_not_running" || e["retryable"] != true {
		t.Errorf("the request under way was answered with %v", a)
	}
	deadline := time.Now().Add(2 * time.Minute)
	for c.call("provider.status", nil)["availability"] != "ready" {
		if time.Now().After(deadline) {
			t.Fatal("the browser is not back after two minutes")
		}
		c.call("page.wait", object{"session_id": s, "url_matches": "*/there", "timeout_ms": 200})
	}
	if r := c.call("page.wait", object{"session_id": s, "url_matches": "*/there"}); r["satisfied"] != true {
		t.Errorf("the page came back as %v", r)
	}
}

// What is announced can be called, and what needs more is not announced.
func TestDescriptionIsTrue(t *testing.T) {
	host := runtimetest.Open(t, runtime.Options{})
	c := connect(t, providertest.New(t, host, func(o *provider.Options) { o.AllowCDP = true }))
	d := c.call("provider.describe", nil)
	encoded, _ := json.Marshal(d)
	for _, absent := range []string{
		"upload.set_files", "download.list", "file_upload", "attach_existing_browser", "persistent_profile",
	} {
		if strings.Contains(string(encoded), `"`+absent+`"`) {
			t.Errorf("%s is announced without what it needs", absent)
		}
	}
	s := c.ensure("cdp", nil)
	r := c.call("cdp.send", object{
		"session_id": s,
		"method":     "Runtime.evaluate",
		"params":     object{"expression": "6*7"},
	})
	if got, _ := json.Marshal(r["result"]); !strings.Contains(string(got), "42") {
		t.Errorf("cdp.send answered %s", got)
	}
	code := c.refused("cdp.send", object{"session_id": s, "method": "Page.noSuchCommand"})
	if code != "invalid_request" {
		t.Errorf("an unknown command: %s", code)
	}
	for _, entry := range d["capabilities"].(object)["custom_methods"].([]any) {
		m := entry.(object)
		if m["input_schema"] == nil || m["output_schema"] == nil {
			t.Errorf("%v has no schemas", m["name"])
		}
	}
}
