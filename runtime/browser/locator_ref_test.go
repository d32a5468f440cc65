package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/descriptor"
)

const refTargets = `<!doctype html><title>refs</title><style>body{margin:0}button{width:120px;height:40px}</style><script>var hits=[]</script>
<button id="go" onclick="hits.push('go')">Go</button><label>Field <input id="field"></label>
<div style="height:2000px"></div><button id="far" onclick="hits.push('far')">Far</button><div id="bin" role="group" aria-label="Bin" style="width:200px;height:100px">bin</div>`

// A ref stands wherever a locator does.
func TestRefsAreTargetsOfEveryPrimitive(t *testing.T) {
	tab := browsertest.Tab(t)
	open(t, tab, "data:text/html,"+strings.NewReplacer("%", "%25", "#", "%23", "\n", "%0A").Replace(refTargets))
	refs := map[string]string{}
	for _, id := range []string{"go", "field", "far", "bin"} {
		refs[id] = refOf(t, tab, "", "#"+id)
	}
	registry := catalog.Standard()
	for _, c := range []struct{ name, primitive, args, then string }{
		{"click", "pointer.click", `{"ref":"$go"}`, `hits.join()==='go'`},
		{"click in a locator", "pointer.click", `{"locator":{"ref":"$far"}}`, `hits.pop()==='far' && scrollY>0`},
		{"double click", "pointer.double_click", `{"ref":"$go"}`, `hits.length===3`},
		{"move", "pointer.move", `{"ref":"$go"}`, `document.querySelector('#go').matches(':hover')`},
		{"focus", "dom.focus", `{"ref":"$go"}`, `document.activeElement.id==='go'`},
		{"insert", "text.insert", `{"ref":"$field","text":"a"}`, `field.value==='a'`},
		{"insert into a target", "text.insert", `{"target":{"ref":"$field"},"text":"b"}`, `field.value==='ab'`},
		{"type", "text.type", `{"ref":"$field","text":"c","trusted":true}`, `field.value.includes('c')`},
		{"press", "keyboard.press", `{"ref":"$go","key":"Enter"}`, `hits.length===4`},
		{"select", "text.select", `{"ref":"$field"}`, `document.activeElement.id==='field'`},
		{"scroll to", "viewport.scroll", `{"ref":"$far"}`, `far.getBoundingClientRect().bottom<=innerHeight`},
		{"screenshot", "browser.screenshot", `{"ref":"$go","scale":"css"}`, `scrollY===0`},
		{"drag", "pointer.drag", `{"from":{"ref":"$go"},"to":{"x":300,"y":300}}`, `true`},
		{"read", "locator.text_content", `{"locator":{"ref":"$go"}}`, `true`},
		{"value", "locator.value", `{"locator":{"ref":"$field"}}`, `true`},
		{"info", "locator.element_info", `{"locator":{"ref":"$go"}}`, `true`},
		{"wait", "locator.wait_for", `{"locator":{"ref":"$go"}}`, `true`},
		{"within", "locator.text_content", `{"locator":{"selector":"#go","within":{"ref":"$bin"}}}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := c.args
			for id, ref := range refs {
				args = strings.ReplaceAll(args, "$"+id, ref)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r := registry.Invoke(ctx, tab, c.primitive, json.RawMessage(args))
			if c.then == "" {
				if r.Err == nil || r.Err.Code != "target_not_found" {
					t.Fatalf("%s %s: got %s, %v, want target_not_found", c.primitive, args, r.Payload, r.Err)
				}
				return
			}
			if r.Err != nil {
				t.Fatalf("%s %s: %v %v", c.primitive, args, r.Err, r.Err.Evidence)
			}
			if got, err := tab.Eval(ctx, "", c.then); err != nil || got != "true" {
				t.Errorf("%s %s: then %s is %s, %v", c.primitive, args, c.then, got, err)
			}
		})
	}
}

const descriptorPage = `<!doctype html><title>descriptors</title><form role="search" aria-label="Site search"><input name="q" value="typed"><button type="submit">Find</button></form>
<ul><li class="item">One</li><li class="item">Two</li></ul><input id="c" type="checkbox" checked aria-label="Agree"><button disabled>Off</button><div style="display:none"><p id="hidden">Hidden</p></div><input id="pw" type="password" value="secret">`

func TestDescriptorsSayWhichCandidateMatched(t *testing.T) {
	tab := browsertest.Tab(t)
	open(t, tab, "data:text/html,"+strings.NewReplacer("%", "%25", "#", "%23", "\n", "%0A").Replace(descriptorPage))
	for _, c := range []struct {
		name string
		d    descriptor.Descriptor
		want string // candidate count/visible relaxed reason
	}{
		{
			"preferred",
			descriptor.Descriptor{Selector: []string{"form[role=search]"}, Role: "search", Name: "Site search"},
			"selector 1/1 []",
		},
		{"second of selector", descriptor.Descriptor{Selector: []string{"#gone", "button"}}, "selector/1 2/2 []"},
		{
			"selectors", descriptor.Descriptor{Selector: []string{"#gone"}, Selectors: []string{"#no", "li.item"}},
			"selectors/1 2/2 []",
		},
		{"fallback", descriptor.Descriptor{
			Selector:          []string{"#gone"},
			FallbackSelectors: []string{"#no", "li"},
			TextEquals:        "Two",
		}, "fallback_selectors/1 1/1 []"},
		{"role and name alone", descriptor.Descriptor{Role: "button", Name: "find"}, "predicates 1/1 []"},
		{"text alone", descriptor.Descriptor{TextContains: "Off"}, "predicates 1/1 []"},
		{
			"a role and a name before fallbacks",
			descriptor.Descriptor{Role: "button", Name: "Find", FallbackSelectors: []string{"li"}}, "predicates 1/1 []",
		},
		{"another name, and a fallback that is alone", descriptor.Descriptor{
			Role:              "button",
			Name:              "Search",
			FallbackSelectors: []string{"button", "button[type=submit]"},
		}, "fallback_selectors/1 1/1 [name]"},
		{
			"another name, and fallbacks that several match",
			descriptor.Descriptor{Role: "button", Name: "Search", FallbackSelectors: []string{"button"}}, "- name",
		},
		{
			"a name for people",
			descriptor.Descriptor{Selector: []string{"button[type=submit]"}, Role: "button", Name: "Submit the query"},
			"selector 1/1 [name]",
		},
		{"a loose role", descriptor.Descriptor{Selector: []string{"li"}, Role: "option"}, "selector 2/2 [role]"},
		{"nothing has the name", descriptor.Descriptor{Role: "button", Name: "Gone"}, "- name"},
		{"nothing matches", descriptor.Descriptor{Selector: []string{"#gone"}}, "- selector"},
		{"nothing has the text", descriptor.Descriptor{Selector: []string{"li"}, TextEquals: "Three"}, "- text"},
		{"does not parse", descriptor.Descriptor{Selector: []string{"li["}}, "- invalid_selector"},
		{
			"one that does not parse, one that does",
			descriptor.Descriptor{Selector: []string{"li[["}, Selectors: []string{"ul"}}, "selectors/0 1/1 []",
		},
		{"not drawn", descriptor.Descriptor{Selector: []string{"#hidden"}}, "selector 1/0 []"},
		{"another page", descriptor.Descriptor{Selector: []string{"li"}, URLContains: "example.org"}, "- url"},
		{"an address alone", descriptor.Descriptor{URLMatches: "DATA:text/html,*"}, "url 0/0 []"},
		{"nothing said", descriptor.Descriptor{}, "- empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := descriptor.Resolve(within(t, 10*time.Second), tab, c.d)
			if err != nil {
				t.Fatal(err)
			}
			got := "- " + m.Reason
			if m.Found {
				got = fmt.Sprintf("%s %d/%d %v", m.Candidate, m.Count, m.VisibleCount, m.Relaxed)
			}
			if got != c.want {
				t.Errorf("%+v: got %s, want %s (tried %+v)", c.d, got, c.want, m.Tried)
			}
		})
	}
	all, err := descriptor.ResolveAll(within(t, 10*time.Second), tab, []descriptor.Descriptor{
		{Selector: []string{"#c"}},
		{Selector: []string{"button:disabled"}},
		{Selector: []string{"input[name=q]"}},
		{Selector: []string{"#pw"}},
	})
	if err != nil || len(all) != 4 {
		t.Fatalf("got %d, %v", len(all), err)
	}
	if f := all[0].Facts; f.Checked == nil || !*f.Checked || !f.Visible || !f.Enabled {
		t.Errorf("the checkbox: got %+v", *f)
	}
	if f := all[1].Facts; f.Enabled || f.Checked != nil || f.Text != "Off" {
		t.Errorf("the disabled button: got %+v", *f)
	}
	if f := all[2].Facts; f.Value == nil || *f.Value != "typed" {
		t.Errorf("the field: got %+v", *f)
	}
	if f := all[3].Facts; f.Value != nil {
		t.Error("a password was reported")
	}
}
