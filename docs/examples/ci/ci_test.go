package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/client"
	"github.com/outrider-run/outrider/docs/examples/ci/shop"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
)

// mutation is what the next release of the shop has, or how it is broken.
type mutation struct {
	name  string
	edits []edit
	// server is in front of the shop; nil for nothing.
	server func(w http.ResponseWriter, r *http.Request, next http.Handler)
	// cause is what the first line says; "" when all is well, since the map says
	// nothing about what has changed.
	cause string
	// test is the one in the report that says it.
	test string
	// repair is a line of the difference that mends the map; "" for none.
	repair string
	// long: it is one of several of its kind, so it waits for the long form.
	long bool
}

// edit puts a text of a file of the app in the place of the one that is there once, or of
// the whole file when before is "".
type edit struct{ file, before, after string }

var mutations = []mutation{
	{name: "as it is"},
	{
		name:  "a label is renamed",
		long:  true,
		edits: []edit{{"items.html", ">New item</button>", ">Add an item</button>"}},
		cause: `new_item: #new: text is "Add an item", expected "New item"`, test: "new_item",
	},
	{
		name: "a button is moved",
		edits: []edit{
			{"items.html", `  <button id="new" type="button">New item</button>`, ""},
			{
				"items.html", "  <h1>Items</h1>\n",
				"  <h1>Items</h1>\n  <div><button id=\"new\" type=\"button\">New item</button></div>\n",
			},
		},
	},
	{
		name:  "an id is changed",
		edits: []edit{{"items.html", `id="search" name="q"`, `id="query" name="q"`}},
		cause: "search_field: #search: no match, expected one", test: "search_field",
		repair: `+      "assertions": [{"target": {"role": "textbox", "name": "Search"}, "visible": true}]`,
	},
	{
		name:  "the list is empty",
		long:  true,
		edits: []edit{{"items.json", "", "[]"}},
		cause: "list: .item: no match, expected at least 1", test: "list",
	},
	{
		name: "the server fails",
		server: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.URL.Path == "/items" {
				http.Error(w, "no connection to the database", http.StatusInternalServerError)
				return
			}
			next.ServeHTTP(w, r)
		},
		cause: "the HTTP status of the page is 500, expected one below 400", test: "page",
	},
	{
		name: "the session is lost",
		server: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.URL.Path == "/items" {
				http.Redirect(w, r, "/login", http.StatusSeeOther)
				return
			}
			next.ServeHTTP(w, r)
		},
		cause: "the state signed_in is required and not current: #user: no match", test: "page",
	},
	{
		name: "answers are slow",
		long: true,
		server: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.URL.Path == "/items" {
				select {
				case <-time.After(700 * time.Millisecond):
				case <-r.Context().Done():
					return
				}
			}
			next.ServeHTTP(w, r)
		},
	},
	{
		name:  "the frame is gone",
		long:  true,
		edits: []edit{{"items.html", `<iframe id="help" title="Help" src="/help"></iframe>`, ""}},
		cause: "help: #help: no match, expected one", test: "help",
	},
	{
		name:  "a text is changed",
		long:  true,
		edits: []edit{{"items.html", "<h1>Items</h1>", "<h1>Articles</h1>"}},
		cause: `heading: h1: text is "Articles", expected "Items"`, test: "heading",
	},
	{
		name: "a modal dialog is in the way",
		edits: []edit{{"app.js", `const editor`, "const news = document.createElement(\"dialog\");\n" +
			"news.textContent = \"News\";\ndocument.body.append(news);\nnews.showModal();\nconst editor"}},
		cause: "nothing_covers_the_page: dialog[open]: 1 match, expected none", test: "nothing_covers_the_page",
	},
}

// TestMutations runs the CI of the example as a server of CI would, on the shop as it is
// and on others, ten in the long form. A run is red exactly when the map says something that is no longer
// so; then the first line of the output names the cause, and the report, read by its
// DOM, does too. The shop as it is gets browsers of its own, as it would have there; the others share one.
func TestMutations(t *testing.T) {
	browsertest.Require(t)
	bin := t.TempDir()
	build := exec.CommandContext(
		t.Context(), "go", "build", "-trimpath", "-o", filepath.Join(bin, "outrider"), "../../../cmd/outrider",
	)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	reader, err := outrider.Open(ctx, outrider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	shared := []string{"OUTRIDER_ATTACH=" + browsertest.Running(t), "OUTRIDER_ISOLATED=true"}
	for _, m := range mutations {
		t.Run(strings.ReplaceAll(m.name, " ", "_"), func(t *testing.T) {
			if m.long {
				browsertest.OnlyLong(t)
			}
			t.Parallel()
			work := checkout(t)
			for _, e := range m.edits {
				e.make(t, filepath.Join(work, "app"))
			}
			handler := shop.Handler(os.DirFS(filepath.Join(work, "app")), true)
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if m.server != nil {
					m.server(w, r, handler)
					return
				}
				handler.ServeHTTP(w, r)
			}))
			defer site.Close()
			browsers := browsertest.Environment(t)
			if len(m.edits) > 0 || m.server != nil {
				browsers = append(browsers, shared...)
			}
			stdout, red := ci(t, ctx, work, bin, site.URL, browsers)
			if red != (m.cause != "") {
				t.Fatalf("red is %v:\n%s", red, stdout)
			}
			if !red {
				return
			}
			first, _, _ := strings.Cut(stdout, "\n")
			if !strings.HasPrefix(first, "failed ") || !strings.Contains(first, m.cause) {
				t.Errorf("the first line is\n%s\nexpected the cause: %s", first, m.cause)
			}
			if m.repair != "" && !strings.Contains(stdout, "\n"+m.repair+"\n") {
				t.Errorf("the output has no line %q:\n%s", m.repair, stdout)
			}
			told := readReport(t, ctx, reader, filepath.Join(work, "reports", "check.html"), m.test)
			if !strings.Contains(m.test+": "+told.Message, m.cause) && !strings.Contains(told.Message, m.cause) {
				t.Errorf("the report says of %s: %q; expected the cause: %s", m.test, told.Message, m.cause)
			}
			if told.Failures == 0 || !told.Picture {
				t.Errorf("the report has %d failures and picture %v for %s", told.Failures, told.Picture, m.test)
			}
			if m.repair != "" && !strings.Contains(told.Repair, m.repair) {
				t.Errorf("the report has no repair %q: %s", m.repair, told.Repair)
			}
		})
	}
}

// checkout is the repository of the example in a folder of its own.
func checkout(t *testing.T) string {
	t.Helper()
	work := t.TempDir()
	if err := os.CopyFS(work, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	return work
}

func (e edit) make(t *testing.T, app string) {
	t.Helper()
	path := filepath.Join(app, e.file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	after := e.after
	if e.before != "" {
		if n := strings.Count(string(text), e.before); n != 1 {
			t.Fatalf("%s has %q %d times", path, e.before, n)
		}
		after = strings.Replace(string(text), e.before, e.after, 1)
	}
	if err := os.WriteFile(path, []byte(after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// ci runs the script of the example.
func ci(
	t *testing.T, ctx context.Context, work, bin, app string, browsers []string,
) (stdout string, red bool) {
	t.Helper()
	cmd := exec.CommandContext(ctx, "./ci.sh")
	cmd.Dir = work
	cmd.Env = append(append(os.Environ(), browsers...), "APP="+
		app, "CI=true", "HOME="+work, "XDG_CONFIG_HOME="+work,
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("%v\n%s%s", err, &out, &problems)
	}
	return out.String(), err != nil
}

// told is what a report says of one test.
type told struct {
	Message  string `json:"message"`
	Failures int    `json:"failures"`
	Picture  bool   `json:"picture"`
	Repair   string `json:"repair"`
}

// readReport opens a report in a browser and reads what its page shows of a test.
func readReport(t *testing.T, ctx context.Context, s *outrider.Session, path, test string) (out told) {
	t.Helper()
	served := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(path))))
	defer served.Close()
	tab, err := s.NewTab(ctx, served.URL+"/"+filepath.Base(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tab.Close(ctx) }()
	name, err := json.Marshal(test)
	if err != nil {
		t.Fatal(err)
	}
	r, err := client.PageEvaluate(ctx, tab, client.PageEvaluateArgs{Body: `
		const test = [...document.querySelectorAll("details.test")].find((d) =>
			d.querySelector(".name").firstChild.data === ` +
		string(name) + `);
		if (!test) return { message: "there is no such test" };
		return {
			message: test.querySelector(".why")?.textContent ?? "",
			failures: test.querySelectorAll(".failure").length,
			picture: !!test.querySelector("figure img")?.src.startsWith("data:image/"),
			repair: [...test.querySelectorAll(".text pre .add")].map((e) => e.textContent).join(""),
		};`})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(r.Value)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return out
}

// Every template runs the script, so that what is tested here is what they do.
func TestTemplatesRunTheScript(t *testing.T) {
	for path, call := range map[string]string{
		".github/workflows/site.yml": `(?m)^      - run: \./ci\.sh$`,
		".gitlab-ci.yml":             `(?m)^    - \./ci\.sh$`,
		"Jenkinsfile":                `sh '\./ci\.sh'`,
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(call).Match(text) {
			t.Errorf("%s does not run ci.sh", path)
		}
		if !strings.Contains(string(text), "reports") {
			t.Errorf("%s does not keep the reports", path)
		}
	}
}
