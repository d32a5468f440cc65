package plan_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/plan"
)

// A name stays in the folder of the logins, and only the owner reads its file.
func TestLoginsAreFilesOfTheirOwner(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("HOME", dir)
	var logins plan.Logins
	if state, err := logins.Load("ada"); err != nil || state != nil {
		t.Errorf("before anything is kept: %s, %v", state, err)
	}
	if _, err := logins.Save("ada", json.RawMessage(`{"cookies":[],"origins":[],"ok":true}`)); err != nil {
		t.Fatal(err)
	}
	if state, err := logins.Load("ada"); err != nil || string(state) != `{"cookies":[],"origins":[]}` {
		t.Errorf("what was kept: %s, %v", state, err)
	}
	base, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(base, "outrider", "logins", "ada.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its file: %v, %v; want mode 0600", info, err)
	}
	for _, name := range []string{"", "../ada", "a/b", ".ada", strings.Repeat("a", 65)} {
		if _, err := logins.Save(name, json.RawMessage(`{"cookies":[]}`)); err == nil ||
			!strings.Contains(err.Error(), "named by letters") {
			t.Errorf("keeping %q: %v", name, err)
		}
		if _, err := logins.Load(name); err == nil {
			t.Errorf("a login %q is loaded", name)
		}
	}
}
