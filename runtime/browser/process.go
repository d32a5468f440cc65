package browser

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
)

// profilePrefix starts the name of every profile directory we make.
const profilePrefix = "outrider-profile-"

// process is a browser process that we started.
type process struct {
	cmd    *exec.Cmd
	dir    string // profile directory
	own    bool   // we made dir and remove it
	super  *supervisor
	stderr tail
	exited chan struct{} // closed when the process has ended and was collected
	err    error         // how it ended; read after exited

	clean sync.Once
	left  error // why the directory is still there
}

func startProcess(o *Options, path string, noSandbox bool) (*process, transport, error) {
	p := &process{dir: o.UserDataDir, exited: make(chan struct{})}
	watched := "-"
	if p.dir == "" {
		dir, err := os.MkdirTemp("", profilePrefix)
		if err != nil {
			return nil, nil, fmt.Errorf("making a profile directory: %w", err)
		}
		p.dir, p.own, watched = dir, true, dir
	}
	p.super = startSupervisor(watched)
	p.cmd = exec.Command(path)
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = time.Second
	p.cmd.Env = browserEnv(o)
	if dir := socketFolder(p.dir, p.own); dir != "" {
		p.cmd.Env = append(p.cmd.Env, "TMPDIR="+dir)
	}
	detach(p.cmd)
	t, err := p.open(commandLine(o, p.dir, noSandbox))
	if err != nil {
		_ = p.end()
		return nil, nil, fmt.Errorf("starting the browser: %w", err)
	}
	return p, t, nil
}

// start starts the prepared command and the goroutine that collects it.
func (p *process) start() error {
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

// end kills what is left of the browser, removes the profile directory if it is
// ours and dismisses the supervisor. It returns when all of that is done.
func (p *process) end() error {
	p.clean.Do(func() {
		if p.cmd.Process != nil {
			killGroup(p.cmd.Process.Pid)
			<-p.exited
			awaitGroup(p.cmd.Process.Pid, time.Second)
		}
		if p.own {
			p.left = removeProfile(p.dir, 3*time.Second)
		}
		p.super.dismiss()
	})
	return p.left
}

// awaitExit waits for the process to end by itself.
func (p *process) awaitExit(ctx context.Context) {
	select {
	case <-p.exited:
	case <-ctx.Done():
	}
}

// browserEnv is our environment without what is not the browser's business.
func browserEnv(o *Options) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return bytes.HasPrefix([]byte(kv), []byte("OUTRIDER_"))
	})
	env = append(env, "GOOGLE_API_KEY=no")
	if o.Timezone != "" {
		env = append(env, "TZ="+o.Timezone)
	}
	return env
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

// cause says how the process ended, with what it last said; nil while it runs.
// It is for logs.
func (p *process) cause() error {
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
