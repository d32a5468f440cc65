// Package startinghost is a runtime host whose browser is still starting: a client is
// answered at once, and what needs a page waits. It decides nothing about calls. The
// verbs mcp and provider open one, so that a client is not kept waiting for a browser.
package startinghost

import (
	"context"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Host is a host whose browser is still starting: a client is answered at
// once, and what needs a page waits.
type Host struct {
	dictionary func() []runtime.DictionaryEntry // read when it is first asked for: that costs 10 ms
	opening    sync.WaitGroup
	opened     chan struct{} // closed when host or err is set
	host       *runtime.Host
	err        error
}

// Open opens a host in the background. opened, when not nil, is called with it before any call.
func Open(ctx context.Context, options runtime.Options, opened func(*runtime.Host)) *Host {
	dictionary := func() []runtime.DictionaryEntry { return runtime.Dictionary(options.Registry) }
	l := &Host{dictionary: sync.OnceValue(dictionary), opened: make(chan struct{})}
	l.opening.Go(func() {
		defer close(l.opened)
		l.host, l.err = runtime.Open(ctx, options)
		if l.err == nil && opened != nil {
			opened(l.host)
		}
	})
	return l
}

// Wait returns the host as soon as its browser has started.
func (l *Host) Wait(ctx context.Context) (*runtime.Host, *fault.Error) {
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

// Close waits for the host and closes it.
func (l *Host) Close(ctx context.Context) error {
	l.opening.Wait()
	if l.host == nil {
		return nil
	}
	return l.host.Close(ctx)
}

// RecordItem passes a message to the recorder of the host, once there is a host. See runtime.Host.
func (l *Host) RecordItem(at time.Time, received bool, name string, item func() []byte) {
	select {
	case <-l.opened:
		if l.host != nil {
			l.host.RecordItem(at, received, name, item)
		}
	default:
	}
}

// Do implements tools.Host.
func (l *Host) Do(ctx context.Context, call runtime.Call) runtime.Reply {
	h, err := l.Wait(ctx)
	if err != nil {
		return runtime.Reply{ID: call.ID, Err: err}
	}
	return h.Do(ctx, call)
}

// Tabs implements tools.Host.
func (l *Host) Tabs() []runtime.TabStatus {
	h, err := l.Wait(context.Background())
	if err != nil {
		return nil
	}
	return h.Tabs()
}

// NewWorkspace implements tools.Host.
func (l *Host) NewWorkspace(ctx context.Context, opts runtime.WorkspaceOptions) (*runtime.Workspace, error) {
	h, err := l.Wait(ctx)
	if err != nil {
		return nil, err
	}
	return h.NewWorkspace(ctx, opts)
}

// OpenTab implements tools.Host.
func (l *Host) OpenTab(ctx context.Context, address string, active bool) (runtime.TabStatus, error) {
	h, err := l.Wait(ctx)
	if err != nil {
		return runtime.TabStatus{}, err
	}
	return h.OpenTab(ctx, address, active)
}

// Subscribe implements tools.Host.
func (l *Host) Subscribe(fn func(runtime.Event)) (unsubscribe func()) {
	h, err := l.Wait(context.Background())
	if err != nil {
		return func() {}
	}
	return h.Subscribe(fn)
}

// Dictionary implements tools.Host.
func (l *Host) Dictionary() []runtime.DictionaryEntry { return l.dictionary() }
