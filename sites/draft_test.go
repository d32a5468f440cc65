package sites_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// What a draft cannot run is listed with the reason and not called; the rest of
// the draft works.
func TestAToolOfADraftThatCannotRun(t *testing.T) {
	root := tree(t, map[string]string{
		"sites/a.test/m/actions.json": `{"protocol":"actions.json","version":"0.1.0-working","tools":[
		{"name":"fine","description":"d","input_schema":{},"x_actions":{"static_output":{"ok":true}}},
		{"name":"broken","description":"d","input_schema":{},"workflow":{"steps":[]}},
		{"name":"described","description":"d","input_schema":{},"x_actions":{"dom_strategy":{}}}]}`,
	})
	opts := sites.Options{Known: known, CheckWorkflow: func(json.RawMessage) (problems, warnings []manifest.Problem) {
		return []manifest.Problem{
			{Pointer: "/version", Code: fault.InvalidWorkflow, Message: "version is required"},
		}, nil
	}}
	file := filepath.Join(root, "sites", "a.test", "m", "actions.json")
	if _, reports := sites.Load([]string{file}, opts); reports[0].OK {
		t.Error("a draft is accepted without being asked for")
	}
	opts.AcceptDrafts = true
	l, reports := sites.Load([]string{file}, opts)
	if !reports[0].OK {
		t.Fatalf("refused: %v", reports[0].Errors)
	}
	want := map[string]fault.Code{
		"fine":      "",
		"broken":    fault.InvalidWorkflow,
		"described": fault.UnsupportedExecutionMode,
	}
	for _, a := range l.List("https://a.test/").Actions {
		var got fault.Code
		if a.Unavailable != nil {
			got = a.Unavailable.Code
		}
		if got != want[a.Name] {
			t.Errorf("%s is listed as %q, want %q", a.Name, got, want[a.Name])
		}
		m, err := l.Find("https://a.test/", a.Name)
		if err != nil {
			t.Fatal(err)
		}
		if f := m.Unsupported(); (f == nil) != (want[a.Name] == "") || f != nil && f.Code != want[a.Name] {
			t.Errorf("%s cannot run because of %v, want %q", a.Name, f, want[a.Name])
		}
	}
	if m, _ := l.Find("https://a.test/", "broken"); m.Unsupported().Evidence["pointer"] != "/tools/1/workflow/version" {
		t.Errorf("evidence %v", m.Unsupported().Evidence)
	}
}
