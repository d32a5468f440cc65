// Package serve starts the programs that plans name, waits until each is ready, and ends them with
// all that they started. It does not read plans and decides nothing about who may name a program.
// Package plan uses it.
package serve

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/internal/processgroup"
	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	// DefaultTimeout is how long an app may take to be ready.
	DefaultTimeout = time.Minute
	// grace is how long a program may take to end when it is asked to.
	grace = 5 * time.Second
	// oneTry bounds one request for an app: a server that builds at the first one takes a while.
	oneTry = 10 * time.Second
	// Pauses between two tries.
	firstPause   = 25 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// App is a program, and how it is known that what it serves is there.
type App struct {
	Shell   string   // a command line, "" for Program
	Program []string // a program and its arguments
	Dir     string
	Env     []string // NAME=VALUE, beside our own
	// URL answers, Port accepts a connection, a line of Output matches: all that are set.
	URL     string
	Port    int
	Output  *regexp.Regexp
	Timeout time.Duration
	// Fresh makes an app that answers already an error.
	Fresh bool
}

// Running is an app that is there.
type Running struct {
	app App
	// Reused says that it was there before us, and stays.
	Reused bool
	// Ready is how long it took.
	Ready time.Duration

	cmd    *exec.Cmd
	mark   string // a variable in the environment of all that it starts
	watch  *watchdog
	output *tail
	read   sync.WaitGroup
	from   *os.File        // the reading end of its output
	life   context.Context // ends when it has ended and was collected
	die    context.CancelFunc
	err    error // how; read after life
	stop   sync.Once
}

// Start starts an app and waits until it is ready. One that answers already is used. An error has
// the end of what it printed as the evidence output.
func Start(ctx context.Context, a App) (*Running, error) {
	began := time.Now()
	r := &Running{app: a, output: &tail{match: a.Output, matched: make(chan struct{})}}
	r.life, r.die = context.WithCancel(context.Background())
	if (a.URL != "" || a.Port != 0) && a.answers(ctx) {
		if a.Fresh {
			return nil, fault.New(fault.HandlerFailed, "something answers at %s already, and reuse is false", a.place())
		}
		r.Reused = true
		return r, nil
	}
	if err := r.launch(); err != nil {
		return nil, fault.New(fault.HandlerFailed, "the app cannot be started: %v", err)
	}
	if err := r.await(ctx); err != nil {
		r.Stop()
		return nil, fault.From(err).With("output", r.Output())
	}
	r.Ready = time.Since(began)
	return r, nil
}

// launch starts the program in a group of its own, with a watchdog that ends the group when we are
// killed.
func (r *Running) launch() error {
	program := r.app.Program
	if r.app.Shell != "" {
		program = []string{"/bin/sh", "-c", r.app.Shell}
		if runtime.GOOS == "windows" {
			program = []string{"cmd", "/C", r.app.Shell}
		}
	}
	r.cmd = exec.Command(program[0], program[1:]...)
	r.cmd.Dir = r.app.Dir
	r.mark = "OUTRIDER_APP=" + rand.Text()
	r.cmd.Env = append(append(os.Environ(), r.app.Env...), r.mark)
	// A pipe of ours, and not one of os/exec: a child that keeps it open must not keep Wait.
	from, to, err := os.Pipe()
	if err != nil {
		return err
	}
	defer to.Close()
	r.from = from
	r.cmd.Stdout, r.cmd.Stderr = to, to
	processgroup.Detach(r.cmd)
	r.watch, err = startWatchdog(r.mark)
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		r.watch.release()
		from.Close()
		return err
	}
	r.watch.group(r.cmd.Process.Pid)
	r.read.Go(func() { _, _ = io.Copy(r.output, from) })
	go func() {
		r.err = r.cmd.Wait()
		r.die()
	}()
	return nil
}

// await returns when the app is ready.
func (r *Running) await(ctx context.Context) error {
	limit := cmp.Or(r.app.Timeout, DefaultTimeout)
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(r.life, cancel)() // a try does not outlive the app
	answered := r.app.URL == "" && r.app.Port == 0
	said := r.app.Output == nil
	matched := r.output.matched
	try := time.NewTimer(0)
	defer try.Stop()
	for pause := firstPause; !answered || !said; {
		select {
		case <-matched:
			said, matched = true, nil
		case <-try.C:
			answered = answered || r.app.answers(bounded)
			if !answered {
				try.Reset(pause)
				pause = min(2*pause, longestPause)
			}
		case <-bounded.Done():
			if r.life.Err() != nil {
				return fault.New(fault.HandlerFailed, "the app ended before it was ready: %s", r.exit())
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fault.New(fault.Timeout, "the app is not ready within %s: %s", limit, r.missing(answered))
		}
	}
	return nil
}

func (r *Running) missing(answered bool) string {
	if answered {
		return fmt.Sprintf("no line of its output matches %q", r.app.Output)
	}
	return r.app.place() + " does not answer"
}

// exit is how the program ended.
func (r *Running) exit() string {
	var status *exec.ExitError
	switch {
	case r.err == nil:
		return "exit status 0"
	case errors.As(r.err, &status):
		return status.ProcessState.String()
	}
	return r.err.Error()
}

// Ended is how the app ended by itself, "" while it runs and for one that was there before.
func (r *Running) Ended() string {
	if r.Reused || r.life.Err() == nil {
		return ""
	}
	return r.exit()
}

// Output is the end of what the app has printed.
func (r *Running) Output() string { return r.output.text() }

// Stop ends the app with all that it started: it is asked to, and killed when it has not ended soon.
// An app that was there before us stays.
func (r *Running) Stop() {
	if r.Reused || r.cmd == nil {
		return
	}
	r.stop.Do(func() {
		group := r.cmd.Process.Pid
		processgroup.Terminate(group)
		if !processgroup.Await(group, grace) {
			processgroup.Kill(group)
		}
		processgroup.KillMarked(r.mark)
		<-r.life.Done()
		r.watch.release()
		_ = r.from.Close() // a process that is not ours to end may hold the other end
		r.read.Wait()
	})
}

// place is where the app answers.
func (a App) place() string {
	if a.URL != "" {
		return a.URL
	}
	return "port " + strconv.Itoa(a.Port)
}

// answers reports whether the app is there, as far as its address and port say.
func (a App) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, oneTry)
	defer cancel()
	if a.Port != 0 && !accepts(ctx, a.Port) {
		return false
	}
	if a.URL == "" {
		return a.Port != 0
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL, nil)
	if err != nil {
		return false
	}
	q.Header.Set("Accept", "*/*")
	transport := &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // nothing of the answer is used
		DisableKeepAlives: true,
	}
	client := http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(q)
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode < http.StatusNotFound
}

// accepts reports whether a port of this machine takes a connection, by either version of IP.
func accepts(ctx context.Context, port int) bool {
	var d net.Dialer
	for _, host := range []string{"127.0.0.1", "::1"} {
		if c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port))); err == nil {
			c.Close()
			return true
		}
	}
	return false
}

// Bounds of what is kept of an app's output.
const (
	longestOutput = 32 << 10
	longestLine   = 8 << 10
)

// tail keeps the end of an output, and says when a line of it matches.
type tail struct {
	match   *regexp.Regexp // nil for none
	matched chan struct{}

	mu   sync.Mutex
	kept []byte
	cut  bool
	line []byte // the last one, as far as it came
	done bool   // matched is closed
}

// colours are what programs print for terminals.
var colours = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - longestOutput; over > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[over:]...), true
	}
	for rest := p; t.match != nil && !t.done && len(rest) > 0; {
		line, after, whole := strings.Cut(string(rest), "\n")
		if room := longestLine - len(t.line); room > 0 {
			t.line = append(t.line, line[:min(len(line), room)]...)
		}
		if t.match.Match(colours.ReplaceAll(t.line, nil)) {
			t.done = true
			close(t.matched)
		}
		if whole {
			t.line = t.line[:0]
		}
		rest = []byte(after)
	}
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(colours.ReplaceAll(t.kept, nil))
	if _, after, ok := strings.Cut(text, "\n"); t.cut && ok {
		text = "…\n" + after
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
