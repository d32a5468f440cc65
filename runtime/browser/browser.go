package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	defaultStart = 30 * time.Second
	defaultLoad  = 15 * time.Second
	// farewell is how long a browser may take to close by itself.
	farewell = 3 * time.Second
)

// Browser is a running Chromium. It is safe for concurrent use.
type Browser struct {
	opts      Options
	log       *slog.Logger
	c         *client
	proc      *process // nil when attached
	product   string
	downloads downloads
	listening listening // see Listen
	fence     *fence    // nil without allowed or blocked origins
	agent     string    // user agent, "" until it was asked for; guarded by mu
	noSandbox bool
	events    *eventQueue
	done      chan struct{}
	wg        sync.WaitGroup
	closeOnce sync.Once
	closeErr  error

	// Only the reader touches these.
	sessions map[string]*session

	mu        sync.Mutex
	closing   bool
	err       error
	tabs      []*Tab
	requested map[string]bool // targets that NewTab created
	contexts  map[string]bool // browser contexts that NewContext created
	change    broadcast       // a tab became ready or ended
}

// Launch starts a browser, or attaches to one when opts.Attach is set. ctx bounds
// only the start. The errors are browser_not_found and browser_failed.
func Launch(ctx context.Context, opts Options) (*Browser, error) {
	if err := opts.prepareDownloads(); err != nil {
		return nil, err
	}
	if opts.Attach != "" && opts.Proxy != "" {
		return nil, fault.New(fault.BrowserFailed, "a proxy can be given only to a browser that is launched, not to one that is attached to")
	}
	b := newBrowser(opts)
	if err := b.raiseFence(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(opts.StartTimeout, defaultStart))
	defer cancel()
	t, err := b.open(ctx)
	if err != nil {
		b.fence.close()
		return nil, err
	}
	b.events = newEventQueue(opts.OnEvent)
	b.serve(t)
	if err := b.greet(ctx); err != nil {
		f := &fault.Error{Code: fault.BrowserFailed, Message: "the browser did not start", Err: err}
		if b.proc != nil {
			b.proc.awaitExit(contextWithin(200 * time.Millisecond))
			if cause := b.proc.cause(); cause != nil {
				f.Err = cause
			}
			said := b.proc.stderr.String()
			f.NextStep = startHint(said)
			f = f.With("browser_output", said)
		}
		_ = b.Close(contextWithin(farewell))
		return nil, f
	}
	return b, nil
}

func newBrowser(opts Options) *Browser {
	b := &Browser{
		opts:      opts,
		log:       opts.Logger,
		done:      make(chan struct{}),
		sessions:  map[string]*session{},
		requested: map[string]bool{},
		contexts:  map[string]bool{},
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	b.log = b.log.With("component", "browser")
	b.listening.set(opts.Listen)
	return b
}

func (b *Browser) open(ctx context.Context) (transport, error) {
	if b.opts.Attach != "" {
		address, err := resolveAttach(ctx, b.opts.Attach)
		if err != nil {
			return nil, &fault.Error{Code: fault.BrowserFailed, Message: "attaching to the browser", Err: err,
				NextStep: "start Chrome with --remote-debugging-port=9222 --user-data-dir=DIR and attach to http://127.0.0.1:9222"}
		}
		t, err := dialWebSocket(ctx, address)
		if err != nil {
			return nil, &fault.Error{Code: fault.BrowserFailed, Message: "attaching to the browser", Err: err}
		}
		return t, nil
	}
	found, err := Find(b.opts.Path)
	if err != nil {
		return nil, err
	}
	b.noSandbox = b.opts.NoSandbox || needsNoSandbox()
	proc, t, err := startProcess(&b.opts, found.Path, b.noSandbox)
	if err != nil {
		return nil, &fault.Error{Code: fault.BrowserFailed, Message: "starting the browser", Err: err}
	}
	b.proc = proc
	return t, nil
}

// serve starts the goroutines that live as long as the connection.
func (b *Browser) serve(t transport) {
	b.c = newClient(t, b.log, b.onEvent)
	b.wg.Go(func() { b.onEnd(b.c.read()) })
	if b.proc != nil {
		b.wg.Go(func() {
			// A descendant can keep the pipe open after the browser's death.
			select {
			case <-b.proc.exited:
				_ = t.Close()
			case <-b.c.ended:
			}
		})
	}
}

// greet asks the browser who it is and for its targets, in one round trip.
func (b *Browser) greet(ctx context.Context) error {
	var version struct {
		Product string `json:"product"`
	}
	commands := []command{
		{method: "Target.setDiscoverTargets", params: []byte(`{"discover":true,"filter":[{"type":"page"},{"exclude":true}]}`)},
		// No filter: Chromium holds back a worker that a filter excludes, and
		// nobody ever lets it run.
		{method: "Target.setAutoAttach", params: []byte(`{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`)},
		{method: "Browser.getVersion"},
	}
	if b.proc != nil || b.opts.DownloadDir != "" {
		commands = append(commands, command{method: "Browser.setDownloadBehavior", params: b.downloadBehavior("")})
	}
	calls, err := b.c.start(ctx, commands...)
	if err != nil {
		return err
	}
	defer b.c.drop(calls...)
	for i, p := range calls {
		result, err := b.c.wait(ctx, p)
		if err != nil {
			return err
		}
		if commands[i].method == "Browser.getVersion" {
			if err := json.Unmarshal(result, &version); err != nil {
				return err
			}
		}
	}
	b.product = version.Product
	return b.awaitAdopted(ctx)
}

// awaitAdopted waits until the tabs that were there before us are ready; those
// that do not answer in time stay unannounced until they do.
func (b *Browser) awaitAdopted(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for {
		changed := b.change.wait()
		b.mu.Lock()
		pending := slices.ContainsFunc(b.tabs, func(t *Tab) bool { return !t.announced })
		b.mu.Unlock()
		if !pending {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		case <-b.done:
			return b.c.cause()
		}
	}
}

// Version is the browser's product name and version, such as Chrome/156.0.8078.79.
func (b *Browser) Version() string { return b.product }

// PID is the browser's process id, 0 when attached.
func (b *Browser) PID() int {
	if b.proc == nil || b.proc.cmd.Process == nil {
		return 0
	}
	return b.proc.cmd.Process.Pid
}

// ProfileDir is the profile directory of a launched browser.
func (b *Browser) ProfileDir() string {
	if b.proc == nil {
		return ""
	}
	return b.proc.dir
}

// Attached reports whether the browser was running before us.
func (b *Browser) Attached() bool { return b.proc == nil }

// Sandboxed reports whether Chromium's sandbox is on, as far as we decide.
func (b *Browser) Sandboxed() bool { return !b.noSandbox }

// Done is closed when the browser is lost or closed.
func (b *Browser) Done() <-chan struct{} { return b.done }

// Err returns why the browser was lost: nil while it runs and after Close.
func (b *Browser) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// Tabs lists the tabs, oldest first.
func (b *Browser) Tabs() []*Tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.tabs), func(t *Tab) bool { return !t.announced })
}

// onEnd runs after the last frame was read.
func (b *Browser) onEnd(cause error) {
	b.mu.Lock()
	closing := b.closing
	lost := &fault.Error{Code: fault.BrowserLost, Message: "the browser ended", Err: cause}
	if closing {
		lost.Message = "the browser was closed"
	} else {
		if b.proc != nil {
			b.proc.awaitExit(contextWithin(400 * time.Millisecond))
			lost.Err = errors.Join(cause, b.proc.cause())
		}
		b.err = lost
	}
	tabs := b.tabs
	b.tabs = nil
	b.mu.Unlock()
	for _, t := range tabs {
		t.end(lost)
	}
	b.change.notify()
	if !closing {
		b.log.Warn("browser lost", "error", lost.Err)
		b.events.add(Event{Kind: BrowserLost, Err: lost})
	}
	close(b.done)
	_ = b.c.t.Close()
	if b.proc != nil {
		if err := b.proc.end(); err != nil {
			b.log.Warn("removing the profile directory failed", "error", err)
		}
	}
}

// Close ends the browser: by itself if it does so in time, else by force. It
// removes a profile directory that Launch made and returns after every goroutine
// of the browser has ended. Of an attached browser it closes only what we opened.
// It must not be called from OnEvent.
func (b *Browser) Close(ctx context.Context) error {
	b.closeOnce.Do(func() {
		b.mu.Lock()
		b.closing = true
		b.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bounded(ctx, farewell))
		defer cancel()
		if b.proc != nil {
			if err := b.c.do(ctx, "", "Browser.close", nil, nil); err == nil {
				b.proc.awaitExit(ctx)
			}
			killGroup(b.PID())
		} else {
			b.leave(ctx)
		}
		_ = b.c.close()
		b.wg.Wait()
		b.fence.close()
		b.events.close()
		if b.proc != nil {
			b.closeErr = b.proc.end()
		}
	})
	if b.closeErr != nil {
		return fault.Wrap(fault.Internal, b.closeErr, "removing the profile directory")
	}
	return nil
}

// leave closes what we opened in an attached browser.
func (b *Browser) leave(ctx context.Context) {
	b.mu.Lock()
	var commands []command
	for target := range b.requested {
		commands = append(commands, command{method: "Target.closeTarget", params: object("targetId", target)})
	}
	for id := range b.contexts {
		commands = append(commands, command{method: "Target.disposeBrowserContext", params: object("browserContextId", id)})
	}
	b.mu.Unlock()
	if len(commands) == 0 {
		return
	}
	calls, err := b.c.start(ctx, commands...)
	if err != nil {
		return
	}
	for _, p := range calls {
		_, _ = b.c.wait(ctx, p)
	}
}

// bounded returns the time left in ctx, at most limit and at least a moment: a
// teardown gets its own time even when the caller's has run out.
func bounded(ctx context.Context, limit time.Duration) time.Duration {
	if d, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(d))
	}
	return max(limit, 200*time.Millisecond)
}

// contextWithin is for teardown steps, whose caller's context has ended. It
// releases itself.
func contextWithin(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// broadcast wakes all that wait for a change of state. Its zero value is ready.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{}
}

// wait returns a channel that the next notify closes. Take it before looking at
// the state.
func (b *broadcast) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *broadcast) notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}
