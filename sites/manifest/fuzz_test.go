package manifest_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/sites/manifest"
)

// FuzzParse holds for every text: no panic, the same report twice, what
// encoding/json calls JSON is what Parse calls JSON, and the published schema
// and the rules agree wherever JSON Schema can express the rule.
func FuzzParse(f *testing.F) {
	for _, kind := range []string{"good", "bad"} {
		for _, dir := range cases(f, kind) {
			f.Add(readFile(f, filepath.Join(dir, "actions.json")))
		}
	}
	pub := published(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, report := manifest.Parse(data, manifest.Options{})
		if (m != nil) != report.OK() {
			t.Fatalf("manifest %v with errors %v", m != nil, report.Errors)
		}
		if _, again := manifest.Parse(data, manifest.Options{}); !reflect.DeepEqual(report, again) {
			t.Fatalf("two reports differ:\n%v\n%v", report, again)
		}
		has := func(code fault.Code) bool {
			return slices.ContainsFunc(report.Errors, func(p manifest.Problem) bool { return p.Code == code })
		}
		text := bytes.TrimPrefix(data, []byte("\ufeff"))
		valid := json.Valid(text) && utf8.Valid(text)
		if has(fault.InvalidJSON) && valid {
			t.Fatalf("refused as JSON: %v", report.Errors)
		}
		if !valid && !has(fault.InvalidJSON) && !has(fault.LimitExceeded) {
			t.Fatal("accepted as JSON")
		}
		if !valid {
			return
		}
		for _, p := range report.Errors {
			if _, ok := fault.Lookup(p.Code); !ok || p.Message == "" {
				t.Fatalf("problem %v", p)
			}
			if p.Pointer != "" && p.Pointer[0] != '/' {
				t.Fatalf("pointer %q", p.Pointer)
			}
		}
		problems := pub.Validate(text)
		if slices.ContainsFunc(problems, func(p schema.Problem) bool {
			return p.Keyword == "json" || p.Keyword == "limit" || p.Keyword == "schema"
		}) {
			return
		}
		if len(problems) > 0 && report.OK() {
			t.Fatalf("the schema refuses what Parse accepts: %v", problems)
		}
		if len(problems) == 0 {
			for _, p := range report.Errors {
				if !slices.Contains(beyondSchema, p.Code) {
					t.Fatalf("the schema accepts %v", p)
				}
			}
		}
	})
}
