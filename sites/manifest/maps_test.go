package manifest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/sites/manifest"
)

const testMaps = "../../testdata/maps"

// beyondSchema are the codes whose rules JSON Schema cannot express, or not in
// every case. A bad map that the published schema accepts has no other code.
var beyondSchema = []fault.Code{
	fault.InvalidJSON, fault.DuplicateName, fault.UnknownReference,
	fault.InvalidSchema, fault.LimitExceeded, fault.PathEscape,
}

type expectation struct {
	Errors []struct {
		Pointer string
		Code    fault.Code
	}
	// Known lists the primitives of the runtime; nil leaves names unchecked.
	Known []string
}

func cases(t testing.TB, kind string) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(testMaps, kind, "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no %s maps found: %v", kind, err)
	}
	return dirs
}

func readFile(t testing.TB, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func published(t testing.TB) *schema.Schema {
	t.Helper()
	s, err := schema.Compile(manifest.Published)
	if err != nil {
		t.Fatalf("the published schema does not compile: %v", err)
	}
	return s
}

func TestBadMapsAreRefusedForTheirReason(t *testing.T) {
	pub := published(t)
	dirs := cases(t, "bad")
	if len(dirs) < 380 {
		t.Errorf("%d bad maps, want at least 380", len(dirs))
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			data := readFile(t, dir, "actions.json")
			var want expectation
			if err := json.Unmarshal(readFile(t, dir, "expect.json"), &want); err != nil {
				t.Fatal(err)
			}
			if len(want.Errors) == 0 {
				t.Fatal("expect.json expects nothing")
			}
			var opts manifest.Options
			if want.Known != nil {
				opts.Known = func(name string) bool { return slices.Contains(want.Known, name) }
			}
			m, report := manifest.Parse(data, opts)
			if m != nil {
				t.Error("an invalid map gave a manifest")
			}
			var got, wanted []string
			for _, p := range report.Errors {
				got = append(got, p.Pointer+" "+string(p.Code))
				if p.Message == "" {
					t.Errorf("%s has no message", p.Pointer)
				}
			}
			for _, e := range want.Errors {
				wanted = append(wanted, e.Pointer+" "+string(e.Code))
				if spec, ok := fault.Lookup(e.Code); !ok || spec.Group != "Map validation" {
					t.Errorf("%s is not a code of map validation", e.Code)
				}
			}
			if !slices.Equal(got, wanted) {
				t.Errorf(
					"errors\n got %s\nwant %s\n%v",
					strings.Join(got, "\n     "), strings.Join(wanted, "\n     "), report.Errors,
				)
			}
			if len(pub.Validate(data)) > 0 {
				return
			}
			for _, e := range want.Errors {
				if !slices.Contains(beyondSchema, e.Code) {
					t.Errorf("the published schema accepts a map with %s at %s", e.Code, e.Pointer)
				}
			}
		})
	}
}

func TestGoodMapsAreAccepted(t *testing.T) {
	pub := published(t)
	dirs := cases(t, "good")
	if len(dirs) < 60 {
		t.Errorf("%d good maps, want at least 60", len(dirs))
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			data := readFile(t, dir, "actions.json")
			m, report := manifest.Parse(data, manifest.Options{})
			if m == nil || !report.OK() {
				t.Fatalf("refused: %v", report.Errors)
			}
			if warned := strings.Contains(dir, "warning"); warned != (len(report.Warnings) > 0) && warned {
				t.Errorf("no warning where the name of the case promises one")
			}
			text := strings.TrimPrefix(string(data), "\ufeff")
			for _, p := range pub.Validate([]byte(text)) {
				// Numbers no double can hold are legal in extensions.
				if p.Keyword != "json" {
					t.Errorf("the published schema refuses it: %s", p)
				}
			}
			if strings.TrimSpace(string(m.Raw)) != strings.TrimSpace(text) {
				t.Error("Raw is not the document")
			}
		})
	}
}

// Every field the format has, in every section, and every value of those that
// have a list of them, is used by some good map: what nobody uses nobody tests.
func TestGoodMapsUseEveryField(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(manifest.Published, &root); err != nil {
		t.Fatal(err)
	}
	u := usage{root: root, used: map[string]bool{}, all: map[string]bool{}}
	for _, dir := range cases(t, "good") {
		var doc any
		text := strings.TrimPrefix(string(readFile(t, dir, "actions.json")), "\ufeff")
		if json.Unmarshal([]byte(text), &doc) == nil {
			u.walk(root, "", doc)
		}
	}
	u.declare(root, "", 0)
	if len(u.all) < 150 {
		t.Errorf("the walk found only %d fields", len(u.all))
	}
	for field := range u.all {
		if !u.used[field] {
			t.Errorf("no good map uses %s", field)
		}
	}
}

// usage walks a schema beside documents and notes which properties occur.
type usage struct {
	root      map[string]any
	used, all map[string]bool
}

func (u *usage) resolve(s map[string]any, at string) (map[string]any, string) {
	for {
		ref, ok := s["$ref"].(string)
		if !ok {
			return s, at
		}
		name := strings.TrimPrefix(ref, "#/$defs/")
		s, at = u.root["$defs"].(map[string]any)[name].(map[string]any), name
	}
}

func (u *usage) each(s any, at string, f func(s map[string]any, at string)) {
	m, ok := s.(map[string]any)
	if !ok {
		return
	}
	m, at = u.resolve(m, at)
	f(m, at)
	for _, k := range []string{"then", "else"} {
		if m[k] != nil && at != "" {
			u.each(m[k], at, f)
		}
	}
	if all, ok := m["allOf"].([]any); ok {
		for _, e := range all {
			u.each(e, at, f)
		}
	}
}

func (u *usage) walk(s any, at string, doc any) {
	u.each(s, at, func(m map[string]any, at string) {
		for _, value := range listed(m) {
			if doc == value {
				u.used[at+"="+fmt.Sprint(value)] = true
			}
		}
		switch v := doc.(type) {
		case map[string]any:
			props, _ := m["properties"].(map[string]any)
			for name, p := range props {
				if e, ok := v[name]; ok {
					u.used[at+"."+name] = true
					u.walk(p, at+"."+name, e)
				}
			}
			if add, ok := m["additionalProperties"].(map[string]any); ok {
				for _, e := range v {
					u.walk(add, at+".*", e)
				}
			}
		case []any:
			for _, e := range v {
				u.walk(m["items"], at+"[]", e)
			}
		}
	})
}

func listed(m map[string]any) []any {
	values, _ := m["enum"].([]any)
	return values
}

func (u *usage) declare(s any, at string, depth int) {
	if depth > 12 {
		return
	}
	u.each(s, at, func(m map[string]any, at string) {
		for _, value := range listed(m) {
			u.all[at+"="+fmt.Sprint(value)] = true
		}
		props, _ := m["properties"].(map[string]any)
		for name, p := range props {
			u.all[at+"."+name] = true
			u.declare(p, at+"."+name, depth+1)
		}
		u.declare(m["items"], at+"[]", depth+1)
		u.declare(m["additionalProperties"], at+".*", depth+1)
	})
}
