package sites_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/sites"
)

// Maps of a folder are parsed at once, and reported in the order of their files whichever is ready first. Those that
// cannot be read have their place among them.
func TestAFolderOfManyMapsIsReportedInOrder(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for i := range 150 {
		site := filepath.Join(dir, "sites", fmt.Sprintf("s%03d.example", i))
		if err := os.MkdirAll(site, 0o755); err != nil {
			t.Fatal(err)
		}
		text := `{"protocol":"actions.json","version":1,"tools":[` + strings.Repeat(" ", i%7*10_000) + `]}`
		outcome := "true"
		switch i % 50 {
		case 7:
			text, outcome = `{"protocol":`, "false"
		case 9:
			text += strings.Repeat(" ", 1<<20) // it waits for none after it
		}
		file := filepath.Join(site, "actions.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if i%50 == 11 {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(os.DevNull, file); err != nil {
				t.Skip(err)
			}
			outcome = "false"
		}
		want = append(want, fmt.Sprintf("s%03d.example %s", i, outcome))
	}
	_, reports := sites.Load([]string{dir}, sites.Options{})
	var got []string
	for _, r := range reports {
		got = append(got, fmt.Sprintf("%s %t", filepath.Base(filepath.Dir(r.Path)), r.OK))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
