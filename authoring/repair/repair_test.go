package repair_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/authoring/repair"
	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/lock"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/runtime/checks"
)

// TestRepairOfAnotherMap: a change that was found with one map is not written into another
// one that has something else at its pointer, and none is written that holds a secret.
func TestRepairOfAnotherMap(t *testing.T) {
	const loaded = `{"tools": [{"target": {"selector": "#more"}}]}`
	for name, c := range map[string]struct{ now, target, refused string }{
		"as it was loaded": {
			"{\"tools\": [{\"target\": {\"selector\":\"#more\"}}]}", `{"role":"link","name":"More"}`, "",
		},
		"a tool above": {
			`{"tools": [{"target": {"selector": "#new"}}, {"target": {"selector": "#more"}}]}`,
			`{"role":"link","name":"More"}`, "has another value at /tools/0/target",
		},
		"no tool any more":  {`{"tools": []}`, `{"role":"link","name":"More"}`, "has another value at /tools/0/target"},
		"a secret in names": {loaded, `{"role":"link","name":"More of {{secret:PW}}"}`, "would hold the secret PW"},
	} {
		file := filepath.Join(t.TempDir(), "actions.json")
		if err := os.WriteFile(file, []byte(c.now), 0o600); err != nil {
			t.Fatal(err)
		}
		all := repair.Maps([]repair.Applied{{File: file, Change: repair.Change{
			MapPath: "actions.json",
			Pointer: "/tools/0/target",
			Target:  json.RawMessage(c.target),
			Was:     json.RawMessage(`{"selector": "#more"}`),
			Who:     "more",
		}}})
		err := repair.Apply(all, true)
		text, readErr := os.ReadFile(file)
		if readErr != nil {
			t.Fatal(readErr)
		}
		switch {
		case c.refused == "" && (err != nil ||
			!strings.Contains(string(text), `"name": "More"`) && !strings.Contains(string(text), `"name":"More"`)):
			t.Errorf("%s: %v, the map is %s", name, err, text)
		case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused) ||
			!strings.Contains(err.Error(), file) || string(text) != c.now):
			t.Errorf("%s: got %v, want %q; the map is %s", name, err, c.refused, text)
		}
	}
}

// TestSecretsAreNotRemembered: what holds a secret is not written into a lock file.
func TestSecretsAreNotRemembered(t *testing.T) {
	file := filepath.Join(t.TempDir(), "actions.json")
	seen := []checks.Remembered{
		{MapPath: "m", Entry: lock.Entry{
			Target:  descriptor.Descriptor{Role: "button"},
			Element: likeness.Element{Name: "Hello {{secret:PW}}"},
		}},
		{
			MapPath: "m",
			Entry:   lock.Entry{Target: descriptor.Descriptor{Role: "link"}, Element: likeness.Element{Name: "Next"}},
		},
	}
	var said []string
	changed, err := repair.UpdateLocks(seen, func(string) (string, bool) { return file, true }, func(err error) {
		said = append(said, err.Error())
	})
	if err != nil || len(changed) != 1 {
		t.Fatal(changed, err)
	}
	text, err := os.ReadFile(changed[0])
	if err != nil || strings.Contains(string(text), "secret") || !strings.Contains(string(text), "Next") {
		t.Errorf("%v: the lock file is %s", err, text)
	}
	if len(said) != 1 || !strings.Contains(said[0], "is not remembered: its element holds the secret PW") {
		t.Errorf("said %q", said)
	}
}
