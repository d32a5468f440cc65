package browser_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// File inputs as sites have them: hidden, rendered again, made by a click, in
// frames of another origin and in closed shadow roots; named by what they are.
func TestUploadWhereFormsAreDifficult(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "alpha", "b.txt": "beta"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tab := launchWith(t, browser.Options{UploadDirs: []string{dir}})
	open(t, tab, servePages(t)+"/upload/difficult.html")
	for _, c := range []struct {
		name, locator, paths, got string
		code                      fault.Code
	}{
		{"by its label in a closed root", `{"label":"Photo"}`, `["a.txt"]`, "shadow:a.txt=alpha", ""},
		{"in a frame of another origin", `{"label":"Report","frame":"#frame"}`, `["a.txt"]`, "frame:a.txt=alpha", ""},
		{"off the screen, by its label", `{"selector":"#drawn"}`, `["b.txt"]`, "clipped:b.txt=beta", ""},
		{"off the screen, itself", `{"selector":"#clipped"}`, `["a.txt"]`, "clipped:a.txt=alpha", ""},
		{"an input that a click makes, later", `{"role":"button","name":"Later"}`, `["a.txt"]`, "slow:a.txt=alpha", ""},
		{
			"rendered again by its own event", `{"selector":"#again input"}`,
			`["a.txt","b.txt"]`, "again:a.txt=alpha,b.txt=beta", "",
		},
		{"and once more", `{"selector":"#again input"}`, `["b.txt"]`, "again:b.txt=beta", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := call(t, tab, "upload.set_files", `{"locator":`+c.locator+`,"paths":`+c.paths+`}`)
			if fault.CodeOf(err) != c.code && !(err == nil && c.code == "") {
				t.Fatalf("got %v, want %q", err, c.code)
			}
			eventually(t, 10*time.Second, "the files in the page", func() bool {
				got, err := tab.Eval(within(t, 5*time.Second), "", `document.getElementById("got").textContent`)
				return err == nil && got == `"`+c.got+`"` || got == c.got
			})
		})
	}
}
