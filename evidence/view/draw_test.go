package view

import (
	"strings"
	"testing"

	"github.com/outrider-run/outrider/evidence/record"
)

// A recording is somebody else's: what is drawn of it does nothing and leads nowhere.
func TestAHostileSnapshotDoesNothing(t *testing.T) {
	for name, raw := range map[string]string{
		"script":        `["HTML",{},["BODY",{},["SCRIPT",{},"alert(1)"],["p",{"onclick":"x()"},"a"]]]`,
		"name":          `["HTML",{},["IMG SRC=X ONERROR=ALERT(1)",{}],["b><script>alert(1)</script",{}]]`,
		"attribute":     `["HTML",{},["P",{"x onload=alert(1) y":"1","><script>":"1"}]]`,
		"value":         `["HTML",{},["P",{"title":"\"><script>alert(1)</script>"}]]`,
		"text":          `["HTML",{},"<script>alert(1)</script>"]`,
		"style":         `["HTML",{},["STYLE",{},"</style><script>alert(1)</script>"]]`,
		"adopted":       `["HTML",{},["template",{"__playwright_style_sheet_":"</style><script>alert(1)</script>"}]]`,
		"textarea":      `["HTML",{},["TEXTAREA",{"__playwright_value_":"</textarea><script>alert(1)</script>"}]]`,
		"script link":   `["HTML",{},["A",{"href":"javascript:alert(1)"},"a"],["IFRAME",{"src":"javascript:alert(1)","srcdoc":"<script>alert(1)</script>"}]]`,
		"object":        `["HTML",{},["OBJECT",{"data":"http://x.test/a.swf"}],["EMBED",{"src":"http://x.test/"}]]`,
		"frame address": `["HTML",{},["IFRAME",{"__outrider_frame__":"-1"}],["IFRAME",{"__outrider_frame__":"99999999999999999999"}]]`,
		"not a node":    `[1,{},["P"],[],[[],{}],{"a":1},null]`,
	} {
		out, err := draw([]byte(raw), record.Snapshot{Main: true, URL: "http://shop.test/", Doctype: "html"}, &record.Target{Path: []int{0, 5, -1}}, func(int) string { return "" })
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
	out, err := draw([]byte(raw), record.Snapshot{Main: true, URL: "http://shop.test/a/b.html"}, nil, func(int) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"../get?url=http%3A%2F%2Fshop.test%2Fs.css\"", `@import "../get?url=http%3A%2F%2Fshop.test%2Fa%2Fi.css"`, `url("../get?url=http%3A%2F%2Fshop.test%2Fa%2Fbg.png")`,
		`url(&#34;../get?url=http%3A%2F%2Fshop.test%2Fa%2Fc.png&#34;)`, "../get?url=http%3A%2F%2Fshop.test%2Fe.png", "data:image/png;base64,AA==", `value="is"`, `href="#icon"`,
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
