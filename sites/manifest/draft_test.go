package manifest_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/manifest"
)

// deviations are the codes of what only a draft may do.
var deviations = []fault.Code{
	fault.WrongType, fault.MissingField, fault.UnsafeIdentifier, fault.NotExecutable, fault.UnknownReference,
	fault.UnknownPrimitive, fault.InvalidWorkflow, fault.InvalidExpression, fault.InvalidStateProjection,
}

func TestDraftsAreReadOnlyWhenAskedFor(t *testing.T) {
	for _, dir := range cases(t, "drafts") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			data := readFile(t, dir, "actions.json")
			var want struct {
				Warnings []struct {
					Pointer string
					Code    fault.Code
				}
			}
			if err := json.Unmarshal(readFile(t, dir, "expect.json"), &want); err != nil {
				t.Fatal(err)
			}
			if m, report := manifest.Parse(data, manifest.Options{}); m != nil && !wildOnly(report) {
				t.Error("accepted without being asked to accept drafts")
			}
			m, report := manifest.Parse(data, manifest.Options{AcceptDrafts: true})
			if m == nil {
				t.Fatalf("refused: %v", report.Errors)
			}
			var got, wanted []string
			for _, p := range report.Warnings {
				got = append(got, p.Pointer+" "+string(p.Code))
			}
			for _, p := range want.Warnings {
				wanted = append(wanted, p.Pointer+" "+string(p.Code))
			}
			slices.Sort(got)
			slices.Sort(wanted)
			if !slices.Equal(got, wanted) {
				t.Errorf("warnings\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(wanted, "\n     "))
			}
			if !m.Draft || m.Version != manifest.Version {
				t.Errorf("draft %v, version %d", m.Draft, m.Version)
			}
		})
	}
}

// wildOnly reports whether a map has nothing but fields of the wild, which are
// warnings in every mode.
func wildOnly(r manifest.Report) bool {
	return len(r.Warnings) > 0 &&
		!slices.ContainsFunc(r.Warnings, func(p manifest.Problem) bool { return p.Code != fault.UnknownField })
}

// Accepting drafts makes nothing else acceptable.
func TestABadMapIsNoDraft(t *testing.T) {
	accepted := 0
	for _, dir := range cases(t, "bad") {
		data := readFile(t, dir, "actions.json")
		var want expectation
		if err := json.Unmarshal(readFile(t, dir, "expect.json"), &want); err != nil {
			t.Fatal(err)
		}
		opts := manifest.Options{AcceptDrafts: true}
		if want.Known != nil {
			opts.Known = func(name string) bool { return slices.Contains(want.Known, name) }
		}
		m, report := manifest.Parse(data, opts)
		if m == nil {
			if report.OK() {
				t.Errorf("%s: no manifest and no errors", filepath.Base(dir))
			}
			continue
		}
		accepted++
		for _, e := range want.Errors {
			if !slices.Contains(deviations, e.Code) && !strings.HasPrefix(e.Pointer, "/state_projections/") {
				t.Errorf("%s: accepted as a draft in spite of %s at %s", filepath.Base(dir), e.Code, e.Pointer)
			}
			if !slices.ContainsFunc(report.Warnings, func(p manifest.Problem) bool {
				return p.Pointer == e.Pointer && p.Code == e.Code
			}) {
				t.Errorf("%s: accepted without a warning of %s at %s", filepath.Base(dir), e.Code, e.Pointer)
			}
		}
		if !m.Draft {
			t.Errorf("%s: accepted and not marked as a draft", filepath.Base(dir))
		}
	}
	for _, version := range []string{`"2"`, `"2.0.0-working"`, `"latest"`, `""`, `2`} {
		text := `{"protocol":"actions.json","version":` + version + `,"tools":[]}`
		if m, _ := manifest.Parse([]byte(text), manifest.Options{AcceptDrafts: true}); m != nil {
			t.Errorf("version %s is read as a draft of version 1", version)
		}
	}
	if total := len(cases(t, "bad")); accepted == 0 || accepted > total/5 {
		t.Errorf("%d of %d bad maps are accepted as drafts", accepted, total)
	}
}

// TestSalvage: a declaration that breaks a rule costs itself alone, where that is
// asked for. Issue 16.
func TestSalvage(t *testing.T) {
	for _, dir := range cases(t, "salvaged") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			data := readFile(t, dir, "actions.json")
			var want struct {
				Warnings []manifest.Problem
				Tools    []string
			}
			if err := json.Unmarshal(readFile(t, dir, "expect.json"), &want); err != nil {
				t.Fatal(err)
			}
			m, report := manifest.Parse(data, manifest.Options{Salvage: true})
			if m == nil {
				t.Fatalf("refused: %v", report.Errors)
			}
			var got, wanted, tools []string
			for _, p := range report.Warnings {
				got = append(got, p.Pointer+" "+string(p.Code))
			}
			for _, p := range want.Warnings {
				wanted = append(wanted, p.Pointer+" "+string(p.Code))
			}
			for _, tool := range m.Tools {
				tools = append(tools, tool.Name)
			}
			slices.Sort(got)
			slices.Sort(wanted)
			if !slices.Equal(got, wanted) || !slices.Equal(tools, want.Tools) {
				t.Errorf(
					"tools %q, want %q; warnings\n got %s\nwant %s",
					tools, want.Tools, strings.Join(got, "\n     "), strings.Join(wanted, "\n     "),
				)
			}
		})
	}
	for _, text := range []string{`{"protocol":"other","tools":[]}`, `{"tools":[]}`, `[]`, `{`} {
		if m, _ := manifest.Parse([]byte(text), manifest.Options{Salvage: true}); m != nil {
			t.Errorf("%s is read as a map", text)
		}
	}
}

// TestParts: a tool or a projection that breaks a rule costs itself alone in the
// strict profile too; what is wrong with the root costs the map. Issue 16.
func TestParts(t *testing.T) {
	for _, dir := range cases(t, "parts") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var want struct {
				Refused            bool
				Left               []string       // pointer and code
				Tools, Projections map[string]int // what is wrong with each
			}
			if err := json.Unmarshal(readFile(t, dir, "expect.json"), &want); err != nil {
				t.Fatal(err)
			}
			m, report := manifest.Parse(readFile(t, dir, "actions.json"), manifest.Options{Parts: true})
			if (m == nil) != want.Refused {
				t.Fatalf("got %v, %v", m, report)
			}
			if m == nil {
				return
			}
			var left []string
			for _, p := range report.Left {
				left = append(left, p.Pointer+" "+string(p.Code))
			}
			tools, projections := map[string]int{}, map[string]int{}
			for _, tool := range m.Tools {
				tools[tool.Name] += len(tool.Wrong)
			}
			for _, p := range m.StateProjections {
				projections[p.Name] += len(p.Wrong)
			}
			if !slices.Equal(left, want.Left) || !maps.Equal(tools, want.Tools) ||
				!maps.Equal(projections, want.Projections) {
				t.Errorf(
					"got %q, %v, %v, want %q, %v, %v",
					left, tools, projections, want.Left, want.Tools, want.Projections,
				)
			}
		})
	}
}

// What is wrong with a tool or projection as a whole stays with it by its name: a
// call says what is wrong, and not that there is none. Issue 16.
func TestAPartThatIsWrongAsAWhole(t *testing.T) {
	wrong := func(json.RawMessage) []manifest.Problem {
		return []manifest.Problem{{Code: fault.InvalidStatePostcondition, Message: "m"}}
	}
	const text = `{"protocol":"actions.json","version":1,
		"tools":[{"name":"sound","description":"d","input_schema":{"type":"object"},"x_actions":{"handler":"page.info"}}],
		"state_projections":[{"name":"p","snapshot":{"version":1,"source":"dom","extract":[{"id":"x","selector":"b"}],"projection":{"language":"jsonata","expression":"records"}}}]}`
	for _, drafts := range []bool{false, true} {
		m, report := manifest.Parse([]byte(text), manifest.Options{
			Parts:           true,
			AcceptDrafts:    drafts,
			CheckProjection: wrong,
		})
		if m == nil || len(m.Tools) != 1 || len(m.StateProjections) != 1 || len(m.StateProjections[0].Wrong) != 1 {
			t.Fatalf("drafts %v: got %+v, %v", drafts, m, report)
		}
	}
}

// The first published maps have a text as their version; the error says how to
// read them. Issue 16.
func TestADraftIsRefusedWithItsRemedy(t *testing.T) {
	_, report := manifest.Parse(
		[]byte(`{"protocol":"actions.json","version":"0.1.0-working","tools":[]}`), manifest.Options{},
	)
	if len(report.Errors) != 1 || !strings.Contains(report.Errors[0].Remedy, "--accept-drafts") ||
		!strings.Contains(report.Err().NextStep, "--accept-drafts") {
		t.Errorf("got %+v, %v", report.Errors, report.Err())
	}
	_, report = manifest.Parse(
		[]byte(`{"protocol":"actions.json","version":"0.1.0-working","tools":7}`), manifest.Options{},
	)
	if err := report.Err(); err == nil || err.NextStep != "" {
		t.Errorf("a map that no flag helps is refused with the next step %q", err.NextStep)
	}
}

func TestAGoodMapIsTheSameWhereDraftsAreAccepted(t *testing.T) {
	for _, dir := range cases(t, "good") {
		data := readFile(t, dir, "actions.json")
		strict, report := manifest.Parse(data, manifest.Options{})
		lenient, again := manifest.Parse(data, manifest.Options{AcceptDrafts: true})
		if strict == nil || lenient == nil {
			t.Fatalf("%s: refused", filepath.Base(dir))
		}
		if !reflect.DeepEqual(report, again) || lenient.Draft || !reflect.DeepEqual(strict, lenient) {
			t.Errorf("%s: it is read in another way", filepath.Base(dir))
		}
	}
}

func TestWhatDraftsSay(t *testing.T) {
	parse := func(dir string) *manifest.Manifest {
		m, report := manifest.Parse(
			readFile(t, testMaps, "drafts", dir, "actions.json"), manifest.Options{AcceptDrafts: true},
		)
		if m == nil {
			t.Fatalf("%s: %v", dir, report.Errors)
		}
		return m
	}
	m := parse("outreach-app")
	if m.DraftVersion != "0.1.0-working" || !slices.Equal(m.Surface.URLPatterns, []string{"https://social.example/*"}) {
		t.Errorf("version %q, patterns %q", m.DraftVersion, m.Surface.URLPatterns)
	}
	r := m.Requires
	if !slices.Equal(r.Primitives, []string{"locator.element_info", "pointer.click"}) ||
		!slices.Equal(r.OptionalPrimitives, []string{"browser.screenshot"}) {
		t.Errorf("requires %+v", r)
	}
	if r.SignedIn == nil || !*r.SignedIn || r.DictionaryVersion == nil || *r.DictionaryVersion != 1 {
		t.Errorf("requires %+v", r)
	}
	if s := parse("states-by-name").State("editor"); s == nil || s.Description != "The editor is open." {
		t.Errorf("state %+v", s)
	}
	if s := parse("states-by-name-as-objects"); s.TargetNamed("ready.form") == nil ||
		len(s.State("ready").Observables) != 1 {
		t.Errorf("states %+v", s.States)
	}
	n := parse("tool-requires-object").Tools[0].Needs
	if !slices.Equal(n.States, []string{"ready"}) || !slices.Equal(n.Primitives, []string{"page.info"}) {
		t.Errorf("needs %+v", n)
	}
	bare := parse("tool-without-schema-and-description").Tools[0]
	if string(bare.InputSchema) != `{"type":"object"}` || len(bare.Input.Validate(json.RawMessage("[]"))) == 0 ||
		bare.Unusable != nil {
		t.Errorf("tool %+v", bare)
	}
	if u := parse("tool-described-only").Tools[0].Unusable; u == nil || u.Code != fault.NotExecutable {
		t.Errorf("unusable %v", u)
	}
	if p := parse("root-scope").Surface.URLPatterns; !slices.Equal(p, []string{"https://book.example/*"}) {
		t.Errorf("patterns %q", p)
	}
	if got := parse("surface-as-name").Surface.Name; got != "inbox" {
		t.Errorf("name %q", got)
	}
}

// A workflow or projection that breaks a rule costs a strict map everything and
// a draft only the entry.
func TestABrokenEntryOfADraftIsNotUsed(t *testing.T) {
	const text = `{"protocol":"actions.json","version":1,"tools":[
		{"name":"bad","description":"d","input_schema":{},"workflow":{"bad":true}},
		{"name":"good","description":"d","input_schema":{},"workflow":{}}],
		"state_projections":[
		{"name":"bad","snapshot":{"version":1,"source":"dom","extract":[],"projection":{"language":"jsonata","expression":"{% 1 %}"}}},
		{"name":"good","snapshot":{"version":1,"source":"dom","extract":[],"projection":{"language":"jsonata","expression":"{% 1 %}"}}}]}`
	broken := func(raw json.RawMessage) []manifest.Problem {
		if !strings.Contains(string(raw), `bad"`) {
			return nil
		}
		return []manifest.Problem{{Pointer: "/bad", Code: fault.InvalidWorkflow, Message: "m"}}
	}
	opts := manifest.Options{
		CheckWorkflow:   func(raw json.RawMessage) (problems, warnings []manifest.Problem) { return broken(raw), nil },
		CheckProjection: broken,
	}
	if m, _ := manifest.Parse([]byte(text), opts); m != nil {
		t.Error("accepted without being asked to")
	}
	opts.AcceptDrafts = true
	m, report := manifest.Parse([]byte(text), opts)
	if m == nil {
		t.Fatal(report.Errors)
	}
	u := m.Tool("bad").Unusable
	if u == nil || u.Pointer != "/tools/0/workflow/bad" || u.Code != fault.InvalidWorkflow {
		t.Errorf("unusable %v", u)
	}
	if m.Tool("good").Unusable != nil || len(m.StateProjections) != 1 || m.StateProjections[0].Name != "good" ||
		len(report.Warnings) != 2 {
		t.Errorf("projections %v, warnings %v", m.StateProjections, report.Warnings)
	}
}
