package browsertest

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/launch"
)

// apart is a browser that nobody but those who attach to it drives.
var apart struct {
	once      sync.Once
	process   *launch.Process
	transport io.Closer
	address   string
	err       error
}

// Attach has a browser that is about to be opened attach to one browser of the test binary, which starts at first
// use, with a browser context of its own. A test that opens many hosts saves the time of their start.
func Attach(tb testing.TB, o *browser.Options) {
	tb.Helper()
	Require(tb)
	apart.once.Do(func() {
		if apart.err = startApart(Within(tb, time.Minute)); apart.err != nil {
			endApart()
		}
	})
	if apart.err != nil {
		tb.Fatalf("starting a browser to attach to: %v", apart.err)
	}
	o.Attach, o.OwnContext = apart.address, true
}

func startApart(ctx context.Context) error {
	found, err := launch.Find("")
	if err != nil {
		return err
	}
	apart.process, apart.transport, err = launch.Start(launch.Options{Path: found.Path, NoSandbox: launch.NeedsNoSandbox(), ExtraArgs: []string{"--remote-debugging-port=0"}})
	if err != nil {
		return err
	}
	for {
		text, err := os.ReadFile(filepath.Join(apart.process.ProfileDir(), "DevToolsActivePort"))
		if lines := strings.Fields(string(text)); err == nil && len(lines) == 2 {
			apart.address = "ws://127.0.0.1:" + lines[0] + lines[1]
			return nil
		}
		select { // no event says that the file is there
		case <-time.After(10 * time.Millisecond):
		case <-apart.process.Done():
			return errors.New("the browser ended: " + apart.process.Output())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func endApart() (problems []string) {
	if apart.process == nil {
		return nil
	}
	_ = apart.transport.Close()
	apart.process.Kill()
	if err := apart.process.Close(); err != nil {
		problems = append(problems, "closing the browser that was attached to: "+err.Error())
	}
	apart.process = nil
	return problems
}
