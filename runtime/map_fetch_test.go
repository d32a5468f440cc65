package runtime_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

const staticTool = `{"name":%q,"description":"d","input_schema":{"type":"object"},` +
	`"x_actions":{"static_output":{"from":%q}}}`

func staticMap(name, from string, more ...string) string {
	return `{"protocol":"actions.json","version":1,"tools":[` + fmt.Sprintf(staticTool, name, from) + `]` +
		strings.Join(append([]string{""}, more...), ",") + `}`
}

type listed struct {
	Actions []struct {
		Name   string `json:"name"`
		Source *struct {
			Import string `json:"import"`
		} `json:"source"`
	} `json:"actions"`
	Imports []struct {
		ID     string `json:"id"`
		Status string `json:"status"`
		Error  *struct {
			Code    fault.Code `json:"code"`
			Message string     `json:"message"`
		} `json:"error"`
	} `json:"imports"`
}

func listOf(t *testing.T, h *runtime.Host) (out listed, status map[string]string) {
	t.Helper()
	r := do(t, h, "actions.site", `{"mode":"list"}`, 20*time.Second)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if err := json.Unmarshal(r.Output, &out); err != nil {
		t.Fatal(err)
	}
	status = map[string]string{}
	for _, i := range out.Imports {
		status[i.ID] = i.Status
		if i.Error != nil {
			status[i.ID] += " " + string(i.Error.Code)
		}
	}
	return out, status
}

// What a map imports from the web is read through the page: with its session on
// its own origin, without it and only if allowed on others.
func TestImportsAreReadThroughThePage(t *testing.T) {
	var (
		mu   sync.Mutex
		seen []string
	)
	note := func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		cookie := "without"
		if c, err := r.Cookie("session"); err == nil {
			cookie = c.Value
		}
		seen = append(seen, r.Method+" "+r.URL.Path+" "+cookie+" "+r.Header.Get("Referer"))
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		switch r.URL.Path {
		case "/open.json":
			w.Header().Set("Access-Control-Allow-Origin", "*")
			fmt.Fprint(w, staticMap("x", "elsewhere"))
		case "/closed.json":
			fmt.Fprint(w, staticMap("x", "closed"))
		case "/endless.json":
			w.Header().Set("Access-Control-Allow-Origin", "*")
			for range 16 {
				fmt.Fprint(w, strings.Repeat(" ", 1<<18))
			}
		case "/slow.json":
			<-r.Context().Done()
		}
	}))
	t.Cleanup(elsewhere.Close)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "with", Path: "/"})
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(
				w, "<!doctype html><title>x</title><script>window.fetch = () => { throw new Error('mine') }</script>",
			)
		case "/.well-known/actions.json":
			note(r)
			http.NotFound(w, r)
		case "/actions.json":
			note(r)
			http.Redirect(w, r, "/maps/v2.json", http.StatusFound)
		case "/maps/v2.json":
			note(r)
			fmt.Fprint(w, staticMap("x", "site", `"state_projections":[{"name":"title","snapshot":{"version":1,`+
				`"source":"dom","extract":[{"id":"page","selector":"html","fields":{"title":{"selector":"title",`+
				`"property":"textContent"}}}],"projection":{"language":"jsonata",`+
				`"expression":"{% {'title': records.page.title} %}"},"output_schema":{"type":"object"}}}]`))
		case "/away.json":
			http.Redirect(w, r, elsewhere.URL+"/open.json", http.StatusFound)
		case "/broken.json":
			fmt.Fprint(w, "<!doctype html>")
		}
	}))
	t.Cleanup(s.Close)
	web := func(id, kind, uri string) string {
		return fmt.Sprintf(`{"id":%q,"kind":%q,"uri":%q,"namespace":%q}`, id, kind, uri, id)
	}
	h := openMap(t, []string{s.URL + "/page"}, staticMap("own", "own", `"imports":[`+strings.Join([]string{
		`{"id":"site","kind":"website","namespace":"site"}`,
		web("open", "public", elsewhere.URL+"/open.json"),
		web("closed", "public", elsewhere.URL+"/closed.json"),
		web("endless", "public", elsewhere.URL+"/endless.json"),
		web("away", "website", "/away.json"),
		web("broken", "website", "/broken.json"),
		web("file", "website", "file:///etc/passwd"),
	}, ",")+`]`))
	list, status := listOf(t, h)
	var names []string
	for _, a := range list.Actions {
		names = append(names, a.Name)
	}
	if !slices.Equal(names, []string{"own", "site.x", "open.x"}) {
		t.Errorf("actions %q", names)
	}
	for id, want := range map[string]string{
		"site": "ok", "open": "ok", "closed": "failed import_unavailable", "endless": "failed import_unavailable",
		"away": "failed import_unavailable", "broken": "failed invalid_manifest", "file": "failed permission_denied",
	} {
		if status[id] != want {
			t.Errorf("import %s: %q, want %q (%+v)", id, status[id], want, list.Imports)
		}
	}
	for name, want := range map[string]string{
		"own":    `{"from":"own"}`,
		"site.x": `{"from":"site"}`,
		"open.x": `{"from":"elsewhere"}`,
	} {
		if r := do(
			t, h, "actions.site", fmt.Sprintf(`{"mode":"call","action":%q}`, name), 20*time.Second,
		); r.Err != nil || string(r.Output) != want {
			t.Errorf("%s: %s, %v", name, r.Output, r.Err)
		}
	}
	if r := do(
		t, h, "actions.site", `{"mode":"call","action":"closed.x"}`, 20*time.Second,
	); fault.CodeOf(r.Err) != fault.UnknownAction {
		t.Errorf("an action of an import that failed: %s, %v", r.Output, r.Err)
	}
	if r := do(
		t, h, "actions.site", `{"mode":"state_read","projection_name":"site.title"}`, 20*time.Second,
	); r.Err != nil || !strings.Contains(string(r.Output), `"title":"x"`) {
		t.Errorf("an imported projection: %s, %v", r.Output, r.Err)
	}
	mu.Lock()
	defer mu.Unlock()
	counts := map[string]int{}
	for _, r := range seen {
		counts[r]++
	}
	for _, want := range []string{
		"GET /.well-known/actions.json with ", "GET /actions.json with ",
		"GET /maps/v2.json with ", "GET /open.json without ", "GET /closed.json without ",
	} {
		if counts[want] != 1 {
			t.Errorf("%q was seen %d times, want once: %q", want, counts[want], seen)
		}
	}
}

// A site that does not answer costs its own actions, within the time of one
// request, and nothing else.
func TestASiteThatDoesNotAnswer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/page" {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>x</title>")
	}))
	t.Cleanup(s.Close)
	h := openMap(
		t, []string{s.URL + "/page"},
		staticMap("own", "own", `"imports":[{"id":"site","kind":"website","namespace":"site"}]`),
	)
	if r := do(t, h, "actions.site", `{"mode":"call","action":"own"}`, 20*time.Second); r.Err != nil {
		t.Fatal(r.Err)
	}
	_, status := listOf(t, h)
	if status["site"] != "failed import_unavailable" {
		t.Errorf("imports %v", status)
	}
}
