package shell

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/outrider-run/outrider/internal/background"
	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/internal/owner"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Session is a session as commands find it: by its name.
type Session struct {
	Name string
	// Shared says that somebody has named it. A session without a name belongs to one process.
	Shared bool
	folder string
}

var sessionNames = lazyregexp.New(`^[A-Za-z0-9_-]{1,32}$`)

// Named is the session of a name. Letters, digits, - and _ make one, at most 32.
func Named(name string) (Session, error) {
	if !sessionNames().MatchString(name) {
		return Session{}, fault.New(
			fault.InvalidInput, "%q is no name of a session: expected 1 to 32 letters, digits, - and _", name,
		)
	}
	return Session{Name: name, Shared: true, folder: folder()}, nil
}

// Own is the session of the caller: that of the nearest parent that stays, in this tree of files.
func Own() (Session, owner.Process, error) {
	at, err := owner.Find(os.Getpid())
	if err != nil {
		return Session{}, owner.Process{}, fault.New(fault.SessionOwner,
			"no parent process stays when this command has ended, so the session would belong to nobody").
			Next("name the session: OUTRIDER_SESSION=NAME, or -s NAME")
	}
	return Session{Name: at.Name(tree()), folder: folder()}, at, nil
}

// tree is the working tree of version control around the working folder; "" outside of one.
func tree() string {
	at, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		up := filepath.Dir(at)
		if up == at {
			return ""
		}
		at = up
	}
}

func folder() string {
	if at := background.Folder(); at != "" {
		return filepath.Join(at, "shell")
	}
	return ""
}

func (s Session) file(suffix string) string { return filepath.Join(s.folder, s.Name+suffix) }

// Socket is where the process of the session listens.
func (s Session) Socket() string { return s.file(".sock") }

// Log is where its process writes what goes wrong.
func (s Session) Log() string { return s.file(".log") }

// removed reports whether the socket is gone: nobody can reach the session any more.
func (s Session) removed() bool {
	_, err := os.Lstat(s.Socket())
	return err != nil
}

func (s Session) remove() error {
	return errors.Join(background.Remove(s.Socket()), background.Remove(s.Log()))
}

// Lock makes this process the one that serves the session, until unlock: commands that end the session wait for that.
// It waits for one that is just ending, not for one that serves.
func (s Session) Lock(ctx context.Context) (unlock func(), err error) {
	if err := background.PrivateFolder(s.folder); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, background.StartLimit)
	defer cancel()
	served := false
	var failed error
	waited := background.Until(ctx, func() bool {
		unlock, failed = background.Lock(s.file(".lock"))
		if failed == nil {
			return true
		}
		served = background.Answers(ctx, s.Socket())
		return served
	})
	switch {
	case served:
		return nil, errors.New("another process serves the session")
	case waited != nil:
		return nil, failed
	}
	return unlock, nil
}

// Start starts the process of the session with a command line that serves it, and returns when commands can connect.
// Two that are started at once are one session.
func (s Session) Start(ctx context.Context, args []string) error {
	if err := background.PrivateFolder(s.folder); err != nil {
		return fault.New(fault.CapabilityUnavailable, "the folder of the sockets: %v", err)
	}
	waiting, stop := context.WithTimeout(ctx, 2*time.Second)
	defer stop()
	err := background.Start(ctx, args, s.Log())
	if errors.Is(err, background.ErrEnded) && !s.free() {
		// Another one is on its way, or one that was killed has not quite ended.
		opened := false
		_ = background.Until(waiting, func() bool {
			opened = s.Open(waiting)
			return opened || s.free()
		})
		if opened {
			return nil
		}
		err = background.Start(ctx, args, s.Log())
	}
	if err != nil {
		return fault.New(fault.BrowserFailed, "the session %s did not start: %v", s.Name, err)
	}
	return nil
}

// free reports whether no process has the session.
func (s Session) free() bool {
	unlock, err := background.Lock(s.file(".lock"))
	if err != nil {
		return false
	}
	unlock()
	return true
}

// Open reports whether a process serves the session. One that was killed may take connections for a moment, and answers
// none.
func (s Session) Open(ctx context.Context) bool {
	_, err := s.Info(ctx)
	code := fault.CodeOf(err)
	return err == nil || code != fault.SessionLost && code != fault.SessionNotFound
}

// Sessions lists the open sessions of this user. What a process left behind that was killed is removed.
func Sessions(ctx context.Context) []Info {
	background.Sweep(ctx, background.Folder())
	var out []Info
	for _, s := range all() {
		if info, err := s.Info(ctx); err == nil {
			out = append(out, info)
			continue
		}
		if unlock, err := background.Lock(s.file(".lock")); err == nil {
			_ = s.remove()
			unlock()
		}
	}
	return out
}

// all are the sessions of which a file is there.
func all() []Session {
	files, err := filepath.Glob(filepath.Join(folder(), "*.lock"))
	if err != nil {
		return nil
	}
	out := make([]Session, 0, len(files))
	for _, f := range files {
		out = append(out, Session{Name: strings.TrimSuffix(filepath.Base(f), ".lock"), folder: folder()})
	}
	return out
}
