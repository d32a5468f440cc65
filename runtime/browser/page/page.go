package page

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// Page is what a tab shows: its documents and frames, and what can be done with them.
// It implements primitives.Page but for what the other rooms of runtime/browser do. It
// is safe for concurrent use.
type Page struct {
	client   *cdp.Client
	log      *slog.Logger
	patience func(time.Duration) time.Duration // see Options.Patience
	observer Observer
	target   string
	session  *cdp.Session

	mu              sync.Mutex
	identity        primitives.TabInfo
	title           string
	lifetime        *cdp.Lifetime
	crashed         bool
	frames          map[primitives.FrameID]*frame
	main            primitives.FrameID
	dialog          *openDialog
	dialogs         chan struct{} // closed when a dialog opens
	droppedReleases []cdp.Command // of keys, which the browser dropped because of the dialog
	commits         int           // documents that the main frame has had
	moves           int           // navigations of the main frame within its documents
	certificate     string        // why one was refused since the last navigation began; "" for none
	loaders         [16]string    // ids of the newest of them
	loading         bool          // between frameStartedLoading and frameStoppedLoading
	settling        settling      // how long reads have waited for the document
	redirect        bool          // the page requested a navigation at once
	redirecting     bool          // it has begun
	inputUnreported bool          // input was sent, and nobody has waited for what it began: see awaitInputReport
	awaited         string        // loader of the document that was asked for and is not there yet; "" for none
	// restarting: Navigate ends the page's process, which is no crash to report.
	restarting bool
	// ended is why we end the process of the page; nil for a crash of its own.
	ended      *fault.Error
	change     cdp.Broadcast // any of the above changed
	loadReport *loadReport   // of the newest navigation, until it has spoken
	// dialogCount counts the dialogs that have opened; lastDialog is the newest.
	dialogCount int
	windows     int // Page.windowOpen events
	lastDialog  *primitives.Dialog
	// chooser, when set, gets the file chooser that the page requests.
	chooser chan chooser

	refs primitives.Refs

	// interrupting: see interruptBlockingScript.
	interrupting atomic.Bool
	// waitedInVain is when a call that was given up last waited for the page in vain, in nanoseconds since 1970.
	waitedInVain atomic.Int64
	// refreshed and refreshLater: see refreshAfterInput; mu guards them.
	refreshed    time.Time
	refreshLater *time.Timer
	// refreshing: see refreshTarget.
	refreshing atomic.Int32
	// calls counts those that were made, for collectAfterCalls.
	calls atomic.Int64
	// captures counts those under way: see Capture.
	captures atomic.Int32
	// offered: see offerLibrary.
	offered atomic.Bool
	// cast: a screencast runs, see KeepsCast.
	cast bool
}

// Observer receives what happens to a page. The reader calls it, so it must not wait for
// anything.
type Observer interface {
	// Navigated: the main frame shows a new document.
	Navigated()
	// Changed: the address or the title is another.
	Changed()
	Crashed()
	DialogOpened()
	DialogClosed()
	// FramesChanged: a child frame was attached or detached, or shows another document
	// or address.
	FramesChanged()
	// FrameBegan: a frame may have a new document, in a session.
	FrameBegan(s *cdp.Session, frame primitives.FrameID)
	// DocumentReplaced: a frame shows the document of a loader; top is the main frame.
	DocumentReplaced(frame primitives.FrameID, loader string, top bool)
	// DocumentQuiet: the browser found the document of a loader quiet.
	DocumentQuiet(loader string)
	// SessionDetached: a frame in another process has left it.
	SessionDetached(s *cdp.Session)
}

// Target is a tab as the browser names and describes it.
type Target struct {
	ID, URL, Title string
}

// FrameTarget is a frame in another process as the browser describes it.
type FrameTarget struct {
	Parent primitives.FrameID // "" when the browser does not say
	URL    string
}

// Options of a page.
type Options struct {
	Logger *slog.Logger
	// Patience says how long a page may take to answer for which it has d, before it counts as stuck. nil is d.
	Patience func(d time.Duration) time.Duration
}

// New makes the page of a tab whose session has begun.
func New(client *cdp.Client, s *cdp.Session, target Target, observer Observer, options Options) *Page {
	if options.Patience == nil {
		options.Patience = func(d time.Duration) time.Duration { return d }
	}
	return &Page{
		client:   client,
		log:      options.Logger,
		patience: options.Patience,
		observer: observer,
		target:   target.ID,
		session:  s,
		identity: primitives.TabInfo{URL: address.WithoutUser(target.URL)},
		title:    target.Title,
		lifetime: cdp.NewLifetime(),
		frames:   map[primitives.FrameID]*frame{},
		dialogs:  make(chan struct{}),
	}
}

// TargetID is the browser's name for the tab. It does not outlive the browser.
func (p *Page) TargetID() string { return p.target }

// SetIdentity sets what the runtime knows of the tab. URL and Title are the
// browser's to say and ignored.
func (p *Page) SetIdentity(info primitives.TabInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	info.URL = p.identity.URL
	p.identity = info
}

// Tab implements primitives.Page.
func (p *Page) Tab() primitives.TabInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	info := p.identity
	info.Title = p.title
	info.Loading = p.loading || p.redirect
	info.Busy = p.main == ""
	return info
}

// Refs implements primitives.Page.
func (p *Page) Refs() *primitives.Refs { return &p.refs }

// refFrame is the name under which refs know a frame: the main frame has none,
// since its id changes when it moves between processes.
func (p *Page) refFrame(id primitives.FrameID) primitives.FrameID {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id == p.main {
		return ""
	}
	return id
}

// Done is closed when the tab was closed. It stays open over a crash.
func (p *Page) Done() <-chan struct{} { return p.session.Done() }

// Changed returns a channel that the next change of the page closes.
func (p *Page) Changed() <-chan struct{} { return p.change.Wait() }

// Lifetime is the time in which the page that is there can answer.
func (p *Page) Lifetime() *cdp.Lifetime {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lifetime
}

// TopSession is the tab's own session.
func (p *Page) TopSession() *cdp.Session { return p.session }

// Sessions lists the tab's session, first, and those of its frames in other processes.
func (p *Page) Sessions() []*cdp.Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sessionsLocked()
}

// sessionsLocked is Sessions; p.mu is held.
func (p *Page) sessionsLocked() []*cdp.Session {
	list := []*cdp.Session{p.session}
	seen := map[*cdp.Session]bool{p.session: true}
	for _, f := range p.frames {
		if f.session != nil && !seen[f.session] {
			seen[f.session] = true
			list = append(list, f.session)
		}
	}
	return list
}

// MainDocument names the document of the main frame by its loader, and reports whether
// the browser has found it quiet.
func (p *Page) MainDocument() (loader string, quiet bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.frames[p.main]; f != nil {
		return f.loader, f.idle == f.loader
	}
	return "", false
}

// Activity is how far a page has come, to compare with how far it came later.
type Activity struct {
	URL       string
	Documents int // that the main frame has had
	Loading   bool
	Dialogs   int // that have opened
	Windows   int // that it has asked the browser to open
	Over      bool
	// LastDialog is the newest dialog, nil when there was none.
	LastDialog *primitives.Dialog
}

// Activity reports how far the page has come.
func (p *Page) Activity() Activity {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Activity{
		URL:        p.identity.URL,
		Documents:  p.commits,
		Loading:    p.loading || p.redirect,
		Dialogs:    p.dialogCount,
		LastDialog: p.lastDialog,
		Windows:    p.windows,
		Over:       p.lifetime.Over(),
	}
}

// onWindowOpen comes before the answer to what made the page open it; the new tab can come much later.
func (p *Page) onWindowOpen() {
	p.mu.Lock()
	p.windows++
	p.mu.Unlock()
	p.change.Notify()
}

// Close closes the tab and returns when that is done. Unload handlers run, but
// nothing in the page can refuse: a beforeunload dialog is accepted, and a page
// that does not answer is ended.
func (p *Page) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cdp.CommandTimeout)
	defer cancel()
	err := p.client.DoAll(ctx, append(p.Dismissal(), cdp.Command{
		Method: "Target.closeTarget",
		Params: cdp.Object("targetId", p.target),
	})...)
	var refused *cdp.Error
	if errors.As(err, &refused) { // no such target: it is closing already
		err = nil
	}
	if err != nil && !errors.Is(err, fault.BrowserLost) {
		return cdp.Explain(err, "closing the tab")
	}
	patience := time.NewTimer(time.Second)
	defer patience.Stop()
	for {
		changed := p.change.Wait()
		p.mu.Lock()
		l, d := p.lifetime, p.dialog
		p.mu.Unlock()
		if d != nil {
			_, _ = p.AnswerDialog(ctx, true, "")
		}
		select {
		case <-l.Done():
			if !p.crashedNow() {
				return nil
			}
			// A crashed tab is still there: wait on.
			select {
			case <-p.session.Done():
				return nil
			case <-ctx.Done():
				return cdp.Explain(ctx.Err(), "closing the tab")
			}
		case <-changed:
		case <-patience.C:
			p.client.Post(cdp.Command{Session: p.session.ID, Method: "Page.crash"})
		case <-ctx.Done():
			return cdp.Explain(ctx.Err(), "closing the tab")
		}
	}
}

func (p *Page) crashedNow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.crashed
}

// End marks the tab as closed: what is in flight fails with err. The reader calls it.
func (p *Page) End(err error) {
	p.mu.Lock()
	l := p.lifetime
	if p.crashed {
		// The crash ended those contexts already; what follows is ended by the new one.
		l = cdp.NewLifetime()
		p.lifetime = l
		p.crashed, p.ended = false, nil
	}
	if l.Over() {
		p.mu.Unlock()
		return
	}
	p.dialog = nil
	p.mu.Unlock()
	l.End(err)
	p.session.Detach()
	p.change.Notify()
}

// Crash ends the renderer process of the page. What runs on it ends with why, a
// tab_crashed; nil is that of a crash of its own.
func (p *Page) Crash(why *fault.Error) {
	p.mu.Lock()
	p.ended = why
	p.mu.Unlock()
	p.client.Post(cdp.Command{Session: p.session.ID, Method: "Page.crash"})
}

// TargetCrashed takes the event that the renderer process of the page crashed. The reader calls
// it.
func (p *Page) TargetCrashed() {
	p.mu.Lock()
	if p.crashed {
		p.mu.Unlock()
		return
	}
	if p.lifetime.Over() {
		p.mu.Unlock()
		return
	}
	p.crashed = true
	p.dialog = nil
	l := p.lifetime
	report := !p.restarting
	why := p.ended
	p.mu.Unlock()
	if why == nil {
		why = fault.New(fault.TabCrashed, "the page's renderer process crashed").Next("navigate or reload the tab")
	}
	l.End(why)
	p.change.Notify()
	if report {
		p.observer.Crashed()
	}
}

// restartLocked makes a crashed tab usable again; p.mu is held.
func (p *Page) restartLocked() {
	if p.crashed {
		p.crashed = false
		p.lifetime = cdp.NewLifetime()
	}
}

// SetTarget takes over what the browser reports of the tab: the title, and, where the
// frames do not have it, the address. The browser's is one of its address bar: empty
// for a moment when another process takes the page over, and of a page that is still
// to come.
func (p *Page) SetTarget(info Target) {
	p.mu.Lock()
	if f := p.frames[p.main]; p.commits > 0 && f != nil && f.failed == "" {
		info.URL = p.identity.URL
	}
	changed := p.title != info.Title || p.identity.URL != info.URL
	p.title, p.identity.URL = info.Title, info.URL
	p.mu.Unlock()
	if changed {
		p.observer.Changed()
	}
}

// refreshTarget requests address and title from the browser, not from the page: it reports a
// new title only together with a navigation. So a title that a script sets later
// shows after the next input, navigation or stage of loading. One answer is awaited at
// a time; when something happened meanwhile, it may be too old, and another follows.
func (p *Page) refreshTarget() {
	if p.refreshing.Add(1) > 1 {
		return
	}
	p.client.Post(cdp.Command{Method: "Target.getTargetInfo", Params: cdp.Object("targetId", p.target), OnReply: func(
		r cdp.Reply,
	) {
		again := p.refreshing.Swap(0) > 1
		if r.Err != nil {
			return
		}
		var answer struct {
			TargetInfo struct {
				TargetID string `json:"targetId"`
				URL      string `json:"url"`
				Title    string `json:"title"`
			} `json:"targetInfo"`
		}
		if json.Unmarshal(r.Result, &answer) == nil && answer.TargetInfo.TargetID == p.target && !p.closed() {
			p.SetTarget(Target{ID: p.target, URL: answer.TargetInfo.URL, Title: answer.TargetInfo.Title})
		}
		if again {
			p.refreshTarget()
		}
	}})
}

// InputRefresh is the least time between two requests for the title after input: most input changes none, and each
// request takes time of the browser's main thread, which all tabs share.
const InputRefresh = 200 * time.Millisecond

// refreshAfterInput is refreshTarget, at most once in InputRefresh. What comes sooner is followed by one at its end.
func (p *Page) refreshAfterInput() {
	p.mu.Lock()
	wait := time.Until(p.refreshed.Add(InputRefresh))
	if wait > 0 {
		if p.refreshLater == nil {
			p.refreshLater = time.AfterFunc(wait, p.refreshNow)
		}
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	p.refreshNow()
}

func (p *Page) refreshNow() {
	p.mu.Lock()
	p.refreshed, p.refreshLater = time.Now(), nil
	p.mu.Unlock()
	if !p.closed() {
		p.refreshTarget()
	}
}

func (p *Page) closed() bool {
	select {
	case <-p.session.Done():
		return true
	default:
		return false
	}
}

// blockedReason returns why the page cannot be evaluated, nil when it can; p.mu is
// held.
func (p *Page) blockedReason() error {
	if p.lifetime.Over() {
		return p.lifetime.Err()
	}
	if p.dialog != nil {
		return p.dialog.fault()
	}
	return nil
}

// do sends one command to the tab's own session and decodes the answer.
func (p *Page) do(ctx context.Context, method string, params, out any) error {
	return p.doIn(ctx, p.session, method, params, out)
}

func (p *Page) doIn(ctx context.Context, s *cdp.Session, method string, params, out any) error {
	return p.client.DoIn(ctx, p.Lifetime(), s, method, params, out)
}
