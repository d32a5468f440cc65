package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/metrics"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/runtime"
)

// ops is what those who operate a process ask it: whether it lives, whether it can
// take calls, and how many it served.
type ops struct {
	metrics *metrics.Metrics

	mu      sync.Mutex
	waiting func() string // for what the process waits before it can take calls, "" for nothing
}

// opsFlag adds --ops to a verb that runs until it is interrupted.
func opsFlag(cmd *cobra.Command, address *string) {
	cmd.Flags().StringVar(address, "ops", "", "serve /healthz, /readyz and /metrics (Prometheus) at this PORT of 127.0.0.1, or HOST:PORT")
}

func newOps(waiting string) *ops {
	o := &ops{metrics: metrics.New(version, append(catalog.Standard().Names(), runtime.SiteTool))}
	o.waitFor(waiting)
	return o
}

// waitFor says for what the process waits; "" when it is ready.
func (o *ops) waitFor(what string) { o.waitFunc(func() string { return what }) }

// waitFunc is waitFor with a reason that is evaluated at each request.
func (o *ops) waitFunc(waiting func() string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = waiting
}

// onCall implements runtime.Options.OnCall.
func (o *ops) onCall(c runtime.Call) func(runtime.Reply) {
	answered := o.metrics.Call(c.Name)
	return func(r runtime.Reply) {
		if r.Err != nil {
			answered(r.Err.Code)
			return
		}
		answered("")
	}
}

// connection counts the connections to the bridge that were lost. What it returns
// hears of each change of the connection.
func (o *ops) connection() (changed func(ready, lost bool)) {
	var up atomic.Bool
	o.metrics.Gauge("outrider_bridge_connected", "1 while every tab is announced to the bridge.", func() float64 {
		if up.Load() {
			return 1
		}
		return 0
	})
	losses := o.metrics.Counter("outrider_bridge_losses_total", "Connections to the bridge that ended, or attempts that failed.", "connection")
	return func(ready, lost bool) {
		switch {
		case ready:
			up.Store(true)
			o.waitFor("")
		case lost:
			kind := "attempt"
			if up.Swap(false) {
				kind = "established"
			}
			losses(kind)
			o.waitFor("there is no connection to the bridge")
		}
	}
}

// routes are the paths and what answers them.
func (o *ops) routes() map[string]http.Handler {
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
		"GET /metrics": o.metrics.Handler(),
	}
}

// serveOps serves the routes at an address until stop; "" is no address. When ctx
// ends the process is not ready, and answers until stop.
func (a *app) serveOps(ctx context.Context, o *ops, address string) (stop func(), err error) {
	leaving := context.AfterFunc(ctx, func() { o.waitFor("the process is ending") })
	if address == "" {
		return func() { leaving() }, nil
	}
	listenOn, err := opsAddress(ctx, address)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listenOn)
	if err != nil {
		return nil, listenFailed(err, "--ops", listenOn)
	}
	mux := http.NewServeMux()
	for pattern, handler := range o.routes() {
		mux.Handle(pattern, handler)
	}
	server := &http.Server{Handler: ownHost(listener.Addr(), mux), ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	fmt.Fprintf(a.stderr, "outrider: health and metrics at http://%s\n", listener.Addr())
	var running sync.WaitGroup
	running.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			a.log.Warn("serving --ops", "error", err)
		}
	})
	return func() {
		leaving()
		_ = server.Close()
		running.Wait()
	}, nil
}

// opsAddress reads --ops: a port alone is one of this machine only.
func opsAddress(ctx context.Context, address string) (string, error) {
	port := strings.TrimPrefix(address, ":")
	if _, err := strconv.ParseUint(port, 10, 16); err == nil {
		return "127.0.0.1:" + port, nil
	}
	if err := checkAddress(ctx, "--ops", address); err != nil {
		return "", usage("--ops is %q: expected PORT or HOST:PORT, such as 9464 or 0.0.0.0:9464", address)
	}
	return address, nil
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
