package expr

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	// workerEnv makes a process that calls MaybeWorker a worker. Its value is
	// the memory budget in bytes.
	workerEnv = "OUTRIDER_EXPR_WORKER"
	// workerArg is no argument of any program of ours: a binary that is run as
	// a worker and does not call MaybeWorker stops at it instead of doing its
	// usual work a second time.
	workerArg = "--outrider-expression-worker"

	// startTime bounds the start of a worker, which takes milliseconds, on a
	// machine that is busy with something else.
	startTime = 10 * time.Second
	endTime   = 5 * time.Second
)

// pool keeps up to size workers. They start when needed; one that overran or
// died is replaced at the next evaluation.
type pool struct {
	exe    string
	memory int64
	// places holds one token per worker that may exist and is not idle.
	places chan struct{}
	// ctx ends with the pool; evaluations in flight end with it.
	ctx  context.Context
	stop context.CancelFunc

	mu     sync.Mutex
	idle   []*worker
	closed bool
}

func newPool(size int, memory int64) (*pool, error) {
	if os.Getenv(workerEnv) != "" {
		return nil, fault.New(
			fault.Internal, "an expression worker asked for workers: main did not call expr.MaybeWorker",
		)
	}
	exe, err := workerProgram()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	return &pool{exe: exe, memory: memory, places: make(chan struct{}, size), ctx: ctx, stop: stop}, nil
}

// workerProgram is the program that serves as worker: this one where it calls
// MaybeWorker, else the installed outrider.
func workerProgram() (string, error) {
	if !executable.Load() {
		exe, err := exec.LookPath("outrider")
		if err != nil {
			return "", fault.New(
				fault.CapabilityUnavailable,
				"the expression engine blues needs worker processes, and this program cannot be one",
			).Next(
				"put the outrider binary onto the PATH, call expr.MaybeWorker first in main, or use the engine native",
			)
		}
		return exe, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "finding the own executable to start expression workers")
	}
	// The link stays good when the file is replaced or removed meanwhile.
	if _, err := os.Stat(selfExe); selfExe != "" && err == nil {
		exe = selfExe
	}
	return exe, nil
}

var errPoolClosed = fault.New(fault.Cancelled, "the expression engine is closed")

// do has one worker answer one request within limit. The error is the code of
// ctx, expression_limit_exceeded, or internal when no worker can be started.
func (p *pool) do(ctx context.Context, req request, body []byte, limit time.Duration) (reply, []byte, error) {
	select {
	case p.places <- struct{}{}:
	case <-ctx.Done():
		return reply{}, nil, fault.Wrap(fault.Timeout, context.Cause(ctx), "waiting for an expression worker")
	case <-p.ctx.Done():
		return reply{}, nil, errPoolClosed
	}
	defer func() { <-p.places }()

	w, err := p.take()
	if err != nil {
		return reply{}, nil, err
	}
	rep, out, err := w.send(ctx, p.ctx, req, body, limit)
	if err != nil {
		w.end()
		return reply{}, nil, err
	}
	p.give(w)
	return rep, out, nil
}

func (p *pool) take() (*worker, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errPoolClosed
	}
	if n := len(p.idle); n > 0 {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return w, nil
	}
	p.mu.Unlock()
	return startWorker(p.ctx, p.exe, p.memory)
}

func (p *pool) give(w *worker) {
	p.mu.Lock()
	if !p.closed {
		p.idle = append(p.idle, w)
		w = nil
	}
	p.mu.Unlock()
	if w != nil {
		w.end()
	}
}

// close ends all workers and waits for them.
func (p *pool) close() error {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	p.stop()
	for _, w := range idle {
		w.end()
	}
	for range cap(p.places) {
		p.places <- struct{}{}
	}
	for range cap(p.places) {
		<-p.places
	}
	return nil
}

// worker is one process. It is used by one goroutine at a time.
type worker struct {
	cmd    *exec.Cmd
	in     *os.File
	out    *os.File
	r      *bufio.Reader
	stderr *tail
}

func startWorker(ctx context.Context, exe string, memory int64) (w *worker, err error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "starting an expression worker")
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		_, _ = childIn.Close(), in.Close()
		return nil, fault.Wrap(fault.Internal, err, "starting an expression worker")
	}
	w = &worker{in: in, out: out, r: bufio.NewReaderSize(out, 64<<10), stderr: &tail{}}
	// The worker gets none of our environment: it needs nothing of it and an
	// expression must not be able to read it.
	w.cmd = &exec.Cmd{
		Path:   exe,
		Args:   []string{"outrider-expr", workerArg},
		Env:    append(workerBaseEnv(), workerEnv+"="+strconv.FormatInt(memory, 10), "GOTRACEBACK=none"),
		Stdin:  childIn,
		Stdout: childOut,
		Stderr: w.stderr,
		// Wait must not hang on stderr should a grandchild hold it.
		WaitDelay: time.Second,
	}
	err = w.cmd.Start()
	_, _ = childIn.Close(), childOut.Close()
	if err != nil {
		_, _ = in.Close(), out.Close()
		return nil, fault.Wrap(fault.Internal, err, "starting an expression worker")
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	stop := context.AfterFunc(ctx, w.kill)
	var hello reply
	_, err = readFrame(w.r, &hello)
	stop()
	if err != nil || hello.Kind != kindReady {
		w.end()
		if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, errPoolClosed
		}
		return nil, fault.Wrap(fault.Internal, errors.Join(err, errors.New(w.stderr.String())),
			"starting an expression worker: main must call expr.MaybeWorker first")
	}
	return w, nil
}

// send sends one request and waits for its reply. After an error the worker is
// of no further use.
func (w *worker) send(ctx, life context.Context, req request, body []byte, limit time.Duration) (reply, []byte, error) {
	// The worker's own timer is only for a host that can no longer end it.
	req.Millis = (limit + endTime).Milliseconds()
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stopCall := context.AfterFunc(timed, w.kill)
	defer stopCall()
	stopLife := context.AfterFunc(life, w.kill)
	defer stopLife()

	var rep reply
	err := writeFrame(w.in, req, body)
	var out []byte
	// A worker that died of the request may have answered nothing, or may not
	// have read all of it.
	if err == nil {
		out, err = readFrame(w.r, &rep)
	}
	if err == nil && stopCall() {
		return rep, out, nil
	}
	switch {
	case ctx.Err() != nil:
		return reply{}, nil, fault.Wrap(fault.Timeout, ctx.Err(), "evaluating an expression")
	case life.Err() != nil:
		return reply{}, nil, errPoolClosed
	case timed.Err() != nil:
		return reply{}, nil, overLimit("time", "did not end within "+limit.String()).
			With("limit_ms", limit.Milliseconds())
	}
	w.kill()
	_ = w.cmd.Wait()
	said := w.stderr.String()
	switch {
	case bytes.Contains([]byte(said), []byte("stack exceeds")):
		return reply{}, nil, overLimit("depth", "recursed without end")
	case bytes.Contains([]byte(said), []byte("out of memory")),
		bytes.Contains([]byte(said), []byte("cannot allocate memory")):
		return reply{}, nil, overLimit("memory", "needed more memory than it may have")
	}
	f := overLimit("process", "ended its evaluator")
	f.Err = errors.Join(err, errors.New(said))
	return reply{}, nil, f
}

func (w *worker) kill() { _ = w.cmd.Process.Kill() }

// end kills the worker and waits for it. A worker holds nothing that is worth
// an orderly end.
func (w *worker) end() {
	w.kill()
	_ = w.cmd.Wait()
	_, _ = w.in.Close(), w.out.Close()
}

// tail keeps the first bytes that a worker writes to stderr: the line in which
// the Go runtime says why it ends.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := 4096 - len(t.b); room > 0 {
		t.b = append(t.b, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
