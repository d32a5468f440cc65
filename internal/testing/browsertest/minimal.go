package browsertest

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/launch"
)

// Minimal starts a browser with our flags and nothing between its connection and the test: the
// floor of a benchmark. happened is called with its events, one after the other. stop ends it
// and reports what failed; the test ends it otherwise.
func Minimal(tb testing.TB, happened func(session, method, params []byte)) (client *cdp.Client, pid int, stop func()) {
	tb.Helper()
	Require(tb)
	found, err := launch.Find("", "")
	if err != nil {
		tb.Fatal(err)
	}
	process, transport, err := launch.Start(launch.Options{
		Path: found.Path, Shell: found.Shell, NoSandbox: launch.NeedsNoSandbox(),
	})
	if err != nil {
		tb.Fatal(err)
	}
	client = cdp.NewClient(transport, slog.New(slog.DiscardHandler), happened)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = client.Run() }()
	stop = sync.OnceFunc(func() {
		_ = client.Do(context.WithoutCancel(tb.Context()), "", "Browser.close", nil, nil)
		<-ended
		if err := process.Close(); err != nil {
			tb.Error(err)
		}
	})
	tb.Cleanup(stop)
	return client, process.PID(), stop
}
