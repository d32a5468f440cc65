// Package ops answers those who operate a process: whether it lives, whether it can
// take calls, and how many it served. It counts nothing itself: internal/operate/metrics does.
// The verbs that run until they are interrupted call it.
package ops

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/internal/operate/metrics"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Ops is the state of a process as its operators see it.
type Ops struct {
	Metrics *metrics.Metrics

	mu       sync.Mutex
	waiting  func() string // for what the process waits before it can take calls, "" for nothing
	inFlight int           // calls that were accepted and are not answered
	idle     chan struct{} // closed when inFlight comes to 0, made when somebody waits
	drains   bool          // an interrupt refuses calls before it ends the process
	ending   bool
}

// New makes an Ops of a process that waits for something. The names are those of calls
// that are counted by name.
func New(version string, names []string, waiting string) *Ops {
	o := &Ops{Metrics: metrics.New(version, names)}
	o.WaitFor(waiting)
	return o
}

// WaitFor says for what the process waits; "" when it is ready.
func (o *Ops) WaitFor(what string) { o.WaitFunc(func() string { return what }) }

// WaitFunc is WaitFor with a reason that is evaluated at each request.
func (o *Ops) WaitFunc(waiting func() string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ending { // a bridge that is there again makes a process that ends no readier
		o.waiting = waiting
	}
}

// end says for good that the process is not ready.
func (o *Ops) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting, o.ending = func() string { return "the process is ending" }, true
}

// OnCall implements runtime.Options.OnCall.
func (o *Ops) OnCall(c runtime.Call) func(runtime.Reply) {
	answered := o.Call(c.Name)
	return func(r runtime.Reply) {
		if r.Err != nil {
			answered(r.Err.Code)
			return
		}
		answered("")
	}
}

// Call counts a call that was accepted. What it returns is called once, with the code of
// the failure, "" for none.
func (o *Ops) Call(name string) (answered func(fault.Code)) {
	counted := o.Metrics.Call(name)
	o.mu.Lock()
	o.inFlight++
	o.mu.Unlock()
	return func(code fault.Code) {
		counted(code)
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.inFlight--; o.inFlight == 0 && o.idle != nil {
			close(o.idle)
			o.idle = nil
		}
	}
}

// Draining is a context that outlives an interrupted one by the time that the calls
// take which were accepted by then, at most by limit. refuse is called first, to accept
// no more. It ends with a deadline of ctx, and with stop, which must be called.
func (o *Ops) Draining(ctx context.Context, limit time.Duration, refuse func()) (drained context.Context, stop func()) {
	if limit <= 0 {
		return ctx, func() {}
	}
	base := context.WithoutCancel(ctx)
	release := context.CancelFunc(func() {})
	if deadline, ok := ctx.Deadline(); ok {
		base, release = context.WithDeadline(base, deadline)
	}
	o.mu.Lock()
	o.drains = true
	o.mu.Unlock()
	drained, cancel := context.WithCancelCause(base)
	var waiting sync.WaitGroup
	waiting.Add(1)
	over := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		defer waiting.Done()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return // which ends drained, too
		}
		defer cancel(context.Cause(ctx))
		refuse() // who is told that it is not ready may count on that
		o.end()
		late := time.NewTimer(limit)
		defer late.Stop()
		select {
		case <-o.answered():
		case <-late.C:
		case <-over:
		}
	})
	return drained, func() {
		close(over)
		if unwatch() {
			waiting.Done()
		}
		waiting.Wait()
		cancel(context.Canceled)
		release()
	}
}

// answered is closed when no call is in flight.
func (o *Ops) answered() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.inFlight == 0 {
		none := make(chan struct{})
		close(none)
		return none
	}
	if o.idle == nil {
		o.idle = make(chan struct{})
	}
	return o.idle
}

// Connection counts the connections to the bridge that were lost. The function that it returns
// is called with each change of the connection.
func (o *Ops) Connection() (changed func(ready, lost bool)) {
	var up atomic.Bool
	o.Metrics.Gauge("outrider_bridge_connected", "1 while every tab is announced to the bridge.", func() float64 {
		if up.Load() {
			return 1
		}
		return 0
	})
	losses := o.Metrics.Counter(
		"outrider_bridge_losses_total", "Connections to the bridge that ended, or attempts that failed.", "connection",
	)
	return func(ready, lost bool) {
		switch {
		case ready:
			up.Store(true)
			o.WaitFor("")
		case lost:
			kind := "attempt"
			if up.Swap(false) {
				kind = "established"
			}
			losses(kind)
			o.WaitFor("there is no connection to the bridge")
		}
	}
}

// Routes are the paths and what answers them.
func (o *Ops) Routes() map[string]http.Handler {
	say := func(w http.ResponseWriter, status int, text string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_, _ = fmt.Fprintln(w, text)
	}
	return map[string]http.Handler{
		"GET /healthz": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") }),
		"GET /readyz": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			o.mu.Lock()
			waiting := o.waiting
			o.mu.Unlock()
			if what := waiting(); what != "" {
				say(w, http.StatusServiceUnavailable, "not ready: "+what)
				return
			}
			say(w, http.StatusOK, "ready")
		}),
		"GET /metrics": o.Metrics.Handler(),
	}
}

// Serve serves the routes at an address until stop; "" is no address. When ctx ends the
// process is not ready, and answers until stop. The error of a failed listen is as the
// net package has it.
func (o *Ops) Serve(ctx context.Context, address string, log *slog.Logger) (at string, stop func(), err error) {
	leaving := context.AfterFunc(ctx, func() {
		o.mu.Lock()
		refusesFirst := o.drains && !errors.Is(ctx.Err(), context.DeadlineExceeded)
		o.mu.Unlock()
		if !refusesFirst {
			o.end()
		}
	})
	if address == "" {
		return "", func() { leaving() }, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		leaving()
		return "", nil, err
	}
	mux := http.NewServeMux()
	for pattern, handler := range o.Routes() {
		mux.Handle(pattern, handler)
	}
	server := &http.Server{
		Handler:      ownHost(listener.Addr(), mux),
		ReadTimeout:  10 * time.Second,
		WriteTimeout: 10 * time.Second,
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Warn("serving --ops", "error", err)
		}
	})
	return listener.Addr().String(), func() {
		leaving()
		_ = server.Close()
		running.Wait()
	}, nil
}

// ownHost refuses, on an address of this machine, requests by the name of another:
// a web page whose name was pointed here would read the answers.
func ownHost(at net.Addr, next http.Handler) http.Handler {
	tcp, ok := at.(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			name = strings.Trim(r.Host, "[]")
		}
		if name != "localhost" && net.ParseIP(name) == nil {
			http.Error(w, "this host name is not one of the server's", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
