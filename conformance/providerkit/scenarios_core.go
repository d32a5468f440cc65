package providerkit

import (
	"bytes"
	"encoding/base64"
	"image"
	_ "image/jpeg" // a provider may answer either
	_ "image/png"
	"maps"
	"reflect"
	"slices"
	"strings"
)

var coreMethods = []string{
	"session.ensure", "session.close", "page.open", "page.snapshot",
	"page.click", "page.type", "page.wait", "page.screenshot",
}

func describe(r *run) {
	d := r.call("provider.describe", object{})
	r.suite.description = d
	for _, member := range []string{"provider_id", "provider_label", "provider_version"} {
		if s, _ := d[member].(string); s == "" {
			r.wrong("%s is missing", member)
		}
	}
	if d["protocol_version"] != "0.1" {
		r.wrong("protocol_version is %v, want \"0.1\"", d["protocol_version"])
	}
	tier, _ := d["certification_tier"].(string)
	if tier != "" && !slices.Contains([]string{"certified", "compatible", "experimental", "candidate"}, tier) {
		r.wrong("certification_tier is no tier")
	}
	capabilities, _ := d["capabilities"].(map[string]any)
	if capabilities == nil {
		r.fail("capabilities is missing")
	}
	listed := names(capabilities["core_methods"])
	for _, m := range coreMethods {
		if !slices.Contains(listed, m) {
			r.wrong("core_methods does not list %s", m)
		}
	}
	custom, _ := capabilities["custom_methods"].([]any)
	for _, entry := range custom {
		m, _ := entry.(map[string]any)
		name, _ := m["name"].(string)
		description, _ := m["description"].(string)
		stability, _ := m["stability"].(string)
		if name == "" || description == "" ||
			!slices.Contains([]string{"stable", "experimental", "deprecated"}, stability) {
			r.wrong("a custom method lacks name, description or a legal stability")
		} else if !strings.Contains(name, ".") {
			r.wrong("a custom method has no namespace")
		}
	}
}

func status(r *run) {
	s := r.call("provider.status", object{})
	availability, _ := s["availability"].(string)
	state, _ := s["setup_state"].(string)
	manual, isBool := s["requires_manual_setup"].(bool)
	diagnostics, isList := s["diagnostics"].([]any)
	if !slices.Contains([]string{"ready", "degraded", "unavailable"}, availability) {
		r.wrong("availability is not ready, degraded or unavailable")
	}
	if !slices.Contains([]string{"complete", "partial", "required", "broken"}, state) {
		r.wrong("setup_state is not complete, partial, required or broken")
	}
	if !isBool || !isList {
		r.fail("requires_manual_setup or diagnostics is missing")
	}
	if availability == "ready" && (state != "complete" || manual) {
		r.wrong("availability is ready while setup_state is %s and requires_manual_setup is %t", state, manual)
	}
	if availability == "unavailable" && len(diagnostics) == 0 {
		r.wrong("availability is unavailable without a diagnostic")
	}
	for _, entry := range diagnostics {
		d, _ := entry.(map[string]any)
		level, _ := d["level"].(string)
		if d["code"] == nil || d["message"] == nil || !slices.Contains([]string{"info", "warning", "error"}, level) {
			r.wrong("a diagnostic lacks a legal level, code or message")
		}
	}
}

func session(r *run) {
	ask := func(name string) object {
		result := r.call("session.ensure", object{
			"client_session_id": "conformance-" + r.visit + name,
			"isolation":         "per_jcode_session",
			"attach":            "prefer",
			"metadata":          object{"owner": "agent"},
		})
		id := r.text("session.ensure", result, "session_id")
		if !slices.Contains(r.sessions, id) {
			r.sessions = append(r.sessions, id)
		}
		return result
	}
	first := ask("a")
	again := ask("a")
	other := ask("b")
	r.text("session.ensure", first, "browser_family")
	r.text("session.ensure", first, "default_page_id")
	if _, ok := first["attached_to_existing_browser"].(bool); !ok {
		r.wrong("attached_to_existing_browser is not a boolean")
	}
	if first["session_id"] != again["session_id"] {
		r.wrong("the same client_session_id was given another session_id")
	}
	if first["session_id"] == other["session_id"] {
		r.wrong("another client_session_id was given the same session_id")
	}
	if first["default_page_id"] != again["default_page_id"] {
		r.wrong("the default_page_id changed without a reason")
	}
	r.refused("session.ensure", object{"client_session_id": 7}, "invalid_request")
}

func open(r *run) {
	s := r.session("")
	at := func(address, path, title string) string {
		result := r.call("page.open", object{"session_id": s, "url": address, "wait_until": "load"})
		if got, _ := result["url"].(string); !strings.HasPrefix(got, r.site.URL+path) {
			r.wrong("page.open of %s does not tell where it ended", path)
		}
		if got, ok := result["title"].(string); ok && got != title {
			r.wrong("page.open reports the title %q, want %q", got, title)
		}
		return r.text("page.open", result, "page_id")
	}
	first := at(r.site.fixture(r.visit), "/fixture", "Conformance fixture")
	if second := at(r.site.URL+"/moved", "/second", "Second page"); second != first {
		r.wrong("page.open without new_page went to another page")
	}
	result := r.call("page.open", object{"session_id": s, "url": r.site.URL + "/second", "new_page": true})
	if r.text("page.open", result, "page_id") == first {
		r.wrong("page.open with new_page stayed on the same page")
	}
	r.refused("page.open", object{"session_id": s}, "invalid_request")
}

func snapshot(r *run) {
	s, page := r.opened()
	result := r.call("page.snapshot", object{"session_id": s, "page_id": page, "include_text": true})
	if got := r.text("page.snapshot", result, "page_id"); got != page {
		r.wrong("page.snapshot reports another page_id than was asked for")
	}
	if r.text("page.snapshot", result, "url") != r.site.fixture(r.visit) ||
		r.text("page.snapshot", result, "title") != "Conformance fixture" {
		r.wrong("page.snapshot reports another url or title than the page has")
	}
	if text, _ := result["text"].(string); !strings.Contains(text, "Still here") {
		r.wrong("the text lacks what the page shows")
	} else if strings.Contains(text, "Hidden button") {
		r.wrong("the text has what the page hides")
	}
	tree, _ := result["snapshot"].(map[string]any)
	if tree["format"] != "jcode.page_snapshot.v1" {
		r.fail("snapshot.format is not jcode.page_snapshot.v1")
	}
	root, _ := tree["root"].(map[string]any)
	nodes, _ := tree["nodes"].([]any)
	if root == nil || root["role"] != "document" || len(nodes) == 0 {
		r.fail("the snapshot has no document root or no nodes")
	}
	known := map[string]bool{}
	refs := map[string]bool{}
	actionable := map[string]bool{}
	all := append([]any{root}, nodes...)
	for _, entry := range all {
		n, _ := entry.(map[string]any)
		id, _ := n["node_id"].(string)
		if id == "" || known[id] {
			r.fail("a node has no node_id of its own")
		}
		known[id] = true
		if ref, ok := n["element_ref"]; ok {
			s, isText := ref.(string)
			if !isText || s == "" || refs[s] {
				r.fail("an element_ref is not a string of its own")
			}
			refs[s] = true
			if a, _ := n["actionable"].(bool); a {
				actionable[s] = true
			}
		}
	}
	for _, entry := range all {
		n, _ := entry.(map[string]any)
		children, _ := n["children"].([]any)
		for _, child := range children {
			if id, _ := child.(string); !known[id] {
				r.fail("a node lists a child that is not there")
			}
		}
	}
	elements, _ := result["elements"].([]any)
	listed := map[string]bool{}
	for _, entry := range elements {
		e, _ := entry.(map[string]any)
		ref, _ := e["element_ref"].(string)
		listed[ref] = true
	}
	if len(elements) == 0 {
		r.fail("elements is empty on a page with buttons")
	}
	if !maps.Equal(listed, actionable) {
		r.wrong("elements is not the list of the actionable nodes: %d against %d", len(listed), len(actionable))
	}
	if _, ok := find(elements, "button", "Activate me"); !ok {
		r.wrong("elements lacks the button Activate me")
	}
}

// find returns the ref of the element with a role and a name.
func find(elements []any, role, name string) (string, bool) {
	for _, entry := range elements {
		e, _ := entry.(map[string]any)
		text, _ := e["text"].(string)
		if e["role"] == role && (e["name"] == name || text == name) {
			ref, ok := e["element_ref"].(string)
			return ref, ok && ref != ""
		}
	}
	return "", false
}

// ref reads the ref of an element from a fresh snapshot.
func (r *run) ref(session, role, name string) string {
	result := r.call("page.snapshot", object{"session_id": session})
	elements, _ := result["elements"].([]any)
	ref, ok := find(elements, role, name)
	if !ok {
		r.fail("page.snapshot lists no %s %q with an element_ref", role, name)
	}
	return ref
}

func click(r *run) {
	for _, c := range []struct {
		how    string
		target func(session string) object
		sees   string
	}{
		{"element_ref", func(s string) object {
			return object{"element_ref": r.ref(s, "button", "Activate me")}
		}, "activated"},
		{"selector", func(string) object { return object{"selector": "#go"} }, "activated"},
		{"text_query", func(string) object { return object{"text_query": "Activate me"} }, "activated"},
		{"position", func(string) object { return object{"position": object{"x": 360, "y": 220}} }, "spot"},
	} {
		visit := r.visit
		r.visit = visit + "-" + c.how // each way on a page of its own: nothing is left from the one before
		s := r.session("")
		r.call("page.open", object{"session_id": s, "url": r.site.fixture(r.visit)})
		params := c.target(s)
		params["session_id"], params["timeout_ms"] = s, 20000
		result := r.call("page.click", params)
		r.is("page.click", result, "clicked")
		r.text("page.click", result, "page_id")
		if !r.seen(c.sees) {
			r.wrong(
				"page.click by %s claims success, and the page did not see it; it saw %q",
				c.how, r.site.reported(r.visit),
			)
		}
		r.visit = visit
	}
}

func typeText(r *run) {
	s, _ := r.opened()
	typing := func(params object) {
		params["session_id"] = s
		r.is("page.type", r.call("page.type", params), "typed")
	}
	typing(object{"selector": "#name", "text": "Ada", "replace": true})
	if !r.seen("value Ada") {
		r.fail(
			"page.type with replace did not leave the new text alone in the input; the page saw %q",
			r.site.reported(r.visit),
		)
	}
	typing(object{"element_ref": r.ref(s, "textbox", "Name"), "text": "Grace", "replace": true, "submit": true})
	if !r.seen("submitted Grace") {
		r.fail("page.type with submit did not submit the new text; the page saw %q", r.site.reported(r.visit))
	}
	if text := r.pageText(s); !strings.Contains(text, "submitted Grace") {
		r.wrong("a snapshot after page.type does not show what it led to")
	}
	r.refused("page.type", object{"session_id": s, "selector": "#name"}, "invalid_request")
	r.refused(
		"page.type", object{"session_id": s, "selector": "#missing", "text": "x", "timeout_ms": 500},
		"element_not_found",
	)
}

func wait(r *run) {
	s, _ := r.opened()
	waiting := func(params object) object {
		params["session_id"] = s
		return r.call("page.wait", params)
	}
	if now := waiting(object{"text_present": "It has arrived", "timeout_ms": 300}); now["satisfied"] != false {
		r.fail("page.wait is satisfied by text that is not there")
	}
	r.call("page.click", object{"session_id": s, "selector": "#later"})
	r.is("page.wait", waiting(object{"text_present": "It has arrived", "timeout_ms": 20000}), "satisfied")
	if r.site.happened(r.visit, "changed", 0) == 0 {
		r.fail("page.wait was satisfied before the page changed")
	}
	for _, c := range []object{
		{"selector_present": ".late"},
		{"selector_absent": "#early"},
		{"text_absent": "Still here"},
		{"url_matches": "*/fixture*"},
		{"navigation_complete": true},
	} {
		name := members(c)
		c["timeout_ms"] = 20000
		if result := waiting(c); result["satisfied"] != true {
			r.wrong("page.wait %s is not satisfied by what is there", name)
		}
	}
	for _, c := range []object{
		{"selector_present": "#early"},
		{"selector_absent": ".late"},
		{"text_absent": "It has arrived"},
		{"url_matches": "*/nowhere"},
	} {
		name := members(c)
		c["timeout_ms"] = 300
		if result := waiting(c); result["satisfied"] != false {
			r.wrong("page.wait %s is satisfied by what is not there", name)
		}
	}
	r.refused("page.wait", object{"session_id": s}, "invalid_request")
}

// screenshot decodes the image of a result.
func (r *run) screenshot(result object) image.Image {
	encoded := r.text("page.screenshot", result, "image")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		r.fail("the image is not base64")
	}
	decoded, format, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		r.fail("the image does not decode")
	}
	if media, _ := result["media_type"].(string); media != "image/"+format {
		r.wrong("media_type is %q, the image is a %s", media, format)
	}
	width, _ := result["width"].(float64)
	height, _ := result["height"].(float64)
	if int(width) != decoded.Bounds().Dx() || int(height) != decoded.Bounds().Dy() {
		r.wrong(
			"width and height are %v x %v, the image has %d x %d",
			width, height, decoded.Bounds().Dx(), decoded.Bounds().Dy(),
		)
	}
	return decoded
}

func screenshot(r *run) {
	s := r.session("")
	r.call("page.open", object{"session_id": s, "url": r.site.URL + "/colour"})
	result := r.call("page.screenshot", object{"session_id": s})
	if result["image"] == nil && result["image_ref"] != nil {
		r.text("page.screenshot", result, "image_ref")
		return // how to read it is the provider's
	}
	shot := r.screenshot(result)
	at := shot.Bounds().Size().Div(2)
	red, green, blue, _ := shot.At(at.X, at.Y).RGBA()
	near := func(got uint32, want int) bool { d := int(got>>8) - want; return d > -12 && d < 12 }
	if !near(red, colourRed) || !near(green, colourGreen) || !near(blue, colourBlue) {
		r.wrong("the image does not show the page")
	}
	clipped := r.screenshot(r.call("page.screenshot", object{
		"session_id": s,
		"clip":       object{"x": 10, "y": 10, "width": 64, "height": 32},
	}))
	if b := clipped.Bounds(); b.Dx()*32 != b.Dy()*64 || b.Dx() >= shot.Bounds().Dx() {
		r.wrong("clip gave an image of %d x %d", b.Dx(), b.Dy())
	}
}

func closeSession(r *run) {
	s, page := r.opened()
	r.call("session.close", object{"session_id": s})
	r.refused("page.snapshot", object{"session_id": s, "page_id": page}, "session_not_found")
	r.refused("session.close", object{"session_id": s}, "session_not_found")
	if again := r.session(""); again == s {
		r.wrong("a closed session came back with its old id")
	}
	if !strings.Contains(strings.ToLower(said(r)), "close") {
		r.wrong("neither describe nor the diagnostics of status say what session.close does")
	}
}

// said is what the provider says of itself in words.
func said(r *run) string {
	var b strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\n")
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for name, e := range v {
				if name != "core_methods" && name != "optional_methods" && name != "stability" {
					walk(e)
				}
			}
		}
	}
	walk(r.call("provider.status", object{}))
	walk(r.description)
	return b.String()
}

func repeat(r *run) {
	if again := r.call("provider.describe", object{}); !reflect.DeepEqual(again, r.description) {
		r.wrong("provider.describe changed")
	}
	s, page := r.opened()
	read := func() (map[string]any, []any) {
		result := r.call("page.snapshot", object{"session_id": s, "page_id": page})
		elements, _ := result["elements"].([]any)
		return result, elements
	}
	first, one := read()
	second, two := read()
	if !slices.Equal(slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(second))) {
		r.wrong("page.snapshot changed its form")
	}
	a, _ := find(one, "button", "Activate me")
	if b, _ := find(two, "button", "Activate me"); a == "" || a != b {
		r.wrong("the same element has another element_ref in the next snapshot")
	}
	r.call("page.click", object{"session_id": s, "element_ref": a})
	r.saw("page.click", "activated")
	if result := r.call("page.open", object{
		"session_id": s,
		"url":        r.site.URL + "/second",
	}); result["page_id"] != page {
		r.wrong("the page_id changed with a navigation")
	}
}
