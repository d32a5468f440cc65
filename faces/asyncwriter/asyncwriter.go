// Package asyncwriter writes to somebody who may have stopped reading, so that an end is never waited for by a
// blocked write. It does not know what is written. The MCP server and the provider write to their clients
// through one, and the command line to its standard output.
package asyncwriter

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Outlet is a writer whose writes are bounded once it drains. It is safe for concurrent use; a Write
// returns when its bytes are written.
//
// What is written to cannot always be interrupted: the standard output of a process cannot. So each
// write runs apart, and one that never ends is left behind for the end of the process.
type Outlet struct {
	to       io.Writer
	turn     chan struct{} // held by the one write that runs
	draining chan struct{} // closed by Drain
	drain    sync.Once
	most     time.Duration
	stuck    atomic.Bool
}

// New is an outlet to a writer.
func New(to io.Writer) *Outlet {
	return &Outlet{to: to, turn: make(chan struct{}, 1), draining: make(chan struct{})}
}

// Unwrap returns the writer below, by which a caller finds out whether it is a terminal.
func (o *Outlet) Unwrap() io.Writer { return o.to }

// Drain bounds every write from now on, also the one that runs. After the first that takes longer all
// fail at once.
func (o *Outlet) Drain(most time.Duration) {
	o.drain.Do(func() {
		o.most = most
		close(o.draining)
	})
}

// Write implements io.Writer.
func (o *Outlet) Write(p []byte) (int, error) {
	if o.stuck.Load() {
		return 0, io.ErrClosedPipe
	}
	ended := make(chan error, 1)
	own := append([]byte(nil), p...) // the caller may use its bytes again when it is not waited for
	go func() {
		o.turn <- struct{}{}
		defer func() { <-o.turn }()
		if o.stuck.Load() {
			ended <- io.ErrClosedPipe
			return
		}
		_, err := o.to.Write(own)
		ended <- err
	}()
	var late <-chan time.Time
	draining := o.draining
	for {
		select {
		case err := <-ended:
			if err != nil {
				return 0, err
			}
			return len(p), nil
		case <-draining:
			timer := time.NewTimer(o.most)
			defer timer.Stop()
			late, draining = timer.C, nil
		case <-late:
			o.stuck.Store(true)
			return 0, io.ErrClosedPipe
		}
	}
}
