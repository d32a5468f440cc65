package launch_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/launch"
)

func TestFind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the places are those of Linux")
	}
	executable := func(path string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	root := t.TempDir()
	explicit := executable(filepath.Join(root, "explicit"))
	fromEnv := executable(filepath.Join(root, "env"))
	system := executable(filepath.Join(root, "bin", "chromium"))
	old := executable(filepath.Join(root, "pw", "chromium-999", "chrome-linux", "chrome"))
	recent := executable(filepath.Join(root, "pw", "chromium-1200", "chrome-linux", "chrome"))
	puppeteer := executable(filepath.Join(root, "pp", "chrome", "linux-130.0.1", "chrome-linux64", "chrome"))

	for _, c := range []struct {
		name, explicit, env, path, playwright, puppeteer string
		want                                             launch.Found
		code                                             fault.Code
	}{
		{
			name:     "flag wins",
			explicit: explicit,
			env:      fromEnv,
			path:     "bin",
			want:     launch.Found{Path: explicit, Source: "flag"},
		},
		{name: "environment", env: fromEnv, path: "bin", want: launch.Found{Path: fromEnv, Source: "environment"}},
		{
			name:     "a named one that is missing is an error",
			explicit: "/no/such/browser",
			path:     "bin",
			code:     fault.BrowserNotFound,
		},
		{
			name: "a variable that is wrong is an error",
			env:  "/no/such/browser",
			path: "bin",
			code: fault.BrowserNotFound,
		},
		{name: "system", path: "bin", playwright: "pw", want: launch.Found{Path: system, Source: "system"}},
		{
			name:       "newest of a cache",
			playwright: "pw",
			puppeteer:  "pp",
			want:       launch.Found{Path: recent, Source: "playwright cache"},
		},
		{name: "puppeteer", puppeteer: "pp", want: launch.Found{Path: puppeteer, Source: "puppeteer cache"}},
		{name: "none", code: fault.BrowserNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(launch.PathEnv, c.env)
			t.Setenv("PATH", filepath.Join(root, c.path+"x"))
			if c.path != "" {
				t.Setenv("PATH", filepath.Join(root, c.path))
			}
			t.Setenv("PLAYWRIGHT_BROWSERS_PATH", filepath.Join(root, c.playwright+"/"))
			t.Setenv("PUPPETEER_CACHE_DIR", filepath.Join(root, c.puppeteer+"/"))
			got, err := launch.FindAmong(c.explicit, "chromium")
			if fault.CodeOf(err) != c.code || got != c.want {
				t.Fatalf("got %+v, %v, want %+v, %q", got, err, c.want, c.code)
			}
			if err != nil && !strings.Contains(fault.From(err).NextStep, "chrom") {
				t.Errorf("next step %q names no command", fault.From(err).NextStep)
			}
		})
	}
	_ = old
}

// Without a home there is no cache: what lies in the working directory is not run.
func TestFindRunsNothingOfTheWorkingDirectory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the places are those of Linux")
	}
	dir := t.TempDir()
	for _, path := range []string{
		"ms-playwright/chromium-1/chrome-linux/chrome",
		".cache/puppeteer/chrome/linux-1/chrome-linux64/chrome", "0/chromium-1/chrome-linux/chrome",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, name := range []string{
		launch.PathEnv, "HOME", "XDG_CACHE_HOME", "PLAYWRIGHT_BROWSERS_PATH", "PUPPETEER_CACHE_DIR", "PATH",
	} {
		t.Setenv(name, "")
	}
	for _, playwright := range []string{"", "0"} {
		t.Setenv("PLAYWRIGHT_BROWSERS_PATH", playwright)
		if got, err := launch.FindAmong(""); err == nil {
			t.Errorf("with PLAYWRIGHT_BROWSERS_PATH=%q found %+v in the working directory", playwright, got)
		}
	}
}
