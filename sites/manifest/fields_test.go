package manifest_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/sites/manifest"
)

// wildFields are members that the parser asks for although the format does not
// have them, see docs/explanation/maps.md.
var wildFields = []string{"/requires", "/scope", "/surface/url_patterns"}

// Wherever a good map has an object, the parser knows the fields that the
// published schema has there, and no others: a field added to one of them alone
// fails here.
func TestSchemaAndParserKnowTheSameFields(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(manifest.Published, &root); err != nil {
		t.Fatal(err)
	}
	u := usage{root: root}
	objects, said := 0, map[string]bool{}
	for _, dir := range cases(t, "good") {
		data := readFile(t, dir, "actions.json")
		manifest.ParseTraced(data, func(pointer string, known []string) {
			at := []any{root}
			for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
				if pointer != "" {
					at = u.below(at, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
				}
			}
			fields := u.fields(at)
			if len(fields) == 0 {
				t.Errorf("%s: the schema does not describe %s", filepath.Base(dir), pointer)
			}
			objects++
			report := func(format, name string) {
				if key := format + pointer + name; !said[key] {
					said[key] = true
					t.Errorf(format, filepath.Base(dir), pointer+"/"+name)
				}
			}
			for _, name := range known {
				if !slices.Contains(fields, name) && !slices.Contains(wildFields, pointer+"/"+name) {
					report("%s: the parser knows %s and the schema does not", name)
				}
			}
			for _, name := range fields {
				if !slices.Contains(known, name) {
					report("%s: the schema knows %s and the parser does not", name)
				}
			}
		})
	}
	if objects < 400 {
		t.Errorf("only %d objects were compared", objects)
	}
}

// The words that the published schema gives as examples are those that the
// parser knows.
func TestSchemaAndParserKnowTheSameWords(t *testing.T) {
	var root struct {
		Defs struct {
			Attachment struct {
				Properties map[string]struct {
					Properties map[string]struct{ Examples []string }
				}
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(manifest.Published, &root); err != nil {
		t.Fatal(err)
	}
	for field, words := range manifest.KnownWords {
		section := "lifecycle"
		if field == "placement" {
			section = "affordance"
		}
		if got := root.Defs.Attachment.Properties[section].Properties[field].Examples; !slices.Equal(got, words) {
			t.Errorf("%s/%s: the schema gives %q, the parser knows %q", section, field, got, words)
		}
	}
}

// below returns the schemas of a member or an element.
func (u usage) below(schemas []any, token string) []any {
	var out []any
	for _, s := range schemas {
		u.every(s, func(m map[string]any) {
			if props, ok := m["properties"].(map[string]any); ok && props[token] != nil {
				out = append(out, props[token])
				return
			}
			if token != "" && strings.Trim(token, "0123456789") == "" && m["items"] != nil {
				out = append(out, m["items"])
				return
			}
			if m["additionalProperties"] != nil {
				out = append(out, m["additionalProperties"])
			}
		})
	}
	return out
}

func (u usage) fields(schemas []any) []string {
	var out []string
	for _, s := range schemas {
		u.every(s, func(m map[string]any) {
			if props, ok := m["properties"].(map[string]any); ok {
				for name := range props {
					out = append(out, name)
				}
			}
		})
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// every calls f with a schema and those that apply to the same value.
func (u usage) every(s any, f func(map[string]any)) {
	m, ok := s.(map[string]any)
	if !ok {
		return
	}
	m, _ = u.resolve(m, "")
	f(m)
	for _, k := range []string{"then", "else"} {
		u.every(m[k], f)
	}
	for _, k := range []string{"allOf", "anyOf"} {
		if list, ok := m[k].([]any); ok {
			for _, e := range list {
				u.every(e, f)
			}
		}
	}
}
