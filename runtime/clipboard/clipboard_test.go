package clipboard_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/session"
	"github.com/outrider-run/outrider/runtime/clipboard"
)

// board is the clipboard of a browser without one.
type board struct {
	desktop       bool
	holds         string
	broken        error
	reads, writes int
}

func (b *board) Read(context.Context) (string, string, error) {
	b.reads++
	return b.holds, "", b.broken
}

func (b *board) Write(_ context.Context, text, _ string) error {
	b.writes++
	if b.broken == nil {
		b.holds = text
	}
	return b.broken
}

func (b *board) Desktop() bool { return b.desktop }

// desk is a browser with two sessions.
type desk struct {
	t        *testing.T
	board    *board
	shared   *clipboard.Shared
	one, two *clipboard.Own
}

func newDesk(t *testing.T, b *board) *desk {
	d := &desk{t: t, board: b, one: &clipboard.Own{}, two: &clipboard.Own{}}
	d.shared = clipboard.New(
		func() []*clipboard.Own { return []*clipboard.Own{d.one, d.two} }, slog.New(slog.DiscardHandler),
	)
	return d
}

func chord(code int) []primitives.KeyEvent {
	return []primitives.KeyEvent{
		{Type: primitives.RawKeyDown, Key: "Control", KeyCode: 17, Modifiers: primitives.ModControl},
		{Type: primitives.RawKeyDown, KeyCode: code, Modifiers: primitives.ModControl},
		{Type: primitives.KeyUp, KeyCode: code, Modifiers: primitives.ModControl},
	}
}

// copy presses Control+C where text is selected, "" for none.
func (d *desk) copy(own *clipboard.Own, text string) {
	d.t.Helper()
	own.Used(true)
	err := d.shared.Keys(d.t.Context(), d.board, own, chord('C'), func() error {
		if text != "" {
			d.board.holds = text
		}
		return nil
	})
	if err != nil {
		d.t.Errorf("copying: %v", err)
	}
}

// paste presses Control+V and wants that text.
func (d *desk) paste(own *clipboard.Own, want string) {
	d.t.Helper()
	own.Used(true)
	got := "nothing was sent"
	err := d.shared.Keys(d.t.Context(), d.board, own, chord('V'), func() error {
		got = d.board.holds
		return nil
	})
	if err != nil || got != want {
		d.t.Errorf("pasting gave %q, %v; want %q", got, err, want)
	}
}

// leaves ends the first session, and begins another one.
func (d *desk) leaves(begins bool) {
	ended := d.one
	d.one = &clipboard.Own{}
	d.shared.Ended(ended)
	if begins {
		d.shared.Begins(d.t.Context(), d.board)
	}
}

// script is what a page of a session puts there by itself.
func (d *desk) script(own *clipboard.Own, text string) {
	own.Used(true)
	d.board.holds = text
}

func (d *desk) reads(own *clipboard.Own, want string) {
	d.t.Helper()
	d.shared.Update(d.t.Context(), d.board, own)
	if got, _ := own.Get(); got.Text != want {
		d.t.Errorf("the clipboard of the session has %q, want %q", got.Text, want)
	}
}

func TestOneSession(t *testing.T) {
	b := &board{}
	d := newDesk(t, b)
	d.paste(d.one, "")
	d.script(d.one, "by script")
	d.paste(d.one, "by script")
	if b.reads+b.writes != 0 {
		t.Errorf("pasting what is there took %d reads and %d writes", b.reads, b.writes)
	}
	d.reads(d.one, "by script")
	d.copy(d.one, "copied")
	if b.reads != 2 || b.writes != 0 {
		t.Errorf("reading what a script wrote and copying took %d reads and %d writes, want 2 and 0", b.reads, b.writes)
	}
	d.reads(d.one, "copied")
	d.one.Set(session.Clip{Text: "written"})
	d.script(d.one, "later")
	d.paste(d.one, "later")
	d.one.Set(session.Clip{Text: "written"})
	d.paste(d.one, "written")
	d.one.Set(session.Clip{Text: "copied"})
	d.copy(d.one, "")
	d.reads(d.one, "copied")
	d.copy(d.one, "copied")
	d.reads(d.one, "copied")
}

func TestTwoSessions(t *testing.T) {
	d := newDesk(t, &board{})
	d.copy(d.one, "of one")
	d.paste(d.two, "")
	d.copy(d.two, "")
	d.reads(d.two, "")
	d.copy(d.two, "of one") // the same words, but its own
	d.reads(d.two, "of one")
	d.script(d.one, "by a script of one")
	d.paste(d.two, "of one")
	d.script(d.one, "by a script of one")
	d.reads(d.two, "of one")
	d.reads(d.one, "of one")
	d.paste(d.one, "of one")
}

func TestWhatASessionLeaves(t *testing.T) {
	d := newDesk(t, &board{})
	d.copy(d.one, "of one")
	d.script(d.one, "by a script of one")
	d.leaves(false)
	d.two.Used(true)
	d.reads(d.two, "")
	d.paste(d.two, "")
	d.script(d.two, "its own")
	d.reads(d.two, "its own")
}

func TestASessionBeginsWithAnEmptyClipboard(t *testing.T) {
	d := newDesk(t, &board{})
	for _, text := range []string{"first", "second"} {
		d.script(d.one, text)
		d.paste(d.one, text)
		d.leaves(true)
		if d.board.holds != "" {
			t.Errorf("the browser still holds %q", d.board.holds)
		}
	}
	if d.board.reads != 0 {
		t.Errorf("pasting what scripts wrote took %d reads", d.board.reads)
	}
	d.script(d.one, "third")
	d.reads(d.one, "third")
	d.copy(d.two, "of two")
	writes := d.board.writes
	d.leaves(true) // two is still there
	if d.board.writes != writes {
		t.Error("what another session copied was cleared")
	}
	d.paste(d.two, "of two")
	d = newDesk(t, &board{})
	d.one.Used(false)
	d.leaves(true) // it only read
	if d.board.writes != 0 {
		t.Error("the clipboard was cleared for nothing")
	}
}

func TestAnotherBrowser(t *testing.T) {
	d := newDesk(t, &board{})
	d.copy(d.one, "of one")
	d.board = &board{}
	d.paste(d.one, "of one")
}

func TestDesktop(t *testing.T) {
	b := &board{desktop: true, holds: "of the user"}
	d := newDesk(t, b)
	d.script(d.one, "of the user")
	d.reads(d.one, "")
	d.copy(d.one, "")
	d.reads(d.one, "")
	d.paste(d.one, "of the user")
	if b.writes != 0 {
		t.Error("what the user has on the clipboard was replaced")
	}
	d.copy(d.one, "copied")
	d.reads(d.one, "copied")
	d.paste(d.two, "") // not what another session copied
	d.one.Set(session.Clip{Text: "written"})
	d.paste(d.one, "written")
}

func TestBrokenBoard(t *testing.T) {
	b := &board{broken: errors.New("no")}
	d := newDesk(t, b)
	d.paste(d.one, "") // alone, and nothing to install
	d.one.Set(session.Clip{Text: "written"})
	sent := false
	err := d.shared.Keys(t.Context(), b, d.one, chord('V'), func() error { sent = true; return nil })
	if !errors.Is(err, fault.TrustedKeyFailed) || sent {
		t.Errorf("pasting what cannot be installed: sent %v, %v", sent, err)
	}
	d.copy(d.one, "copied") // the page has it all the same
	err = d.shared.Keys(t.Context(), b, d.one, chord('A'), func() error { return context.Canceled })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a key that has nothing to do with a clipboard: %v", err)
	}
}

func TestTakingTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, &board{})
		d.copy(d.one, "of one")
		busy, done := make(chan struct{}), make(chan error)
		go func() {
			done <- d.shared.Keys(t.Context(), d.board, d.one, chord('V'), func() error {
				<-busy
				if d.board.holds != "of one" {
					t.Errorf("the page that was busy pastes %q", d.board.holds)
				}
				return nil
			})
		}()
		synctest.Wait()
		d.two.Used(true)
		sent := false
		err := d.shared.Keys(t.Context(), d.board, d.two, chord('V'), func() error { sent = true; return nil })
		if !errors.Is(err, fault.Timeout) || sent {
			t.Errorf("a key beside a page that does not end: sent %v, %v; want timeout", sent, err)
		}
		short, cancel := context.WithCancel(t.Context())
		cancel()
		if err := d.shared.Keys(short, d.board, d.two, chord('V'), func() error {
			return nil
		}); !errors.Is(err, context.Canceled) {
			t.Errorf("a key whose call was cancelled: %v", err)
		}
		close(busy)
		if err := <-done; err != nil {
			t.Error(err)
		}
		d.paste(d.two, "")
	})
}
