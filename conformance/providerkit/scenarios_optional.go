package providerkit

import (
	"encoding/json"
	"reflect"
	"strings"
)

func history(r *run) {
	s, _ := r.opened()
	r.call("page.open", object{"session_id": s, "url": r.site.URL + "/second"})
	at := func(method, path string) {
		if result := r.call(method, object{"session_id": s}); !strings.Contains(r.text(method, result, "url"), path) {
			r.wrong("%s did not lead to %s", method, path)
		}
	}
	at("page.go_back", "/fixture")
	if r.claims("page.go_forward") {
		at("page.go_forward", "/second")
	}
	if r.claims("page.reload") {
		at("page.reload", "")
	}
}

func press(r *run) {
	s, _ := r.opened()
	r.is(
		"page.press", r.call("page.press", object{"session_id": s, "selector": "#name", "key": "ArrowLeft"}), "pressed",
	)
	r.saw("page.press", "key ArrowLeft")
}

func selectOption(r *run) {
	s, _ := r.opened()
	r.call("page.select", object{"session_id": s, "selector": "#pick", "value": "two"})
	r.saw("page.select", "picked two")
}

func hover(r *run) {
	s, _ := r.opened()
	r.call("page.hover", object{"session_id": s, "selector": "#zone"})
	r.saw("page.hover", "hovered")
}

func scroll(r *run) {
	s, _ := r.opened()
	r.call("page.scroll", object{"session_id": s, "y": 400})
	r.saw("page.scroll", "scrolled")
}

func eval(r *run) {
	s, _ := r.opened()
	for script, want := range map[string]string{
		"return 1 + 1":                         `2`,
		"return 'a' + 'b'":                     `"ab"`,
		"return [1, {a: null}]":                `[1,{"a":null}]`,
		"return true":                          `true`,
		"return document.title":                `"Conformance fixture"`,
		"return await Promise.resolve({b: 2})": `{"b":2}`,
	} {
		result := r.call("page.eval", object{"session_id": s, "expression": script})
		var expected any
		if err := json.Unmarshal([]byte(want), &expected); err != nil {
			r.fail("the suite is wrong: %v", err)
		}
		if !reflect.DeepEqual(result["value"], expected) {
			r.wrong("page.eval of %q did not give %s", script, want)
		}
	}
	if a := r.ask("page.eval", object{"session_id": s, "expression": "throw new Error('on purpose')"}); *a.OK {
		r.wrong("page.eval succeeded with a script that threw")
	}
}

func tabs(r *run) {
	s, first := r.opened()
	list := func() (map[string]string, string) {
		result := r.call("tab.list", object{"session_id": s})
		entries, _ := result["tabs"].([]any)
		pages, active := map[string]string{}, ""
		for _, entry := range entries {
			tab, _ := entry.(map[string]any)
			id, page := r.text("tab.list", tab, "tab_id"), r.text("tab.list", tab, "page_id")
			pages[page] = id
			if tab["active"] == true {
				active = page
			}
		}
		return pages, active
	}
	before, _ := list()
	if before[first] == "" {
		r.fail("tab.list does not list the page that is open")
	}
	made := r.call("tab.new", object{"session_id": s, "url": r.site.URL + "/second"})
	page := r.text("tab.new", made, "page_id")
	if after, _ := list(); len(after) != len(before)+1 || after[page] == "" {
		r.wrong("tab.list does not list the new tab, and it alone")
	}
	r.call("tab.activate", object{"session_id": s, "tab_id": before[first]})
	if _, active := list(); active != first {
		r.wrong("tab.activate did not make the tab the active one")
	}
	r.call("tab.close", object{"session_id": s, "tab_id": r.text("tab.new", made, "tab_id")})
	if after, _ := list(); len(after) != len(before) || after[page] != "" {
		r.wrong("tab.list lists a tab that was closed")
	}
	r.refused("page.snapshot", object{"session_id": s, "page_id": page}, "page_not_found")
}

// lists checks that some entry of a list has a text.
func (r *run) lists(method string, result object, member, text string) {
	entries, ok := result[member].([]any)
	if !ok {
		r.fail("the result of %s has no list %s", method, member)
	}
	encoded, err := json.Marshal(entries)
	if err != nil {
		r.fail("the result of %s does not encode", method)
	}
	if !strings.Contains(string(encoded), text) {
		r.wrong("%s does not tell what happened on the page", method)
	}
}

func console(r *run) {
	s, _ := r.opened()
	r.lists("console.list", r.call("console.list", object{"session_id": s}), "entries", "fixture says hello")
}

func network(r *run) {
	s, _ := r.opened()
	r.call("network.list", object{"session_id": s}) // from here on it may record
	r.call("page.open", object{"session_id": s, "url": r.site.URL + "/second"})
	r.lists("network.list", r.call("network.list", object{"session_id": s}), "entries", r.site.URL+"/second")
}

func cookies(r *run) {
	s := r.session("")
	r.call("page.open", object{"session_id": s, "url": r.site.URL + "/who?set"})
	r.lists("cookie.list", r.call("cookie.list", object{"session_id": s}), "cookies", `"who"`)
}

func storage(r *run) {
	s, _ := r.opened()
	result := r.call("storage.get", object{"session_id": s, "area": "local"})
	if items, _ := result["items"].(map[string]any); items["fixture"] != "kept" {
		r.wrong("storage.get does not tell what the page keeps")
	}
}

func fullPage(r *run) {
	s, _ := r.opened()
	viewport := r.screenshot(r.call("page.screenshot", object{"session_id": s})).Bounds()
	whole := r.screenshot(r.call("page.screenshot", object{"session_id": s, "full_page": true})).Bounds()
	if whole.Dy() <= viewport.Dy() {
		r.wrong("full_page gave %d pixels of height, the viewport has %d", whole.Dy(), viewport.Dy())
	}
}

func setup(r *run) {
	if r.claims("provider.setup_guide") {
		r.call("provider.setup_guide", object{})
	}
	r.call("provider.verify", object{})
}
