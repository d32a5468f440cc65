package scaffold_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/authoring/scaffold"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/runtime"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// written writes a map of the page that the host shows, and reads it back as a host
// would.
func written(t *testing.T, h *runtime.Host, submit bool) *scaffold.Result {
	t.Helper()
	ctx := browsertest.Within(t, 3*time.Minute)
	result, err := scaffold.Init(ctx, h, scaffold.Options{NewID: runtimetest.NewID, Now: time.Now, Submit: submit})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files, err := result.Write(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	_, reports := runtime.LoadMaps(files[:1], catalog.Standard(), runtimetest.Engine(t), runtime.MapOptions{
		Arguments: runtime.ArgumentsRefused,
	})
	for _, r := range reports {
		for _, p := range append(r.Errors, r.Warnings...) {
			t.Errorf("the map does not validate: %s: %s: %s", p.Pointer, p.Code, p.Message)
		}
	}
	if _, err := result.Write(dir, false); err == nil {
		t.Error("files that are there were replaced without force")
	}
	return result
}

func open(t *testing.T, h *runtime.Host, address string) {
	t.Helper()
	call(t, h, runtime.Call{Name: "browser.navigate", Arguments: encode(map[string]any{"url": address})})
}

func call(t *testing.T, h *runtime.Host, c runtime.Call) json.RawMessage {
	t.Helper()
	c.ID = runtimetest.NewID()
	c.Target = runtime.Target{RuntimeID: h.Tabs()[0].RuntimeID}
	c.Timeout = time.Minute
	reply := h.Do(browsertest.Within(t, time.Minute), c)
	if reply.Err != nil {
		t.Fatalf("%s: %v %v", c.Name, reply.Err, reply.Err.Evidence)
	}
	return reply.Output
}

func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func site(t *testing.T) string {
	srv := httptest.NewServer(http.FileServer(http.Dir("testdata")))
	t.Cleanup(srv.Close)
	return srv.URL
}

// declared is what is compared of two maps.
type declared struct {
	Tools []struct {
		Name     string `json:"name"`
		XActions struct {
			Execution struct {
				Steps []struct {
					Type      string           `json:"type"`
					Target    *locators.Target `json:"target"`
					ValueFrom string           `json:"value_from"`
				} `json:"steps"`
			} `json:"execution"`
		} `json:"x_actions"`
	} `json:"tools"`
	Projections []struct {
		Name string `json:"name"`
	} `json:"state_projections"`
}

// part is one thing that a map has, by what it is on the page.
type part struct {
	name string
	of   []string
}

// parts are the actions of a map by the elements that they operate, their fields, and
// the fields of projections by their values.
func parts(t *testing.T, h *runtime.Host, text json.RawMessage) (actions, fields []part) {
	t.Helper()
	var m declared
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	var all []descriptor.Descriptor
	for _, tool := range m.Tools {
		for _, s := range tool.XActions.Execution.Steps {
			if s.Target == nil {
				continue
			}
			d := descriptor.Descriptor{
				FallbackSelectors: s.Target.FallbackSelectors,
				Role:              s.Target.Role,
				Name:              s.Target.Name,
				TextEquals:        s.Target.TextEquals,
			}
			if s.Target.Selector != "" {
				d.Selector = []string{s.Target.Selector}
			}
			all = append(all, d)
		}
	}
	var matches []descriptor.Match
	if err := h.Visit(browsertest.Within(t, time.Minute), runtime.Target{}, func(
		ctx context.Context, p primitives.Page,
	) (err error) {
		matches, err = descriptor.ResolveAll(ctx, p, all)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, tool := range m.Tools {
		a := part{name: tool.Name}
		for _, s := range tool.XActions.Execution.Steps {
			if s.Target == nil {
				continue
			}
			handle := matches[at].Handle
			at++
			if s.Type != "read" {
				a.of = append(a.of, handle)
			}
			if s.ValueFrom != "" {
				fields = append(fields, part{tool.Name + "." + s.ValueFrom, []string{handle}})
			}
		}
		actions = append(actions, a)
	}
	for _, p := range m.Projections {
		out := call(t, h, runtime.Call{
			Name:      runtime.SiteTool,
			Map:       &runtime.SuppliedMap{Path: "actions.json", JSON: text},
			Arguments: encode(map[string]any{"mode": "state_read", "projection_name": p.Name}),
		})
		var read struct {
			State struct {
				Items []map[string]any `json:"items"`
			} `json:"state"`
		}
		if err := json.Unmarshal(out, &read); err != nil || len(read.State.Items) == 0 {
			t.Fatalf("projection %s: %v in %s", p.Name, err, out)
		}
		for name := range read.State.Items[0] {
			f := part{name: p.Name + "." + name}
			for _, it := range read.State.Items {
				f.of = append(f.of, fmt.Sprint(it[name]))
			}
			fields = append(fields, f)
		}
	}
	return actions, fields
}

// TestInitHasWhatPeopleWrite compares maps with those that a person wrote of the same
// page before: at least 80 % of their actions and fields are there.
func TestInitHasWhatPeopleWrite(t *testing.T) {
	base := site(t)
	h := runtimetest.Open(t, runtime.Options{})
	cases, err := filepath.Glob("testdata/*/hand.json")
	if err != nil || len(cases) < 5 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, file := range cases {
		name := filepath.Base(filepath.Dir(file))
		hand, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		result := once(t, h, base, name)
		text, err := result.Map.Encode()
		if err != nil {
			t.Fatal(err)
		}
		wantActions, wantFields := parts(t, h, hand)
		gotActions, gotFields := parts(t, h, text)
		want, got := 0, 0
		for _, w := range wantActions {
			want++
			if slices.ContainsFunc(gotActions, func(g part) bool {
				return !slices.ContainsFunc(w.of, func(handle string) bool { return !slices.Contains(g.of, handle) })
			}) {
				got++
			} else {
				t.Logf("%s: no action for %s", name, w.name)
			}
		}
		for _, w := range wantFields {
			want++
			if slices.ContainsFunc(gotFields, func(g part) bool { return slices.Equal(g.of, w.of) }) {
				got++
			} else {
				t.Logf("%s: no field for %s %v", name, w.name, w.of)
			}
		}
		t.Logf("%s: %d of %d actions and fields", name, got, want)
		if float64(got) < 0.8*float64(want) {
			var report strings.Builder
			result.Report.Print(&report)
			t.Errorf(
				"%s: %d of %d actions and fields of the map of a person, expected 80 %%\n%s\n%s",
				name, got, want, report.String(), text,
			)
		}
	}
}

// What was seen to happen is asserted, with other arguments than those it was seen with.
func TestInitWritesWhatItSaw(t *testing.T) {
	base := site(t)
	h := runtimetest.Open(t, runtime.Options{})
	for _, c := range []struct{ page, action, want string }{
		{"contact", "contact.send", `"id":"message"`},
		{"contact", "contact.send", `"pattern":"^(?:[0-9]{5})$"`},
		{"contact", "contact.send", `"enum":["mail","phone"]`},
		{"contact", "contact_us.open_orders", `"url_contains":"/orders/"`},
		{"login", "sign_in.sign_in", `"format":"password"`},
		{"settings", "settings.show_alerts", `"assert"`},
		{"settings", "settings.delete_account", `"assert":{"target":{`},
	} {
		t.Run(c.page+" "+c.action, func(t *testing.T) {
			result := once(t, h, base, c.page)
			i := slices.IndexFunc(result.Map.Tools, func(tool scaffold.Tool) bool { return tool.Name == c.action })
			if i < 0 {
				t.Fatalf("no action %s: %+v", c.action, result.Report)
			}
			if text := string(encode(result.Map.Tools[i])); !strings.Contains(text, c.want) {
				t.Errorf("action %s has no %s: %s", c.action, c.want, text)
			}
		})
	}
	// The page refuses what it is sent, and that is no success.
	login := once(t, h, base, "login")
	refused := scaffold.Entry{Kind: "postcondition", Name: "sign_in.sign_in", Reason: "an alert appeared"}
	if !slices.Contains(login.Report.LeftOut, refused) {
		t.Errorf("left out is %+v, expected %+v", login.Report.LeftOut, refused)
	}
	for _, tool := range login.Map.Tools {
		if text := string(encode(tool)); tool.Name == refused.Name && strings.Contains(text, `"assert"`) {
			t.Errorf("the refusal is asserted: %s", text)
		}
	}
	todo := once(t, h, base, "todo")
	if len(todo.Map.Projections) != 1 || todo.Map.Projections[0].Identity["/items"] != "id" ||
		len(todo.Map.Projections[0].Postconditions) == 0 {
		t.Errorf("the list of tasks: %s", encode(todo.Map.Projections))
	}
	if text := string(encode(todo.Map)); strings.Contains(text, ":r1:") || strings.Contains(text, "css-1q2w3e4") ||
		strings.Contains(text, "Button_root__a1B2c") {
		t.Errorf("the map has a generated name: %s", text)
	}
}

var results = map[string]*scaffold.Result{}

// once writes the map of a page once for several tests of one run.
func once(t *testing.T, h *runtime.Host, base, page string) *scaffold.Result {
	t.Helper()
	if results[page] == nil {
		open(t, h, base+"/"+page+"/")
		results[page] = written(t, h, true)
	}
	return results[page]
}

// Without leave nothing is sent and nothing clicked that may change the site.
func TestInitSendsNothingUnasked(t *testing.T) {
	sent := make(chan string, 100)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/" && r.URL.Path != "/favicon.ico" {
			sent <- r.Method + " " + r.URL.Path
		}
		fmt.Fprint(
			w,
			`<!doctype html><title>Ship</title><h1>Ship</h1><form
			method="post" action="/ship"><label>Port <input name="port" required></label><button>Ship it</button></form>
			<button onclick="fetch('/sink', {method: 'POST'})">Sink it</button>`,
		)
	}))
	t.Cleanup(srv.Close)
	h := runtimetest.Open(t, runtime.Options{})
	open(t, h, srv.URL+"/")
	result := written(t, h, false)
	if len(result.Map.Tools) != 2 || result.Report.Actions[0].Note == "" || result.Report.Actions[1].Note == "" {
		t.Errorf("expected two actions that were not sent: %+v", result.Report)
	}
	select {
	case s := <-sent:
		t.Errorf("the site was sent %s", s)
	default:
	}
}

// What passes, or is drawn anew in another order, is no postcondition.
func TestWhatPassesIsNotAsserted(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(
			w, `<!doctype html><title>Console</title><h1>Console</h1><button id="fetch" type="button">Fetch</button>
<p id="state" role="status">idle</p><div><pre><span>ships</span><span>names</span></pre></div>
<script>
document.getElementById('fetch').onclick = () => {
  const state = document.getElementById('state'), words = document.querySelectorAll('span');
  state.textContent = 'working';
  setTimeout(() => { state.textContent = 'idle'; }, 250);
  [words[0].textContent, words[1].textContent] = [words[1].textContent, words[0].textContent];
};
</script>`,
		)
	}))
	t.Cleanup(server.Close)
	h := runtimetest.Open(t, runtime.Options{})
	open(t, h, server.URL)
	result := written(t, h, true)
	if len(result.Map.Tools) != 1 || strings.Contains(string(encode(result.Map.Tools)), `"assert"`) {
		t.Errorf("got %s", encode(result.Map.Tools))
	}
}

// A page whose load never ends is waited for once, not before each action.
func TestInitOfAPageThatNeverLoads(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/never.png" {
			select {
			case <-ended:
			case <-r.Context().Done():
			}
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><title>Slow</title><h1>Slow</h1><img src="/never.png" alt="">
<button type="button" onclick="p.hidden = !p.hidden">Show pears</button> <p id="p" hidden>two</p>`)
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(ended) })

	h := runtimetest.Attached(t, runtime.Options{Open: []string{srv.URL + "/"}, LoadTimeout: time.Second})
	// It opens the page three times: a load takes 15 s each time that it is waited for, and the network 5 s.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
	defer cancel()
	result, err := scaffold.Init(ctx, h, scaffold.Options{NewID: runtimetest.NewID, Now: time.Now, Submit: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Report.Actions) != 1 || result.Report.Actions[0].Note != "" {
		t.Errorf("%+v: expected one action with a postcondition", result.Report)
	}
}
