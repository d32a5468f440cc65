// Package appstest serves pages of npm packages and of fixtures to tests of authoring, as they are or changed as a
// later version of a site would be. It runs no calls. Tests of learn and scaffold use it.
package appstest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// App is a page with what an agent does on it.
type App struct {
	Name  string `json:"app"`
	Page  string `json:"page"` // below the folder; "" is its index
	Tasks []Task `json:"tasks"`
	Dir   string `json:"-"` // the folder that is served

	NPM   []string        `json:"npm"`
	Files map[string]text `json:"files"`
	Start []string        `json:"start"`
	Serve string          `json:"serve"`
}

// Task is a task of an agent.
type Task struct {
	Name  string `json:"name"`
	Steps []Step `json:"steps"`
}

// Target is a role and a name, as expressions.
type Target [2]string

// Step is one thing that an agent does; the tasks of testdata/agents are made of them.
type Step struct {
	Go     string `json:"go,omitempty"`
	Click  Target `json:"click,omitzero"`
	Double Target `json:"double,omitzero"`
	Hover  Target `json:"hover,omitzero"`
	Fill   Target `json:"fill,omitzero"`
	Choose Target `json:"choose,omitzero"`
	Upload Target `json:"upload,omitzero"`
	Drag   Target `json:"drag,omitzero"`
	To     Target `json:"to,omitzero"`
	Text   string `json:"text,omitempty"`
	File   string `json:"file,omitempty"`
	Type   bool   `json:"type,omitempty"`
	Press  string `json:"press,omitempty"`
	Dialog bool   `json:"dialog,omitempty"`
	Expect string `json:"expect,omitempty"`
	// Call is a call with its arguments; with Fails it has to fail.
	Call  []json.RawMessage `json:"call,omitempty"`
	Fails bool              `json:"fails,omitempty"`
}

// Target is what the step acts on.
func (s Step) Target() Target {
	for _, t := range []Target{s.Click, s.Double, s.Hover, s.Fill, s.Choose, s.Upload, s.Drag} {
		if t != (Target{}) {
			return t
		}
	}
	return Target{}
}

// text is a text, or its lines.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var lines []string
	if json.Unmarshal(b, &lines) == nil {
		*t = text(strings.Join(lines, "\n") + "\n")
		return nil
	}
	return json.Unmarshal(b, (*string)(t))
}

// Read reads a file with applications.
func Read(tb testing.TB, path string) []App {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	var out []App
	if err := json.Unmarshal(b, &out); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return out
}

// NPM are the applications of a folder of definitions that are pages alone, installed below cache. One that cannot be
// installed is left out, and logged.
func NPM(tb testing.TB, definitions, cache string) []App {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(definitions, "*.json"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no applications in %s: %v", definitions, err)
	}
	var out []App
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		var a App
		if err := json.Unmarshal(b, &a); err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
		if len(a.NPM) == 0 || len(a.Start) > 0 {
			continue
		}
		a.Dir = filepath.Join(cache, strings.TrimSuffix(filepath.Base(file), ".json"))
		if err := a.install(); err != nil {
			tb.Logf("%s cannot be installed: %v", a.Name, err)
			continue
		}
		a.Dir = filepath.Join(a.Dir, a.Serve)
		out = append(out, a)
	}
	return out
}

// Cache is where packages are kept between two runs, as make agents keeps them.
func Cache(tb testing.TB) string {
	dir := os.Getenv("OUTRIDER_AGENTS_DIR")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			tb.Fatalf("no folder for packages: %v; name one by OUTRIDER_AGENTS_DIR", err)
		}
		dir = filepath.Join(cache, "outrider", "agents")
	}
	return dir
}

func (a App) install() error {
	for name, content := range a.Files {
		path := filepath.Join(a.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	done := filepath.Join(a.Dir, ".npm-"+strings.NewReplacer("/", "+", " ", "+").Replace(strings.Join(a.NPM, " ")))
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	cmd := exec.Command("npm", append(
		[]string{"install", "--no-audit", "--no-fund", "--silent", "--ignore-scripts", "--prefix", a.Dir}, a.NPM...,
	)...)
	if err := cmd.Run(); err != nil {
		return err
	}
	return os.WriteFile(done, nil, 0o644)
}

// Change is how the pages of a site differ from those that an action was learned on.
type Change struct {
	// Kind is one of Changes.
	Kind string `json:"kind"`
	// Tag, Name and ID are those of the element that renamed, gone and deaf are about. Without Tag it is the keyboard.
	Tag  string `json:"tag"`
	Name string `json:"name"`
	ID   string `json:"id"`
}

// Changes are the kinds of changes: other elements around and other classes; controls more before all others; the
// element has another name; it is not there; what is done with it has no effect.
var Changes = []string{"wrapped", "preceded", "renamed", "gone", "deaf"}

//go:embed change.js
var changeScript string

// Site serves a folder.
type Site struct {
	URL    string
	change atomic.Pointer[Change]
}

// Change changes the pages that are asked for from then on; nil serves them as they are.
func (s *Site) Change(c *Change) { s.change.Store(c) }

var afterTitle = regexp.MustCompile(`(?i)<body[^>]*>|</title>|<!doctype[^>]*>`)

// Serve serves a folder until the test ends.
func Serve(tb testing.TB, dir string) *Site {
	tb.Helper()
	s := &Site{}
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		c := s.change.Load()
		name := r.URL.Path
		if strings.HasSuffix(name, "/") {
			name += "index.html"
		}
		page, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if c == nil || !strings.HasSuffix(name, ".html") || err != nil {
			files.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(c.changed(page))
	}))
	tb.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

func (c *Change) changed(page []byte) []byte {
	about, err := json.Marshal(c)
	if err != nil {
		return page
	}
	script := "<script>(" + strings.TrimSpace(changeScript) + ")(" + string(about) + ")</script>"
	// The script comes first, and elements where the body begins.
	at := bytes.Index(bytes.ToLower(page[:min(len(page), 200)]), []byte("<!doctype html>"))
	if at >= 0 {
		at += len("<!doctype html>")
	} else {
		at = 0
	}
	begin := at
	for _, m := range afterTitle.FindAllIndex(page, 3) {
		begin = max(begin, m[1])
	}
	more := ""
	switch c.Kind {
	case "wrapped":
		more = `<div class="layout-x81k"><div class="layout-q0d3">`
	case "preceded":
		more = `<div><p>Read our news</p><button type="button">Subscribe</button> <input aria-label="Newsletter"> ` +
			`<select aria-label="Language"><option>English</option></select> <a href="#news">News</a></div>`
	}
	return bytes.Join([][]byte{page[:at], []byte(script), page[at:begin], []byte(more), page[begin:]}, nil)
}
