package inject

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// esbuild is run by its version, so it is no requirement of the module.
const esbuild = "github.com/evanw/esbuild/cmd/esbuild@v0.28.2"

func TestGeneratedLibraryIsCurrent(t *testing.T) {
	first := madeFrom(Files())
	if os.Getenv("OUTRIDER_GENERATE") == "1" {
		cmd := exec.Command("go", "run", esbuild, "--minify", "--charset=ascii", "--legal-comments=none")
		cmd.Stdin, cmd.Stderr = strings.NewReader(readable()), os.Stderr
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, "//# sourceURL=outrider-library.js\n"...)
		if err := os.WriteFile("library.min.js", append([]byte(first), text...), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !strings.HasPrefix(minified, first) {
		t.Error("library.min.js is not made from the files as they are: run make generate")
	}
}
