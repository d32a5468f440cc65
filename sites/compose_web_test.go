package sites_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
)

// web answers addresses from a table; an answer that is an error is one.
type web struct {
	pages    map[string]any // string: a map with status 200; int: a status; error
	requests []string
}

func (w *web) Fetch(ctx context.Context, address string, limits sites.FetchLimits) (*sites.Fetched, error) {
	w.requests = append(w.requests, address)
	if limits.MaxBytes <= 0 || limits.Timeout <= 0 {
		return nil, fmt.Errorf("limits %+v", limits)
	}
	if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > limits.Timeout {
		return nil, errors.New("the context does not end in time")
	}
	switch p := w.pages[address].(type) {
	case string:
		return &sites.Fetched{URL: address, Status: 200, Body: []byte(p)}, nil
	case int:
		return &sites.Fetched{URL: address, Status: p}, nil
	case error:
		return nil, p
	}
	return &sites.Fetched{URL: address, Status: 404}, nil
}

func importing(imports string) map[string]string {
	return map[string]string{
		"scopes/private/sites/a.test/m/actions.json": doc([]string{"own"}, `"imports":[`+imports+`]`),
	}
}

func TestImportsFromTheWeb(t *testing.T) {
	const site = "https://a.test:8443"
	tests := []struct {
		name    string
		imports string
		pages   map[string]any
		page    string
		actions []string
		asked   []string
		status  string // of the import p
		code    fault.Code
		trust   sites.Trust
	}{
		{
			name:    "well-known comes first",
			imports: `{"id":"p","kind":"website","namespace":"w"}`,
			pages: map[string]any{
				site + "/.well-known/actions.json": doc([]string{"x"}),
				site + "/actions.json":             doc([]string{"y"}),
			},
			actions: []string{"own", "w.x"},
			asked:   []string{site + "/.well-known/actions.json"},
			status:  "ok",
			trust:   sites.TrustWebsite,
		},
		{
			name:    "then the root",
			imports: `{"id":"p","kind":"website","namespace":"w"}`,
			pages:   map[string]any{site + "/actions.json": doc([]string{"y"})},
			actions: []string{"own", "w.y"},
			asked:   []string{site + "/.well-known/actions.json", site + "/actions.json"},
			status:  "ok",
			trust:   sites.TrustWebsite,
		},
		{
			name:    "none published",
			imports: `{"id":"p","kind":"website","namespace":"w"}`,
			actions: []string{"own"},
			asked:   []string{site + "/.well-known/actions.json", site + "/actions.json"},
			status:  "failed",
			code:    fault.ImportUnavailable,
		},
		{
			name:    "a broken map is not passed over",
			imports: `{"id":"p","kind":"website","namespace":"w"}`,
			pages: map[string]any{
				site + "/.well-known/actions.json": `{"protocol":"actions.json"}`,
				site + "/actions.json":             doc([]string{"y"}),
			},
			actions: []string{"own"},
			asked:   []string{site + "/.well-known/actions.json"},
			status:  "failed",
			code:    fault.InvalidManifest,
		},
		{
			name:    "a page that answers with its index",
			imports: `{"id":"p","kind":"website","namespace":"w"}`,
			pages:   map[string]any{site + "/.well-known/actions.json": "<!doctype html>"},
			actions: []string{"own"},
			status:  "failed",
			code:    fault.InvalidManifest,
		},
		{
			name:    "a request that fails is not passed over",
			imports: `{"id":"p","kind":"website","namespace":"w"}`,
			pages: map[string]any{
				site + "/.well-known/actions.json": fault.New(fault.PayloadTooLarge, "too large"),
				site + "/actions.json":             doc([]string{"y"}),
			},
			actions: []string{"own"},
			asked:   []string{site + "/.well-known/actions.json"},
			status:  "failed",
			code:    fault.ImportUnavailable,
		},
		{
			name:    "at a path of the site",
			imports: `{"id":"p","kind":"website","uri":"/maps/x.json","namespace":"w"}`,
			pages:   map[string]any{site + "/maps/x.json": doc([]string{"x"})},
			actions: []string{"own", "w.x"},
			asked:   []string{site + "/maps/x.json"},
			status:  "ok",
		},
		{
			name:    "at an address of the site",
			imports: `{"id":"p","kind":"website","uri":"https://a.test:8443/x.json","namespace":"w"}`,
			pages:   map[string]any{site + "/x.json": doc([]string{"x"})},
			actions: []string{"own", "w.x"},
			status:  "ok",
		},
		{
			name:    "another origin is not the website",
			imports: `{"id":"p","kind":"website","uri":"https://b.test/x.json","namespace":"w"}`,
			actions: []string{"own"},
			asked:   []string{},
			status:  "failed",
			code:    fault.PermissionDenied,
		},
		{
			name:    "another port is not the website",
			imports: `{"id":"p","kind":"website","uri":"https://a.test/x.json","namespace":"w"}`,
			actions: []string{"own"},
			asked:   []string{},
			status:  "failed",
			code:    fault.PermissionDenied,
		},
		{
			name:    "a network path is another origin",
			imports: `{"id":"p","kind":"website","uri":"//b.test/x.json","namespace":"w"}`,
			actions: []string{"own"},
			asked:   []string{},
			status:  "failed",
			code:    fault.PermissionDenied,
		},
		{
			name:    "no file",
			imports: `{"id":"p","kind":"website","uri":"file:///etc/passwd","namespace":"w"}`,
			actions: []string{"own"},
			asked:   []string{},
			status:  "failed",
			code:    fault.PermissionDenied,
		},
		{
			name:    "public",
			imports: `{"id":"p","kind":"public","uri":"https://maps.test/a.json","namespace":"w"}`,
			pages:   map[string]any{"https://maps.test/a.json": doc([]string{"x"})},
			actions: []string{"own", "w.x"},
			status:  "ok",
			trust:   sites.TrustPublic,
		},
		{
			name:    "a public map on the web is not private",
			imports: `{"id":"p","kind":"public","uri":"https://maps.test/a.json","namespace":"w","trust":"private"}`,
			pages:   map[string]any{"https://maps.test/a.json": doc([]string{"x"})},
			actions: []string{"own"},
			status:  "failed",
			code:    fault.InvalidValue,
		},
		{
			name:    "a website is not public",
			imports: `{"id":"p","kind":"website","namespace":"w","trust":"public"}`,
			pages:   map[string]any{site + "/.well-known/actions.json": doc([]string{"x"})},
			actions: []string{"own"},
			status:  "failed",
			code:    fault.InvalidValue,
		},
		{
			name: "what a website imports from the web", imports: `{"id":"p","kind":"website","namespace":"w"}`,
			pages: map[string]any{
				site + "/.well-known/actions.json": doc(
					[]string{"x"},
					`"imports":[{"id":"q","kind":"public","uri":"https://maps.test/q.json","namespace":"q"}]`,
				),
				"https://maps.test/q.json": doc([]string{"y"}),
			},
			actions: []string{"own", "w.x", "w.q.y"}, status: "ok",
		},
		{
			name: "a website reaches nothing of the storage", imports: `{"id":"p","kind":"website","namespace":"w"}`,
			pages: map[string]any{
				site + "/.well-known/actions.json": doc([]string{"x"}, `"imports":[{"id":"q","kind":"storage",`+
					`"uri":"scopes/private/sites/b.test/m/actions.json","namespace":"q"},{"id":"r","kind":"local",`+
					`"uri":"x.json","namespace":"r"},{"id":"s","kind":"package","uri":"x","namespace":"s"}]`),
			},
			actions: []string{"own", "w.x"}, status: "ok",
		},
		{
			name:    "a circle on the web",
			imports: `{"id":"p","kind":"website","namespace":"w"}`,
			pages: map[string]any{
				site + "/.well-known/actions.json": doc(
					[]string{"x"}, `"imports":[{"id":"q","kind":"website","namespace":"q"}]`,
				),
			},
			actions: []string{"own", "w.x"},
			status:  "ok",
			asked:   []string{site + "/.well-known/actions.json"},
		},
		{
			name: "no website", imports: `{"id":"p","kind":"website","namespace":"w"}`, page: "about:blank",
			actions: []string{}, asked: []string{},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := importing(tt.imports)
			files["scopes/private/sites/b.test/m/actions.json"] = doc([]string{"secret"})
			files["packages/x/actions.json"] = doc([]string{"secret"})
			l := load(t, tree(t, files))
			page := tt.page
			if page == "" {
				page = site + "/deep/page?q=1#f"
			}
			w := &web{pages: tt.pages}
			if wants := l.WantsWeb(page); wants != (tt.page == "") {
				t.Fatalf("wants the web: %v", wants)
			}
			before := toJSON(t, l.List(page))
			with := l.WithWeb(t.Context(), page, w, sites.DefaultFetchLimits)
			if toJSON(t, l.List(page)) != before {
				t.Error("the library itself has changed")
			}
			if with.WantsWeb(page) {
				t.Error("still wants the web")
			}
			listing := with.List(page)
			if got := actionNames(listing); !slices.Equal(got, tt.actions) {
				t.Errorf("actions %q, want %q\n%s", got, tt.actions, toJSON(t, listing.Imports))
			}
			if tt.asked != nil && !slices.Equal(w.requests, tt.asked) && len(w.requests)+len(tt.asked) > 0 {
				t.Errorf("asked %q, want %q", w.requests, tt.asked)
			}
			for _, i := range listing.Imports {
				if i.ID != "p" {
					continue
				}
				if i.Status != tt.status || tt.trust != "" && i.Trust != tt.trust {
					t.Errorf("import %s", toJSON(t, i))
				}
				if tt.code != "" && (i.Error == nil || i.Error.Code != tt.code) {
					t.Errorf("import error %v, want %s", i.Error, tt.code)
				}
			}
			if strings.Contains(toJSON(t, listing), "secret") {
				t.Error("a private action is offered through the web")
			}
		})
	}
}

// A call of an action that a failed import might have brought says so.
func TestAFailedImportExplainsAnUnknownAction(t *testing.T) {
	const page = "https://a.test/"
	l := load(t, tree(t, importing(`{"id":"p","kind":"website","namespace":"w"}`))).
		WithWeb(t.Context(), page, &web{}, sites.DefaultFetchLimits)
	if _, err := l.Find(page, "own"); err != nil {
		t.Errorf("the map's own action: %v", err)
	}
	_, err := l.Find(page, "w.x")
	if err == nil || err.Code != fault.UnknownAction ||
		!strings.Contains(toJSON(t, err.Evidence["failed_imports"]), "import_unavailable") {
		t.Errorf("got %v with %v", err, err.Evidence)
	}
	if _, err := l.Find(page, "other"); err == nil || err.Evidence["failed_imports"] != nil {
		t.Errorf("an action outside of the namespace: %v", err)
	}
}

// What the web brings under a name of the map's own is offered by neither, and
// the rest stays.
func TestACollisionWithTheWebTakesOnlyTheName(t *testing.T) {
	const page = "https://a.test/"
	l := load(t, tree(t, importing(`{"id":"p","kind":"website"}`)))
	if _, err := l.Find(page, "own"); err != nil {
		t.Fatal(err)
	}
	with := l.WithWeb(
		t.Context(), page, &web{pages: map[string]any{"https://a.test/actions.json": doc([]string{"own", "x"})}},
		sites.DefaultFetchLimits,
	)
	_, err := with.Find(page, "own")
	if err == nil || err.Code != fault.SiteActionAmbiguous ||
		!strings.Contains(err.Message, "scopes/private/sites/a.test/m/actions.json") ||
		!strings.Contains(err.Message, "https://a.test/actions.json") {
		t.Errorf("got %v", err)
	}
	if m, err := with.Find(page, "x"); err != nil || m.Map.Path != "https://a.test/actions.json" ||
		m.Via.Path != "scopes/private/sites/a.test/m/actions.json" || m.Source.ID != "p" {
		t.Errorf("got %+v, %v", m, err)
	}
}

// A map that came with a call has no storage around it: what it imports from
// there is not offered, and what it offers itself is.
func TestAMapOfACallWithoutItsImports(t *testing.T) {
	raw := json.RawMessage(doc(
		[]string{"own"},
		`"imports":[{"id":"p","kind":"storage","uri":"scopes/public/sites/b.test/m/actions.json","namespace":"p"}]`,
	))
	l, err := sites.FromMap("scopes/private/sites/a.test/m/actions.json", raw, sites.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Find("https://a.test/", "own"); err != nil {
		t.Error(err)
	}
	i := l.List("https://a.test/").Imports
	if len(i) != 1 || i[0].Status != "failed" || i[0].Error.Code != fault.ImportUnavailable {
		t.Errorf("imports %s", toJSON(t, i))
	}
}

func TestJoinedLibrariesKeepTheirImports(t *testing.T) {
	const path = "scopes/private/sites/a.test/m/actions.json"
	part := map[string]string{
		path: doc(nil, `"imports":[{"id":"p","kind":"local","uri":"part.json","namespace":"p"}]`),
		"scopes/private/sites/a.test/m/part.json": doc([]string{"x"}),
	}
	other := tree(t, map[string]string{"scopes/public/sites/c.test/m/actions.json": doc([]string{"c"})})
	l := sites.Join(load(t, tree(t, part)), load(t, other))
	if got := actionNames(l.List("https://a.test/")); !slices.Equal(got, []string{"p.x"}) {
		t.Errorf("actions %q", got)
	}
	c := l.Composition(l.For("https://a.test/")[0])
	if e := c.Tool("p.x"); e == nil || e.Source.ID != "p" ||
		e.Source.Map.Path != "scopes/private/sites/a.test/m/part.json" || e.Entry.Name != "x" {
		t.Errorf("tool %+v", c.Tool("p.x"))
	}
	if c := l.Composition(l.For("https://c.test/")[0]); len(c.Tools) != 1 || len(c.Sources) != 1 ||
		c.Sources[0].ID != "" {
		t.Errorf("a map without imports: %+v", c)
	}
}
