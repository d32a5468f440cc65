package runtime_test

import (
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
)

const markerPage = `
<style>body { margin: 0 } button, input { position: absolute; left: 40px; top: 60px; width: 100px; height: 30px; box-sizing: border-box } input { top: 200px; }</style>
<button data-id=a onmouseover="document.title = 'over'" onclick="document.title = 'pressed'">Ant</button><input data-id=i value="text">`

// Markers are those of the last read of their projection, in the document in
// which it was made, and they find their place anew each time.
func TestMarkers(t *testing.T) {
	url := serve(t, map[string]string{"/": markerPage, "/other": `<p>empty</p>`})
	step := func(selector string) string {
		return `{"primitive":"locator.element_info","args":{"locator":{"selector":"` + selector + `"}}}`
	}
	h := openMap(t, []string{url}, mapOf(nil, []string{
		shelfProjection("marked.all", `"markers":[
		  {"id":"ant","type":"pointer","recipe":[`+step("button")+`]},
		  {"id":"gone","type":"pointer","recipe":[`+step("#gone")+`]},
		  {"id":"keys","type":"pointer","recipe":[{"primitive":"keyboard.press","args":{"key":"Shift"}}]},
		  {"id":"caret","type":"cursor","recipe":[`+step("input")+
			`,{"primitive":"text.insert","args":{"target":{"selector":"input"},"text":"!","mode":"append"}}]}],`),
		shelfProjection("marked.more", `"markers":[{"id":"other","type":"pointer","anchor":{"x":5,"y":6},`+
			`"recipe":[{"primitive":"keyboard.press","args":{"key":"Shift"}}]}],`),
		shelfProjection("marked.not", ""),
	}))
	fails := func(name, args string, code fault.Code) *fault.Error {
		t.Helper()
		r := do(t, h, name, args, 0)
		if fault.CodeOf(r.Err) != code {
			t.Fatalf("%s %s: got %v, want %s", name, args, r.Err, code)
		}
		return r.Err
	}
	fails("marker.query", `{"id":"ant"}`, fault.MarkerNotFound)
	read := func(name string) map[string]any {
		t.Helper()
		return output(t, site(t, h, `{"mode":"state_read","projection_name":"`+name+`"}`))
	}
	if got := encode(t, read("marked.all")["markers"]); !strings.Contains(got, `"id":"ant"`) {
		t.Errorf("the state has the markers %s", got)
	}
	got := value(t, do(t, h, "marker.query", `{"id":"ant"}`, 0))
	if encode(t, got["location"]) != `{"x":90,"y":75}` || got["marker"] != "ant" || got["type"] != "pointer" ||
		got["moved"] != nil {
		t.Errorf("marker.query: %v", got)
	}
	if got := value(t, do(t, h, "page.info", `{}`, 0)); got["title"] != "" {
		t.Errorf("the query has moved something: %v", got)
	}
	got = value(t, do(t, h, "pointer.move_to", `{"marker":"ant"}`, 0))
	if got["moved"] != true || encode(t, got["location"]) != `{"x":90,"y":75}` {
		t.Errorf("pointer.move_to: %v", got)
	}
	if got := value(t, do(t, h, "page.info", `{}`, 0)); got["title"] != "over" {
		t.Errorf("the pointer is not there: %v", got)
	}
	got = value(t, do(t, h, "cursor.move_to", `{"id":"caret"}`, 0))
	if got["moved"] != true || encode(t, got["location"]) != `{"x":90,"y":215}` {
		t.Errorf("cursor.move_to: %v", got)
	}
	if got := value(t, do(t, h, "locator.value", `{"locator":{"selector":"input"}}`, 0)); got["value"] != "text!" {
		t.Errorf("the recipe did not run: %v", got)
	}
	fails("cursor.move_to", `{"marker":"ant"}`, fault.MarkerTypeMismatch)
	fails("pointer.move_to", `{"marker":"caret"}`, fault.MarkerTypeMismatch)
	fails("pointer.move_to", `{"marker":"keys"}`, fault.MarkerPromiseUnkept)
	fails("marker.query", `{"id":"gone"}`, fault.MarkerRecipeStepFailed)
	err := fails("marker.query", `{"id":"x"}`, fault.MarkerNotFound)
	if ids := encode(t, err.Evidence["registered"]); ids != `["ant","caret","gone","keys"]` {
		t.Errorf("registered: %s", ids)
	}

	// A second projection adds its own, one without markers changes nothing.
	read("marked.more")
	read("marked.not")
	read("marked.more")
	if got := value(t, do(t, h, "marker.query", `{"id":"other"}`, 0)); encode(t, got["location"]) != `{"x":5,"y":6}` {
		t.Errorf("the anchor: %v", got)
	}
	err = fails("marker.query", `{"id":"x"}`, fault.MarkerNotFound)
	if ids := encode(t, err.Evidence["registered"]); ids != `["ant","caret","gone","keys","other"]` {
		t.Errorf("registered: %s", ids)
	}

	// They die with the document.
	value(t, do(t, h, "browser.navigate", `{"reload":true}`, 0))
	err = fails("marker.query", `{"id":"ant"}`, fault.MarkerNotFound)
	if ids := encode(t, err.Evidence["registered"]); ids != `[]` {
		t.Errorf("after a reload: %s", ids)
	}
}
