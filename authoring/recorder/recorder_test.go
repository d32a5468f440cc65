package recorder_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/outrider-run/outrider/authoring/learn"
	"github.com/outrider-run/outrider/authoring/recorder"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// relay gives what happens to the recorder of the recording that goes on.
type relay struct {
	runtime.Recorder
	now atomic.Pointer[recorder.Recorder]
}

func (r *relay) Page(p primitives.Page, e runtime.PageEvent) {
	if now := r.now.Load(); now != nil {
		now.Page(p, e)
	}
}

// studio is a browser in which a person is followed, and one in which the result is tried.
type studio struct {
	base    string
	files   string
	relay   *relay
	one     sync.Mutex // one person at a time
	person  *runtime.Host
	trial   *runtime.Host
	secrets *mask.Set
}

func newStudio(t *testing.T, pages, packages string) *studio {
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(pages)))
	mux.Handle("/node_modules/", http.FileServer(http.Dir(packages)))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s := &studio{
		base:    server.URL + "/",
		files:   t.TempDir(),
		relay:   &relay{Recorder: recorder.New(recorder.Options{})},
		secrets: &mask.Set{},
	}
	for name, text := range map[string]string{"notes.txt": "notes of a day", "other.txt": "other"} {
		if err := os.WriteFile(filepath.Join(s.files, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	options := runtime.Options{}
	options.Browser.UploadDirs = []string{s.files}
	recorder.New(recorder.Options{}).Follow(&options)
	options.Recorder = s.relay
	options.Browser.OnPerson = func(tab *browser.Tab, text []byte) {
		if now := s.relay.now.Load(); now != nil {
			now.Report(tab, text)
		}
	}
	s.person = runtimetest.Open(t, options)
	s.trial = runtimetest.Attached(t, runtime.Options{
		Secrets: s.secrets,
		Browser: browser.Options{UploadDirs: []string{s.files}},
	})
	return s
}

// recording is what a page of testdata says of itself.
type recording struct {
	Long    bool                       `json:"long"` // another page has the same, and more: only in the long form
	Do      [][2]json.RawMessage       `json:"do"`
	InTab   [][2]json.RawMessage       `json:"intab"` // in the tab that was opened
	Inputs  []string                   `json:"inputs"`
	Values  map[string]json.RawMessage `json:"values"` // others than those of the recording
	Secrets map[string]string          `json:"secrets"`
	Then    string                     `json:"then"`
	Want    string                     `json:"want"`
	Has     []string                   `json:"has"`
	Never   []string                   `json:"never"`
}

// session is a tab in a context of its own.
type session struct {
	t  *testing.T
	h  *runtime.Host
	ws *runtime.Workspace
	on runtime.Target
}

func open(t *testing.T, h *runtime.Host, address string) *session {
	t.Helper()
	ctx := browsertest.Within(t, time.Minute)
	ws, err := h.NewWorkspace(ctx, runtime.WorkspaceOptions{Isolated: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close(context.WithoutCancel(ctx)) })
	tab, err := ws.Open(ctx, address, true)
	if err != nil {
		t.Fatal(err)
	}
	return &session{t, h, ws, runtime.Target{Workspace: ws.ID(), RuntimeID: tab.RuntimeID}}
}

func (s *session) visit(f func(context.Context, primitives.Page) error) {
	s.t.Helper()
	if err := s.h.Visit(browsertest.Within(s.t, 20*time.Second), s.on, f); err != nil {
		s.t.Fatal(err)
	}
}

// do does what a person does, with trusted input. Writing "person.insert" is an input method's.
func (s *session) do(calls [][2]json.RawMessage) {
	s.t.Helper()
	for _, c := range calls {
		var name string
		if err := json.Unmarshal(c[0], &name); err != nil {
			s.t.Fatal(err)
		}
		if name == "person.insert" {
			var in struct{ Text string }
			_ = json.Unmarshal(c[1], &in)
			s.visit(func(ctx context.Context, p primitives.Page) error { return p.InsertText(ctx, in.Text) })
			continue
		}
		reply := s.h.Do(browsertest.Within(s.t, 30*time.Second), runtime.Call{
			ID:        runtimetest.NewID(),
			Target:    s.on,
			Name:      name,
			Arguments: c[1],
			Timeout:   20 * time.Second,
		})
		// it opens a moment after the click
		for deadline := time.Now().Add(time.Minute); reply.Err != nil && reply.Err.Code == fault.NoDialog &&
			time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
			reply = s.h.Do(browsertest.Within(s.t, 30*time.Second), runtime.Call{
				ID:        runtimetest.NewID(),
				Target:    s.on,
				Name:      name,
				Arguments: c[1],
			})
		}
		if reply.Err != nil {
			s.t.Fatalf("%s %s: %v %v", name, c[1], reply.Err, reply.Err.Evidence)
		}
	}
}

// record follows what do does on a page.
func (s *studio) record(t *testing.T, address string, do func(*session)) *recorder.Recorder {
	t.Helper()
	s.one.Lock()
	defer s.one.Unlock()
	r := recorder.New(recorder.Options{Files: s.files})
	s.relay.now.Store(r)
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { ended <- r.Run(ctx) }()
	at := open(t, s.person, address)
	do(at)
	// What a document has reported is here when it answers a call that came after.
	for _, status := range at.ws.Tabs() {
		at.on.RuntimeID = status.RuntimeID
		at.visit(func(ctx context.Context, p primitives.Page) error {
			for _, frame := range p.Frames() {
				err := p.Call(ctx, frame.ID, "record_boxes", map[string]any{}, nil)
				for fault.CodeOf(err) == fault.PageNavigated && ctx.Err() == nil { // the next one answers
					err = p.Call(ctx, frame.ID, "record_boxes", map[string]any{}, nil)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	at.bar("done")
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the recording does not end")
	}
	s.relay.now.Store(nil)
	return r
}

func (s *studio) learn(t *testing.T, r *recorder.Recorder, more ...[]record.Call) (*learn.Learned, error) {
	t.Helper()
	return learn.Learn(
		browsertest.Within(t, 2*time.Minute), s.trial, append([][]record.Call{r.Calls()}, more...),
		learn.Options{NewID: runtimetest.NewID, Now: time.Now, Unproven: true},
	)
}

// try runs an action on a fresh page and says what the page says then.
func (s *studio) try(
	t *testing.T, l *learn.Learned, values map[string]json.RawMessage, then string,
) (string, *fault.Error) {
	t.Helper()
	at := open(t, s.trial, l.Start)
	arguments, err := json.Marshal(map[string]any{"mode": "call", "action": l.Action, "arguments": values})
	if err != nil {
		t.Fatal(err)
	}
	reply := s.trial.Do(browsertest.Within(t, time.Minute), runtime.Call{
		ID:        "try",
		Target:    at.on,
		Name:      runtime.SiteTool,
		Arguments: arguments,
		Map:       &runtime.SuppliedMap{Path: "actions.json", JSON: l.Map},
	})
	if reply.Err != nil {
		return "", reply.Err
	}
	// What the last step starts may end a moment later.
	wait, _ := json.Marshal(map[string]string{"body": "return (async () => { for (let i = 0; i < 1200 && !(" + then +
		"); i++) await new Promise((f) => setTimeout(f, 25)); return " + then + "; })()"})
	out := s.trial.Do(browsertest.Within(t, time.Minute), runtime.Call{
		ID:        "then",
		Target:    at.on,
		Name:      "page.evaluate",
		Arguments: wait,
	})
	var said struct {
		Value struct {
			Value string `json:"value"`
		} `json:"value"`
	}
	if out.Err == nil {
		if err := json.Unmarshal(out.Output, &said); err != nil {
			t.Fatalf("%v: %s", err, out.Output)
		}
	}
	return said.Value.Value, out.Err
}

var inPage = regexp.MustCompile(`(?s)<script type="application/json" id="recording">(.*?)</script>`)

// Each page of testdata/pages is used like a person would, with trusted input, and what was
// done becomes an action that runs on a fresh page with other values.
func TestRecordings(t *testing.T) { recordings(t, "testdata/pages", ".") }

// The same with editors, lists and drag libraries of npm, which make record-packages installs.
func TestRecordingsOfPackages(t *testing.T) {
	packages := os.Getenv("OUTRIDER_RECORD_PACKAGES")
	if packages == "" {
		t.Skip("OUTRIDER_RECORD_PACKAGES names no folder with node_modules")
	}
	recordings(t, "testdata/packages", packages)
}

func recordings(t *testing.T, folder, packages string) {
	s := newStudio(t, folder, packages)
	files, err := filepath.Glob(folder + "/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m := inPage.FindSubmatch(text)
		if m == nil {
			continue // a part of another
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".html"), func(t *testing.T) {
			t.Parallel()
			var c recording
			d := json.NewDecoder(bytes.NewReader(m[1]))
			d.DisallowUnknownFields()
			if err := d.Decode(&c); err != nil {
				t.Fatal(err)
			}
			if c.Long {
				browsertest.OnlyLong(t)
			}
			s.recording(t, s.base+filepath.Base(path), c)
		})
	}
}

func (s *studio) recording(t *testing.T, address string, c recording) {
	for name, value := range c.Secrets {
		if err := s.secrets.Add(name, value); err != nil {
			t.Fatal(err)
		}
	}
	r := s.record(t, address, func(at *session) {
		at.do(c.Do)
		if len(c.InTab) == 0 {
			return
		}
		browsertest.Eventually(t, 10*time.Second, "another tab", func() bool { return len(at.ws.Tabs()) == 2 })
		other := *at
		other.on.RuntimeID = at.ws.Tabs()[1].RuntimeID
		other.do(c.InTab)
	})
	steps, _ := json.MarshalIndent(r.Calls(), "", " ")
	l, err := s.learn(t, r)
	if err != nil {
		t.Fatalf("%v %v\n%s", err, fault.From(err).Evidence, steps)
	}
	if !l.Verified || !slices.Equal(l.Inputs, c.Inputs) {
		t.Errorf(
			"verified %v, inputs %q (expected %q), unproven %q, notes %q\n%s",
			l.Verified, l.Inputs, c.Inputs, l.Unproven, r.Notes(), l.Tool,
		)
	}
	for _, u := range l.Unproven {
		if strings.HasPrefix(u, "with ") && !strings.Contains(u, "none could be made up") {
			t.Logf("%s", u)
		}
	}
	for _, has := range c.Has {
		if !bytes.Contains(l.Map, []byte(has)) {
			t.Errorf("the map has no %s\n%s", has, l.Tool)
		}
	}
	for _, never := range c.Never {
		if bytes.Contains(l.Map, []byte(never)) || bytes.Contains(steps, []byte(never)) && c.Secrets != nil {
			t.Errorf("the map or the recording has %s\n%s", never, l.Tool)
		}
	}
	if t.Failed() {
		return
	}
	got, failed := s.try(t, l, c.Values, c.Then)
	if failed != nil || !strings.Contains(got, c.Want) {
		t.Errorf("with other values the page says %s, %v: expected %q\n%s", got, failed, c.Want, l.Tool)
	}
}

// place is where an item of the bar is, from the right and the lower edge of the viewport.
var place = map[string]float64{
	"done":           59,
	"undo":           109,
	"mark_input":     161,
	"read":           227,
	"assert_visible": 315,
	"assert_text":    407,
}

const above = 26

// press clicks at a point with trusted input.
func (s *session) press(x, y float64) {
	s.t.Helper()
	s.visit(func(ctx context.Context, p primitives.Page) error {
		return p.Mouse(ctx, primitives.MouseEvent{Type: primitives.MouseMoved, X: x, Y: y},
			primitives.MouseEvent{
				Type:       primitives.MousePressed,
				X:          x,
				Y:          y,
				Button:     "left",
				Buttons:    1,
				ClickCount: 1,
			},
			primitives.MouseEvent{Type: primitives.MouseReleased, X: x, Y: y, Button: "left", ClickCount: 1})
	})
}

func (s *session) evaluate(expression string) string {
	s.t.Helper()
	var out json.RawMessage
	s.visit(func(ctx context.Context, p primitives.Page) (err error) {
		out, err = p.Evaluate(ctx, expression)
		return err
	})
	return string(out)
}

func (s *session) bar(item string) {
	s.t.Helper()
	var size [2]float64
	if err := json.Unmarshal([]byte(s.evaluate("[innerWidth, innerHeight]")), &size); err != nil {
		s.t.Fatal(err)
	}
	s.press(size[0]-place[item], size[1]-above)
}

// pick clicks an item of the bar, and then the middle of an element.
func (s *session) pick(item, selector string) {
	s.t.Helper()
	s.bar(item)
	var at [2]float64
	if err := json.Unmarshal([]byte(s.evaluate(fmt.Sprintf(
		"(() => { const r = document.querySelector(%q).getBoundingClientRect(); return [r.x + r.width / 2, r.y + "+
			"r.height / 2]; })()",
		selector,
	))), &at); err != nil {
		s.t.Fatal(err)
	}
	s.press(at[0], at[1])
}

func call(name, arguments string) [2]json.RawMessage {
	return [2]json.RawMessage{json.RawMessage(`"` + name + `"`), json.RawMessage(arguments)}
}

// The bar works with trusted input alone, beside a modal dialog too; the page sees neither it nor its events.
func TestTheBar(t *testing.T) {
	dir := t.TempDir()
	page := `<!doctype html><meta charset="utf-8"><title>Shop</title><label>Item <input></label> <button id="add">Add</button> <button id="more">More</button>
<p role="status" id="said"></p><p id="count">0 items</p><dialog><p>Modal</p></dialog>
<script>
window.heard = [];
for (const name of ['pointerdown', 'mousedown', 'click', 'pointerup', 'keydown']) addEventListener(name, (e) => heard.push(name + ' ' + (e.target.id || e.target.localName || '')), true);
window.changes = 0;
new MutationObserver((all) => { window.changes += all.filter((c) => c.target !== said && c.target !== count).length; }).observe(document, { childList: true, subtree: true, attributes: true });
document.getElementById('add').onclick = () => { said.textContent = 'Added ' + document.querySelector('input').value; count.textContent = '1 items'; };
document.getElementById('more').onclick = () => document.querySelector('dialog').showModal();
</script>`
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newStudio(t, dir, ".")
	r := s.record(t, s.base, func(at *session) {
		at.do([][2]json.RawMessage{
			call("pointer.click", `{"locator":{"selector":"input"}}`),
			call("text.type", `{"text":"Milk","trusted":true}`),
			call("pointer.click", `{"locator":{"selector":"#add"}}`),
		})
		at.evaluate("heard.length = changes = 0")
		before := at.evaluate("document.querySelectorAll('*').length")
		at.pick("assert_text", "#said")
		at.pick("assert_visible", "#count")
		at.pick("read", "#count")
		if got := at.evaluate(
			"heard.join(', ') + '|' + changes + '|' + (document.body.shadowRoot === null)",
		); got != `"|0|true"` {
			t.Errorf("the page saw %s", got)
		}
		if after := at.evaluate("document.querySelectorAll('*').length"); after != before {
			t.Errorf("the document had %s elements and has %s", before, after)
		}
		// What the page makes up is not the bar's.
		at.evaluate(`['pointerdown', 'pointerup', 'click'].forEach((type) => [109, 59].forEach((x) => ` +
			`document.body.dispatchEvent(new PointerEvent(type, { bubbles: true, clientX: innerWidth - x, ` +
			`clientY: innerHeight - 26 }))))`)
		at.do([][2]json.RawMessage{call("pointer.click", `{"locator":{"selector":"#more"}}`)})
		at.bar("undo")
	})
	var names []string
	for _, c := range r.Calls() {
		names = append(names, c.Name)
	}
	want := []string{"text.insert", "pointer.click", "locator.text_content", "locator.wait_for", "locator.text_content"}
	if !slices.Equal(names, want) {
		t.Fatalf("steps %q: expected %q", names, want)
	}
	l, err := s.learn(t, r)
	if err != nil {
		t.Fatalf("%v %v", err, fault.From(err).Evidence)
	}
	if !l.Verified || !bytes.Contains(l.Tool, []byte(`\"Added \" & input.item`)) {
		t.Errorf("verified %v, unproven %q\n%s", l.Verified, l.Unproven, l.Tool)
	}
	if got, failed := s.try(
		t, l, map[string]json.RawMessage{"item": json.RawMessage(`"Bread"`)},
		"document.getElementById('said').textContent",
	); failed != nil || !strings.Contains(got, "Added Bread") {
		t.Errorf("with another item: %s, %v", got, failed)
	}

	// Marked as input, what was clicked is an argument; what was typed is none.
	r = s.record(t, s.base, func(at *session) {
		at.do([][2]json.RawMessage{
			call("pointer.click", `{"locator":{"selector":"input"}}`),
			call("text.type", `{"text":"Milk","trusted":true}`),
		})
		at.bar("mark_input")
		at.do([][2]json.RawMessage{call("pointer.click", `{"locator":{"selector":"#add"}}`)})
		at.bar("mark_input")
	})
	l, err = s.learn(t, r)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.Inputs, []string{"button"}) || !bytes.Contains(l.Tool, []byte(`"Milk"`)) {
		t.Errorf("inputs %q\n%s", l.Inputs, l.Tool)
	}
}

// Of two recordings of one task only what differs is an argument.
func TestTwoRecordings(t *testing.T) {
	s := newStudio(t, "testdata/pages", ".")
	task := func(name, mail, note string) *recorder.Recorder {
		write := func(field, text string) [][2]json.RawMessage {
			return [][2]json.RawMessage{
				call("pointer.click", `{"locator":{"selector":"[name=`+field+`]"}}`),
				call("text.type", `{"text":"`+text+`","trusted":true}`),
			}
		}
		return s.record(t, s.base+"form.html", func(at *session) {
			at.do(slices.Concat(write("name", name), write("mail", mail), write("note", note), [][2]json.RawMessage{
				call("pointer.click", `{"locator":{"selector":"button"}}`),
			}))
		})
	}
	first, second := task("Ada", "office@example.com", "by post"), task("Grace", "office@example.com", "by hand")
	l, err := s.learn(t, first, second.Calls())
	if err != nil {
		t.Fatalf("%v %v", err, fault.From(err).Evidence)
	}
	if !l.Verified || !slices.Equal(l.Inputs, []string{"your_name", "note"}) ||
		!slices.Contains(l.Proven, "it runs with the values of the second session") {
		t.Errorf(
			"verified %v, inputs %q, proven %q, unproven %q\n%s", l.Verified, l.Inputs, l.Proven, l.Unproven, l.Tool,
		)
	}
	if !bytes.Contains(l.Tool, []byte(`"text": "office@example.com"`)) {
		t.Errorf("what is the same is no part of the action\n%s", l.Tool)
	}
}

// words are what a command says meanwhile.
type words struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// The whole way without a display: the page is shown at an address, somebody acts on it there, and a map and a
// plan are written. A password is in no file.
func TestCommandInAView(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(
			w,
			`<!doctype html><title>In</title><style>
input, button { position: absolute; left: 20px; width: 200px; height: 30px }</style>
<form
onsubmit="event.preventDefault(); said.textContent = confirm('Sure?') ? 'Hello ' + user.value : 'No'"><input
id="user" aria-label="User" style="top: 20px"><input
id="pass" type="password" aria-label="Password" style="top: 60px"><button
style="top: 100px">Sign in</button></form><p id="said" role="status"></p>`,
		)
	}))
	defer server.Close()
	dir := t.TempDir()
	out := filepath.Join(dir, "map")
	var heard words
	c := recorder.Command{
		URL:     server.URL + "/",
		Out:     out,
		Keep:    filepath.Join(dir, "task.rec"),
		Secrets: &mask.Set{},
		Version: "test",
		Words:   &heard,
		Learn:   learn.Options{NewID: runtimetest.NewID, Now: time.Now, Name: "session.sign_in"},
	}
	browsertest.Require(t)
	c.Open = func(ctx context.Context, change func(*runtime.Options) error) (*runtime.Host, func(), error) {
		o := runtime.Options{
			Registry: catalog.Standard(),
			Engine:   runtimetest.Engine(t),
			NewID:    runtimetest.NewID,
			Version:  "test",
			Secrets:  c.Secrets,
			Browser:  browsertest.Options(),
		}
		if err := change(&o); err != nil {
			return nil, nil, err
		}
		h, err := runtime.Open(ctx, o)
		return h, func() { _ = h.Close(context.WithoutCancel(ctx)) }, err
	}
	type result struct {
		done *recorder.Done
		err  error
	}
	ended := make(chan result, 1)
	ctx, cancel := context.WithCancel(browsertest.Within(t, 2*time.Minute))
	var running sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		running.Wait()
		http.DefaultClient.CloseIdleConnections()
	})
	running.Go(func() {
		done, err := c.Run(ctx)
		ended <- result{done, err}
	})
	at := ""
	browsertest.Eventually(t, 30*time.Second, "the address of the view", func() bool {
		_, rest, ok := strings.Cut(heard.String(), "open       ")
		at, _, _ = strings.Cut(rest, "\n")
		return ok && at != ""
	})
	if r, err := http.Get(strings.TrimSuffix(at, "/")[:len(at)-5] + "/"); err != nil {
		t.Fatal(err)
	} else if _ = r.Body.Close(); r.StatusCode != http.StatusNotFound {
		t.Errorf("with a wrong address: %s", r.Status)
	}
	width, height := 0.0, 0.0
	browsertest.Eventually(t, 30*time.Second, "a picture", func() bool {
		r, err := http.Get(at + "picture?after=0")
		if err != nil {
			t.Log(err)
			return false
		}
		defer r.Body.Close()
		_, err = fmt.Sscanf(r.Header.Get("X-Size"), "%fx%f", &width, &height)
		return err == nil && r.StatusCode == http.StatusOK && width > 0
	})
	send := func(inputs ...string) {
		t.Helper()
		r, err := http.Post(at+"input", "application/json", strings.NewReader("["+strings.Join(inputs, ",")+"]"))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if text, _ := io.ReadAll(r.Body); r.StatusCode != http.StatusNoContent {
			t.Fatalf("%s: %s", r.Status, text)
		}
	}
	press := func(x, y float64) {
		t.Helper()
		place := fmt.Sprintf(`"x":%f,"y":%f`, x, y)
		send(
			`{"type":"move",`+place+`}`, `{"type":"down","button":"left","buttons":1,"clicks":1,`+place+`}`,
			`{"type":"up","button":"left","clicks":1,`+place+`}`,
		)
	}
	press(60, 35)
	for _, r := range "Ada" {
		send(
			fmt.Sprintf(`{"type":"key_down","key":%q,"code":"Key%s"}`, string(r), strings.ToUpper(string(r))),
			fmt.Sprintf(`{"type":"key_up","key":%q}`, string(r)),
		)
	}
	press(60, 75)
	send(`{"type":"text","text":"correct-horse-canary"}`)
	press(60, 115)
	browsertest.Eventually(t, 20*time.Second, "the dialog", func() bool {
		r, err := http.Get(at + "picture?after=1000000")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		return r.Header.Get("X-Dialog") != ""
	})
	send(`{"type":"dialog","accept":true}`)
	press(width-place["done"], height-above)
	got := <-ended
	if got.err != nil {
		t.Fatalf("%v %v\n%s", got.err, fault.From(got.err).Evidence, heard.String())
	}
	if !got.done.Verified || !slices.Equal(got.done.Inputs, []string{"user", "password"}) || len(got.done.Files) != 2 {
		t.Errorf(
			"verified %v, inputs %q, files %q, unproven %q\n%s",
			got.done.Verified, got.done.Inputs, got.done.Files, got.done.Unproven, got.done.Tool,
		)
	}
	for _, path := range append(got.done.Files, c.Keep) {
		text, err := os.ReadFile(path)
		if err != nil || bytes.Contains(text, []byte("canary")) {
			t.Errorf("%v, %s: %s", err, path, text)
		}
	}
	plan, _ := os.ReadFile(filepath.Join(out, "plan.yaml"))
	if !bytes.Contains(plan, []byte("password: {env: PASSWORD}")) ||
		!bytes.Contains(plan, []byte(`"password":"{{secret:password}}"`)) {
		t.Errorf("the plan: %s", plan)
	}
	if bytes.Contains([]byte(heard.String()), []byte("canary")) ||
		!strings.Contains(heard.String(), `write "Ada" in textbox "User"`) {
		t.Errorf("it said: %s", heard.String())
	}
	// What was kept is a recording that learn reads.
	if calls, err := learn.Read(c.Keep, 0, 0); err != nil || len(calls) != 4 {
		t.Errorf("%d calls were kept, %v", len(calls), err)
	}
}
