package ops_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/outrider-run/outrider/internal/operate/ops"
)

// An interrupt ends the context when the calls that were accepted are answered.
func TestDrainingWaitsForCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := ops.New("1", nil, "")
		ctx, interrupt := context.WithCancel(t.Context())
		var refused atomic.Bool
		drained, stop := o.Draining(ctx, time.Minute, func() { refused.Store(true) })
		defer stop()
		answered := o.Call("page.info")
		interrupt()
		time.Sleep(10 * time.Second)
		if drained.Err() != nil || !refused.Load() {
			t.Fatalf("with a call in flight: ended %v, refused %v", drained.Err(), refused.Load())
		}
		answered("")
		synctest.Wait()
		if !errors.Is(drained.Err(), context.Canceled) {
			t.Errorf("after the answer: %v", drained.Err())
		}
	})
}

// A call that is not answered does not keep the process longer than the limit.
func TestDrainingHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := ops.New("1", nil, "")
		ctx, interrupt := context.WithCancel(t.Context())
		drained, stop := o.Draining(ctx, time.Minute, func() {})
		defer stop()
		defer o.Call("page.wait")("")
		began := time.Now()
		interrupt()
		<-drained.Done()
		if took := time.Since(began); took != time.Minute {
			t.Errorf("it took %s, want one minute", took)
		}
	})
}

// The end of --timeout is no interrupt: nothing waits, and the context says which it was.
func TestDrainingKeepsTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := ops.New("1", nil, "")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		drained, stop := o.Draining(ctx, time.Minute, func() { t.Error("calls are refused") })
		defer stop()
		defer o.Call("page.wait")("")
		<-drained.Done()
		if !errors.Is(drained.Err(), context.DeadlineExceeded) {
			t.Errorf("it ended with %v", drained.Err())
		}
	})
}

// What runs may end by itself, before and while it drains.
func TestDrainingIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := ops.New("1", nil, "")
		ctx, interrupt := context.WithCancel(t.Context())
		_, stop := o.Draining(ctx, time.Minute, func() {})
		stop()
		defer o.Call("page.wait")("")
		_, stop = o.Draining(ctx, time.Minute, func() {})
		interrupt()
		synctest.Wait()
		began := time.Now()
		stop()
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %s", took)
		}
	})
}
