package jcode

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/faces/provider"
	"github.com/outrider-run/outrider/internal/background"
	"github.com/outrider-run/outrider/internal/lazyregexp"
)

// Session is one session of jcode: a background process that serves the
// provider protocol on a socket, with the two files by which jcode knows it.
type Session struct {
	Name string
	dir  string
}

var sessionNames = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

func sessionNamed(name string) (Session, error) {
	if !sessionNames().MatchString(name) {
		return Session{}, fmt.Errorf("invalid_request: a session name has 1 to 64 letters, digits, - and _")
	}
	return Session{Name: name, dir: runtimeDir()}, nil
}

// runtimeDir is where jcode looks for the files of a session.
func runtimeDir() string {
	for _, name := range []string{"JCODE_RUNTIME_DIR", "XDG_RUNTIME_DIR"} {
		if dir := os.Getenv(name); dir != "" {
			return dir
		}
	}
	if dir := os.Getenv("TMPDIR"); dir != "" && goruntime.GOOS == "darwin" {
		return dir
	}
	return os.TempDir()
}

func (s Session) file(suffix string) string {
	return filepath.Join(s.dir, "browser-session-"+s.Name+suffix)
}
func (s Session) Socket() string  { return s.file(".sock") }
func (s Session) pidFile() string { return s.file(".pid") }

// PID is the process that the session's file names, 0 for none.
func (s Session) PID() int {
	content, err := os.ReadFile(s.pidFile())
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil || pid <= 0 {
		return 0
	}
	return pid
}

// answers reports whether somebody serves the session.
func (s Session) answers(ctx context.Context) bool { return background.Answers(ctx, s.Socket()) }

// LiveSessions lists the sessions that are served.
func LiveSessions() []Session {
	files, _ := filepath.Glob(filepath.Join(runtimeDir(), "browser-session-*.sock")) // the pattern is ours
	var out []Session
	for _, f := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), "browser-session-"), ".sock")
		if s, err := sessionNamed(name); err == nil && s.answers(context.Background()) {
			out = append(out, s)
		}
	}
	return out
}

// End signals the session's process to end and waits until it has. A process is only
// signalled while somebody serves the session: a pid alone may be anybody's.
func (s Session) End(ctx context.Context) error {
	pid := s.PID()
	if pid == 0 || !s.answers(ctx) {
		return fmt.Errorf("session_not_found: no process serves the session %s", s.Name)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	if err := p.Signal(background.EndSignal); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	return background.Until(ctx, func() bool {
		unlock, err := background.Lock(s.file(".lock"))
		if err != nil {
			return false
		}
		unlock()
		return true
	})
}

// session runs the verb session.
func (f *Face) session(ctx context.Context, args []string) error {
	var names []string
	help := len(args) == 0
	for _, arg := range args {
		switch {
		case arg == "--help" || arg == "-h":
			help = true
		case arg == "--bind-window":
		case strings.HasPrefix(arg, "-"):
			return fmt.Errorf("invalid_request: unknown flag %s", arg)
		default:
			names = append(names, arg)
		}
	}
	if help {
		fmt.Fprint(f.Out, sessionHelp)
		return nil
	}
	if names[0] == "list" {
		list := []map[string]any{}
		for _, s := range LiveSessions() {
			list = append(list, map[string]any{"session": s.Name, "pid": s.PID(), "socket": s.Socket()})
		}
		f.print(map[string]any{"sessions": list})
		return nil
	}
	if len(names) != 2 {
		return errors.New("invalid_request: name a session")
	}
	s, err := sessionNamed(names[1])
	if err != nil {
		return err
	}
	switch names[0] {
	case "start":
		return f.serve(ctx, s)
	case "stop":
		if err := s.End(ctx); err != nil {
			return err
		}
		f.print(map[string]any{"stopped": true, "session": s.Name})
		return nil
	}
	return fmt.Errorf("Unknown action: session %s", names[0]) //nolint:staticcheck // the words that jcode looks for
}

// serve is the session's process. It ends when it is signalled, when nobody
// has used it for as long as Idle says, and when its files are removed.
func (f *Face) serve(ctx context.Context, s Session) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	l, err := background.ListenUnix(ctx, s.Socket())
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(s.Socket()) }()
	pid := os.Getpid()
	fresh := s.file(".pid." + strconv.Itoa(pid))
	if err := os.WriteFile(fresh, []byte(strconv.Itoa(pid)+"\n"), 0o600); err != nil {
		return errors.Join(err, l.Close())
	}
	if err := os.Rename(fresh, s.pidFile()); err != nil {
		return errors.Join(err, os.Remove(fresh), l.Close())
	}
	defer func() { _ = os.Remove(s.pidFile()) }()
	background.IgnoreBrokenPipes()
	// The provider's own sessions never end before their process does.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return f.Serve(ctx, 2*f.Idle, func(ctx context.Context, p *provider.Server) error {
		f.print(map[string]any{"ready": true, "session": s.Name, "socket": s.Socket(), "pid": pid, "windowId": 1})
		use := background.NewUse(f.Idle)
		var watching sync.WaitGroup
		watching.Go(func() {
			use.Unused(ctx, func() bool { _, err := os.Lstat(s.Socket()); return err != nil || s.PID() != pid })
			cancel()
		})
		background.ServeClients(ctx, l, func(ctx context.Context, c net.Conn) {
			defer use.Begin()()
			if err := p.Serve(ctx, c, c, "unix-socket-json"); err != nil && ctx.Err() == nil {
				f.Log.Debug("a client of the session ended", "error", err)
			}
		})
		cancel()
		watching.Wait()
		// The browser takes a moment to end: nobody shall take the session for
		// served meanwhile. Who wants it next waits for the lock.
		return errors.Join(background.Remove(s.Socket()), background.Remove(s.pidFile()))
	})
}

// lock makes this process the one that serves the session. It waits for one that
// is just ending, not for one that serves.
func (s Session) lock(ctx context.Context) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, background.StartLimit)
	defer cancel()
	served := false
	e := background.Until(ctx, func() bool {
		unlock, err = background.Lock(s.file(".lock"))
		if err == nil {
			return true
		}
		served = s.answers(ctx)
		return served
	})
	if served {
		return nil, fmt.Errorf("not_ready: the session %s is served by process %d", s.Name, s.PID())
	}
	if e != nil {
		return nil, fmt.Errorf("not_ready: the session %s is locked: %w", s.Name, err)
	}
	return unlock, nil
}
