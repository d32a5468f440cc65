package manifest_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/sites/manifest"
)

// Every field of the good maps is replaced by every odd value, and removed,
// where it first occurs: wherever JSON Schema can express the rule, the published
// schema and Parse must agree on the outcome.
func TestSchemaAndRulesAgreeOnEveryMutation(t *testing.T) {
	pub := published(t)
	odd := []string{
		"null", "true", "0", "1", "-1", "1.5", "3e9", `""`, `" "`, `"a b"`,
		`"a.b"`, `"1"`, "[]", "{}", `[""]`, `["a"]`, "[0]", `[{}]`, `{"a":1}`,
	}
	mutations, refused := 0, 0
	seen := map[string]bool{}
	for _, dir := range cases(t, "good") {
		text := strings.TrimPrefix(string(readFile(t, dir, "actions.json")), "\ufeff")
		var doc any
		if len(text) > 8000 || json.Unmarshal([]byte(text), &doc) != nil {
			continue
		}
		check := func() {
			data, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			mutations++
			m, report := manifest.Parse(data, manifest.Options{})
			problems := pub.Validate(data)
			if m == nil {
				refused++
			}
			if len(problems) > 0 && m != nil {
				t.Fatalf("%s: the schema refuses what Parse accepts: %v\n%s", filepath.Base(dir), problems, data)
			}
			for _, p := range report.Errors {
				if len(problems) == 0 && !slices.Contains(beyondSchema, p.Code) {
					t.Fatalf("%s: the schema accepts %v\n%s", filepath.Base(dir), p, data)
				}
			}
		}
		mutate(doc, "", seen, odd, func(v any) { doc = v }, check)
	}
	if mutations < 5000 || refused < mutations/4 {
		t.Errorf("%d mutations, %d refused: the test has lost its material", mutations, refused)
	}
}

// mutate calls check with each value below v, reached through set, replaced in
// turn, and puts it back. A place that differs only in indexes from one it has
// seen is passed over.
func mutate(v any, at string, seen map[string]bool, odd []string, set func(any), check func()) {
	if !seen[at] {
		seen[at] = true
		for _, o := range odd {
			var replacement any
			if err := json.Unmarshal([]byte(o), &replacement); err != nil {
				panic(err)
			}
			set(replacement)
			check()
		}
		set(v)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			e, below := v[name], at+"/"+name
			if !seen[below] {
				delete(v, name)
				check()
				v[name] = e
			}
			// What is inside of schemas and workflows is not the schema's.
			if name != "input_schema" && name != "workflow" && name != "payload" && name != "output_schema" &&
				name != "result_schema" {
				mutate(e, below, seen, odd, func(x any) { v[name] = x }, check)
			}
		}
	case []any:
		for i, e := range v {
			mutate(e, at+"[]", seen, odd, func(x any) { v[i] = x }, check)
		}
	}
}
