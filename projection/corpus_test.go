package projection_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection"
)

const corpusRoot = "../testdata/projections"

// corpusCase is what a case says: a declaration and what must come of it. What
// is absent is not looked at, but something must be.
type corpusCase struct {
	About string `json:"about"`

	// Either the whole declaration, or parts of one that is completed with
	// name "case" and the expression "records".
	Projection json.RawMessage `json:"projection"`
	Extract    json.RawMessage `json:"extract"`
	Expression string          `json:"expression"`
	Schema     json.RawMessage `json:"output_schema"`
	Summaries  json.RawMessage `json:"summaries"`
	Markers    json.RawMessage `json:"markers"`
	Identity   json.RawMessage `json:"x_identity"`
	MaxBytes   int             `json:"max_bytes"`

	Records     json.RawMessage            `json:"records"`
	State       json.RawMessage            `json:"state"`
	StateText   string                     `json:"state_text"` // the very text of the state
	Hash        string                     `json:"hash"`
	Counts      json.RawMessage            `json:"selector_counts"`
	Missing     json.RawMessage            `json:"missing_required_fields"`
	Truncated   bool                       `json:"truncated"`
	WantMarkers json.RawMessage            `json:"want_markers"`
	Summary     map[string]json.RawMessage `json:"summary"` // by name; a string "!code" is a failure
	Error       map[string]any             `json:"error"`   // members of the encoded error; evidence as a subset
	Click       string                     `json:"click"`   // selector; the state is read again after
	After       json.RawMessage            `json:"after"`
	Patches     json.RawMessage            `json:"patches"`
	Semantic    json.RawMessage            `json:"semantic_deltas"`
}

func (c corpusCase) declaration(t *testing.T) json.RawMessage {
	if len(c.Projection) > 0 {
		return c.Projection
	}
	if c.Expression == "" {
		c.Expression = "records"
	}
	snapshot := map[string]any{"version": 1, "source": "dom", "extract": c.Extract,
		"projection": map[string]any{"language": "jsonata", "expression": c.Expression}}
	out := map[string]any{"name": "case", "snapshot": snapshot}
	if c.Schema != nil {
		snapshot["output_schema"] = c.Schema
	}
	for name, part := range map[string]json.RawMessage{
		"summaries":  c.Summaries,
		"markers":    c.Markers,
		"x_identity": c.Identity,
	} {
		if part != nil {
			out[name] = part
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCorpus walks testdata/projections: each file is a topic, each folder in it
// a case with a page, which is opened in Chromium, and a case.json. A new case
// is two sections of a file.
func TestCorpus(t *testing.T) {
	browsertest.Browser(t)
	files, err := filepath.Glob(filepath.Join(corpusRoot, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sections := map[string][]byte{}
		var names []string
		for _, f := range archive.Files {
			if _, dup := sections["/"+f.Name]; dup {
				t.Errorf("%s: section %s is there twice", file, f.Name)
			}
			sections["/"+f.Name] = f.Data
			if name, ok := strings.CutSuffix(f.Name, "/case.json"); ok {
				names = append(names, name)
			}
		}
		origin := serve(t, sections)
		total += len(names)
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			tab := browsertest.Tab(t)
			for _, name := range names {
				t.Run(name, func(t *testing.T) {
					var c corpusCase
					d := json.NewDecoder(bytes.NewReader(sections["/"+name+"/case.json"]))
					d.DisallowUnknownFields()
					if err := d.Decode(&c); err != nil {
						t.Fatal(err)
					}
					runCase(t, tab, origin+"/"+name+"/page.html", c)
				})
			}
		})
	}
	if total < 80 {
		t.Errorf("the corpus has %d cases, at least 80 are wanted", total)
	}
}

// serve offers the sections of a topic under two origins; {{OTHER}} in a page is
// the other one.
func serve(t *testing.T, sections map[string][]byte) string {
	var other string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := sections[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(bytes.ReplaceAll(data, []byte("{{OTHER}}"), []byte(other)))
	}))
	t.Cleanup(srv.Close)
	other = strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
	return srv.URL
}

func runCase(t *testing.T, tab primitives.Page, url string, c corpusCase) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p, problems := projection.Compile(c.declaration(t), engine(t))
	if len(problems) > 0 {
		t.Fatalf("the declaration does not compile: %v", problems)
	}
	if _, err := tab.Navigate(ctx, primitives.NavigateOptions{URL: url, LoadTimeout: 20 * time.Second}); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 7, 14, 0, 0, 0, 0, time.UTC)
	opts := projection.ReadOptions{MaxBytes: c.MaxBytes, Now: func() time.Time { return at }}
	s, fe := p.Read(ctx, tab, opts)
	if c.Error != nil {
		checkError(t, fe, c.Error)
		return
	}
	if fe != nil {
		b, _ := json.Marshal(fe)
		t.Fatalf("Read: %s", b)
	}
	var diagnostics struct {
		Counts    json.RawMessage `json:"selector_counts"`
		Missing   json.RawMessage `json:"missing_required_fields"`
		Valid     bool            `json:"schema_valid"`
		Truncated bool            `json:"truncated"`
	}
	if err := json.Unmarshal(s.Diagnostics, &diagnostics); err != nil || !diagnostics.Valid {
		t.Fatalf("diagnostics %s: %v", s.Diagnostics, err)
	}
	checked := 0
	check := func(what string, got, want json.RawMessage) {
		t.Helper()
		if want == nil {
			return
		}
		checked++
		if !sameJSON(replaceOrigin(string(got), url), string(want)) {
			t.Errorf("%s\n got %s\nwant %s", what, got, want)
		}
	}
	check("records", s.Records, c.Records)
	check("state", s.State, c.State)
	check("selector_counts", diagnostics.Counts, c.Counts)
	check("missing_required_fields", diagnostics.Missing, c.Missing)
	check("markers", s.Markers, c.WantMarkers)
	if c.WantMarkers == nil && s.Markers != nil {
		t.Errorf("markers %s where none are declared", s.Markers)
	}
	if diagnostics.Truncated != c.Truncated {
		t.Errorf("truncated is %v, want %v", diagnostics.Truncated, c.Truncated)
	}
	if c.StateText != "" {
		checked++
		if string(s.State) != c.StateText {
			t.Errorf("text of the state\n got %s\nwant %s", s.State, c.StateText)
		}
	}
	if c.Hash != "" {
		checked++
		if s.Hash != c.Hash {
			t.Errorf("hash of %s: %s, want %s", s.State, s.Hash, c.Hash)
		}
	}
	if s.Hash != projection.Hash(s.State) || !s.ObservedAt.Equal(at) || s.URL != url || s.Projection != p.Name() {
		t.Errorf("snapshot of %s at %s with hash %s: %+v", url, at, projection.Hash(s.State), s)
	}
	for name, want := range c.Summary {
		got, fe := p.Summary(ctx, s, strings.TrimPrefix(name, "(default)"))
		var code string
		if json.Unmarshal(want, &code) == nil && strings.HasPrefix(code, "!") {
			checked++
			if string(fault.CodeOf(fe)) != code[1:] {
				t.Errorf("summary %s: %s, %v; want %s", name, got, fe, code[1:])
			}
			continue
		}
		if fe != nil {
			t.Errorf("summary %s: %v", name, fe)
		}
		check("summary "+name, got, want)
	}
	if c.Click != "" {
		click(t, ctx, tab, c.Click)
		after, fe := p.Read(ctx, tab, opts)
		if fe != nil {
			t.Fatalf("Read after the click: %v", fe)
		}
		check("state after", after.State, c.After)
		d := projection.Diff(s.State, after.State, p.Identity())
		check("patches", d.Patches, c.Patches)
		check("semantic_deltas", d.Semantic, c.Semantic)
		applied, err := projection.Apply(s.State, d.Patches)
		if err != nil || !sameJSON(string(applied), string(after.State)) {
			t.Errorf("Apply(%s, %s) = %s, %v; want %s", s.State, d.Patches, applied, err, after.State)
		}
	}
	if checked == 0 {
		t.Error("the case expects nothing")
	}
}

// replaceOrigin makes addresses of the test server comparable.
func replaceOrigin(text, url string) string {
	origin := url[:strings.Index(url[len("http://"):], "/")+len("http://")]
	return strings.ReplaceAll(text, origin, "{{ORIGIN}}")
}

func checkError(t *testing.T, fe *fault.Error, want map[string]any) {
	t.Helper()
	if fe == nil {
		t.Fatalf("Read succeeded, want %v", want)
	}
	b, err := json.Marshal(fe)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	var subset func(path string, got, want any)
	subset = func(path string, got, want any) {
		if w, ok := want.(map[string]any); ok {
			g, ok := got.(map[string]any)
			if !ok {
				t.Errorf("error %s: %s is %v", b, path, got)
				return
			}
			for name, v := range w {
				subset(path+"/"+name, g[name], v)
			}
			return
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("error %s: %s is %v, want %v", b, path, got, want)
		}
	}
	subset("", got, want)
	if got["projection"] == nil {
		t.Errorf("error %s does not name the projection", b)
	}
}

var registry = catalog.Standard()

// click clicks an element as a caller of the runtime would.
func click(t *testing.T, ctx context.Context, tab primitives.Page, selector string) {
	t.Helper()
	args, _ := json.Marshal(map[string]any{"locator": map[string]any{"selector": selector}})
	info := registry.Invoke(ctx, tab, "locator.element_info", args)
	if info.Err != nil {
		t.Fatal(info.Err)
	}
	var at struct {
		Center json.RawMessage `json:"clickable_center"`
	}
	if err := json.Unmarshal(info.Payload, &at); err != nil {
		t.Fatal(err)
	}
	if r := registry.Invoke(ctx, tab, "pointer.click", at.Center); r.Err != nil {
		t.Fatal(r.Err)
	}
}

func TestCorpusFilesAreWhole(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(corpusRoot, "*"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(f, ".txtar") || len(bytes.TrimSpace(txtar.Parse(b).Comment)) == 0 {
			t.Errorf("%s is not an archive that says what it is about", f)
		}
	}
}
