package outrider_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/runtime/browser/launch"
)

// TestMain calls neither MaybeSupervise nor MaybeWorker: a program that embeds
// the library does not either. It fails when tests leave goroutines or profile
// directories behind.
func TestMain(m *testing.M) {
	flag.Parse()
	if _, err := launch.Find("", ""); err != nil && os.Getenv(browsertest.RequireEnv) != "1" {
		fmt.Fprintln(os.Stderr, "outrider: no browser, so the examples are left out:", err)
		if flag.Lookup("test.run").Value.String() == "" {
			_ = flag.Set("test.run", "^Test")
		}
	}
	tmp, err := os.MkdirTemp("", "outrider-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Setenv("TMPDIR", tmp)
	code := m.Run()
	if err := goleak.Find(goleak.IgnoreTopFunction("os/signal.signal_recv")); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "outrider:", err)
		code = 1
	}
	if left := profiles(tmp, 5*time.Second); len(left) > 0 && code == 0 {
		fmt.Fprintln(os.Stderr, "outrider: profile directories left:", left)
		code = 1
	}
	os.RemoveAll(tmp)
	os.Exit(code)
}

// profiles lists the profile directories in dir. The watchdog of a program that
// was killed removes its directory soon, so they get some time.
func profiles(dir string, within time.Duration) []string {
	for deadline := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		left, _ := filepath.Glob(filepath.Join(dir, "outrider-profile-*"))
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
	}
}
