package primitives_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
)

func TestCatalogIsTheDictionaryFolder(t *testing.T) {
	var folder []string
	for _, r := range primitives.Dictionary() {
		folder = append(folder, r.Name)
	}
	if catalog := catalog.Standard().Names(); !slices.Equal(catalog, folder) {
		t.Errorf("catalog and dictionary differ\ncatalog    %q\ndictionary %q", catalog, folder)
	}
}

func TestRecordsAreComplete(t *testing.T) {
	name := regexp.MustCompile(`^[a-z0-9_]+(\.[a-z0-9_]+)+$`)
	classes := []string{"portable", "privileged", "mixed", "debug", "bridge", "host"}
	for _, p := range catalog.Standard().Primitives() {
		r := p.Record()
		t.Run(r.Name, func(t *testing.T) {
			numbered := r.Version >= 1 && r.Stage >= 1
			if !name.MatchString(r.Name) || !numbered || r.Summary == "" || len(r.Capabilities) == 0 ||
				r.Errors == nil {
				t.Errorf("incomplete: %+v", r)
			}
			if !strings.HasSuffix(r.Summary, ".") {
				t.Errorf("the summary is no sentence: %q", r.Summary)
			}
			if !slices.Contains(classes, r.Class) || (r.Class == "portable") != r.Portable {
				t.Errorf("class %q and portable %t do not go together", r.Class, r.Portable)
			}
			if r.Result != "enveloped" && r.Result != "flat" {
				t.Errorf("x_result is %q", r.Result)
			}
			for _, host := range []string{"cdp", "extension", "embed"} {
				if s := r.Adapters[host].Support; s != "supported" && s != "partial" && s != "unsupported" {
					t.Errorf("adapter %s has support %q", host, s)
				}
			}
			// A name that no host provides says so, and answers with that code.
			refused := slices.Contains(r.Errors, "capability_unavailable")
			if (r.Adapters["cdp"].Support == "supported") == refused {
				t.Errorf("support on this host is %q, and its errors are %q", r.Adapters["cdp"].Support, r.Errors)
			}
			for _, c := range r.Errors {
				if _, ok := fault.Lookup(fault.Code(c)); !ok {
					t.Errorf("code %s is not declared", c)
				}
			}
			if err := p.Compile(); err != nil {
				t.Error(err)
			}
			if len(r.Conformance.Assertions) == 0 {
				t.Error("no assertions")
			}
			if !hasPages(r.Conformance.Fixture) {
				t.Errorf("fixture %q has no pages below testdata/pages", r.Conformance.Fixture)
			}
			text, err := primitives.RecordText(r.Name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), `$ref`) {
				t.Error("references make validation serial; write the schema out")
			}
		})
	}
}

// hasPages reports whether fixture names a page, or a folder with pages, below
// testdata/pages.
func hasPages(fixture string) bool {
	if fixture == "" {
		return false
	}
	path := filepath.Join("..", "testdata", "pages", filepath.FromSlash(fixture))
	if strings.HasSuffix(fixture, ".html") {
		_, err := os.Stat(path)
		return err == nil
	}
	pages, err := filepath.Glob(filepath.Join(path, "*.html"))
	return err == nil && len(pages) > 0
}

// A schema that is open, or an output that requires nothing, checks nothing.
// What a record says of its primitive as a step has to fit the primitive: the arguments exist, and what is
// repeated acts.
func TestStepsFitTheirPrimitives(t *testing.T) {
	repeated := 0
	for _, r := range primitives.Dictionary() {
		if r.Step == nil {
			if got := primitives.StepOf(r.Name); !reflect.DeepEqual(got, primitives.Step{}) {
				t.Errorf("%s: StepOf gives %+v, and its record has none", r.Name, got)
			}
			continue
		}
		if got := primitives.StepOf(r.Name); !reflect.DeepEqual(got, *r.Step) {
			t.Errorf("%s: StepOf gives %+v, and its record has %+v", r.Name, got, *r.Step)
		}
		if r.Step.Repeats {
			repeated++
		}
		if r.Step.Repeats && !r.Acts {
			t.Errorf("%s is repeated and does not act", r.Name)
		}
		var in, out struct {
			Properties map[string]json.RawMessage
			OneOf      []struct{ Properties map[string]json.RawMessage }
		}
		if err := json.Unmarshal(r.InputSchema, &in); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(r.OutputSchema, &out); err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Concat(r.Step.Given, r.Step.Typed) {
			if in.Properties[name] == nil {
				t.Errorf("%s: x_step names the argument %s, which the primitive does not take", r.Name, name)
			}
		}
		if member := r.Step.Reads; member != nil && *member != "" && out.Properties[*member] == nil &&
			(len(out.OneOf) == 0 || out.OneOf[0].Properties[*member] == nil) {
			t.Errorf("%s: x_step reads %s, which the result does not have", r.Name, *member)
		}
	}
	if repeated == 0 {
		t.Error("no primitive is repeated: the records are not read")
	}
	if got := primitives.StepOf("no.such.primitive"); !reflect.DeepEqual(got, primitives.Step{}) {
		t.Errorf("a name that no primitive has gives %+v", got)
	}
}

func TestSchemasAreClosedAndReal(t *testing.T) {
	for _, r := range primitives.Dictionary() {
		var in, out map[string]any
		if err := json.Unmarshal(r.InputSchema, &in); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(r.OutputSchema, &out); err != nil {
			t.Fatal(err)
		}
		if in["additionalProperties"] != false {
			t.Errorf("%s: the input schema is open", r.Name)
		}
		if out["required"] == nil && out["oneOf"] == nil {
			t.Errorf("%s: the output schema requires nothing", r.Name)
		}
		walkSchema(out, func(at string, s map[string]any) {
			if s["properties"] != nil && s["required"] == nil {
				t.Errorf("%s: output%s requires nothing", r.Name, at)
			}
		}, "")
	}
}

func walkSchema(v any, f func(at string, s map[string]any), at string) {
	switch v := v.(type) {
	case map[string]any:
		f(at, v)
		for k, e := range v {
			walkSchema(e, f, at+"/"+k)
		}
	case []any:
		for _, e := range v {
			walkSchema(e, f, at+"/-")
		}
	}
}

// The struct that takes the arguments and the schema that lets them pass are
// written apart; this is what keeps them together.
func TestInputStructsHaveTheNamesOfTheirSchemas(t *testing.T) {
	for _, p := range catalog.Standard().Primitives() {
		var s schemaNode
		if err := json.Unmarshal(p.Record().InputSchema, &s); err != nil {
			t.Fatal(err)
		}
		if p.Record().Acts {
			delete(s.Properties, "effects") // the registry's, see withEffects
		}
		compareNames(t, p.Record().Name, s, p.Input())
	}
}

type schemaNode struct {
	Properties map[string]schemaNode `json:"properties"`
	Items      *schemaNode           `json:"items"`
}

func compareNames(t *testing.T, at string, s schemaNode, typ reflect.Type) {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return
	}
	if typ.Kind() == reflect.Slice && s.Items != nil {
		compareNames(t, at+"[]", *s.Items, typ.Elem())
		return
	}
	if typ.Kind() != reflect.Struct {
		return
	}
	members := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(typ) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			members[name] = f.Type
		}
	}
	for name, sub := range s.Properties {
		m, ok := members[name]
		if !ok {
			t.Errorf("%s: the schema declares %s, the struct has no such member", at, name)
			continue
		}
		compareNames(t, at+"."+name, sub, m)
	}
	for name := range members {
		if _, ok := s.Properties[name]; !ok {
			t.Errorf("%s: the struct has %s, the schema does not declare it", at, name)
		}
	}
}

// One locator, wherever it is taken.
func TestLocatorSchemasAreAllTheSame(t *testing.T) {
	var want string
	for _, r := range primitives.Dictionary() {
		var s struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(r.InputSchema, &s); err != nil {
			t.Fatal(err)
		}
		raw, ok := s.Properties["locator"]
		if !ok {
			continue
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(v)
		if want == "" {
			want = string(b)
		}
		if string(b) != want {
			t.Errorf("%s: the locator is\n%s\nelsewhere it is\n%s", r.Name, b, want)
		}
	}
}

// actsWithoutTarget lists the acting primitives that do not say what they acted
// on, each with the reason.
var actsWithoutTarget = map[string]string{
	"browser.claimed_tabs.activate": "acts on a tab",
	"browser.close_tab":             "acts on a tab",
	"browser.open_tab":              "acts on a tab",
	"runtime.session.finalize_tabs": "acts on tabs",
	"browser.dismiss_dialog":        "acts on a dialog, which the answer describes",
	"browser.navigate":              "acts on the document",
	"page.history":                  "acts on the document",
	"browser.run_javascript":        "the script decides what it acts on",
	"debug.run_javascript":          "the script decides what it acts on",
	"page.evaluate":                 "the script decides what it acts on",
	"marker.query":                  "reads a place; the recipe's clicks report their own",
	"locator.element_info":          "reads; what it scrolled is in scroll_operations",
	"overlay.open":                  "acts on the overlay of this host",
	"overlay.register_launcher":     "acts on the overlay of this host; anchors are counted",
	"cookie.clear":                  "acts on the browser's store",
	"cookie.delete":                 "acts on the browser's store",
	"cookie.set":                    "acts on the browser's store",
	"storage_state.set":             "acts on the browser's store",
	"emulate.clock":                 "acts on the tab's emulation",
	"webmcp.call":                   "acts by a tool of the page",
	"emulate.geolocation":           "acts on the tab's emulation",
	"emulate.locale":                "acts on the tab's emulation",
	"emulate.media":                 "acts on the tab's emulation",
	"emulate.network":               "acts on the tab's emulation",
	"emulate.reset":                 "acts on the tab's emulation",
	"emulate.timezone":              "acts on the tab's emulation",
	"emulate.user_agent":            "acts on the tab's emulation",
	"emulate.viewport":              "acts on the tab's emulation",
	"emulate.webdriver":             "acts on the tab's emulation",
}

// The member is target, but for viewport.scroll, where upstream has a word of
// that name.
func TestActingPrimitivesSayWhatTheyActedOn(t *testing.T) {
	left := maps.Clone(actsWithoutTarget)
	for _, p := range catalog.Standard().Primitives() {
		r := p.Record()
		if !r.Acts {
			continue
		}
		_, excused := left[r.Name]
		delete(left, r.Name)
		var out struct {
			outputMembers
			OneOf []outputMembers `json:"oneOf"`
		}
		if err := json.Unmarshal(r.OutputSchema, &out); err != nil {
			t.Fatal(err)
		}
		member := "target"
		if r.Name == "viewport.scroll" {
			member = "target_element"
		}
		forms := out.OneOf
		if len(forms) == 0 {
			forms = []outputMembers{out.outputMembers}
		}
		for i, form := range forms {
			target, there := form.Properties[member]
			switch {
			case there && excused:
				t.Errorf("%s: output form %d has %s and a reason why it has none", r.Name, i, member)
			case !there && !excused:
				t.Errorf("%s: output form %d has no %s, nor a reason why it has none", r.Name, i, member)
			case there:
				role := target.Properties["computed_role"] != nil || target.Properties["role"] != nil
				if !role || target.Properties["name"] == nil || target.Properties["tag_name"] == nil ||
					target.Properties["bounding_box"] == nil {
					t.Errorf("%s: %s of output form %d lacks role, name, tag_name or bounding_box", r.Name, member, i)
				}
			}
		}
	}
	for name := range left {
		t.Errorf("%s has a reason why it has no target, but does not act", name)
	}
}

type outputMembers struct {
	Properties map[string]struct {
		Properties map[string]json.RawMessage `json:"properties"`
	} `json:"properties"`
}
