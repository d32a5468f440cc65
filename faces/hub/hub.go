package hub

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Hub is the bridge. Make it with New; Run may be called once.
type Hub struct {
	opts        Options
	log         *slog.Logger
	mux         *http.ServeMux
	events      *eventLog
	refusals    refusals
	storage     *storage                 // nil for none
	agents      *agentEvents             // by runtime, for runtime.agent.await_event
	piggybacked bridgeclient.Piggybacked // texts of live regions, for the next result
	history     *announcements           // what live regions said
	lifecycle   *lifecycle               // nil without a storage folder
	payloads    *payloads                // nil for none

	closeOnce sync.Once
	closing   chan struct{}

	// wg counts runtime connections and background work; gate keeps it from
	// growing once closing has begun.
	gate sync.Mutex
	wg   sync.WaitGroup

	bodies bodies

	// observeMu makes observations one at a time.
	observeMu sync.Mutex

	// mu protects everything below. Items are queued, never written, under it.
	mu       sync.Mutex
	listener net.Listener
	runtimes map[string]*entry
	lost     map[string]lostRuntime
	active   string
	chosen   string // the last that an agent has made the active one
	pending  map[string]*pending
	probes   map[string]probe
	orders   int64
	conns    int64
	// unannounced counts the connections on which no runtime was announced yet.
	unannounced int
	changed     chan struct{}
	replay      json.RawMessage
	hydration   json.RawMessage
}

// New checks the options. It opens nothing.
func New(opts Options) (*Hub, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	h := &Hub{
		opts:     opts,
		log:      opts.Logger.With("component", "hub"),
		mux:      http.NewServeMux(),
		events:   newEventLog(opts.KeepEvents),
		agents:   newAgentEvents(),
		history:  newAnnouncements(),
		closing:  make(chan struct{}),
		runtimes: map[string]*entry{},
		lost:     map[string]lostRuntime{},
		bodies: bodies{
			most:      opts.MaxBodies,
			mostBytes: opts.MaxBodyBytes,
			mostItems: opts.MaxMessage + opts.MaxAnnouncement,
		},
		pending: map[string]*pending{},
		probes:  map[string]probe{},
		changed: make(chan struct{}),
	}
	paths := h.opts.Maps
	if root := h.opts.StorageRoot; root != "" {
		paths = append([]string{root}, paths...)
	}
	if len(paths) > 0 {
		h.storage = &storage{root: h.opts.StorageRoot, paths: paths}
	}
	if h.opts.StorageRoot != "" && h.opts.Bundle == nil {
		h.opts.Bundle = h.storage.bundle
	}
	if h.opts.StorageRoot != "" {
		h.lifecycle = &lifecycle{root: h.opts.StorageRoot}
	}
	if h.opts.PayloadFolder != "" {
		h.payloads = &payloads{folder: h.opts.PayloadFolder, limit: h.opts.PayloadLimit, current: h.opts.PayloadLimit}
	}
	h.routes()
	return h, nil
}

// Listen opens the port. Run does it when it has not been done.
func (h *Hub) Listen() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listener != nil || h.opts.Listen == Nowhere {
		return nil
	}
	l, err := net.Listen("tcp", h.opts.Listen)
	if err != nil {
		return &fault.Error{Code: fault.TransportFailed, Message: "listening on " + h.opts.Listen, Err: err}
	}
	h.listener = l
	return nil
}

// Addr is the address that is listened on, "" before Listen.
func (h *Hub) Addr() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listener == nil {
		return ""
	}
	return h.listener.Addr().String()
}

// Handle adds a route behind the same guard as the hub's own. It must be called
// before Run.
func (h *Hub) Handle(pattern string, handler http.Handler) { h.mux.Handle(pattern, handler) }

// closeBound bounds the wait for HTTP requests when the hub ends.
const closeBound = 2 * time.Second

// Run serves until ctx ends. Calls in flight fail, connections are closed, and
// every goroutine has ended when Run returns. It returns ctx's cause, or why
// serving was not possible.
func (h *Hub) Run(ctx context.Context) error {
	if err := h.Listen(); err != nil {
		return err
	}
	srv := &http.Server{
		Handler: h.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
	}
	var own sync.WaitGroup
	failed := make(chan error, 1)
	if h.listener != nil {
		own.Go(func() { failed <- srv.Serve(h.listener) })
	}
	sweep := time.NewTicker(h.opts.Sweep)
	defer sweep.Stop()
	var err error
	for err == nil {
		select {
		case <-sweep.C:
			h.sweep()
		case err = <-failed:
			if errors.Is(err, http.ErrServerClosed) {
				err = context.Canceled
			}
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	h.close()
	sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeBound)
	defer cancel()
	if srv.Shutdown(sctx) != nil {
		_ = srv.Close()
	}
	own.Wait()
	h.wg.Wait()
	if h.lifecycle != nil {
		h.lifecycle.close()
	}
	if h.payloads != nil && !h.opts.KeepPayloads {
		h.payloads.remove()
	}
	return err
}

// close ends the calls in flight and asks the connections to end.
func (h *Hub) close() {
	h.gate.Lock()
	h.closeOnce.Do(func() { close(h.closing) })
	h.gate.Unlock()
}

func (h *Hub) isClosing() bool {
	select {
	case <-h.closing:
		return true
	default:
		return false
	}
}

// background runs f until it returns or the hub closes; Run waits for it.
func (h *Hub) background(f func(ctx context.Context)) bool {
	h.gate.Lock()
	defer h.gate.Unlock()
	if h.isClosing() {
		return false
	}
	h.wg.Go(func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		stop := make(chan struct{})
		defer close(stop)
		h.wg.Go(func() {
			select {
			case <-h.closing:
				cancel()
			case <-stop:
			}
		})
		f(ctx)
	})
	return true
}

// Attach serves a runtime connection of this process, as /extension serves one
// that came over the network. It does not wait; false means that the hub is
// closing.
func (h *Hub) Attach(ws bridgeclient.Conn) bool {
	return h.background(func(ctx context.Context) {
		h.reserve(false)
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		h.newConn(ws, true, stop).serve(ctx)
	})
}

func (h *Hub) observe(dir Direction, connection int64, frame []byte) {
	if h.opts.Observe == nil {
		return
	}
	h.observeMu.Lock()
	defer h.observeMu.Unlock()
	h.opts.Observe(Observation{At: time.Now(), Dir: dir, Connection: connection, Item: frame})
}
