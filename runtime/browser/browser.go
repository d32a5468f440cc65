package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"

	"github.com/outrider-run/outrider/runtime/browser/emulate"
	"github.com/outrider-run/outrider/runtime/browser/files"
	"github.com/outrider-run/outrider/runtime/browser/launch"
	"github.com/outrider-run/outrider/runtime/browser/listen"
	"github.com/outrider-run/outrider/runtime/browser/network"
	"github.com/outrider-run/outrider/runtime/browser/pasteboard"
	"github.com/outrider-run/outrider/runtime/browser/route"
)

const (
	defaultStart = 30 * time.Second
	// closeTimeout is how long a browser may take to close by itself.
	closeTimeout = 3 * time.Second
	// exitKnown is how long the end of the connection may come before that of the process,
	// which says why. It is collected when its last descendant has closed its output.
	exitKnown = 2 * time.Second
)

// Browser is a running Chromium. It is safe for concurrent use.
type Browser struct {
	opts      Options
	log       *slog.Logger
	client    *cdp.Client
	transport cdp.Transport
	process   *launch.Process // nil when attached
	product   string
	transfers *files.Transfers
	clipboard *pasteboard.Board
	listener  *listen.Listener  // nil without Options.OnSignal
	follower  *listen.Listener  // nil without Options.OnPerson
	egress    *network.Egress   // nil without allowed or blocked origins
	offline   *route.Offline    // nil without Options.Answer
	insecure  *network.Insecure // nil without origins whose certificates are not checked
	agent     emulate.Agent
	own       string // browser context of new tabs; "" is the profile's own
	noSandbox bool
	shell     atomic.Bool // the headless shell
	events    *eventQueue
	done      chan struct{}
	wg        sync.WaitGroup
	closeOnce sync.Once
	closeErr  error

	// Only the reader touches these.
	sessions map[string]*attached

	protocols sync.Map // of others: from the id of a session to its *ProtocolSession

	mu        sync.Mutex
	closing   bool
	err       error
	stuck     *fault.Error // why we ended it, when that was because it did not answer
	tabs      []*Tab
	requested map[string]bool // targets that NewTab created
	contexts  map[string]bool // browser contexts that NewContext created
	routes    map[string]*route.Table
	emulated  map[string]primitives.Emulation // by browser context, see EmulateIn
	workers   map[string]routedWorker         // by session, see keepWorker
	change    cdp.Broadcast                   // a tab became ready or ended
}

// Launch starts a browser, or attaches to one when opts.Attach is set. ctx bounds
// only the start. The errors are browser_not_found and browser_failed.
func Launch(ctx context.Context, opts Options) (*Browser, error) {
	if opts.Attach != "" && len(opts.InsecureOrigins) > 0 {
		return nil, fault.New(
			fault.BrowserFailed,
			"certificates can be left unchecked only in a browser that is launched, not in one that is attached to",
		)
	}
	if opts.Attach != "" && opts.Proxy != "" {
		return nil, fault.New(
			fault.BrowserFailed,
			"a proxy can be given only to a browser that is launched, not to one that is attached to",
		)
	}
	b, err := newBrowser(opts)
	if err != nil {
		return nil, err
	}
	if err := b.startEgress(); err != nil {
		b.transfers.Close()
		return nil, err
	}
	b.insecure, err = network.NewInsecure(opts.InsecureOrigins)
	if err != nil {
		b.transfers.Close()
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(opts.StartTimeout, defaultStart))
	defer cancel()
	t, err := b.open(ctx)
	if err != nil {
		b.egress.Close()
		b.transfers.Close()
		return nil, err
	}
	if opts.DownloadDir == TemporaryDownloads {
		if err := b.transfers.StoreBelow(b.ProfileDir()); err != nil {
			b.log.Warn("downloads are refused", "error", err)
		}
	}
	b.events = newEventQueue(opts.OnEvent)
	b.serve(t)
	if err := b.handshake(ctx); err != nil {
		f := &fault.Error{Code: fault.BrowserFailed, Message: "the browser did not start", Err: err}
		if b.process != nil {
			b.process.AwaitExit(contextWithin(200 * time.Millisecond))
			if cause := b.process.Err(); cause != nil {
				f.Err = cause
			}
			f.NextStep = b.process.Hint()
			f = f.With("browser_output", b.process.Output())
		}
		_ = b.Close(contextWithin(closeTimeout))
		return nil, f
	}
	if b.process != nil {
		b.wg.Go(func() { b.watchStuck(b.newStuckWatch()) })
	}
	return b, nil
}

func newBrowser(opts Options) (*Browser, error) {
	b := &Browser{
		opts:      opts,
		log:       opts.Logger,
		done:      make(chan struct{}),
		sessions:  map[string]*attached{},
		requested: map[string]bool{},
		contexts:  map[string]bool{},
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	b.log = b.log.With("component", "browser")
	var err error
	to := files.Options{UploadDirs: opts.UploadDirs, DownloadDir: opts.DownloadDir, DownloadLimit: opts.DownloadLimit}
	if opts.DownloadDir == TemporaryDownloads {
		to.DownloadDir = ""
	}
	b.transfers, err = files.New(to, b, b.log)
	return b, err
}

func (b *Browser) open(ctx context.Context) (cdp.Transport, error) {
	if b.opts.Attach != "" {
		endpoint, err := cdp.ResolveAddress(ctx, b.opts.Attach, b.opts.AttachHeader)
		if err != nil {
			return nil, &fault.Error{Code: fault.BrowserFailed, Message: "attaching to the browser: " +
				address.Unnamed(err).Error(), Err: address.Unnamed(err),
				NextStep: "start Chrome with --remote-debugging-port=9222 --user-data-dir=DIR and attach to " +
					"http://127.0.0.1:9222"}
		}
		t, err := cdp.Dial(ctx, endpoint, b.opts.AttachHeader)
		if err != nil {
			return nil, &fault.Error{
				Code:    fault.BrowserFailed,
				Message: "attaching to the browser: " + address.Unnamed(err).Error(),
				Err:     address.Unnamed(err),
			}
		}
		return t, nil
	}
	found, err := b.opts.Find()
	if err != nil {
		return nil, err
	}
	b.shell.Store(found.Shell)
	b.noSandbox = b.opts.NoSandbox || launch.NeedsNoSandbox()
	if b.opts.Answer != nil { // what is not answered here reaches nobody
		b.opts.ExtraArgs = append(slices.Clone(b.opts.ExtraArgs), route.OfflineFlags...)
	}
	proc, t, err := launch.Start(launch.Options{
		Path:            found.Path,
		UserDataDir:     b.opts.UserDataDir,
		Headed:          b.opts.Headed,
		Shell:           found.Shell,
		Locale:          b.opts.Locale,
		Timezone:        b.opts.Timezone,
		Proxy:           b.opts.Proxy,
		NoSandbox:       b.noSandbox,
		ExtraArgs:       b.opts.ExtraArgs,
		NoSpareRenderer: b.opts.NoSpareRenderer,
		PageTools:       b.opts.PageTools,
		Secrets:         b.opts.Secrets,
		OnWatchdogLost:  b.watchdogLost,
	})
	var profile *launch.ProfileError
	switch {
	case errors.As(err, &profile):
		return nil, &fault.Error{Code: fault.BrowserFailed, Message: profile.Error(), Err: err, NextStep: profile.Next}
	case err != nil:
		return nil, &fault.Error{Code: fault.BrowserFailed, Message: "starting the browser: " + err.Error(), Err: err}
	}
	b.process = proc
	return t, nil
}

// watchdogLost reports that a profile can stay when this process is killed.
func (b *Browser) watchdogLost(err error) {
	b.log.Warn("the browser has no watchdog: its profile can stay when this process is killed", "error", err)
	if b.opts.OnWatchdogLost != nil {
		b.opts.OnWatchdogLost(err)
	}
}

// startEgress starts the proxy when the options have a policy of origins, or for
// another proxy with credentials, and makes the browser use it.
func (b *Browser) startEgress() error {
	o := &b.opts
	decides := len(o.AllowOrigins)+len(o.BlockOrigins) > 0
	if !decides && !network.HasCredentials(o.Proxy) {
		return nil
	}
	if o.Attach != "" {
		if err := CheckOrigins(slices.Concat(o.AllowOrigins, o.BlockOrigins)...); err != nil {
			return err
		}
		return fault.New(
			fault.BrowserFailed,
			"origins can be allowed and blocked only in a browser that is launched, not in one that is attached to",
		)
	}
	egress, err := network.StartEgress(o.AllowOrigins, o.BlockOrigins, o.Proxy, b.log)
	if err != nil {
		return err
	}
	b.egress = egress
	o.Proxy = ""
	if !decides {
		o.Proxy = egress.Address()
		return nil
	}
	o.ExtraArgs = append(slices.Clone(o.ExtraArgs), egress.Flags()...)
	return nil
}

// emulation are the options of what tabs emulate from the start.
func (b *Browser) emulation() emulate.Options {
	return emulate.Options{
		Viewport: b.opts.Viewport,
		Locale:   b.opts.Locale,
		Timezone: b.opts.Timezone,
		Launched: b.process != nil,
	}
}

// Owner implements files.Browser.
func (b *Browser) Owner(frame primitives.FrameID) (tabID int, context string) {
	for _, t := range b.Tabs() {
		if t.HasFrame(frame) {
			tabID, context = t.Tab().ID, b.ownContext(t.context)
		}
	}
	return tabID, context
}

// Listen adds a script that listens for page events to every document from here on: see
// ListenScript. It returns when every frame has it that answers within ctx.
func (b *Browser) Listen(ctx context.Context, script ListenScript) {
	b.listener.Replace(ctx, script, func() []*cdp.Session {
		b.mu.Lock()
		tabs := slices.Clone(b.tabs)
		b.mu.Unlock()
		var all []*cdp.Session
		for _, t := range tabs {
			all = append(all, t.Sessions()...)
		}
		return all
	})
}

// serve starts the goroutines that live as long as the connection.
func (b *Browser) serve(t cdp.Transport) {
	b.transport = t
	b.client = cdp.NewClient(t, b.log, b.onEvent)
	if b.opts.CDPLog != nil {
		b.client.Log(cdp.NewTraffic(b.opts.CDPLog))
	}
	b.transfers.Connect(b.client)
	b.clipboard = pasteboard.New(b.client, b.process == nil || b.opts.Headed)
	if b.opts.Answer != nil {
		b.offline = route.NewOffline(b.client, b.opts.Answer)
	}
	if b.opts.OnSignal != nil {
		b.listener = listen.New(b.client, listen.Signals, b.opts.Listen)
	}
	if b.opts.OnPerson != nil {
		b.follower = listen.New(b.client, listen.Person, listen.Script{Source: b.opts.Follow, Any: true})
	}
	b.wg.Go(func() { b.onEnd(b.client.Run()) })
	if b.process != nil {
		b.wg.Go(func() {
			// A descendant can keep the pipe open after the browser's end.
			select {
			case <-b.process.Done():
				_ = t.Close()
			case <-b.client.Done():
			}
		})
	}
}

// handshake requests the browser's version and its targets, in one round trip.
func (b *Browser) handshake(ctx context.Context) error {
	var version struct {
		Product string `json:"product"`
	}
	commands := []cdp.Command{
		{
			Method: "Target.setDiscoverTargets",
			Params: []byte(`{"discover":true,"filter":[{"type":"page"},{"exclude":true}]}`),
		},
		// No filter: Chromium holds back a worker that a filter excludes, and
		// nobody ever lets it run.
		{
			Method: "Target.setAutoAttach",
			Params: []byte(`{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`),
		},
		{Method: "Browser.getVersion"},
	}
	if b.process != nil || b.transfers.Accepts() {
		commands = append(commands, b.transfers.Behavior(""))
	}
	calls, err := b.client.Start(ctx, commands...)
	if err != nil {
		return err
	}
	defer b.client.Forget(calls...)
	for i, p := range calls {
		result, err := b.client.Wait(ctx, p)
		if err != nil {
			return err
		}
		if commands[i].Method == "Browser.getVersion" {
			if err := json.Unmarshal(result, &version); err != nil {
				return err
			}
		}
	}
	b.product = version.Product
	if strings.HasPrefix(b.product, "HeadlessChrome/") {
		b.shell.Store(true)
	}
	if b.opts.OwnContext && b.process == nil {
		id, err := b.NewContext(ctx)
		if err != nil {
			return err
		}
		b.mu.Lock()
		b.own = id
		b.mu.Unlock()
	}
	return b.awaitAdopted(ctx)
}

// awaitAdopted waits until the tabs that were there before us are ready. Those that do not
// answer in time are announced, too, and are busy until they do.
func (b *Browser) awaitAdopted(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for {
		changed := b.change.Wait()
		b.mu.Lock()
		pending := slices.ContainsFunc(b.tabs, func(t *Tab) bool { return !t.announced })
		b.mu.Unlock()
		if !pending {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			b.announceBusy()
			return nil
		case <-b.done:
			return b.client.Err()
		}
	}
}

// announceBusy announces the tabs of an attached browser that have not answered.
func (b *Browser) announceBusy() {
	if b.process != nil || !b.opts.AdoptTabs {
		return
	}
	b.mu.Lock()
	var busy []*Tab
	for _, t := range b.tabs {
		if !t.announced {
			t.announced = true
			busy = append(busy, t)
		}
	}
	b.mu.Unlock()
	b.change.Notify()
	for _, t := range busy {
		b.events.add(Event{Kind: TabOpened, Tab: t, Opener: t.opener})
	}
}

// Version is the browser's product name and version, such as Chrome/156.0.8078.79.
func (b *Browser) Version() string { return b.product }

// Shell reports whether the browser is the headless shell.
func (b *Browser) Shell() bool { return b.shell.Load() }

// Clipboard is the browser's clipboard.
func (b *Browser) Clipboard() *pasteboard.Board { return b.clipboard }

// PID is the browser's process id, 0 when attached.
func (b *Browser) PID() int {
	if b.process == nil {
		return 0
	}
	return b.process.PID()
}

// ProfileDir is the profile directory of a launched browser.
func (b *Browser) ProfileDir() string {
	if b.process == nil {
		return ""
	}
	return b.process.ProfileDir()
}

// Attached reports whether the browser was running before us.
func (b *Browser) Attached() bool { return b.process == nil }

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
		if b.process != nil {
			b.process.AwaitExit(contextWithin(exitKnown))
			lost.Err = errors.Join(cause, b.process.Err())
		}
		if b.stuck != nil {
			lost.Message = b.stuck.Message
			lost.NextStep = b.stuck.NextStep
		}
		b.err = lost
	}
	tabs := b.tabs
	b.tabs = nil
	b.mu.Unlock()
	for _, t := range tabs {
		t.End(lost)
	}
	b.endProtocols()
	b.clipboard.Close()
	b.change.Notify()
	if !closing {
		b.log.Warn("browser lost", "error", lost.Err)
		b.events.add(Event{Kind: BrowserLost, Err: lost})
	}
	close(b.done)
	_ = b.transport.Close()
	if b.process != nil {
		if err := b.process.Close(); err != nil {
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
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bounded(ctx, closeTimeout))
		defer cancel()
		if b.process != nil {
			if err := b.client.Do(ctx, "", "Browser.close", nil, nil); err == nil {
				b.process.AwaitExit(ctx)
			}
			b.process.Kill()
		} else {
			b.closeOwn(ctx)
		}
		_ = b.client.Close()
		b.wg.Wait()
		b.transfers.Close()
		b.offline.Wait()
		b.closeRoutes()
		b.egress.Close()
		b.events.close()
		if b.process != nil {
			b.closeErr = b.process.Close()
		}
	})
	if b.closeErr != nil {
		return fault.Wrap(fault.Internal, b.closeErr, "removing the profile directory")
	}
	return nil
}

// closeOwn closes what we opened in an attached browser.
func (b *Browser) closeOwn(ctx context.Context) {
	b.mu.Lock()
	var commands []cdp.Command
	for target := range b.requested {
		commands = append(commands, cdp.Command{Method: "Target.closeTarget", Params: cdp.Object("targetId", target)})
	}
	for id := range b.contexts {
		commands = append(commands, cdp.Command{
			Method: "Target.disposeBrowserContext",
			Params: cdp.Object("browserContextId", id),
		})
	}
	b.mu.Unlock()
	if len(commands) == 0 {
		return
	}
	calls, err := b.client.Start(ctx, commands...)
	if err != nil {
		return
	}
	for _, p := range calls {
		_, _ = b.client.Wait(ctx, p)
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
