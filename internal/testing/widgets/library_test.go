package widgets_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/outrider-run/outrider/internal/testing/npmtest"
)

const data = "../../../testdata/widgets"

// library is one file of testdata/widgets: the page of a library and what is asked of it.
type library struct {
	Library string `json:"library"`
	Of      string `json:"of"` // React, Vue, Angular, Svelte, elements, jQuery, plain
	// Styles and Scripts are files of the packages that the page loads.
	Styles  []string `json:"styles"`
	Scripts []string `json:"scripts"`
	Tasks   []task   `json:"tasks"`

	file    string // without folder and ending
	group   string // the folder, which is that of its packages
	page    string
	entry   string // source that is bundled, "" for none
	ending  string
	bundled bool
}

// task is what a person asks of a widget, and what its library then holds.
type task struct {
	// Ask is what a person would say.
	Ask string `json:"ask"`
	// In is what the widget is called.
	In string `json:"in,omitempty"`
	// One of these says what is asked.
	Choose words  `json:"choose,omitempty"` // options of In
	Write  string `json:"write,omitempty"`  // into In
	Set    string `json:"set,omitempty"`    // as Write, and press Enter: numbers, dates
	Turn   *bool  `json:"turn,omitempty"`   // In on or off
	Press  string `json:"press,omitempty"`  // what has this name
	Drag   string `json:"drag,omitempty"`
	To     string `json:"to,omitempty"` // of drag
	Attach string `json:"attach,omitempty"`
	// Role is what a person who writes Playwright knows of Press.
	Role string `json:"role,omitempty"`
	// Model is an expression of the page, and Is what it gives when the task is done.
	Model string          `json:"model"`
	Is    json.RawMessage `json:"is"`
}

// words are one text or several.
type words []string

func (w *words) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*w = words{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(w))
}

func libraries(t *testing.T) []library {
	t.Helper()
	files, err := filepath.Glob(data + "/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no libraries: %v", err)
	}
	var out []library
	for _, f := range files {
		archive, err := txtar.ParseFile(f)
		if err != nil {
			t.Fatal(err)
		}
		l := library{
			file:  strings.TrimSuffix(filepath.Base(f), ".txtar"),
			group: filepath.Base(filepath.Dir(f)),
		}
		for _, part := range archive.Files {
			switch ending := filepath.Ext(part.Name); {
			case part.Name == "widget.json":
				d := json.NewDecoder(bytes.NewReader(part.Data))
				d.DisallowUnknownFields()
				if err := d.Decode(&l); err != nil {
					t.Fatalf("%s: %v", f, err)
				}
			case part.Name == "page.html":
				l.page = string(part.Data)
			case strings.HasPrefix(part.Name, "entry."):
				l.entry, l.ending = string(part.Data), ending
			default:
				t.Fatalf("%s: there is no part %s", f, part.Name)
			}
		}
		out = append(out, l)
	}
	return out
}

// packages are those of a group, with their versions.
func packages(t *testing.T, group string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(data, group, "packages.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatalf("packages of %s: %v", group, err)
	}
	return list
}

// bundle makes one file of what the entry of a library imports. It is made again when the entry has changed.
func (l *library) bundle(ctx context.Context, root string) error {
	l.bundled = true
	if l.entry == "" {
		return nil
	}
	dir := filepath.Join(root, l.group)
	for _, folder := range []string{"src", "out"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			return err
		}
	}
	script, err := filepath.Abs(filepath.Join(data, "build.mjs"))
	if err != nil {
		return err
	}
	recipe, err := os.ReadFile(script)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(l.entry + string(recipe)))
	mark := filepath.Join(dir, "out", l.file+"."+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(mark); err == nil {
		return nil
	}
	entry := filepath.Join(dir, "src", l.file+"-"+l.group+l.ending)
	if err := os.WriteFile(entry, []byte(l.entry), 0o644); err != nil {
		return err
	}
	out := filepath.Join(dir, "out", l.file+".js")
	if err := npmtest.Run(ctx, dir, "node", script, dir, entry, out); err != nil {
		l.bundled = false
		return err
	}
	return os.WriteFile(mark, nil, 0o644)
}

// document is the page of a library.
func (l *library) document(root string) string {
	var b strings.Builder
	b.WriteString("<!doctype html><html lang=en><head><meta charset=utf-8>")
	fmt.Fprintf(&b, "<title>%s</title>", html.EscapeString(l.Library))
	if _, err := os.Stat(filepath.Join(root, l.group, "out", l.file+".css")); err == nil {
		fmt.Fprintf(&b, "<link rel=stylesheet href=/%s/out/%s.css>", l.group, l.file)
	}
	for _, s := range l.Styles {
		fmt.Fprintf(&b, "<link rel=stylesheet href=/%s/node_modules/%s>", l.group, s)
	}
	b.WriteString("</head><body>")
	for _, s := range l.Scripts {
		fmt.Fprintf(&b, "<script src=/%s/node_modules/%s></script>", l.group, s)
	}
	b.WriteString(l.page)
	if l.entry != "" {
		fmt.Fprintf(&b, "<script src=/%s/out/%s.js></script>", l.group, l.file)
	}
	return b.String() + "</body></html>"
}

// serve answers the pages at /page/FILE and the files of the packages.
func serve(root string, all []library) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(root)))
	for i := range all {
		l := &all[i]
		mux.HandleFunc("/page/"+l.file, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte(l.document(root)))
		})
	}
	return mux
}
