package manifest_test

import (
	"testing"

	"github.com/outrider-run/outrider/sites/manifest"
)

const lookups = `{
  "protocol": "actions.json", "version": 1,
  "states": [
    {"name": "ready", "diagnostics": [{"name": "form", "target": {"selector": "#form"}}, {"name": "both", "target": {"selector": "#state"}}]}
  ],
  "transitions": [{"name": "go", "from": "ready", "to": "ready", "tool": "both"}],
  "signals": [{"name": "seen", "event": "seen", "ingestion": "enabled", "target": {"selector": "#signal"}}],
  "attachments": [{"id": "badge", "target": {"selector": "#badge"}, "lifecycle": {"install": "when_target_matches"}}],
  "checks": [{
    "id": "alive", "tools": ["both"], "states": ["ready"], "attachments": ["badge"],
    "setup": [{"type": "navigate", "url": "https://example.com/"}, "go home", {"type": "scroll", "delta_y": "far"}]
  }],
  "tools": [{
    "name": "both", "description": "Does both.", "input_schema": {}, "target": {"selector": "#tool"},
    "x_actions": {
      "source": {"scope": {"selector": "main"}, "item_selector": "li", "fields": []},
      "execution": {"steps": [{"id": "move", "type": "scroll", "x": 1.5, "delta_y": -200, "keys": ["a"], "key": "b", "many": true,
        "direction": "down", "url_from": "where", "arguments": {"a": 1}, "assert": {"role": "button"}}]}
    }
  }]
}`

func TestWhatIsDeclaredIsFoundByItsName(t *testing.T) {
	m, report := manifest.Parse([]byte(lookups), manifest.Options{})
	if m == nil {
		t.Fatalf("refused: %v", report.Errors)
	}
	if m.State("ready") == nil || m.Transition("go") == nil || m.Signal("seen") == nil ||
		m.Attachment("badge") == nil || m.Check("alive") == nil {
		t.Error("something declared is not found")
	}
	if m.State("go") != nil || m.Transition("ready") != nil || m.Signal("") != nil || m.Attachment("seen") != nil ||
		m.Check("badge") != nil {
		t.Error("something is found by a name of another section")
	}
	for name, want := range map[string]string{
		"both":       "#tool",
		"seen":       "#signal",
		"badge":      "#badge",
		"form":       "#form",
		"ready.form": "#form",
		"ready.both": "#state",
		"ready":      "",
		"other":      "",
	} {
		got := ""
		if target := m.TargetNamed(name); target != nil {
			got = target.Selector[0]
		}
		if got != want {
			t.Errorf("the target named %s is %q, want %q", name, got, want)
		}
	}
}

func TestStepsAndChecksAreTyped(t *testing.T) {
	m, report := manifest.Parse([]byte(lookups), manifest.Options{})
	if m == nil {
		t.Fatalf("refused: %v", report.Errors)
	}
	x := m.Tools[0].XActions
	s := x.Execution.Steps[0]
	if *s.X != 1.5 || s.Y != nil || *s.DeltaY != -200 || s.Direction != "down" {
		t.Errorf("step %+v", s)
	}
	if s.Key != "b" || s.Keys[0] != "a" || !*s.Many || s.Clear != nil {
		t.Errorf("step %+v", s)
	}
	if s.URLFrom != "where" || string(s.Arguments) != `{"a": 1}` || s.Assert.Role != "button" {
		t.Errorf("step %+v", s)
	}
	if string(x.Source.Scope) != `{"selector": "main"}` || string(x.Source.ItemSelector) != `"li"` ||
		string(x.Source.Fields) != `[]` {
		t.Errorf("source %+v", x.Source)
	}
	k := m.Checks[0]
	if len(k.SetupSteps) != 1 || k.SetupSteps[0].URL != "https://example.com/" || k.Tools[0] != "both" ||
		k.States[0] != "ready" || k.Attachments[0] != "badge" {
		t.Errorf("check %+v", k)
	}
	// What nobody could do of setup is said, and is no reason to refuse the map.
	var at []string
	for _, w := range report.Warnings {
		at = append(at, w.Pointer)
	}
	if len(at) != 2 || at[0] != "/checks/0/setup/1" || at[1] != "/checks/0/setup/2" {
		t.Errorf("warnings at %v", at)
	}
}
