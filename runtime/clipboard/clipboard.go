// Package clipboard gives each session of a browser a clipboard of its own. After a key that copies, it moves the
// content of the browser's clipboard to the session's. Before a key that pastes, it moves it back. It opens no browser
// and knows no tab. What scripts of pages write there belongs to a session only while it is the browser's only one.
// Package runtime calls it around key events and before a session's clipboard is used.
package clipboard

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/session"
)

// patience is how long a key waits for those of other sessions, whose pages may be long in handling them.
const patience = 3 * time.Second

// Board is the clipboard of a browser.
type Board interface {
	Read(ctx context.Context) (text, html string, err error)
	Write(ctx context.Context, text, html string) error
	// Desktop says that others use it too, who are no sessions of ours.
	Desktop() bool
}

// Own is the clipboard of one session. The zero value is empty and ready.
type Own struct {
	session.Clipboard
	used    atomic.Bool // the session has used the browser
	touched atomic.Bool // a page of it may have copied something
	acted   atomic.Bool // that, since its clipboard was brought up to date
}

// Used reports that the session uses the browser, and whether in a way that can make a page copy.
func (o *Own) Used(acts bool) {
	o.used.Store(true)
	if acts {
		o.touched.Store(true)
		o.acted.Store(true)
	}
}

// Shared is the clipboard of a browser for the sessions that share it. It is safe for concurrent use.
type Shared struct {
	log      *slog.Logger
	sessions func() []*Own
	turn     chan struct{} // held by who uses the board
	stale    atomic.Bool   // a session has ended that used the browser
	dirty    atomic.Bool   // one that may have left something there

	// With turn:
	board   Board
	held    session.Clip // what board was last seen to hold
	owner   *Own         // whose content that is; nil for nobody's
	version int          // of owner, at that time
	clean   bool         // without an owner: it was empty when only the session that is alone could change it
}

// New shares the clipboards of browsers, one after the other, among those that sessions lists.
func New(sessions func() []*Own, log *slog.Logger) *Shared {
	return &Shared{log: log, sessions: sessions, turn: make(chan struct{}, 1)}
}

// Ended reports that a session has ended, which sessions does not list any more: what it left on the clipboard is
// nobody's.
func (s *Shared) Ended(own *Own) {
	if own.used.Load() {
		s.stale.Store(true)
	}
	if own.touched.Load() {
		s.dirty.Store(true)
	}
}

// Begins reports that a session begins, which has no pages yet. What others left on the clipboard is taken away, so
// that what its pages put there is known to be theirs.
func (s *Shared) Begins(ctx context.Context, board Board) {
	if board.Desktop() || !s.dirty.Load() || !s.alone(nil) {
		return
	}
	if s.begin(ctx, board) != nil {
		return
	}
	defer s.end()
	if err := s.write(ctx, nil, session.Clip{}, 0); err != nil {
		s.log.Debug("clearing the clipboard of the browser", "error", err)
		return
	}
	s.clean = true
}

// Keys sends key events of a session. Where they copy or paste, sessions take turns.
func (s *Shared) Keys(
	ctx context.Context, board Board, own *Own, events []primitives.KeyEvent, send func() error,
) error {
	what := meaning(events)
	if what == nothing {
		return send()
	}
	if err := s.begin(ctx, board); err != nil {
		return err
	}
	defer s.end()
	if what == copies {
		return s.copied(ctx, own, send)
	}
	if err := s.install(ctx, own); err != nil {
		// The browser may hold what another session has copied.
		return fault.Wrap(fault.TrustedKeyFailed, err, "putting the clipboard of the session into the browser").
			Next("clipboard.paste inserts it without the browser's clipboard")
	}
	return send()
}

// Update takes over what pages of a session have put on the clipboard, where that is known to be theirs.
func (s *Shared) Update(ctx context.Context, board Board, own *Own) {
	if board.Desktop() || !own.acted.Load() || !s.alone(own) {
		return
	}
	if s.begin(ctx, board) != nil {
		return
	}
	defer s.end()
	s.update(ctx, own)
}

func (s *Shared) begin(ctx context.Context, board Board) error {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-limit.C:
		return fault.New(
			fault.Timeout, "another session is still copying or pasting in this browser; the key was not sent",
		).Next("send it again")
	}
	if s.board != board { // a browser that has just been started holds nothing
		s.board = board
		s.held = session.Clip{}
		s.owner = nil
		s.version = 0
		s.clean = !s.stale.Load()
	}
	return nil
}

func (s *Shared) end() { <-s.turn }

// alone reports whether no other session than own has used the browser.
func (s *Shared) alone(own *Own) bool {
	for _, o := range s.sessions() {
		if o != own && o.used.Load() {
			return false
		}
	}
	return true
}

// current reports whether the board holds the content of own, or a later one that is its pages'.
func (s *Shared) current(own *Own) bool {
	_, version := own.Get()
	return s.owner == own && s.version == version || s.owner == nil && s.clean && version == 0
}

// install makes the board hold what own does.
func (s *Shared) install(ctx context.Context, own *Own) error {
	content, version := own.Get()
	switch {
	case s.board.Desktop():
		if s.owner == own && s.version == version || s.owner == nil && version == 0 {
			return nil // what others put there stays until the session has something to paste
		}
	case s.alone(own) && !s.stale.Load():
		if s.current(own) {
			return nil
		}
		s.update(ctx, own)
		if s.current(own) {
			return nil
		}
		content, version = own.Get()
	}
	return s.write(ctx, own, content, version)
}

// write replaces what the board holds by what is owner's.
func (s *Shared) write(ctx context.Context, owner *Own, content session.Clip, version int) error {
	if err := s.board.Write(ctx, content.Text, content.HTML); err != nil {
		s.owner, s.clean = nil, false
		return err
	}
	s.held = content
	s.owner = owner
	s.version = version
	s.clean = false
	s.stale.Store(false)
	s.dirty.Store(false)
	return nil
}

// copied sends events that copy, and takes over what they copied. The board holds the content of own before, so that a
// key that copies nothing changes nothing.
func (s *Shared) copied(ctx context.Context, own *Own, send func() error) error {
	var err error
	if s.board.Desktop() {
		s.held, err = s.read(ctx)
	} else {
		err = s.install(ctx, own)
	}
	if err != nil {
		s.log.Debug("preparing the clipboard for a key that copies", "error", err)
	}
	if err := send(); err != nil {
		return err
	}
	if content, err := s.read(ctx); err != nil {
		s.owner, s.clean = nil, false
		s.log.Warn("what a key copied is not on the clipboard of the session", "error", err)
	} else if content != s.held {
		s.take(own, content)
	}
	return nil
}

// update takes over what pages of own have put on the board, which nobody else uses.
func (s *Shared) update(ctx context.Context, own *Own) {
	if !own.acted.Swap(false) {
		return
	}
	left := s.stale.Swap(false)
	content, err := s.read(ctx)
	switch {
	case err != nil:
		own.acted.Store(true)
		s.log.Debug("reading the clipboard of the browser", "error", err)
	case left:
		s.held = content
		s.owner = nil
		s.clean = false
	case content != s.held:
		s.take(own, content)
	}
}

func (s *Shared) read(ctx context.Context) (session.Clip, error) {
	text, html, err := s.board.Read(ctx)
	return session.Clip{Text: text, HTML: html}, err
}

func (s *Shared) take(own *Own, content session.Clip) {
	s.held = content
	s.owner = own
	s.version = own.Set(content)
}
