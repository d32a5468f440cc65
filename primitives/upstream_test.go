package primitives_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/catalog"
)

// TestEveryUpstreamName: a map written for the extension finds every name.
func TestEveryUpstreamName(t *testing.T) {
	text, err := os.ReadFile("testdata/upstream_names.txt")
	if err != nil {
		t.Fatal(err)
	}
	registry := catalog.Standard()
	names := 0
	for line := range strings.Lines(string(text)) {
		name, where, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || name == "#" {
			continue
		}
		names++
		record, ok := registry.Lookup(name)
		if !ok {
			t.Errorf("%s (%s) is not there", name, where)
			continue
		}
		if record.Class == "host" {
			t.Errorf("%s is upstream's, but its class is host", name)
		}
		if _, ok := record.Adapters["extension"]; !ok {
			t.Errorf("%s does not say what the extension does with it", name)
		}
	}
	if names != 72 {
		t.Errorf("the list has %d names, want 72", names)
	}
}

// agreed are differences from the published schemas, each because the schema
// and the extension itself differ (or because a bound was only in its code).
var agreed = map[string]string{
	"browser.claimed_tabs.activate output tab_id":      "the row is in tab",
	"browser.claimed_tabs.activate output url":         "the row is in tab",
	"browser.claimed_tabs.list output tabs.claimed_at": "the extension has no such member",
	"browser.screenshot output image":                  "the extension answers data_url",
	"browser.screenshot output width":                  "the sizes are in encoded and screenshot_compaction",
	"browser.screenshot output height":                 "the sizes are in encoded and screenshot_compaction",
	"clipboard.write output textLength":                "the extension answers length",
	"transfer.insert output label":                     "the extension answers what text.insert does",
	"transfer.insert output inserted_bytes":            "the extension answers what text.insert does",
	"viewport.scroll output scroll_x":                  "the extension answers before and after",
	"viewport.scroll output scroll_y":                  "the extension answers before and after",
}

// TestUpstreamSchemas compares with the published dictionary and catalog, where
// they are at hand: OUTRIDER_UPSTREAM_DATA names the folder with
// dictionary.v1.json and overlay.actions.json. Whatever a caller of the
// extension may send, a caller of this host may send.
func TestUpstreamSchemas(t *testing.T) {
	dir := os.Getenv("OUTRIDER_UPSTREAM_DATA")
	if dir == "" {
		t.Skip("OUTRIDER_UPSTREAM_DATA is not set")
	}
	if _, err := os.Stat(filepath.Join(dir, "dictionary.v1.json")); err != nil {
		t.Skipf("OUTRIDER_UPSTREAM_DATA has no dictionary: %v", err)
	}
	type published struct {
		Name         string `json:"name"`
		Class        string `json:"capability_class"`
		InputSchema  any    `json:"input_schema"`
		OutputSchema any    `json:"output_schema"`
	}
	var dictionary struct {
		Primitives []published `json:"primitives"`
	}
	var overlayTools struct {
		Dictionary struct {
			Primitives []published `json:"primitives"`
		} `json:"primitive_dictionary"`
		Tools []published `json:"tools"`
	}
	for file, into := range map[string]any{"dictionary.v1.json": &dictionary, "overlay.actions.json": &overlayTools} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, into); err != nil {
			t.Fatal(err)
		}
	}
	used := map[string]bool{}
	names := map[string]bool{}
	compare := func(list []published) {
		for _, p := range list {
			names[p.Name] = true
			record, ok := catalog.Standard().Lookup(p.Name)
			if !ok {
				t.Errorf("%s is not there", p.Name)
				continue
			}
			if p.Class != "" && p.Class != record.Class {
				t.Errorf("%s: class %s, upstream %s", p.Name, record.Class, p.Class)
			}
			var problems []string
			problems = append(problems, narrower(p.InputSchema, decodeSchema(t, record.InputSchema), "input", true)...)
			problems = append(
				problems, narrower(p.OutputSchema, decodeSchema(t, record.OutputSchema), "output", false)...,
			)
			for _, problem := range problems {
				key, _, _ := strings.Cut(p.Name+" "+problem, ":")
				if _, ok := agreed[key]; ok {
					used[key] = true
					continue
				}
				t.Errorf("%s %s", p.Name, problem)
			}
		}
	}
	compare(dictionary.Primitives)
	compare(overlayTools.Dictionary.Primitives)
	compare(overlayTools.Tools)
	if len(names) != 72 {
		t.Errorf("the published data has %d names, want 72", len(names))
	}
	for key := range agreed {
		if !used[key] {
			t.Errorf("no longer a difference: %s", key)
		}
	}
}

func decodeSchema(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// narrower lists where ours allows less than theirs, and for inputs where it
// asks for more. An object without properties promises nothing.
func narrower(theirs, ours any, at string, input bool) []string {
	var out []string
	wanted := declared(theirs)
	have := declared(ours)
	if len(have.members) == 0 && have.free {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(wanted.members)) {
		sub := at + " " + name
		if strings.Contains(at, " ") {
			sub = at + "." + name
		}
		mine, ok := have.members[name]
		if !ok {
			out = append(out, sub+": is missing")
			continue
		}
		for _, kind := range wanted.members[name].types {
			if m := mine.types; len(m) > 0 && !slices.Contains(m, kind) &&
				!(kind == "integer" && slices.Contains(m, "number")) {
				out = append(out, fmt.Sprintf("%s: type %s is not taken", sub, kind))
			}
		}
		for _, value := range wanted.members[name].enum {
			if m := mine.enum; input && len(m) > 0 && !slices.Contains(m, value) {
				out = append(out, fmt.Sprintf("%s: %v is not taken", sub, value))
			}
		}
		out = append(out, narrower(wanted.members[name].schemas, mine.schemas, sub, input)...)
	}
	if input {
		for _, name := range have.required {
			if !slices.Contains(wanted.required, name) && len(wanted.members) > 0 && wanted.members[name].types != nil {
				out = append(out, at+" "+name+": is required here only")
			}
		}
	}
	return out
}

type declaration struct {
	members  map[string]member
	required []string // by every alternative
	free     bool     // says nothing about its members
}

type member struct {
	types   []string
	enum    []any
	schemas []any // the schemas of the member, of all alternatives
}

// declared reads what a schema, or a list of alternatives, says of members.
func declared(schema any) declaration {
	d := declaration{members: map[string]member{}, free: true}
	var read func(v any)
	read = func(v any) {
		if list, ok := v.([]any); ok {
			for _, e := range list {
				read(e)
			}
			return
		}
		s, ok := v.(map[string]any)
		if !ok {
			return
		}
		for _, key := range []string{"oneOf", "anyOf", "allOf"} {
			read(s[key])
		}
		if items, ok := s["items"]; ok {
			read(items)
		}
		for name, sub := range asMap(s["properties"]) {
			d.free = false
			m := d.members[name]
			m.types = append(m.types, typesOf(sub)...)
			m.enum = append(m.enum, enumOf(sub)...)
			m.schemas = append(m.schemas, sub)
			d.members[name] = m
		}
		for _, r := range asList(s["required"]) {
			d.required = append(d.required, fmt.Sprint(r))
		}
	}
	read(schema)
	return d
}

func typesOf(schema any) (out []string) {
	s := asMap(schema)
	switch t := s["type"].(type) {
	case string:
		out = append(out, t)
	case []any:
		for _, e := range t {
			out = append(out, fmt.Sprint(e))
		}
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		for _, alt := range asList(s[key]) {
			out = append(out, typesOf(alt)...)
		}
	}
	return out
}

func enumOf(schema any) []any { return asList(asMap(schema)["enum"]) }

func asMap(v any) map[string]any { m, _ := v.(map[string]any); return m }
func asList(v any) []any         { l, _ := v.([]any); return l }
