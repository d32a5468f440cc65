package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

func TestLaunchThatFails(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(
		broken, []byte("#!/bin/sh\necho 'error while loading shared libraries: libnss3.so' >&2\nexit 127\n"), 0o755,
	); err != nil {
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
