package repair

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What cannot be written is said, and leaves the others.
func TestApplyGoesOn(t *testing.T) {
	dir := t.TempDir()
	var all []Repaired
	for _, name := range []string{"gone.json", "there.json"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(`{"target": 1}`), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Read(file)
		if err != nil {
			t.Fatal(err)
		}
		r.Take([]byte(`{"target": 2}`), Change{Who: name})
		all = append(all, *r)
	}
	if err := os.Remove(all[0].File); err != nil {
		t.Fatal(err)
	}
	if failed := Each(Apply(all, true)); len(failed) != 1 || !strings.Contains(failed[0].Error(), "gone.json") {
		t.Errorf("got %v, expected the error of gone.json", failed)
	}
	if text, err := os.ReadFile(all[1].File); err != nil || string(text) != `{"target": 2}` {
		t.Errorf("there.json is %s, %v", text, err)
	}
	var out strings.Builder
	Print(&out, nil, all, true)
	if !strings.Contains(out.String(), "could not be written") || strings.Count(out.String(), "fixed ") != 1 {
		t.Errorf("got %s", out.String())
	}
}
