package main

import (
	"context"
	"sync"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// lateHost is a host whose browser is still starting: a client is answered at
// once, and what needs a page waits.
type lateHost struct {
	dictionary []runtime.DictionaryEntry
	opening    sync.WaitGroup
	opened     chan struct{} // closed when host or err is set
	host       *runtime.Host
	err        error
}

// openLate opens a host in the background. opened, when not nil, hears of it first.
func openLate(ctx context.Context, options runtime.Options, opened func(*runtime.Host)) *lateHost {
	l := &lateHost{dictionary: runtime.Dictionary(options.Registry), opened: make(chan struct{})}
	l.opening.Go(func() {
		defer close(l.opened)
		if l.host, l.err = runtime.Open(ctx, options); l.err == nil && opened != nil {
			opened(l.host)
		}
	})
	return l
}

func (l *lateHost) wait(ctx context.Context) (*runtime.Host, *fault.Error) {
	select {
	case <-l.opened:
	case <-ctx.Done():
		return nil, fault.From(ctx.Err())
	}
	if l.err != nil {
		return nil, fault.From(l.err)
	}
	return l.host, nil
}

// close waits for the host and closes it.
func (l *lateHost) close(ctx context.Context) error {
	l.opening.Wait()
	if l.host == nil {
		return nil
	}
	return l.host.Close(ctx)
}

// Do implements mcp.Host.
func (l *lateHost) Do(ctx context.Context, call runtime.Call) runtime.Reply {
	h, err := l.wait(ctx)
	if err != nil {
		return runtime.Reply{ID: call.ID, Err: err}
	}
	return h.Do(ctx, call)
}

// Tabs implements mcp.Host.
func (l *lateHost) Tabs() []runtime.TabStatus {
	h, err := l.wait(context.Background())
	if err != nil {
		return nil
	}
	return h.Tabs()
}

// NewWorkspace implements mcp.Host.
func (l *lateHost) NewWorkspace(ctx context.Context, opts runtime.WorkspaceOptions) (*runtime.Workspace, error) {
	h, err := l.wait(ctx)
	if err != nil {
		return nil, err
	}
	return h.NewWorkspace(ctx, opts)
}

// Subscribe implements mcp.Host.
func (l *lateHost) Subscribe(fn func(runtime.Event)) (unsubscribe func()) {
	h, err := l.wait(context.Background())
	if err != nil {
		return func() {}
	}
	return h.Subscribe(fn)
}

// Dictionary implements mcp.Host.
func (l *lateHost) Dictionary() []runtime.DictionaryEntry { return l.dictionary }
