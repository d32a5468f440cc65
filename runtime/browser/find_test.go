package browser_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
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
		want                                             browser.Found
		code                                             fault.Code
	}{
		{name: "flag wins", explicit: explicit, env: fromEnv, path: "bin", want: browser.Found{Path: explicit, Source: "flag"}},
		{name: "environment", env: fromEnv, path: "bin", want: browser.Found{Path: fromEnv, Source: "environment"}},
		{name: "a named one that is missing is an error", explicit: "/no/such/browser", path: "bin", code: fault.BrowserNotFound},
		{name: "a variable that is wrong is an error", env: "/no/such/browser", path: "bin", code: fault.BrowserNotFound},
		{name: "system", path: "bin", playwright: "pw", want: browser.Found{Path: system, Source: "system"}},
		{name: "newest of a cache", playwright: "pw", puppeteer: "pp", want: browser.Found{Path: recent, Source: "playwright cache"}},
		{name: "puppeteer", puppeteer: "pp", want: browser.Found{Path: puppeteer, Source: "puppeteer cache"}},
		{name: "none", code: fault.BrowserNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(browser.PathEnv, c.env)
			t.Setenv("PATH", filepath.Join(root, c.path+"x"))
			if c.path != "" {
				t.Setenv("PATH", filepath.Join(root, c.path))
			}
			t.Setenv("PLAYWRIGHT_BROWSERS_PATH", filepath.Join(root, c.playwright+"/"))
			t.Setenv("PUPPETEER_CACHE_DIR", filepath.Join(root, c.puppeteer+"/"))
			got, err := browser.FindAmong(c.explicit, "chromium")
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
	for _, path := range []string{"ms-playwright/chromium-1/chrome-linux/chrome", ".cache/puppeteer/chrome/linux-1/chrome-linux64/chrome", "0/chromium-1/chrome-linux/chrome"} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, name := range []string{browser.PathEnv, "HOME", "XDG_CACHE_HOME", "PLAYWRIGHT_BROWSERS_PATH", "PUPPETEER_CACHE_DIR", "PATH"} {
		t.Setenv(name, "")
	}
	for _, playwright := range []string{"", "0"} {
		t.Setenv("PLAYWRIGHT_BROWSERS_PATH", playwright)
		if got, err := browser.FindAmong(""); err == nil {
			t.Errorf("with PLAYWRIGHT_BROWSERS_PATH=%q found %+v in the working directory", playwright, got)
		}
	}
}

func TestLaunchThatFails(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho 'error while loading shared libraries: libnss3.so' >&2\nexit 127\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := browser.Launch(t.Context(), browser.Options{Path: broken})
	if b != nil {
		t.Fatal("got a browser")
	}
	wantCode(t, err, fault.BrowserFailed)
	if f := fault.From(err); !strings.Contains(f.NextStep, "install-deps") || !strings.Contains(f.Error(), "libnss3") {
		t.Errorf("got %v, next %q", f, f.NextStep)
	}
	_, err = browser.Launch(t.Context(), browser.Options{Path: filepath.Join(dir, "none")})
	wantCode(t, err, fault.BrowserNotFound)
	_, err = browser.Launch(t.Context(), browser.Options{Attach: "http://127.0.0.1:1"})
	wantCode(t, err, fault.BrowserFailed)
	_, err = browser.Launch(t.Context(), browser.Options{Attach: "ftp://x"})
	wantCode(t, err, fault.BrowserFailed)
}
