package sites_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
)

// Three maps, each importing the next. The first and the last have a state of
// the same name.
func scoped() fstest.MapFS {
	state := func(name, selector string) string {
		return `{"name":"` + name + `","diagnostics":[{"name":"seen","target":{"selector":"` + selector + `"}}]}`
	}
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"actions.json": file(doc(
			[]string{"go"}, `"imports":[{"id":"mid","kind":"local","uri":"parts/mid.json","namespace":"mid"}]`,
			`"states":[`+state("ready", "#top")+`]`,
			`"transitions":[{"name":"leap","from":"ready","to":"mid.low.ready","tool":"mid.low.sit"}]`,
		)),
		"parts/mid.json": file(doc(
			[]string{"walk"}, `"imports":[{"id":"low","kind":"local","uri":"low.json","namespace":"low"}]`,
			`"checks":[{"id":"sits","severity":"critical","tool":"low.sit",`+
				`"assertions":[{"target":{"selector":"#chair"}}]}]`,
		)),
		"parts/low.json": file(doc([]string{"sit"}, `"states":[`+state("ready", "#low")+`]`,
			`"transitions":[{"name":"settle","from":"ready","to":"ready","tool":"sit"}]`)),
	}
}

func TestNamesInsideOfMaps(t *testing.T) {
	l, err := sites.FromFiles(scoped(), "actions.json", sites.Options{Known: known})
	if err != nil {
		t.Fatal(err)
	}
	top := l.Maps()[0]
	sit, fe := l.Find("", "mid.low.sit")
	if fe != nil {
		t.Fatal(fe)
	}
	walk, fe := l.Find("", "mid.walk")
	if fe != nil {
		t.Fatal(fe)
	}
	for _, c := range []struct {
		in       *sites.Map
		name     string
		selector string // of the state that it means; "" for none
	}{
		{top, "ready", "#top"}, {top, "mid.low.ready", "#low"}, {top, "low.ready", ""}, {top, "", ""},
		{walk.Map, "low.ready", "#low"}, {walk.Map, "ready", ""}, {walk.Map, "mid.low.ready", ""},
		{sit.Map, "ready", "#low"}, {sit.Map, "low.ready", ""},
	} {
		got := ""
		if in, s := l.State(c.in, c.name); s != nil {
			got = s.Diagnostics[0].Target.Selector[0]
			if in == c.in != (in.Manifest == c.in.Manifest) {
				t.Errorf("%s in %s came with the map %s", c.name, c.in.Path, in.Path)
			}
		}
		if got != c.selector {
			t.Errorf("the state %q inside of %s is %q, want %q", c.name, c.in.Path, got, c.selector)
		}
	}
	if _, target := l.Target(top, "mid.low.ready.seen"); target == nil || target.Selector[0] != "#low" {
		t.Errorf("the target of an imported diagnostic: %+v", target)
	}
	names := func(match *sites.Match) string {
		var out []string
		for _, e := range l.Moves(match) {
			out = append(out, e.Name)
		}
		for _, e := range l.ChecksAbout(match) {
			out = append(out, e.Name)
		}
		return strings.Join(out, " ")
	}
	if got := names(sit); got != "leap mid.low.settle mid.sits" {
		t.Errorf("what concerns mid.low.sit: %q", got)
	}
	if got := names(walk); got != "" {
		t.Errorf("what concerns mid.walk: %q", got)
	}
}

func TestMapAmongFiles(t *testing.T) {
	broken := scoped()
	broken["parts/low.json"] = &fstest.MapFile{Data: []byte(`{"protocol":`)}
	without := scoped()
	delete(without, "parts/mid.json")
	for _, c := range []struct {
		about string
		files fs.FS
		name  string
		want  fault.Code
	}{
		{"all there", scoped(), "actions.json", ""},
		{"no such file", scoped(), "other.json", fault.StorageFileReadFailed},
		{"an import that is broken", broken, "actions.json", fault.InvalidManifest},
		{"an import that is not there", without, "actions.json", fault.InvalidManifest},
		{"a folder", scoped(), "parts", fault.StorageFileReadFailed},
	} {
		l, err := sites.FromFiles(c.files, c.name, sites.Options{Known: known})
		right := err == nil && l != nil
		if c.want != "" {
			right = errors.Is(err, c.want)
		}
		if !right {
			t.Errorf("%s: got %v, want %q", c.about, err, c.want)
		}
	}
}
