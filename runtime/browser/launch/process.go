package launch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/internal/processgroup"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// profilePrefix starts the name of every profile directory we make.
const profilePrefix = "outrider-profile-"

// Process is a browser process that we started.
type Process struct {
	cmd       *exec.Cmd
	dir       string // profile directory
	temporary bool   // we made dir and remove it
	super     *supervisor
	stderr    tail
	exited    chan struct{} // closed when the process has ended and was collected
	err       error         // how it ended; read after exited

	closing  sync.Once
	closeErr error // why the directory is still there
}

// Options says which browser to start and how.
type Options struct {
	// Path is the browser's executable.
	Path string
	// UserDataDir is a profile to use and to keep. Empty means a fresh one in
	// the temporary directory that is removed at the end.
	UserDataDir string
	// Headed shows windows.
	Headed bool
	// Shell says that Path is a headless shell.
	Shell bool
	// Locale is a language tag and Timezone an IANA name; empty means the system's.
	Locale, Timezone string
	// Proxy is passed as --proxy-server.
	Proxy string
	// NoSandbox turns Chromium's sandbox off: see NeedsNoSandbox.
	NoSandbox bool
	// NoSpareRenderer has Chromium keep no renderer ready for the next document of each browser context. Each
	// costs 50 ms of a processor, and saves them where a tab goes to another site.
	NoSpareRenderer bool
	// PageTools turns on the feature by which pages declare tools for agents.
	PageTools bool
	// ExtraArgs are appended to the command line, so they win over ours.
	ExtraArgs []string
	// Secrets are texts that no variable of the browser's environment may hold.
	Secrets []string
	// OnWatchdogLost is called at most once, with the reason why no process ends the browser
	// and removes its profile when this one is killed.
	OnWatchdogLost func(error)
}

// Start starts a browser and the supervisor of its profile folder, and returns
// the transport to it.
func Start(o Options) (*Process, cdp.Transport, error) {
	p := &Process{exited: make(chan struct{})}
	watched := "-"
	if o.UserDataDir != "" {
		dir, err := useProfile(o.UserDataDir)
		if err != nil {
			return nil, nil, err
		}
		p.dir = dir
	} else {
		dir, err := os.MkdirTemp("", profilePrefix)
		if err != nil {
			return nil, nil, fmt.Errorf("making a profile directory: %w", err)
		}
		p.dir = dir
		p.temporary = true
		watched = dir
	}
	lost := o.OnWatchdogLost
	if lost == nil {
		lost = func(error) {}
	}
	var err error
	p.super, err = startSupervisor(watched, lost)
	if err != nil {
		lost(err)
	}
	p.cmd = exec.Command(o.Path)
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = time.Second
	p.cmd.Env = browserEnv(&o, p.dir)
	if dir := socketFolder(p.dir, p.temporary); dir != "" {
		p.cmd.Env = append(p.cmd.Env, "TMPDIR="+dir)
	}
	processgroup.Detach(p.cmd)
	t, err := p.open(commandLine(&o, p.dir))
	if err != nil {
		_ = p.Close()
		return nil, nil, fmt.Errorf("starting the browser: %w", err)
	}
	return p, t, nil
}

// start starts the prepared command and the goroutine that collects it.
func (p *Process) start() error {
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.super.watch(p.cmd.Process.Pid)
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	return nil
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// ProfileDir is the profile folder in use.
func (p *Process) ProfileDir() string { return p.dir }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.exited }

// Output is what the browser last wrote to its standard error.
func (p *Process) Output() string { return p.stderr.String() }

// Hint says what a person can do about a browser that did not start; empty when that
// is not known.
func (p *Process) Hint() string { return startHint(p.stderr.String()) }

// Kill ends the browser's process group by force.
func (p *Process) Kill() { processgroup.Kill(p.PID()) }

// Close kills what is left of the browser, removes the profile folder if it
// is temporary, and ends the supervisor. It returns when all of that is done.
func (p *Process) Close() error {
	p.closing.Do(func() {
		if p.cmd.Process != nil {
			processgroup.Kill(p.cmd.Process.Pid)
			<-p.exited
			processgroup.Await(p.cmd.Process.Pid, time.Second)
		}
		if p.temporary {
			p.closeErr = removeProfile(p.dir, 3*time.Second)
		}
		p.super.release()
	})
	return p.closeErr
}

// AwaitExit waits for the process to end by itself.
func (p *Process) AwaitExit(ctx context.Context) {
	select {
	case <-p.exited:
	case <-ctx.Done():
	}
}

// socketLimit is how long the path of the socket may be by which Chromium knows that a
// profile is in use, and socketName what it adds to its temporary folder. Where the path
// is longer, it aborts.
const (
	socketLimit = 103
	socketName  = "/org.chromium.Chromium.XXXXXX/SingletonSocket"
)

// socketFolder is the temporary folder for a browser, "" for the one of this process. A
// profile directory of ours is the best, since nothing of a killed browser stays then.
func socketFolder(profile string, own bool) string {
	if runtime.GOOS == "windows" {
		return ""
	}
	fits := func(dir string) bool { return len(dir)+len(socketName) <= socketLimit }
	switch {
	case own && fits(profile):
		return profile
	case fits(os.TempDir()):
		return ""
	}
	return "/tmp"
}

// tail keeps the last bytes written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailSize = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if n := len(t.b); n > tailSize {
		t.b = append(t.b[:0], t.b[n-tailSize:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	// Complaints about a missing desktop bus are no cause of anything.
	lines := strings.FieldsFunc(string(bytes.ToValidUTF8(t.b, []byte("?"))), func(r rune) bool { return r == '\n' })
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, ":ERROR:dbus/") })
	return strings.Join(lines, "; ")
}

// Err says how the process ended, with its last output; nil while it runs.
// It is for logs.
func (p *Process) Err() error {
	select {
	case <-p.exited:
	default:
		return nil
	}
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	return fmt.Errorf("the browser process ended (%s): %s", how, p.stderr.String())
}

// startHint turns known last words into what the user can do.
func startHint(stderr string) string {
	switch {
	case strings.Contains(stderr, "no-sandbox") || strings.Contains(stderr, "No usable sandbox"):
		return "run with --no-sandbox, or allow unprivileged user namespaces"
	case strings.Contains(stderr, "Missing X server") || strings.Contains(stderr, "cannot open display"):
		return "run without --headed, or start an X server"
	case strings.Contains(stderr, "error while loading shared libraries"):
		return "install the browser's shared libraries: npx playwright install-deps chromium"
	case strings.Contains(stderr, "ProcessSingleton") || strings.Contains(stderr, "profile appears to be in use"):
		return "close the browser that uses this --user-data-dir, or choose another"
	}
	return ""
}
