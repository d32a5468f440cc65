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

// running is a browser that nobody but those who attach to it drives.
type running struct {
	process   *launch.Process
	transport io.Closer
	address   string
}

// apart is the one of the test binary.
var apart struct {
	once sync.Once
	running
	err error
}

// Attach has a browser that is about to be opened attach to one browser of the test binary, which starts at first
// use, with a browser context of its own. A test that opens many hosts saves the time of their start.
func Attach(tb testing.TB, o *browser.Options) {
	tb.Helper()
	Require(tb)
	apart.once.Do(func() { apart.err = apart.start(Within(tb, time.Minute)) })
	if apart.err != nil {
		tb.Fatalf("starting a browser to attach to: %v", apart.err)
	}
	o.Attach, o.OwnContext = apart.address, true
}

// Running starts a browser that programs of a test attach to, and returns its address. It ends with the test.
func Running(tb testing.TB) (address string) {
	tb.Helper()
	Require(tb)
	var r running
	if err := r.start(Within(tb, time.Minute)); err != nil {
		tb.Fatalf("starting a browser to attach to: %v", err)
	}
	tb.Cleanup(func() {
		for _, problem := range r.end() {
			tb.Error(problem)
		}
	})
	return r.address
}

func (r *running) start(ctx context.Context) error {
	err := r.launch(ctx)
	if err != nil {
		r.end()
	}
	return err
}

func (r *running) launch(ctx context.Context) error {
	found, err := launch.Find("", "")
	if err != nil {
		return err
	}
	r.process, r.transport, err = launch.Start(launch.Options{
		Path:      found.Path,
		Shell:     found.Shell,
		NoSandbox: launch.NeedsNoSandbox(),
		ExtraArgs: append(Flags(), "--remote-debugging-port=0"),
	})
	if err != nil {
		return err
	}
	for {
		text, err := os.ReadFile(filepath.Join(r.process.ProfileDir(), "DevToolsActivePort"))
		if lines := strings.Fields(string(text)); err == nil && len(lines) == 2 {
			r.address = "ws://127.0.0.1:" + lines[0] + lines[1]
			return nil
		}
		select { // no event says that the file is there
		case <-time.After(10 * time.Millisecond):
		case <-r.process.Done():
			return errors.New("the browser ended: " + r.process.Output())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (r *running) end() (problems []string) {
	if r.process == nil {
		return nil
	}
	_ = r.transport.Close()
	r.process.Kill()
	if err := r.process.Close(); err != nil {
		problems = append(problems, "closing the browser that was attached to: "+err.Error())
	}
	r.process = nil
	return problems
}
