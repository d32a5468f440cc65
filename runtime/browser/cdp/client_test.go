package cdp_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// full is a transport that takes nothing until the deadline.
type full struct{ sent chan struct{} }

func (f full) Receive() ([]byte, error) { return nil, io.EOF }
func (f full) Close() error             { return nil }

func (f full) Send([]byte, time.Time) error {
	close(f.sent)
	return os.ErrDeadlineExceeded
}

// late is a context whose deadline has passed and which has not noticed yet, as on a
// machine where timers run late.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

// A command that was not sent in time is an error of its context, never before the context
// says so: callers that wait for a while ask the context whether the while is over.
func TestStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := full{sent: make(chan struct{})}
	go func() {
		<-f.sent
		time.AfterFunc(30*time.Millisecond, cancel)
	}()
	c := cdp.NewClient(f, slog.New(slog.DiscardHandler), nil)
	_, err := c.Start(late{ctx}, cdp.Command{Method: "Page.enable"})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a deadline that has passed", err)
	}
	if ctx.Err() == nil {
		t.Error("the command failed for lack of time before its context had none")
	}
}
