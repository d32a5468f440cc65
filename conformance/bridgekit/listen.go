package bridgekit

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Listener is where a runtime under test connects, over WebSocket or HTTP polling.
type Listener struct {
	l       net.Listener
	server  *http.Server
	pairing string
	conns   chan bridgeclient.Conn
	polled  atomic.Bool
	wg      sync.WaitGroup
	done    chan struct{}
}

const path = "/extension"

// maxMessage bounds a message of the runtime in bytes.
const maxMessage = 256 << 20

// Listen opens a loopback address. Programs of this machine may connect to it, web
// pages and extensions only with the address of PairingURL.
func Listen(address string, log *slog.Logger) (*Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, &fault.Error{Code: fault.TransportFailed, Message: "listening on " + address, Err: err}
	}
	if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
		_ = l.Close()
		return nil, fault.New(
			fault.PermissionDenied, "the kit listens on loopback only, and %s can be reached by other machines",
			address,
		)
	}
	var token [16]byte
	_, _ = rand.Read(token[:]) // never fails
	s := &Listener{
		l:       l,
		pairing: hex.EncodeToString(token[:]),
		conns:   make(chan bridgeclient.Conn),
		done:    make(chan struct{}),
	}
	polling := &bridgeclient.PollingServer{MaxRead: maxMessage, Accept: func(
		_ *http.Request, c bridgeclient.Conn,
	) *fault.Error {
		s.polled.Store(true)
		s.wg.Go(func() { s.hand(c) })
		return nil
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+path, s.accept)
	mux.Handle(path+"/items", polling)
	s.server = &http.Server{
		Handler:           s.guard(mux),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	s.wg.Go(func() { _ = s.server.Serve(l) })
	return s, nil
}

// URL is the address for programs, PairingURL that for the browser extension.
func (s *Listener) URL() string { return "ws://" + s.l.Addr().String() + path }

// PairingURL holds a token.
func (s *Listener) PairingURL() string { return s.URL() + "?token=" + s.pairing }

// Polled reports whether a runtime connected by HTTP polling, which carries JSON
// alone.
func (s *Listener) Polled() bool { return s.polled.Load() }

func (s *Listener) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		ip := net.ParseIP(host)
		local := err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
		paired := subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("token")), []byte(s.pairing)) == 1
		if !local || r.Header.Get("Origin") != "" && !paired {
			http.Error(w, "use the pairing address that the kit prints", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Listener) accept(w http.ResponseWriter, r *http.Request) {
	// guard has checked the origin
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // Accept has answered
	}
	s.hand(bridgeclient.WrapWebSocket(ws, maxMessage))
}

// hand gives a connection to Accept.
func (s *Listener) hand(c bridgeclient.Conn) {
	select {
	case s.conns <- c:
	case <-s.done:
		c.Abort()
	}
}

// Accept waits for the next connection.
func (s *Listener) Accept(ctx context.Context) (Link, error) {
	select {
	case c := <-s.conns:
		return LinkOf(c), nil
	case <-ctx.Done():
		return nil, fault.Wrap(fault.TransportFailed, context.Cause(ctx), "waiting for a runtime to connect")
	}
}

// Close ends everything.
func (s *Listener) Close() {
	close(s.done)
	_ = s.server.Close()
	s.wg.Wait()
}
