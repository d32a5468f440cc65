package view

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/evidence/record"
)

// A recording is somebody else's: what is drawn of it does nothing and leads nowhere.
func TestAHostileSnapshotDoesNothing(t *testing.T) {
	for name, raw := range map[string]string{
		"script":    `["HTML",{},["BODY",{},["SCRIPT",{},"alert(1)"],["p",{"onclick":"x()"},"a"]]]`,
		"name":      `["HTML",{},["IMG SRC=X ONERROR=ALERT(1)",{}],["b><script>alert(1)</script",{}]]`,
		"attribute": `["HTML",{},["P",{"x onload=alert(1) y":"1","><script>":"1"}]]`,
		"value":     `["HTML",{},["P",{"title":"\"><script>alert(1)</script>"}]]`,
		"text":      `["HTML",{},"<script>alert(1)</script>"]`,
		"style":     `["HTML",{},["STYLE",{},"</style><script>alert(1)</script>"]]`,
		"adopted":   `["HTML",{},["template",{"__playwright_style_sheet_":"</style><script>alert(1)</script>"}]]`,
		"textarea":  `["HTML",{},["TEXTAREA",{"__playwright_value_":"</textarea><script>alert(1)</script>"}]]`,
		"script link": `["HTML",{},["A",{"href":"javascript:alert(1)"},"a"],["IFRAME",{"src":"javascript:alert(1)",` +
			`"srcdoc":"<script>alert(1)</script>"}]]`,
		"object": `["HTML",{},["OBJECT",{"data":"http://x.test/a.swf"}],["EMBED",{"src":"http://x.test/"}]]`,
		"frame address": `["HTML",{},["IFRAME",{"__outrider_frame__":"-1"}],["IFRAME",` +
			`{"__outrider_frame__":"99999999999999999999"}]]`,
		"not a node": `[1,{},["P"],[],[[],{}],{"a":1},null]`,
	} {
		out, err := draw(
			[]byte(raw), record.Snapshot{Main: true, URL: "http://shop.test/", Doctype: "html"},
			&record.Target{Path: []int{0, 5, -1}}, func(int) string { return "" },
		)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		text := strings.ToLower(string(out))
		for _, never := range []string{"<script", " on", "javascript:", "srcdoc", "x.test", "<object", "<embed"} {
			if strings.Contains(text, never) {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}

func TestAddressesLeadToTheRecording(t *testing.T) {
	raw := `["HTML",{},["HEAD",{},["BASE",{"href":"http://shop.test/a/b.html"}],["LINK",{"rel":"stylesheet","href":"../s.css#x"}],["LINK",{"rel":"preload","href":"/p.js"}],["STYLE",{},"@import 'i.css'; p{background:url( \"bg.png\" )}"]],
		["BODY",{"style":"background:url(c.png)"},["IMG",{"src":"d.png","srcset":"e.png 2x","__playwright_current_src__":"http://shop.test/e.png"}],["IMG",{"src":"data:image/png;base64,AA=="}],["INPUT",{"value":"was","__playwright_value_":"is","__playwright_checked_":"false"}],
		["svg",{},["use",{"href":"#icon"}]]]]`
	out, err := draw([]byte(raw), record.Snapshot{Main: true, URL: "http://shop.test/a/b.html"}, nil, func(int) string {
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"../get?url=http%3A%2F%2Fshop.test%2Fs.css\"", `@import "../get?url=http%3A%2F%2Fshop.test%2Fa%2Fi.css"`,
		`url("../get?url=http%3A%2F%2Fshop.test%2Fa%2Fbg.png")`,
		`url(&#34;../get?url=http%3A%2F%2Fshop.test%2Fa%2Fc.png&#34;)`,
		"../get?url=http%3A%2F%2Fshop.test%2Fe.png", "data:image/png;base64,AA==", `value="is"`, `href="#icon"`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
	for _, never := range []string{"p.js", "d.png", `value="was"`, "checked"} {
		if strings.Contains(string(out), never) {
			t.Errorf("%s is in %s", never, out)
		}
	}
}

// The address beside the document afterwards is that of the document, and a call shows how it left the state
// projections.
func TestARowSaysWhereItLedAndWhatItLeft(t *testing.T) {
	event := func(kind record.Kind, data string) record.Event {
		return record.Event{Kind: kind, Tab: 1, Data: json.RawMessage(data)}
	}
	x := read(&record.Recording{Events: []record.Event{
		event(record.KindCallBegin, `{"id":"c1","name":"browser.navigate","url":"about:blank"}`),
		event(record.KindState, `{"projection":"shop.cart","call":"c1","state_hash":"a","resource":"ra"}`),
		event(
			record.KindStepBegin,
			`{"id":"s1","call":"c1","primitive":"browser.navigate","acts":true,"url":"about:blank"}`,
		),
		event(record.KindSnapshot, `{"step":"s1","phase":"before","main":true,"url":"about:blank"}`),
		event(record.KindStepEnd, `{"id":"s1","ok":true}`),
		event(record.KindCallEnd, `{"id":"c1","name":"browser.navigate","ok":true,"url":"http://shop.test/"}`),
		event(record.KindSnapshot, `{"step":"s1","phase":"after","main":true,"url":"http://shop.test/"}`),
		event(record.KindState, `{"projection":"shop.cart","state_hash":"b","resource":"rb","patches":[{"op":"add",`+
			`"path":"/items/0","value":"Tea"}]}`),
	}})
	if len(x.model.Rows) != 1 || x.model.Rows[0].URL != "about:blank" ||
		x.model.Rows[0].AfterURL != "http://shop.test/" {
		t.Errorf("%+v", x.model.Rows)
	}
	d, _ := x.detail("c1")
	if len(d.Projections) != 1 || d.Projections[0].State != "rb" ||
		!strings.Contains(string(d.Projections[0].Patches), "Tea") {
		t.Errorf("%+v", d.Projections)
	}
}
