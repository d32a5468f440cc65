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
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/change"
)

// Page is what a tab shows: its documents and frames, and what can be done with them.
// It implements primitives.Page but for what the other rooms of runtime/browser do. It
// is safe for concurrent use.
type Page struct {
	client   *cdp.Client
	log      *slog.Logger
	observer Observer
	target   string
	s        *cdp.Session

	mu          sync.Mutex
	identity    primitives.TabInfo
	title       string
	life        *cdp.Lifetime
	crashed     bool
	frames      map[primitives.FrameID]*frame
	main        primitives.FrameID
	dialog      *openDialog
	dialogs     chan struct{} // closed when a dialog opens
	releases    []cdp.Command // of keys, which the browser dropped because of the dialog
	commits     int           // documents that the main frame has had
	within      int           // navigations of the main frame within its documents
	loaders     [16]string    // ids of the newest of them
	loading     bool          // between frameStartedLoading and frameStoppedLoading
	redirect    bool          // the page asked for a navigation at once
	redirecting bool          // it has begun
	// restarting: Navigate ends the page's process, which is no crash to report.
	restarting bool
	change     change.Broadcast // any of the above changed
	saying     *saying          // of the newest navigation, until it has spoken
	// dialogsSeen counts the dialogs that have opened; lastDialog is the newest.
	dialogsSeen int
	lastDialog  *primitives.Dialog
	// chooser, when set, gets the file chooser that the page asks for.
	chooser chan chooser

	refs primitives.Refs

	// suspect: a call ran out of time and nothing was heard since.
	suspect atomic.Bool
	// ending: see endHeld.
	ending atomic.Bool
	// asking: see refreshTarget.
	asking atomic.Int32
	// captures counts those under way: see Capture.
	captures atomic.Int32
}

// Observer hears what happens to a page. The reader calls it, so it must not wait for
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

// New makes the page of a tab whose session has begun.
func New(client *cdp.Client, s *cdp.Session, target Target, observer Observer, log *slog.Logger) *Page {
	return &Page{
		client:   client,
		log:      log,
		observer: observer,
		target:   target.ID,
		s:        s,
		identity: primitives.TabInfo{URL: target.URL},
		title:    target.Title,
		life:     cdp.NewLifetime(),
		frames:   map[primitives.FrameID]*frame{},
		dialogs:  make(chan struct{}),
	}
}

// TargetID is the browser's name for the tab. It does not outlive the browser.
func (t *Page) TargetID() string { return t.target }

// SetIdentity sets what the runtime knows of the tab. URL and Title are the
// browser's to say and ignored.
func (t *Page) SetIdentity(info primitives.TabInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	info.URL = t.identity.URL
	t.identity = info
}

// Tab implements primitives.Page.
func (t *Page) Tab() primitives.TabInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	info := t.identity
	info.Title = t.title
	return info
}

// Refs implements primitives.Page.
func (t *Page) Refs() *primitives.Refs { return &t.refs }

// refFrame is the name under which refs know a frame: the main frame has none,
// since its id changes when it moves between processes.
func (t *Page) refFrame(id primitives.FrameID) primitives.FrameID {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id == t.main {
		return ""
	}
	return id
}

// Done is closed when the tab was closed. It stays open over a crash.
func (t *Page) Done() <-chan struct{} { return t.s.Done() }

// Changed returns a channel that the next change of the page closes.
func (t *Page) Changed() <-chan struct{} { return t.change.Wait() }

// Lifetime is the time in which the page that is there can answer.
func (t *Page) Lifetime() *cdp.Lifetime {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.life
}

// Sessions lists the tab's session, first, and those of its frames in other processes.
func (t *Page) Sessions() []*cdp.Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sessionsLocked()
}

// sessionsLocked is Sessions; t.mu is held.
func (t *Page) sessionsLocked() []*cdp.Session {
	list := []*cdp.Session{t.s}
	seen := map[*cdp.Session]bool{t.s: true}
	for _, f := range t.frames {
		if f.s != nil && !seen[f.s] {
			seen[f.s] = true
			list = append(list, f.s)
		}
	}
	return list
}

// MainDocument names the document of the main frame by its loader, and says whether
// the browser has found it quiet.
func (t *Page) MainDocument() (loader string, quiet bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.frames[t.main]; f != nil {
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
	Over      bool
	// LastDialog is the newest dialog, nil when there was none.
	LastDialog *primitives.Dialog
}

// Activity says how far the page has come.
func (t *Page) Activity() Activity {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Activity{
		URL: t.identity.URL, Documents: t.commits, Loading: t.loading || t.redirect, Dialogs: t.dialogsSeen, LastDialog: t.lastDialog, Over: t.life.Over(),
	}
}

// Close closes the tab and returns when it is gone. Unload handlers run, but
// nothing in the page can refuse: a beforeunload dialog is accepted, and a page
// that does not answer is ended.
func (t *Page) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cdp.CommandTimeout)
	defer cancel()
	err := t.client.DoAll(ctx, append(t.Dismissal(), cdp.Command{Method: "Target.closeTarget", Params: cdp.Object("targetId", t.target)})...)
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
		changed := t.change.Wait()
		t.mu.Lock()
		l, d := t.life, t.dialog
		t.mu.Unlock()
		if d != nil {
			_, _ = t.AnswerDialog(ctx, true, "")
		}
		select {
		case <-l.Done():
			if !t.crashedNow() {
				return nil
			}
			// A crashed tab is still there: wait on.
			select {
			case <-t.s.Done():
				return nil
			case <-ctx.Done():
				return cdp.Explain(ctx.Err(), "closing the tab")
			}
		case <-changed:
		case <-patience.C:
			t.client.Post(cdp.Command{Session: t.s.ID, Method: "Page.crash"})
		case <-ctx.Done():
			return cdp.Explain(ctx.Err(), "closing the tab")
		}
	}
}

// Crash ends the tab's renderer process, for tests of what follows.
func (t *Page) Crash() {
	t.client.Post(cdp.Command{Session: t.s.ID, Method: "Page.crash"})
}

func (t *Page) crashedNow() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.crashed
}

// End marks the tab as closed: what is in flight fails with err. The reader calls it.
func (t *Page) End(err error) {
	t.mu.Lock()
	l := t.life
	if t.crashed {
		// The crash ended that life already; what comes now meets the new end.
		l = cdp.NewLifetime()
		t.life = l
		t.crashed = false
	}
	if l.Over() {
		t.mu.Unlock()
		return
	}
	t.dialog = nil
	t.mu.Unlock()
	l.End(err)
	t.s.Detach()
	t.change.Notify()
}

// TargetCrashed hears that the renderer process of the page crashed. The reader calls
// it.
func (t *Page) TargetCrashed() {
	t.mu.Lock()
	if t.crashed {
		t.mu.Unlock()
		return
	}
	if t.life.Over() {
		t.mu.Unlock()
		return
	}
	t.crashed = true
	t.dialog = nil
	l, report := t.life, !t.restarting
	t.mu.Unlock()
	l.End(fault.New(fault.TabCrashed, "the page's renderer process crashed").Next("navigate or reload the tab"))
	t.change.Notify()
	if report {
		t.observer.Crashed()
	}
}

// revive gives a crashed tab a new life; t.mu is held.
func (t *Page) revive() {
	if t.crashed {
		t.crashed = false
		t.life = cdp.NewLifetime()
	}
}

// SetTarget takes over what the browser says of the tab: the title, and, where the
// frames do not tell it, the address. The browser's is one of its address bar: empty
// for a moment when another process takes the page over, and of a page that is still
// to come.
func (t *Page) SetTarget(info Target) {
	t.mu.Lock()
	if f := t.frames[t.main]; t.commits > 0 && f != nil && f.failed == "" {
		info.URL = t.identity.URL
	}
	changed := t.title != info.Title || t.identity.URL != info.URL
	t.title, t.identity.URL = info.Title, info.URL
	t.mu.Unlock()
	if changed {
		t.observer.Changed()
	}
}

// refreshTarget asks the browser, not the page, for address and title: it reports a
// new title only together with a navigation. So a title that a script sets later
// shows after the next input, navigation or stage of loading. One answer is awaited at
// a time; when something happened meanwhile, it may be too old, and another follows.
func (t *Page) refreshTarget() {
	if t.asking.Add(1) > 1 {
		return
	}
	t.client.Post(cdp.Command{Method: "Target.getTargetInfo", Params: cdp.Object("targetId", t.target), OnReply: func(r cdp.Reply) {
		again := t.asking.Swap(0) > 1
		if r.Err != nil {
			return
		}
		var answer struct {
			TargetInfo struct {
				URL   string `json:"url"`
				Title string `json:"title"`
			} `json:"targetInfo"`
		}
		if json.Unmarshal(r.Result, &answer) == nil && !t.closed() {
			t.SetTarget(Target{ID: t.target, URL: answer.TargetInfo.URL, Title: answer.TargetInfo.Title})
		}
		if again {
			t.refreshTarget()
		}
	}})
}

func (t *Page) closed() bool {
	select {
	case <-t.s.Done():
		return true
	default:
		return false
	}
}

// blockedLocked returns why the page cannot be asked now, nil when it can; t.mu is
// held.
func (t *Page) blockedLocked() error {
	if t.life.Over() {
		return t.life.Err()
	}
	if t.dialog != nil {
		return t.dialog.fault()
	}
	return nil
}

// ask sends one command to the tab's own session and decodes the answer.
func (t *Page) ask(ctx context.Context, method string, params, out any) error {
	return t.askIn(ctx, t.s, method, params, out)
}

func (t *Page) askIn(ctx context.Context, s *cdp.Session, method string, params, out any) error {
	return t.client.DoIn(ctx, t.Lifetime(), s, method, params, out)
}
