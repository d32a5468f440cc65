package verify

import (
	"encoding/json"
	"testing"

	"github.com/outrider-run/outrider/internal/element/locators"
)

func TestLocatorsOfArgumentsThatCanBeRepaired(t *testing.T) {
	for args, want := range map[string]string{
		`{"locator":{"selector":"#a"}}`:                                "/args/locator",
		`{"locator":{"role":"button","name":"Pay","strict":false}}`:    "/args/locator",
		`{"target":"#a","text":"x"}`:                                   "/args/target",
		`{"target":{"locator":{"selector":"#a","text":"Pay"}}}`:        "/args/target/locator",
		`{"selector":"#a"}`:                                            "/args/selector",
		`{"locator":{"selector":"{% input.s %}"}}`:                     "",
		`{"locator":{"selector":"#a","text":"{% input.name %}"}}`:      "",
		`{"locator":{"selector":"#a","frame":"iframe"}}`:               "",
		`{"locator":{"selector":"#a","nth":1}}`:                        "",
		`{"locator":{"role":"button","name":{"contains":"Pay"}}}`:      "",
		`{"locator":{"pierce":true}}`:                                  "",
		`{"locator":{}}`:                                               "",
		`{"x":1,"y":"{% steps.a.output.y %}"}`:                         "",
		`{"selector":{"selector":"#a"}}`:                               "",
		`{"target":{"locator":{"selector":"#a"},"selector":"#b"}}`:     "",
		`{"target":{"locator":{"locator":{"locator":"{% input %}"}}}}`: "",
	} {
		got := ""
		if all := WrittenIn(json.RawMessage(args), "/args"); len(all) == 1 {
			got = all[0].Target.At.Pointer
		}
		if got != want {
			t.Errorf("%s: got %q, expected %q", args, got, want)
		}
	}
}

func TestALocatorStaysInTheWordsThatItHad(t *testing.T) {
	byRole := locators.Locator{Kind: locators.RoleName, Role: "button", Name: "Pay"}
	byText := locators.Locator{Kind: locators.Text, Selector: "button", TextEquals: "Pay"}
	byID := locators.Locator{Kind: locators.Attributes, Selector: "#pay-acme"}
	byPlace := locators.Locator{Kind: locators.Structure, Selector: "form > button"}
	for _, c := range []struct {
		args, arguments string
		upstream        bool
		names           []locators.Locator
		want            string
	}{
		{
			`{"locator":{"selector":"#a"}}`, `{}`, false,
			[]locators.Locator{byRole, byID, byText}, `{"locator":{"selector":"#pay-acme"}}`,
		},
		{
			`{"locator":{"selector":"#a"}}`, `{"who":"Acme"}`, false, []locators.Locator{byRole, byID, byText},
			`{"locator":{"selector":"button","text_equals":"Pay"}}`,
		},
		{
			`{"locator":{"selector":"#acme"}}`, `{"who":"Acme"}`, false,
			[]locators.Locator{byRole, byID, byText}, `{"locator":{"selector":"#pay-acme"}}`,
		},
		{
			`{"locator":{"role":"link","name":"Buy","exact":true}}`, `{}`, false,
			[]locators.Locator{byRole, byID}, `{"locator":{"exact":true,"name":"Pay","role":"button"}}`,
		},
		{
			`{"locator":{"selector":"#a"}}`, `{}`, false, []locators.Locator{byRole, byPlace},
			`{"locator":{"name":"Pay","role":"button"}}`,
		},
		{
			`{"locator":{"selector":"#a"}}`, `{}`, true,
			[]locators.Locator{byRole, byPlace}, `{"locator":{"selector":"form > button"}}`,
		},
		{`{"locator":{"selector":"#a"}}`, `{}`, true, []locators.Locator{byRole}, ``},
		{
			`{"target":"#a","text":"x"}`, `{}`, false,
			[]locators.Locator{byRole, byID}, `{"target":"#pay-acme","text":"x"}`,
		},
		{
			`{"target":"#a","text":"x"}`, `{}`, false, []locators.Locator{byText},
			`{"target":{"selector":"button","text_equals":"Pay"},"text":"x"}`,
		},
		{`{"selector":"#a"}`, `{}`, false, []locators.Locator{byRole, byText}, ``},
		{
			`{"target":{"locator":{"selector":"#a"}}}`, `{}`, false,
			[]locators.Locator{byID}, `{"target":{"locator":{"selector":"#pay-acme"}}}`,
		},
	} {
		w := WrittenIn(json.RawMessage(c.args), "/args")[0]
		got := ""
		if l, ok := w.choose(withoutValues(c.names, w.Target, json.RawMessage(c.arguments)), c.upstream); ok {
			in, ok := w.In(json.RawMessage(c.args), w.write(l))
			if !ok {
				t.Errorf("%s: no place", c.args)
			}
			got = string(in)
		}
		if got != c.want {
			t.Errorf("%s with %s: got %s, expected %s", c.args, c.arguments, got, c.want)
		}
	}
}
