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
	shell := executable(filepath.Join(root, "both", "chromium-headless-shell"))
	beside := executable(filepath.Join(root, "both", "chromium"))
	cached := executable(filepath.Join(
		root, "pws", "chromium_headless_shell-1200", "chrome-headless-shell-linux64", "chrome-headless-shell",
	))
	older := executable(filepath.Join(root, "pws", "chromium_headless_shell-999", "chrome-linux", "headless_shell"))
	chromiumOfPW := executable(filepath.Join(root, "pws", "chromium-1200", "chrome-linux64", "chrome"))

	for _, c := range []struct {
		name, explicit, env, path, playwright, puppeteer string
		needs, chromiumEnv, shellEnv                     string
		want                                             launch.Found
		code                                             fault.Code
	}{
		{
			name: "the shell is enough",
			path: "both",
			want: launch.Found{Path: shell, Source: "system", Shell: true},
		},
		{
			name:  "the shell is not enough",
			path:  "both",
			needs: "windows",
			want:  launch.Found{Path: beside, Source: "system"},
		},
		{
			name:     "chromium by its word",
			explicit: launch.Chromium,
			env:      launch.Shell,
			path:     "both",
			want:     launch.Found{Path: beside, Source: "system"},
		},
		{
			name: "the shell by the variable",
			env:  launch.Shell,
			path: "both",
			want: launch.Found{Path: shell, Source: "system", Shell: true},
		},
		{
			name:     "the shell by its word where there is none",
			explicit: launch.Shell,
			path:     "bin",
			code:     fault.BrowserNotFound,
		},
		{
			name:     "the shell by its word where it is not enough",
			explicit: launch.Shell,
			path:     "both",
			needs:    "windows",
			code:     fault.BrowserNotFound,
		},
		{
			name:     "the path of a shell that is not enough",
			explicit: shell,
			path:     "both",
			needs:    "windows",
			code:     fault.BrowserNotFound,
		},
		{
			name:       "the newest shell of a cache",
			playwright: "pws",
			want:       launch.Found{Path: cached, Source: "playwright cache", Shell: true},
		},
		{
			name:       "the cache has both",
			playwright: "pws",
			needs:      "windows",
			want:       launch.Found{Path: chromiumOfPW, Source: "playwright cache"},
		},
		{
			name:     "where the shell lies",
			path:     "both",
			shellEnv: older,
			want:     launch.Found{Path: older, Source: "environment", Shell: true},
		},
		{
			name:        "where Chromium lies",
			path:        "both",
			needs:       "windows",
			chromiumEnv: system,
			want:        launch.Found{Path: system, Source: "environment"},
		},
		{
			name:     "a variable of a program that is wrong is an error",
			path:     "both",
			shellEnv: "/no/such/browser",
			code:     fault.BrowserNotFound,
		},
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
			t.Setenv(launch.ChromiumEnv, c.chromiumEnv)
			t.Setenv(launch.ShellEnv, c.shellEnv)
			got, err := launch.FindAmong(
				c.explicit, c.needs, []string{"chromium"}, []string{"chromium-headless-shell"},
			)
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
		launch.PathEnv, launch.ChromiumEnv, launch.ShellEnv, "HOME", "XDG_CACHE_HOME", "PLAYWRIGHT_BROWSERS_PATH",
		"PUPPETEER_CACHE_DIR", "PATH",
	} {
		t.Setenv(name, "")
	}
	for _, playwright := range []string{"", "0"} {
		t.Setenv("PLAYWRIGHT_BROWSERS_PATH", playwright)
		if got, err := launch.FindAmong("", "", nil, nil); err == nil {
			t.Errorf("with PLAYWRIGHT_BROWSERS_PATH=%q found %+v in the working directory", playwright, got)
		}
	}
}
