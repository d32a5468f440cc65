package learn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/authoring/learn"
	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

const shop = `<!doctype html><meta charset="utf-8"><title>Shop</title><h1>Shop</h1>
<nav><a href="/about">About</a></nav>
<form id="order"><label>Customer <input id=":r3:" name="customer"></label>
<label>Size <select id="mat-select-12" name="size"><option value="s">Small</option><option value="l">Large</option></select></label>
<label>Code <input name="code"></label>
<button class="css-1q2w3e4">Order</button></form>
<p>Your code is <b id="code">Q-4711</b></p>
<button id="more">More</button><div id="panel" hidden><button id="cancel">Cancel</button></div>
<ul id="orders"></ul><div role="status" id="said"></div>
<script>
const $ = (id) => document.getElementById(id);
$('more').onclick = () => { $('panel').hidden = false; };
$('cancel').onclick = () => { $('panel').hidden = true; };
$('order').onsubmit = (e) => {
  e.preventDefault();
  const f = new FormData(e.target);
  if (f.get('customer') === '') return;
  setTimeout(() => {
    const li = document.createElement('li');
    li.innerHTML = '<span></span> <button></button>';
    li.firstChild.textContent = f.get('customer') + ' ' + f.get('size') + ' ' + f.get('code');
    li.lastChild.textContent = 'Ship ' + f.get('customer');
    li.lastChild.onclick = () => { $('said').textContent = 'Shipped to ' + f.get('customer'); };
    $('orders').append(li);
  }, 150);
};
</script>`

func site(t *testing.T) string {
	mux := http.NewServeMux()
	page := func(path, html string) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, html)
		})
	}
	page("/{$}", shop)
	page("/about", `<!doctype html><title>About</title><h1>About</h1><a href="/">Shop</a>`)
	page("/list", `<!doctype html><title>List</title><h1>List</h1><ul>`+
		strings.Join([]string{"Ada", "Grace", "Edsger", "Barbara"}, "")+
		`</ul><ul id="l"><li><button onclick="hit(this)">Pick Ada</button></li><li><button onclick="hit(this)">Pick Grace</button></li><li><button onclick="hit(this)">Pick Edsger</button></li><li><button onclick="hit(this)">Pick Barbara</button></li></ul>
		<p id="n" role="status"></p><script>let n = 0; function hit(b) { b.disabled = true; document.getElementById('n').textContent = ++n + ' picked'; }</script>`)
	page("/frame", `<!doctype html><title>Frame</title><h1>Frame</h1><iframe id="pay" src="/inner" width="400" `+
		`height="200"></iframe>`)
	page("/inner", `<!doctype html><form onsubmit="event.preventDefault(); out.textContent = 'Paid by ' + `+
		`card.value"><label>Card <input id="card"></label><button>Pay</button></form><output id="out"></output>`)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// one is a call of a session: a primitive, or with ref a click on what a snapshot names.
type one struct {
	name string
	args string
	// may fail: sessions have detours.
	fails bool
}

type agent struct {
	t    *testing.T
	h    *runtime.Host
	done func() []record.Call // so far
	root string               // storage folder
}

func newAgent(t *testing.T) *agent {
	ring := record.NewRing(10*time.Minute, 32<<20)
	recorder := capture.New(capture.Options{Header: record.Header{Program: "test"}, Sinks: []record.Sink{ring}})
	calls := func() []record.Call {
		recorder.Settle()
		return record.Calls(ring.Events())
	}
	mode := learn.Mode{
		Calls:   calls,
		Options: learn.Options{NewID: runtimetest.NewID, Now: time.Now},
		Storage: t.TempDir(),
	}
	return &agent{
		t, runtimetest.Open(t, runtime.Options{Recorder: recorder, Remembered: mode.Answer}), calls, mode.Storage,
	}
}

// session does the calls on a fresh tab and gives what was recorded of them. In arguments
// ref:NAME is the ref of the element with that name in the newest snapshot, and point:ID
// the middle of the element with that id.
func (a *agent) session(start string, calls ...one) []record.Call {
	a.t.Helper()
	before := len(a.done())
	snapshot := ""
	calls = append([]one{{name: "browser.navigate", args: fmt.Sprintf(`{"url":%q}`, start)}}, calls...)
	for _, c := range calls {
		args := c.args
		for {
			_, rest, ok := strings.Cut(args, "ref:")
			if !ok {
				break
			}
			name, _, _ := strings.Cut(rest, `"`)
			args = strings.Replace(args, "ref:"+name, a.ref(snapshot, name), 1)
		}
		reply := a.h.Do(browsertest.Within(a.t, time.Minute), runtime.Call{
			ID:        runtimetest.NewID(),
			Name:      c.name,
			Arguments: json.RawMessage(args),
			Timeout:   20 * time.Second,
		})
		if (reply.Err != nil) != c.fails {
			a.t.Fatalf("%s %s: %v", c.name, args, reply.Err)
		}
		if c.name == "page.snapshot" {
			var out struct {
				Value struct {
					Text string `json:"text"`
				} `json:"value"`
				Text string `json:"text"`
			}
			if err := json.Unmarshal(reply.Output, &out); err != nil {
				a.t.Fatal(err)
			}
			snapshot = out.Text + out.Value.Text
		}
	}
	return a.done()[before:]
}

func (a *agent) ref(snapshot, name string) string {
	for line := range strings.Lines(snapshot) {
		if strings.Contains(line, `"`+name+`"`) {
			if _, rest, ok := strings.Cut(line, "[ref="); ok {
				ref, _, _ := strings.Cut(rest, "]")
				return ref
			}
			for _, w := range strings.Fields(line) {
				if len(w) > 1 && strings.Trim(w, "[]") != "" && strings.HasPrefix(strings.Trim(w, "[]"), "e") &&
					strings.Trim(strings.Trim(w, "[]")[1:], "0123456789") == "" {
					return strings.Trim(w, "[]")
				}
			}
		}
	}
	a.t.Fatalf("no ref for %q in\n%s", name, snapshot)
	return ""
}

func (a *agent) learn(sessions ...[]record.Call) *learn.Learned {
	a.t.Helper()
	l, err := learn.Learn(
		browsertest.Within(a.t, 3*time.Minute), a.h, sessions, learn.Options{NewID: runtimetest.NewID, Now: time.Now},
	)
	if err != nil {
		a.t.Fatalf("%v %v", err, fault.From(err).Evidence)
	}
	maps, err := runtime.MapFromBytes("actions.json", l.Map, catalog.Standard(), runtimetest.Engine(a.t))
	if err != nil || maps == nil {
		a.t.Fatalf("the learned map is refused: %v\n%s", err, l.Map)
	}
	return l
}

// try runs a learned action in a fresh session and returns what a locator says there.
func (a *agent) try(l *learn.Learned, start, args, then string) (string, *fault.Error) {
	a.t.Helper()
	return a.within(0, l, start, args, then)
}

// within is try with less time than steps have to wait.
func (a *agent) within(timeout time.Duration, l *learn.Learned, start, args, then string) (string, *fault.Error) {
	a.t.Helper()
	ctx := browsertest.Within(a.t, time.Minute)
	ws, err := a.h.NewWorkspace(ctx, runtime.WorkspaceOptions{Isolated: true})
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = ws.Close(context.WithoutCancel(ctx)) }()
	tab, err := ws.Open(ctx, start, true)
	if err != nil {
		a.t.Fatal(err)
	}
	on := runtime.Target{Workspace: ws.ID(), RuntimeID: tab.RuntimeID}
	arguments, _ := json.Marshal(map[string]any{"mode": "call", "action": l.Action, "arguments": json.RawMessage(args)})
	reply := a.h.Do(ctx, runtime.Call{
		ID:        "try",
		Target:    on,
		Name:      runtime.SiteTool,
		Arguments: arguments,
		Timeout:   timeout,
		Map:       &runtime.SuppliedMap{Path: "actions.json", JSON: l.Map},
	})
	if reply.Err != nil {
		return "", reply.Err
	}
	out := a.h.Do(ctx, runtime.Call{
		ID:        "then",
		Target:    on,
		Name:      "page.evaluate",
		Arguments: json.RawMessage(fmt.Sprintf(`{"body":%q}`, "return "+then)),
	})
	return string(out.Output), out.Err
}

// A session with a detour, a failure, retries, refs, a polled read and a value of the page
// becomes an action with the caller's values as arguments.
func TestLearnOfOneSession(t *testing.T) {
	base := site(t)
	a := newAgent(t)
	calls := a.session(base+"/",
		one{name: "page.snapshot", args: `{}`},
		one{name: "pointer.click", args: `{"locator":{"role":"link","name":"About"}}`},
		one{name: "page.snapshot", args: `{}`},
		one{name: "pointer.click", args: `{"locator":{"role":"link","name":"Shop"}}`},
		one{name: "pointer.click", args: `{"locator":{"selector":"#more"}}`},
		one{name: "pointer.click", args: `{"locator":{"selector":"#cancel"}}`},
		one{name: "pointer.click", args: `{"locator":{"selector":"#buy"},"timeout_ms":100}`, fails: true},
		one{name: "page.snapshot", args: `{}`},
		one{name: "text.insert", args: `{"target":{"ref":"ref:Customer"},"text":"Bab","mode":"replace"}`},
		one{name: "text.insert", args: `{"target":{"ref":"ref:Customer"},"text":"Babbage","mode":"replace"}`},
		one{name: "locator.text_content", args: `{"locator":{"selector":"#code"}}`},
		one{name: "text.insert", args: `{"target":{"selector":"[name=code]"},"text":"Q-4711","mode":"replace"}`},
		one{name: "dom.select_option", args: `{"locator":{"selector":"[name=size]"},"option":"l"}`},
		one{name: "pointer.click", args: `{"ref":"ref:Order"}`},
		one{name: "locator.wait_for", args: `{"locator":{"selector":"#orders li"}}`},
		one{name: "pointer.click", args: `{"locator":{"role":"button","name":"Ship Babbage"}}`},
		one{name: "locator.text_content", args: `{"locator":{"selector":"#said"}}`},
	)
	l := a.learn(calls)
	if !l.Verified || !slices.Equal(l.Inputs, []string{"customer", "size"}) {
		t.Errorf("verified %v, inputs %q, unproven %q\n%s", l.Verified, l.Inputs, l.Unproven, l.Tool)
	}
	text := string(l.Tool)
	for _, want := range []string{
		`{% input.customer %}`,
		`steps.read.output.text`, `"name": "{% \"Ship \" & input.customer %}"`, `"settle_after"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the action has no %s:\n%s", want, text)
		}
	}
	for _, never := range []string{
		`"ref"`, ":r3:", "css-1q2w3e4", "mat-select-12", "About", "#more", "Cancel", `"Bab"`, "Babbage", "Q-4711",
	} {
		if strings.Contains(text, never) {
			t.Errorf("the action has %s:\n%s", never, text)
		}
	}
	if l.Cost.SessionCalls < 15 || l.Cost.ActionCalls != 1 || l.Cost.ActionBytes >= l.Cost.SessionBytes/10 {
		t.Errorf("cost %+v", l.Cost)
	}
	got, err := a.try(
		l, base+"/", `{"customer":"Hopper","size":"s"}`,
		`document.getElementById('orders').textContent + '|' + document.getElementById('said').textContent`,
	)
	if err != nil || !strings.Contains(got, "Hopper s Q-4711") || !strings.Contains(got, "Shipped to Hopper") {
		t.Errorf("with other values: %s, %v\n%s", got, err, text)
	}
}

// Two sessions of one task: what differs is an argument, and nothing else.
func TestLearnOfTwoSessions(t *testing.T) {
	base := site(t)
	a := newAgent(t)
	session := func(customer, size string, extra ...one) []record.Call {
		return a.session(base+"/", append(append([]one{}, extra...),
			one{
				name: "text.insert",
				args: fmt.Sprintf(`{"target":{"selector":"[name=customer]"},"text":%q,"mode":"replace"}`, customer),
			},
			one{name: "text.insert", args: `{"target":{"selector":"[name=code]"},"text":"always","mode":"replace"}`},
			one{
				name: "dom.select_option",
				args: fmt.Sprintf(`{"locator":{"selector":"[name=size]"},"option":%q}`, size),
			},
			one{name: "pointer.click", args: `{"locator":{"role":"button","name":"Order"}}`},
			one{name: "pointer.click", args: fmt.Sprintf(`{"locator":{"role":"button","name":"Ship %s"}}`, customer)},
		)...)
	}
	l := a.learn(
		session("Noether", "l"),
		session("Germain", "l", one{name: "pointer.click", args: `{"locator":{"selector":"#more"}}`}),
	)
	if !l.Verified || !slices.Equal(l.Inputs, []string{"customer"}) ||
		!slices.Contains(l.Proven, "it runs with the values of the second session") {
		t.Errorf(
			"verified %v, inputs %q, proven %q, unproven %q\n%s", l.Verified, l.Inputs, l.Proven, l.Unproven, l.Tool,
		)
	}
	text := string(l.Tool)
	if !strings.Contains(text, `"always"`) || strings.Contains(text, "Noether") || strings.Contains(text, "#more") {
		t.Errorf("the action:\n%s", text)
	}
}

// Clicks on similar elements become one step, and elements in frames are found again.
func TestLearnOfLoopsAndFrames(t *testing.T) {
	base := site(t)
	a := newAgent(t)
	pick := func(name string) one {
		return one{name: "pointer.click", args: fmt.Sprintf(`{"locator":{"role":"button","name":"Pick %s"}}`, name)}
	}
	l := a.learn(a.session(base+"/list", pick("Ada"), pick("Grace"), pick("Barbara")))
	if !l.Verified || len(l.Inputs) != 1 || !strings.Contains(string(l.Tool), `"for_each"`) {
		t.Errorf("verified %v, inputs %q, unproven %q\n%s", l.Verified, l.Inputs, l.Unproven, l.Tool)
	}
	if got, err := a.try(
		l, base+"/list", fmt.Sprintf(`{%q:["Edsger","Ada"]}`, l.Inputs[0]), `document.getElementById('n').textContent`,
	); err != nil || !strings.Contains(got, "2 picked") {
		t.Errorf("two others: %s, %v\n%s", got, err, l.Tool)
	}

	l = a.learn(a.session(base+"/frame",
		one{name: "page.snapshot", args: `{}`},
		one{name: "text.insert", args: `{"target":{"ref":"ref:Card"},"text":"4000","mode":"replace"}`},
		one{name: "pointer.click", args: `{"ref":"ref:Pay"}`},
		one{name: "locator.text_content", args: `{"locator":{"selector":"#out","frame":"#pay"}}`},
	))
	if !l.Verified || !strings.Contains(string(l.Tool), `"#pay"`) {
		t.Errorf("verified %v, unproven %q\n%s", l.Verified, l.Unproven, l.Tool)
	}
}

// On a page that has changed the action runs, or fails; it does not succeed falsely.
func TestLearnedActionsDoNotSucceedFalsely(t *testing.T) {
	base := site(t)
	a := newAgent(t)
	l := a.learn(a.session(base+"/",
		one{
			name: "text.insert",
			args: `{"target":{"selector":"[name=customer]"},"text":"Kowalewskaja","mode":"replace"}`,
		},
		one{name: "pointer.click", args: `{"locator":{"role":"button","name":"Order"}}`},
		one{name: "pointer.click", args: `{"locator":{"role":"button","name":"Ship Kowalewskaja"}}`},
	))
	for _, c := range []struct {
		name, change string
		runs         bool
	}{
		{"another id of the form", `document.getElementById('order').id = 'basket'`, true},
		// Only its fallback finds it, and nothing says that what is called otherwise is the same field.
		{"another label of the field", `document.querySelector('label').firstChild.data = 'Client'`, false},
		{"in two more elements", `const f = document.getElementById('order'); ` +
			`const d = document.createElement('div'); f.replaceWith(d); d.append(f)`, true},
		{"the button is gone", `document.querySelector('#order button').remove()`, false},
		{"the end does not come", `document.getElementById('said').remove()`, false},
	} {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, shop+"<script>"+c.change+"</script>")
		})
		s := httptest.NewServer(mux)
		got, err := a.try(l, s.URL+"/", `{"customer":"Ladd"}`, `document.getElementById('orders').textContent`)
		s.Close()
		switch {
		case c.runs && (err != nil || !strings.Contains(got, "Ladd")):
			t.Errorf("%s: got %s, %v\n%s", c.name, got, err, l.Tool)
		case !c.runs && err == nil:
			t.Errorf("%s: it succeeded: %s\n%s", c.name, got, l.Tool)
		}
	}
}

// Mode learn takes the last calls of the tab, and saves what it made of them. What is typed
// into a password field is in no file.
func TestModeLearn(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(
			w,
			`<!doctype html><title>In</title><h1>Sign in</h1><form
			onsubmit="event.preventDefault(); said.textContent = 'Welcome, ' + user.value"><label>User <input
			id="user"></label>
			<label>Password <input id="pass" type="password"></label><button>Sign in</button></form><p
			id="said" role="status"></p>`,
		)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	a := newAgent(t)
	const password = "Kanarienvogel-7"
	a.session(s.URL+"/",
		one{name: "text.insert", args: `{"target":{"selector":"#user"},"text":"Ada","mode":"replace"}`},
		one{name: "text.insert", args: `{"target":{"selector":"#pass"},"text":"` + password + `","mode":"replace"}`},
		one{name: "pointer.click", args: `{"locator":{"role":"button","name":"Sign in"}}`},
	)
	reply := a.h.Do(browsertest.Within(t, time.Minute), runtime.Call{
		ID:        "learn",
		Name:      runtime.SiteTool,
		Arguments: json.RawMessage(`{"mode":"learn","name":"session.sign_in","save":true}`),
		Timeout:   time.Minute,
	})
	if reply.Err != nil {
		t.Fatalf("%v %v", reply.Err, reply.Err.Evidence)
	}
	if strings.Contains(string(reply.Output), password) {
		t.Errorf("the password is in the answer: %s", reply.Output)
	}
	var out struct {
		Verified bool
		Inputs   []string
		Saved    learn.Saved
	}
	if err := json.Unmarshal(reply.Output, &out); err != nil || !out.Verified ||
		!slices.Equal(out.Inputs, []string{"user", "password"}) {
		t.Errorf("%v, got %s", err, reply.Output)
	}
	text, err := os.ReadFile(out.Saved.File)
	if err != nil || strings.Contains(string(text), password) || !strings.Contains(string(text), `"writeOnly": true`) ||
		!strings.HasPrefix(out.Saved.File, a.root) {
		t.Errorf("%v, saved %s", err, text)
	}
}

// endsPage reacts in ways that name nothing new. With a query it does not react.
const endsPage = `<!doctype html><meta charset="utf-8"><title>Ends</title><h1>Ships</h1>
<div id="consent"><p id="cookies">We count visits.</p><button>Accept</button></div>
<p id="clock" role="status">0</p><div id="offer">Half price today</div>
<label>Filter <input id="filter"></label><label>Phone <input id="phone" type="tel"></label>
<table><thead><tr><th id="length" tabindex="0">Length</th></tr></thead><tbody id="rows"><tr><td>Heron</td></tr><tr><td>Tern</td></tr><tr><td>Ibis</td></tr></tbody></table>
<label><input type="checkbox" id="dark"> Dark</label><button id="ping">Ping</button>
<script>
const $ = (id) => document.getElementById(id);
setInterval(() => { $('clock').textContent = Number($('clock').textContent) + 1; }, 200);
setTimeout(() => { $('offer').remove(); }, 900);
$('ping').onclick = () => { window.pings = (window.pings || 0) + 1; };
if (location.search !== '') $('dark').onclick = (e) => e.preventDefault();
else {
  $('consent').lastChild.onclick = () => setTimeout(() => $('consent').remove(), 100);
  $('filter').oninput = () => setTimeout(() => { for (const r of [...$('rows').rows]) if (!r.textContent.includes($('filter').value)) r.remove(); }, 300);
  $('phone').oninput = () => { $('phone').value = $('phone').value.replace(/\D/g, '').replace(/^(\d{3})/, '($1) '); };
  $('length').onclick = () => $('length').setAttribute('aria-sort', 'ascending');
}
</script>`

// Where nothing new is named at the end, it is checked by what is another than before: the
// entries of a list, a state, a value, a text, what is gone. Where nothing is, the result
// says so. What passes or counts by itself shows nothing.
func TestEndsThatNameNothing(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, endsPage)
	}))
	t.Cleanup(server.Close)
	a := newAgent(t)
	write := func(id, text string) one {
		return one{
			name: "text.insert",
			args: fmt.Sprintf(`{"target":{"selector":"#%s"},"text":%q,"mode":"replace"}`, id, text),
		}
	}
	click := func(selector string) one {
		return one{name: "pointer.click", args: fmt.Sprintf(`{"locator":{"selector":%q}}`, selector)}
	}
	for _, c := range []struct {
		name  string
		calls []record.Call
		args  string
		has   []string // in the action
		claim bool     // it claims success
	}{
		{
			"entries", a.session(server.URL, write("filter", "Tern")),
			`{"filter":"Tern"}`, []string{`"#rows"`, "steps.before.output.text"}, true,
		},
		{"state", a.session(server.URL, click("#length")), `{}`, []string{`[aria-sort=\"ascending\"]`}, true},
		{"checked", a.session(server.URL, click("#dark")), `{}`, []string{`:checked"`}, true},
		{"gone", a.session(server.URL, click("#consent button")), `{}`, []string{`"hidden"`}, true},
		{
			"format", a.session(server.URL, write("phone", "5551234567")),
			`{"phone":"5551234567"}`, []string{"!= input.phone"}, true,
		},
		{
			"nothing", a.session(server.URL, click("#ping")), `{}`,
			[]string{`"unchecked": true`, "is not checked"}, false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := *a
			a.t = t
			l := a.learn(c.calls)
			if !l.Verified {
				t.Errorf("unproven %q\n%s", l.Unproven, l.Tool)
			}
			for _, want := range c.has {
				if !strings.Contains(string(l.Tool), want) {
					t.Errorf("the action has no %s:\n%s", want, l.Tool)
				}
			}
			if !c.claim {
				return
			}
			if _, err := a.within(2*time.Second, l, server.URL+"/?deaf", c.args, `1`); err == nil {
				t.Errorf("on a page that does nothing it succeeds\n%s", l.Tool)
			}
		})
	}
}

// city is a form with a drawn list, as libraries of selects make one.
const city = `<!doctype html><meta charset="utf-8"><title>City</title><h1>City</h1>
<form action="/city"><input name="q" aria-label="Search"></form>
<span>City</span>
<button id="c" type="button" aria-haspopup="listbox" aria-label="City"><span id="v">none</span></button>
<ul id="l" role="listbox" hidden></ul><button id="save" type="button">Save</button><p role="status" id="said"></p>
<script>
const $ = (id) => document.getElementById(id);
$('c').onclick = () => {
  $('l').hidden = false;
  $('l').replaceChildren(...['Riga', 'Turku', 'Vilnius'].map((name) => {
    const li = document.createElement('li');
    li.role = 'option';
    li.textContent = name;
    li.onclick = () => { $('v').textContent = name; $('l').hidden = true; };
    return li;
  }));
};
$('save').onclick = () => { $('said').textContent = 'Saved ' + $('v').textContent; };
</script>`

// A choice in a drawn list is an argument. One that was corrected, and a search that was left, are not in the action.
func TestLearnOfADrawnList(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /city", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, city)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	a := newAgent(t)
	open := one{name: "pointer.click", args: `{"locator":{"selector":"#c"}}`}
	choose := func(name string) one {
		return one{name: "pointer.click", args: fmt.Sprintf(`{"locator":{"role":"option","name":%q}}`, name)}
	}
	l := a.learn(a.session(s.URL+"/city",
		one{name: "text.insert", args: `{"target":{"selector":"[name=q]"},"text":"harbour","mode":"replace"}`},
		one{name: "keyboard.press", args: `{"key":"Enter"}`},
		one{name: "page.wait", args: `{"conditions":[{"url":{"contains":"q=harbour"}}]}`},
		one{name: "browser.navigate", args: fmt.Sprintf(`{"url":%q}`, s.URL+"/city")},
		open, choose("Turku"), open, choose("Riga"),
		one{name: "pointer.click", args: `{"locator":{"selector":"#save"}}`},
	))
	if !l.Verified || !slices.Equal(l.Inputs, []string{"city"}) {
		t.Errorf("verified %v, inputs %q, unproven %q, notes %q\n%s", l.Verified, l.Inputs, l.Unproven, l.Notes, l.Tool)
	}
	for _, never := range []string{"Turku", "Riga", "harbour"} {
		if strings.Contains(string(l.Tool), never) {
			t.Errorf("the action has %s:\n%s", never, l.Tool)
		}
	}
	got, err := a.try(l, s.URL+"/city", `{"city":"Vilnius"}`, `document.getElementById('said').textContent`)
	if err != nil || !strings.Contains(got, "Saved Vilnius") {
		t.Errorf("with another value: %s, %v\n%s", got, err, l.Tool)
	}
}
