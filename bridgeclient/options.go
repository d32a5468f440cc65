package bridgeclient

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Options configure a Client. URL (or Dial), Dialect and Host are required,
// everything else has a default.
type Options struct {
	// URL is ws://, wss://, http://, https:// (HTTP polling) or "stdio:".
	URL     string
	Dialect Dialect
	Host    Host
	Logger  *slog.Logger // default: discard

	// Header goes with the WebSocket handshake. Token is sent as a bearer
	// token unless Header has an Authorization.
	Header http.Header
	Token  string
	// RoundTripper makes the requests of HTTP polling. Default
	// http.DefaultTransport.
	RoundTripper http.RoundTripper
	// Stdin and Stdout carry the items of "stdio:".
	Stdin  io.Reader
	Stdout io.Writer
	// Dial replaces the transport that URL names.
	Dial func(ctx context.Context) (Conn, error)

	// ConnectTimeout bounds one attempt to connect. Default 8 s.
	ConnectTimeout time.Duration
	// BackoffMin and BackoffMax bound the wait before the next attempt: it
	// doubles from one to the other and is then shortened by up to a quarter,
	// so that clients of one bridge do not come back in step. Attempts do not
	// end. Defaults 500 ms and 5 s.
	BackoffMin, BackoffMax time.Duration
	// Random gives numbers in [0,1) for the shortening.
	Random func() float64

	// Heartbeat is the distance of unsolicited status items. A bridge probes,
	// and may drop, a runtime that sent nothing for 5 s. Default 4 s, none on
	// stdio; negative means none.
	Heartbeat time.Duration
	// PingEvery is the distance of WebSocket pings on an idle connection, and
	// DeadAfter how long a connection may show no sign of life before it is
	// given up. Defaults 10 s and 30 s.
	PingEvery, DeadAfter time.Duration
	// TitleEvery is the least distance of two announcements of one tab that
	// differ in the title only: a page that counts in its title must not
	// flood the bridge. Default 1 s.
	TitleEvery time.Duration
	// ProgressAfter is how long a call must run before its progress is
	// reported; on a connection with heartbeats the first is reported at once.
	// Default 500 ms.
	ProgressAfter time.Duration

	// KeepAnswers is how long answers are kept for a repeated call, and
	// undelivered ones for the next connection. Default 120 s.
	KeepAnswers time.Duration
	// MaxPending bounds the calls that were accepted and not answered.
	// Default 4096.
	MaxPending int
	// MaxQueued bounds, in bytes, what waits for the peer to read it; beyond it
	// the client stops reading too. Default 256 MiB.
	MaxQueued int
	// MaxEvents bounds the page events that wait for the peer. Default 1000.
	MaxEvents int
	// MaxRead and MaxWrite bound one message. An answer that is longer than
	// MaxWrite is replaced by a failure. Defaults 256 MiB and 64 MiB, the
	// latter being what the upstream bridge accepts.
	MaxRead, MaxWrite int
	// NoEvents leaves page events out, announcements of live regions apart.
	NoEvents bool

	// DrainTimeout bounds the end of Run: calls in flight are cancelled and
	// their answers written within it. Default 2 s.
	DrainTimeout time.Duration

	// OnState is called with the state of the connection. It must not block.
	OnState func(State)
}

func (o *Options) check() error {
	switch {
	case o.Dialect == nil:
		return fault.New(fault.InvalidInput, "no dialect given")
	case o.Host == nil:
		return fault.New(fault.InvalidInput, "no host given")
	case o.BackoffMin > 0 && o.BackoffMax > 0 && o.BackoffMin > o.BackoffMax:
		return fault.New(
			fault.InvalidInput, "the smallest wait %s is longer than the longest %s", o.BackoffMin, o.BackoffMax,
		)
	}
	o.defaults()
	return nil
}

func (o *Options) defaults() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.OnState == nil {
		o.OnState = func(State) {}
	}
	set(&o.ConnectTimeout, 8*time.Second)
	set(&o.BackoffMin, 500*time.Millisecond)
	set(&o.BackoffMax, max(5*time.Second, o.BackoffMin))
	set(&o.PingEvery, 10*time.Second)
	set(&o.DeadAfter, 30*time.Second)
	set(&o.TitleEvery, time.Second)
	set(&o.ProgressAfter, 500*time.Millisecond)
	set(&o.KeepAnswers, 120*time.Second)
	set(&o.DrainTimeout, 2*time.Second)
	set(&o.MaxPending, 4096)
	set(&o.MaxQueued, 256<<20)
	set(&o.MaxEvents, 1000)
	set(&o.MaxRead, 256<<20)
	set(&o.MaxWrite, 64<<20)
}

func set[T ~int | ~int64](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// StateKind is one stage of a connection.
type StateKind string

const (
	Connecting StateKind = "connecting"
	Connected  StateKind = "connected"
	// Ready: every tab has been announced on this connection.
	Ready StateKind = "ready"
	// Lost: the connection ended or could not be made; Err says why and
	// RetryIn when the next attempt follows.
	Lost StateKind = "lost"
	// Closed: Run is about to return.
	Closed StateKind = "closed"
)

// State is what OnState gets.
type State struct {
	Kind StateKind
	// Attempt counts attempts since the last connection that lived.
	Attempt int
	Tabs    int // Ready: how many were announced
	Err     error
	RetryIn time.Duration
}
