package sites_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/location"
)

func TestLocate(t *testing.T) {
	tests := []struct {
		path string
		want location.Location
		ok   bool
	}{
		{
			"scopes/private/sites/example.com/board/actions.json",
			location.Location{Scope: location.Private, Host: "example.com", Rest: "board/actions.json"}, true,
		},
		{
			"scopes/public/sites/Example.COM/actions.json",
			location.Location{Scope: location.Public, Host: "example.com", Rest: "actions.json"}, true,
		},
		{
			"scopes/shared/team/sites/example.com/a/b/actions.json",
			location.Location{Scope: location.Shared, Audience: "team", Host: "example.com", Rest: "a/b/actions.json"},
			true,
		},
		{
			"actions.json.storage.private/sites/e.com/actions.json",
			location.Location{Scope: location.Private, Host: "e.com", Rest: "actions.json"}, true,
		},
		{
			"actions.json.storage.shared.team/x/sites/e.com/actions.json",
			location.Location{Scope: location.Shared, Audience: "team", Host: "e.com", Rest: "actions.json"}, true,
		},
		{
			"shared/team/sites/e.com/actions.json",
			location.Location{Scope: location.Shared, Audience: "team", Host: "e.com", Rest: "actions.json"}, true,
		},
		{"sites/e.com/actions.json", location.Location{Host: "e.com", Rest: "actions.json"}, true},
		{
			"work/maps/scopes/private/sites/e.com/actions.json",
			location.Location{Scope: location.Private, Host: "e.com", Rest: "actions.json"}, true,
		},
		{
			"x/scopes/shared/team/sites/e.com/actions.json",
			location.Location{Scope: location.Shared, Audience: "team", Host: "e.com", Rest: "actions.json"}, true,
		},
		{"sites/localhost:8080/actions.json", location.Location{Host: "localhost", Rest: "actions.json"}, true},
		{"sites/localhost_8080/actions.json", location.Location{Host: "localhost", Rest: "actions.json"}, true},
		{"sites/a_b/actions.json", location.Location{Host: "a_b", Rest: "actions.json"}, true},
		{"scopes/other/sites/e.com/actions.json", location.Location{Host: "e.com", Rest: "actions.json"}, true},
		{"scopes/shared/sites/e.com/actions.json", location.Location{Host: "e.com", Rest: "actions.json"}, true},
		{"sites/actions.json", location.Location{}, false},
		{"sites/e.com", location.Location{}, false},
		{"sites//actions.json", location.Location{}, false},
		{"maps/actions.json", location.Location{}, false},
		{"", location.Location{}, false},
	}
	for _, tt := range tests {
		got, ok := location.Locate(tt.path)
		if got != tt.want || ok != tt.ok {
			t.Errorf("Locate(%q) = %+v, %v; want %+v, %v", tt.path, got, ok, tt.want, tt.ok)
		}
	}
}

func TestMapsMatchByRealHost(t *testing.T) {
	tests := []struct {
		folder, page string
		want         bool
	}{
		{"example.com", "https://example.com/", true},
		{"example.com", "https://www.example.com/a?b#c", true},
		{"example.com", "https://a.b.example.com/", true},
		{"example.com", "https://EXAMPLE.com./", true},
		{"example.com", "https://example.com:8443/", true},
		{"example.com", "http://user:pw@example.com/", true},
		{"x.com", "https://netflix.com/", false},
		{"example.com", "https://notexample.com/", false},
		{"example.com", "https://example.com.evil.test/", false},
		{"example.com", "https://evil.test/example.com/", false},
		{"example.com", "https://evil.test/?u=https://example.com/", false},
		{"example.com", "https://example.com@evil.test/", false},
		{"a.example.com", "https://example.com/", false},
		{"www.example.com", "https://example.com/", false},
		{"www.example.com", "https://www.example.com/", true},
		{"localhost:8080", "http://localhost:9090/", true},
		{"127.0.0.1", "http://127.0.0.1:41234/board", true},
		{"0.0.1", "http://127.0.0.1/", false},
		{"127.0.0.1", "http://1.127.0.0.1.nip.test/", false},
		{"[::1]", "http://[::1]:8080/", true},
		{"example.com", "about:blank", false},
		{"example.com", "file:///example.com/index.html", false},
		{"example.com", "data:text/html,example.com", false},
		{"example.com", "http://%zz/", false},
		{"example.com", "", true},
		{"Bücher.example", "https://www.xn--bcher-kva.example/", true},
		{"xn--bcher-kva.example", "https://bücher.example/", true},
		{"bücher.example", "https://bucher.example/", false},
	}
	for _, tt := range tests {
		path := "scopes/private/sites/" + tt.folder + "/main/actions.json"
		l, err := sites.FromMap(path, []byte(doc([]string{"a.run"})), sites.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, notFound := l.Find(tt.page, "a.run")
		if got := notFound == nil; got != tt.want {
			t.Errorf("folder %s on %s: found %v, want %v", tt.folder, tt.page, got, tt.want)
		}
		if got := l.Maps()[0].Applies(tt.page); got != tt.want {
			t.Errorf("folder %s on %s: Applies %v, want %v", tt.folder, tt.page, got, tt.want)
		}
	}
}

func TestOriginIsMetadata(t *testing.T) {
	tests := []struct {
		origin, page string
		want         bool
	}{
		{"https://example.com", "https://example.com/a", false},
		{"https://example.com/", "https://EXAMPLE.com:443/a", false},
		{"https://example.com", "http://example.com/a", true},
		{"https://example.com", "https://www.example.com/a", true},
		{"http://127.0.0.1:8080", "http://127.0.0.1:8080/a", false},
		{"http://127.0.0.1:8080", "http://127.0.0.1:8081/a", true},
		{"", "https://example.com/", false},
		{"https://bücher.example", "https://xn--bcher-kva.example/a", false},
		{"https://bucher.example", "https://xn--bcher-kva.example/a", true},
	}
	for _, tt := range tests {
		l, err := sites.FromMap("map.json", []byte(doc(nil, `"surface":{"origin":"`+tt.origin+`"}`)), sites.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := l.Maps()[0]
		if got := m.OriginDiffers(tt.page); got != tt.want {
			t.Errorf("origin %q on %s: differs %v, want %v", tt.origin, tt.page, got, tt.want)
		}
		if !m.Applies(tt.page) {
			t.Errorf("origin %q on %s: a map that came with the call does not apply", tt.origin, tt.page)
		}
	}
}

func TestMapsOfAPlainFolderMatchByOrigin(t *testing.T) {
	root := tree(t, map[string]string{
		"one.actions.json":   doc([]string{"one"}, `"surface":{"origin":"https://one.test"}`),
		"two/actions.json":   doc([]string{"two"}, `"surface":{"origin":"http://two.test:8080"}`),
		"any/actions.json":   doc([]string{"any"}),
		"ü/actions.json":     doc([]string{"umlaut"}, `"surface":{"origin":"https://Bücher.Test:444"}`),
		"any/other.json":     "not a map",
		"any/old.actions.js": "not a map",
	})
	l := load(t, root)
	tests := []struct {
		page string
		want []string
	}{
		{"https://one.test/", []string{"any", "one"}},
		{"http://www.one.test:81/", []string{"any", "one"}},
		{"http://two.test:8080/x", []string{"any", "two"}},
		{"http://two.test/", []string{"any"}},
		{"https://else.test/", []string{"any"}},
		{"https://xn--bcher-kva.test:444/", []string{"any", "umlaut"}},
		{"https://xn--bcher-kva.test/", []string{"any"}},
		{"", []string{"any", "one", "two", "umlaut"}},
	}
	for _, tt := range tests {
		if got := actionNames(l.List(tt.page)); !slices.Equal(got, tt.want) {
			t.Errorf("actions on %q: %q, want %q", tt.page, got, tt.want)
		}
	}
}

func TestTheBestScopeWins(t *testing.T) {
	at := func(scope string) string { return "scopes/" + scope + "/sites/e.com/m/actions.json" }
	private := at("private")
	team := at("shared/team")
	other := at("shared/other")
	public := at("public")
	none := "sites/e.com/m/actions.json"
	second := "scopes/private/sites/e.com/n/actions.json"
	tests := []struct {
		name      string
		paths     []string
		want      string
		ambiguous []string
	}{
		{"private over all", []string{none, public, team, private}, private, nil},
		{"shared over public", []string{none, public, team}, team, nil},
		{"public over none", []string{none, public}, public, nil},
		{"none alone", []string{none}, none, nil},
		{"two private", []string{private, second, public}, "", []string{private, second}},
		{"two audiences", []string{team, other}, "", []string{other, team}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			for _, p := range tt.paths {
				files[p] = doc([]string{"a.run"})
			}
			l := load(t, tree(t, files))
			m, err := l.Find("https://e.com/", "a.run")
			listing := l.List("https://e.com/")
			if len(listing.Actions) != 1 {
				t.Fatalf("listed %d times", len(listing.Actions))
			}
			row := listing.Actions[0]
			if tt.ambiguous != nil {
				if !errors.Is(err, fault.SiteActionAmbiguous) ||
					fmt.Sprint(err.Evidence["map_paths"]) != fmt.Sprint(tt.ambiguous) {
					t.Fatalf(
						"found %v, error %v with %v; want site_action_ambiguous of %v",
						m, err, err.Evidence, tt.ambiguous,
					)
				}
				if row.Unavailable == nil || row.Unavailable.Code != fault.SiteActionAmbiguous ||
					!slices.Equal(row.Unavailable.MapPaths, tt.ambiguous) {
					t.Errorf("listed as %+v", row.Unavailable)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if m.Map.Path != tt.want || row.MapPath != tt.want || row.Unavailable != nil {
				t.Errorf("found %s, listed %s (%v), want %s", m.Map.Path, row.MapPath, row.Unavailable, tt.want)
			}
		})
	}
}

func TestBindingNarrowsToPages(t *testing.T) {
	tool := `{"name":"card.open","description":"d","input_schema":{},"x_actions":{"handler":"page.info",` +
		`"binding":{"target_url_contains":"/board"}}}`
	l, err := sites.FromMap("sites/e.com/m/actions.json", []byte(withTools(tool)), sites.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string]bool{
		"https://e.com/board/1": true, "https://e.com/": false, "https://e.com/BOARD": false, "": true,
	} {
		_, notFound := l.Find(page, "card.open")
		if got := notFound == nil; got != want {
			t.Errorf("on %q found %v, want %v", page, got, want)
		}
		if got := len(l.List(page).Actions) == 1; got != want {
			t.Errorf("on %q listed %v, want %v", page, got, want)
		}
	}
	_, notFound := l.Find("https://e.com/", "card.open")
	if notFound.Evidence["declared_elsewhere"] != true {
		t.Errorf("evidence %v does not say that the action exists for other pages", notFound.Evidence)
	}
}

func TestUnknownActionHelps(t *testing.T) {
	names := []string{"contact.submit_name", "contact.clear"}
	for i := range 60 {
		names = append(names, fmt.Sprintf("extra.action_%02d", i))
	}
	l, ferr := sites.FromMap("m.json", []byte(doc(names)), sites.Options{})
	if ferr != nil {
		t.Fatal(ferr)
	}
	_, err := l.Find("https://e.com/", "contact.submitname")
	if !errors.Is(err, fault.UnknownAction) {
		t.Fatal(err)
	}
	if err.Evidence["did_you_mean"] != "contact.submit_name" {
		t.Errorf("did_you_mean %v", err.Evidence["did_you_mean"])
	}
	known, _ := err.Evidence["known_actions"].([]string)
	if len(known) != 50 || known[0] != "contact.clear" || err.Evidence["known_action_count"] != 62 {
		t.Errorf(
			"known_actions has %d names from %v, count %v", len(known), known[0], err.Evidence["known_action_count"],
		)
	}
	var none *sites.Library
	if _, err := none.Find("https://e.com/", "a"); !errors.Is(err, fault.UnknownAction) {
		t.Errorf("an empty library answers %v", err)
	}
	got := toJSON(t, none.List(""))
	if got != `{"ok":true,"target_url_contains":null,"actions":[],"state_projections":[],"files":[],"skills":[]}` {
		t.Errorf("an empty library lists %s", got)
	}
}

func TestEventsOfThePageAreNoActions(t *testing.T) {
	l, ferr := sites.FromMap("m.json", []byte(withTools(
		`{"name":"deck.changed","description":"d","input_schema":{},"x_actions":{"direction":"html_to_agent"}}`,
	)), sites.Options{})
	if ferr != nil {
		t.Fatal(ferr)
	}
	if _, err := l.Find("", "deck.changed"); !errors.Is(err, fault.UnknownAction) {
		t.Errorf("finding an event gives %v", err)
	}
	if n := len(l.List("").Actions); n != 0 {
		t.Errorf("%d actions listed, want none", n)
	}
}

func TestProjectionsAreFoundByPage(t *testing.T) {
	snap := `"snapshot":{"version":1,"source":"dom","extract":[],"projection":{"language":"jsonata","expression":"1"}}`
	board := `"state_projections":[{"name":"site.board","scope":{"url_matches":"https://*/board*"},` + snap +
		`},{"name":"site.board","scope":{"url_matches":"*/OTHER"},` + snap + `,"description":"other"}]`
	root := tree(t, map[string]string{
		"scopes/private/sites/e.com/m/actions.json": doc(nil, board),
		"scopes/public/sites/e.com/m/actions.json":  doc(nil, `"state_projections":[{"name":"site.both",`+snap+`}]`),
		"scopes/private/sites/e.com/n/actions.json": doc(nil, `"state_projections":[{"name":"site.both",`+snap+`}]`),
	})
	l := load(t, root)
	for page, want := range map[string]string{"https://e.com/board/1": "", "https://e.com/other": "other"} {
		if _, p, err := l.FindProjection(page, "site.board"); err != nil || p.Description != want {
			t.Errorf("on %s: %v, %v; want the one described %q", page, p, err, want)
		}
	}
	if _, _, err := l.FindProjection("https://e.com/", "site.bord"); !errors.Is(err, fault.StateProjectionNotFound) {
		t.Errorf("out of scope: %v", err)
	}
	_, _, err := l.FindProjection("https://e.com/", "site.both")
	if !errors.Is(err, fault.StateProjectionAmbiguous) || fmt.Sprint(
		err.Evidence["map_paths"],
	) != "[scopes/private/sites/e.com/n/actions.json scopes/public/sites/e.com/m/actions.json]" {
		t.Errorf("same name in two scopes: %v %v", err, err.Evidence)
	}
}

func TestJoinKeepsAllMaps(t *testing.T) {
	a, _ := sites.FromMap(
		"scopes/public/sites/e.com/a/actions.json", []byte(doc([]string{"one", "both"})), sites.Options{},
	)
	b, _ := sites.FromMap(
		"scopes/private/sites/e.com/b/actions.json", []byte(doc([]string{"two", "both"})), sites.Options{},
	)
	l := sites.Join(a, nil, b)
	if got := actionNames(l.List("https://e.com/")); !slices.Equal(got, []string{"two", "both", "one"}) {
		t.Errorf("joined actions %q", got)
	}
	if m, err := l.Find("https://e.com/", "both"); err != nil || m.Map.Location.Scope != location.Private {
		t.Errorf("both is %v, %v; want the private one", m, err)
	}
}

// Matching a page against a thousand maps: the target is 1 ms.
func BenchmarkFindAmongThousandMaps(b *testing.B) {
	var all []*sites.Library
	for i := range 1000 {
		l, err := sites.FromMap(
			fmt.Sprintf("scopes/private/sites/site%d.example%d.com/m/actions.json", i, i%50),
			[]byte(doc([]string{"a.run", "b.run"})), sites.Options{},
		)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, l)
	}
	l := sites.Join(all...)
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			if _, err := l.Find("https://www.site512.example12.com/board?x=1", "b.run"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if len(l.List("https://www.site512.example12.com/board?x=1").Actions) != 2 {
				b.Fatal("wrong listing")
			}
		}
	})
	b.Run("unknown", func(b *testing.B) {
		for b.Loop() {
			if _, err := l.Find("https://www.site512.example12.com/board?x=1", "c.run"); err == nil {
				b.Fatal("found")
			}
		}
	})
}

// A thousand maps that no folder narrows down, each with patterns of its own:
// every one of them must be asked. The aim is 1 ms too.
func BenchmarkMatchThousandPatterns(b *testing.B) {
	var all []*sites.Library
	for i := range 1000 {
		root := tree(b, map[string]string{"m.actions.json": doc([]string{"a.run"}, fmt.Sprintf(
			`"surface":{"url_patterns":["https://*.site%d.test/board/*","https://site%d.test/card/*"]}`, i, i,
		))})
		all = append(all, load(b, root))
	}
	l := sites.Join(all...)
	for b.Loop() {
		if len(l.For("https://www.site512.test/board/7?x=1#top")) != 1 {
			b.Fatal("wrong maps")
		}
	}
}
