package view_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/evidence/view"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/runtime"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

const shop = `<!doctype html><title>Shop</title><link rel="stylesheet" href="/a.css">
<h1>Shop</h1><input name="q" aria-label="Search"><button onclick="add()">Add</button><ul></ul>
<iframe src="/frame" width="200" height="60"></iframe><a href="https://elsewhere.test/">away</a><img src="/dot.svg" width="9" height="9">
<x-card></x-card>
<script>customElements.define('x-card', class extends HTMLElement { constructor(){ super(); this.attachShadow({mode:'open'}).innerHTML='<p>shadow words</p>'; } });
document.documentElement.dataset.ran = 'yes';
function add(){const li=document.createElement('li');li.textContent=document.querySelector('[name=q]').value;document.querySelector('ul').append(li);console.warn('added '+li.textContent)}</script>`

const shopMap = `{"protocol":"actions.json","version":1,"surface":{"name":"Shop"},"tools":[{"name":"shop.add","description":"Adds.",
"input_schema":{"type":"object","properties":{"item":{"type":"string"}}},
"workflow":{"version":1,"expression_language":"jsonata","steps":[
 {"id":"write","primitive":"text.insert","args":{"target":{"selector":"[name=q]"},"text":"{% input.item %}","mode":"replace"}},
 {"id":"send","primitive":"pointer.click","args":{"locator":{"role":"button","name":"Add"}}}]}}]}`

// recorded is a recording of a page with styles, a frame, a shadow root and a failure.
func recorded(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	for path, content := range map[string][2]string{
		"/{$}":   {"text/html", shop},
		"/a.css": {"text/css", "h1{color:rgb(10,20,30)} body{background:url(/dot.svg)}"},
		"/frame": {"text/html", "<!doctype html><p>inner words</p>"},
		"/dot.svg": {
			"image/svg+xml",
			`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>`,
		},
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", content[0])
			_, _ = io.WriteString(w, content[1])
		})
	}
	s := httptest.NewServer(mux)
	defer s.Close()
	path := filepath.Join(t.TempDir(), "a.rec")
	recorder, err := capture.Open(capture.Files{Record: path}, capture.Options{
		Header:   record.Header{Verb: "test"},
		Pages:    true,
		Pictures: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	h := runtimetest.Open(t, runtime.Options{Recorder: recorder, Open: []string{s.URL + "/"}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	supplied := &runtime.SuppliedMap{Path: "shared/sites/127.0.0.1/actions.json", JSON: json.RawMessage(shopMap)}
	for _, item := range []string{"Milk", "Bread"} {
		if r := h.Do(ctx, runtime.Call{
			Name:      "shop.add",
			Map:       supplied,
			Arguments: json.RawMessage(fmt.Sprintf(`{"item":%q}`, item)),
		}); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	h.Do(ctx, runtime.Call{
		Name:      "pointer.click",
		Arguments: json.RawMessage(`{"locator":{"selector":"#nowhere"},"timeout_ms":100}`),
	})
	if err := h.Close(context.WithoutCancel(ctx)); err != nil {
		t.Fatal(err)
	}
	return path
}

// shown serves a recording and returns its address.
func shown(t *testing.T, path string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- view.Serve(ctx, path, 0, func(address string) { ready <- address }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case address := <-ready:
		return address
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
		return ""
	}
}

func TestARecordingIsShown(t *testing.T) {
	address := shown(t, recorded(t))
	h := runtimetest.Open(t, runtime.Options{Open: []string{address}})
	do := func(name, args string) runtime.Reply {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r := h.Do(ctx, runtime.Call{Name: name, Arguments: json.RawMessage(args)})
		if r.Err != nil {
			t.Fatalf("%s %s: %v %v", name, args, r.Err, r.Err.Evidence)
		}
		return r
	}
	waits := func(conditions string) {
		t.Helper()
		do("page.wait", `{"timeout_ms":10000,"conditions":[`+conditions+`]}`)
	}
	text := func(locator string) string {
		t.Helper()
		return string(do("locator.text_content", `{"locator":`+locator+`}`).Output)
	}
	// It begins at what failed.
	waits(`{"text":"target_not_found"}`)
	if facts := text(`{"selector":"#facts"}`); !strings.Contains(facts, "3 calls, 1 failed") {
		t.Errorf("the head says %s", facts)
	}
	if chosen := text(`{"selector":"#rows [aria-selected=true]"}`); !strings.Contains(chosen, "pointer.click") {
		t.Errorf("chosen is %s", chosen)
	}
	// By keys to the first call, into it, and to the click.
	do("keyboard.press", `{"key":"Home"}`)
	for range 5 {
		do("keyboard.press", `{"key":"ArrowRight"}`)
	}
	do("keyboard.press", `{"key":"b"}`)
	if chosen := text(`{"selector":"#rows [aria-selected=true]"}`); !strings.Contains(chosen, "pointer.click") ||
		!strings.Contains(chosen, "button “Add”") {
		t.Errorf("after five times → the row is %s", chosen)
	}
	waits(`{"locator":{"selector":"iframe[src$='.before']"}}`)
	in := `{"frame":["#shot iframe"],"selector":%q}`
	waits(fmt.Sprintf(`{"locator":`+in+`}`, "h1"))
	do("keyboard.press", `{"key":"3"}`) // changes
	waits(`{"locator":{"selector":".new","text":"Milk"}}`)
	do("keyboard.press", `{"key":"4"}`) // console
	waits(`{"text":"added Milk"}`)
	do("keyboard.press", `{"key":"5"}`) // network
	waits(`{"text":"/a.css"}`)
	var out struct {
		Value struct{ Value json.RawMessage }
	}
	// The snapshot is drawn with its styles, frame, shadow root and picture, the target is outlined, and nothing in it
	// runs.
	for _, name := range []string{"before", "after"} {
		do("keyboard.press", `{"key":"`+name[:1]+`"}`)
		waits(`{"locator":{"selector":"iframe[src$='.` + name + `']"}}`)
		waits(fmt.Sprintf(`{"locator":`+in+`}`, "h1"))
		if words := text(fmt.Sprintf(in, "body")); strings.Contains(words, "Milk") != (name == "after") {
			t.Errorf("the document %s says %s", name, words)
		}
	}
	r := do("page.evaluate", `{"body":"return fetch(document.querySelector('#shot iframe').src).then((r) => `+
		`r.text().then((html) => ({policy: r.headers.get('content-security-policy'), html})))"}`)
	if err := json.Unmarshal(r.Output, &out); err != nil {
		t.Fatal(err)
	}
	var snapshot struct{ Policy, HTML string }
	if err := json.Unmarshal(out.Value.Value, &snapshot); err != nil {
		t.Fatalf("%v in %s", err, r.Output)
	}
	for _, want := range []string{
		`shadowrootmode="open"`, "shadow words", `sandbox=""`, `href="../get?url=http%3A%2F%2F127.0.0.1`,
		`outline:3px solid`, `data-href="https://elsewhere.test/"`,
	} {
		if !strings.Contains(snapshot.HTML, want) {
			t.Errorf("the snapshot lacks %s: %s", want, snapshot.HTML)
		}
	}
	for _, never := range []string{"<script", "onclick", `"https://elsewhere.test`} {
		if strings.Contains(strings.ReplaceAll(snapshot.HTML, `data-href="https://elsewhere.test`, ""), never) {
			t.Errorf("the snapshot has %s: %s", never, snapshot.HTML)
		}
	}
	if !strings.HasPrefix(snapshot.Policy, "sandbox; default-src 'none'") {
		t.Errorf("the policy of the snapshot: %s", snapshot.Policy)
	}
	// Nothing of the view was refused by its own policy, and it asked nobody else.
	console := string(do("console.list", `{}`).Output)
	if strings.Contains(console, "Content Security Policy") || strings.Contains(console, `"level":"error"`) {
		t.Errorf("the console: %s", console)
	}
}

// Who does not know the word, or comes by another name, gets nothing.
func TestTheViewIsOfThisMachine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rec")
	f, err := record.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := record.NewLog(record.Header{Program: "test"}, nil, f).Finish(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	address := shown(t, path)
	status := func(address, host string) int {
		t.Helper()
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			q.Host = host
		}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		return r.StatusCode
	}
	base, _, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/")
	for _, c := range []struct {
		address, host string
		want          int
	}{
		{address, "", 200},
		{address + "model.json", "", 200},
		{address, "localhost:1", 200},
		{address, "rebound.test", 403},
		{"http://" + base + "/", "", 404},
		{"http://" + base + "/model.json", "", 404},
		{"http://" + base + "/AAAA/model.json", "", 404},
		{address + "body/../../etc/passwd", "", 404},
		{address + "get?url=file:///etc/passwd", "", 404},
		{address + "row/x", "", 404},
		{address + "snapshot/x.before", "", 404},
	} {
		if got := status(c.address, c.host); got != c.want {
			t.Errorf("%s as %q: %d, expected %d", c.address, c.host, got, c.want)
		}
	}
}
