package provider

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/outrider-run/outrider/internal/idempotency"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/runtime"
)

// Host has the methods of a runtime that this face needs; *runtime.Host is one.
type Host interface {
	Do(ctx context.Context, call runtime.Call) runtime.Reply
	Tabs() []runtime.TabStatus
	NewWorkspace(ctx context.Context, opts runtime.WorkspaceOptions) (*runtime.Workspace, error)
	Subscribe(fn func(runtime.Event)) (unsubscribe func())
	Dictionary() []runtime.DictionaryEntry
	Info() runtime.Info
}

// startingHost is a Host that may still be starting, or have failed to. Asking does
// not wait.
type startingHost interface {
	Started() (ready bool, err *fault.Error)
}

// protocolHost is a Host with a door to the browser's own protocol.
type protocolHost interface {
	Protocol(ctx context.Context, target runtime.Target, method string, params []byte) ([]byte, *fault.Error)
}

// Options configure a Server. Host and NewID are required.
type Options struct {
	Host Host
	// NewID makes unguessable ids.
	NewID   func() string
	Version string
	// Attached says that the browser is one that somebody else started: sessions
	// can join its profile then.
	Attached bool
	// PersistentProfile says that the browser's own profile outlives it.
	PersistentProfile bool
	// Uploads and Downloads say that folders were declared for them.
	Uploads, Downloads bool
	// AllowCDP offers cdp.send: any command of the browser's own protocol, past
	// every rule of the runtime.
	AllowCDP bool
	// DetectBrowser reports whether there is a browser to start, with how to get one
	// where there is none. Nil is a browser that is there.
	DetectBrowser func() *fault.Error
	// CallTimeout bounds a request that brings no timeout_ms. Default 30 s.
	CallTimeout time.Duration
	// SessionIdle closes a session that nobody has used for so long. Default
	// 30 min.
	SessionIdle time.Duration
	Logger      *slog.Logger
}

// Server serves the protocol to any number of connections.
type Server struct {
	opts       Options
	log        *slog.Logger
	primitives map[string]runtime.DictionaryEntry
	methods    map[string]*method
	order      []*method // as announced
	sessions   sessions
	receipts   idempotency.Store[receipt]

	ctx  context.Context
	stop context.CancelFunc
	busy sync.WaitGroup

	listening   sync.Once
	unsubscribe func()
	held        held // the long lines of all clients

	connectionsMu sync.Mutex
	connections   map[*connection]struct{}
	addresses     map[int]string // last known of each tab, for events
}

// New makes a server, which is open until Close or the end of ctx.
func New(ctx context.Context, opts Options) (*Server, error) {
	if opts.CallTimeout <= 0 {
		opts.CallTimeout = 30 * time.Second
	}
	if opts.SessionIdle <= 0 {
		opts.SessionIdle = 30 * time.Minute
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		opts:        opts,
		log:         opts.Logger.With("component", "provider"),
		primitives:  map[string]runtime.DictionaryEntry{},
		methods:     map[string]*method{},
		connections: map[*connection]struct{}{},
		addresses:   map[int]string{},
		held:        held{most: maxLines},
	}
	for _, entry := range opts.Host.Dictionary() {
		s.primitives[entry.Name] = entry
	}
	s.ctx, s.stop = context.WithCancel(ctx)
	s.sessions.init(s)
	for _, m := range catalog() {
		if !s.offers(m) {
			continue
		}
		var err error
		m.schema, err = schema.Compile([]byte(m.input))
		if err != nil {
			s.stop()
			return nil, err
		}
		s.methods[m.name] = m
		s.order = append(s.order, m)
	}
	return s, nil
}

// offers reports whether a method can work here: its primitives are in the
// dictionary and what it needs beside them is there.
func (s *Server) offers(m *method) bool {
	for _, name := range m.needs {
		if _, ok := s.primitives[name]; !ok {
			return false
		}
	}
	return m.when == nil || m.when(s)
}

// Close ends every session and returns after all that the server started has
// ended. Connections that are being served end with it; the host stays open.
func (s *Server) Close(ctx context.Context) error {
	s.stop()
	s.connectionsMu.Lock()
	unsubscribe := s.unsubscribe
	s.connectionsMu.Unlock()
	if unsubscribe != nil {
		unsubscribe()
	}
	err := s.sessions.closeAll(ctx)
	done := make(chan struct{})
	go func() { s.busy.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		err = errors.Join(err, ctx.Err())
	}
	return err
}
