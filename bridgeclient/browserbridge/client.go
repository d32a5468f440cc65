package browserbridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/outrider-run/outrider/runtime"
)

// Host is what a Client needs of a runtime; *runtime.Host is one.
type Host interface {
	Do(ctx context.Context, call runtime.Call) runtime.Reply
	Tabs() []runtime.TabStatus
	NewWorkspace(ctx context.Context, opts runtime.WorkspaceOptions) (*runtime.Workspace, error)
	Subscribe(fn func(runtime.Event)) (unsubscribe func())
}

// Options configure a Client. URL and Host are required.
type Options struct {
	URL  string // ws:// or wss://
	Host Host
	// Token is the pairing token. It goes into hello and nowhere else.
	Token string
	// ClientVersion is what hello says.
	ClientVersion string
	// Block lists the domains on which nothing is done; see docs/reference/browser-bridge.md
	// for what an entry covers.
	Block []string
	// KeepWebDriver leaves navigator.webdriver alone. By default it is false in the
	// tabs that have a session.
	KeepWebDriver bool
	// UserTabs says that the tabs of the host are a user's, as those of an attached
	// browser are. By default they are the agent's own, like those it opens.
	UserTabs bool
	// LeaveDialogs leaves dialogs that open outside of evaluate for a person who
	// can see them. By default they are answered by the rule of evaluate.
	LeaveDialogs bool
	// Idle ends every session when no action came for so long. 0 is never.
	Idle time.Duration

	// AckTimeout bounds the wait for ack. Default 10 s.
	AckTimeout time.Duration
	// PingEvery is the distance of pings; two that are not answered end the
	// connection. Default 20 s.
	PingEvery time.Duration
	// RetryMin and RetryMax bound the wait before connecting again, which doubles.
	// Defaults 1 s and 30 s.
	RetryMin, RetryMax time.Duration
	// HealthyAfter is how long a connection has to last for the wait to begin at
	// RetryMin again. Default 30 s.
	HealthyAfter time.Duration

	// OnState, when not nil, is called for changes of the connection. It must not block.
	OnState func(State)
	Logger  *slog.Logger
}

// StateKind says what became of the connection.
type StateKind string

const (
	Connecting StateKind = "connecting"
	Ready      StateKind = "ready"    // the backend has sent ack
	Lost       StateKind = "lost"     // another attempt follows
	Rejected   StateKind = "rejected" // final
)

// State is a change of the connection.
type State struct {
	Kind          StateKind
	ServerVersion string        // Ready
	Err           error         // Lost, Rejected
	RetryIn       time.Duration // Lost
}

// RejectedError is why a client gave up for good: the backend refused it. Update
// or pair again.
type RejectedError struct {
	RequiredMin int    // protocol version, 0 when not reported
	CloseCode   int    // 4001, 4002, or 0
	Message     string // of the backend
}

func (e *RejectedError) Error() string {
	s := "the backend refused this client"
	switch {
	case e.CloseCode == CloseVersion || e.RequiredMin > ProtocolVersion:
		s += ": the protocol version does not match"
	case e.CloseCode == ClosePairing:
		s += ": the pairing token is not valid"
	}
	if e.RequiredMin != 0 && e.RequiredMin != ProtocolVersion {
		s += fmt.Sprintf(" (it needs version %d, this is %d)", e.RequiredMin, ProtocolVersion)
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

// Client keeps one connection to a backend and executes its requests.
type Client struct {
	o      Options
	log    *slog.Logger
	out    *outbox
	engine *engine

	mu  sync.Mutex
	ran bool
}

// New makes a client that Run connects.
func New(o Options) (*Client, error) {
	if o.URL == "" || o.Host == nil {
		return nil, errors.New("a client needs a URL and a host")
	}
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{
		{&o.AckTimeout, 10 * time.Second},
		{&o.PingEvery, 20 * time.Second},
		{&o.RetryMin, time.Second},
		{&o.RetryMax, 30 * time.Second},
		{&o.HealthyAfter, 30 * time.Second},
	} {
		if *d.v <= 0 {
			*d.v = d.def
		}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.OnState == nil {
		o.OnState = func(State) {}
	}
	c := &Client{o: o, log: o.Logger.With("component", "browserbridge"), out: newOutbox()}
	c.engine = newEngine(&c.o, c.log, c.out)
	return c, nil
}

// Run connects, serves requests and connects again until ctx ends or the backend
// rejects the client, and returns after everything it started has ended. The
// tabs that the agent opened are closed then. Run may be called once.
func (c *Client) Run(ctx context.Context) error {
	c.mu.Lock()
	again := c.ran
	c.ran = true
	c.mu.Unlock()
	if again {
		return errors.New("a client runs once")
	}
	c.engine.start(ctx)
	defer c.engine.close()
	wait := c.o.RetryMin
	for {
		c.o.OnState(State{Kind: Connecting})
		began := time.Now()
		err := c.connect(ctx)
		var refused *RejectedError
		switch {
		case errors.As(err, &refused):
			c.o.OnState(State{Kind: Rejected, Err: err})
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if time.Since(began) >= c.o.HealthyAfter {
			wait = c.o.RetryMin
		}
		pause := jitter(wait)
		c.o.OnState(State{Kind: Lost, Err: err, RetryIn: pause})
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		wait = min(2*wait, c.o.RetryMax)
	}
}

// jitter moves a wait by up to a fifth, so that clients of one backend do not all
// come back at once.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}

// Stop ends every session and whatever runs, and reports that to the backend. The
// connection stays, and new requests begin new sessions.
func (c *Client) Stop() { c.engine.stopAll() }

// StopSession ends the session on a tab, as its user asked; false when there is
// none.
func (c *Client) StopSession(tabID int) bool { return c.engine.stopSession(tabID) }

// SetBlock replaces the list of blocked domains. Sessions on one of them end at
// once.
func (c *Client) SetBlock(domains []string) { c.engine.setBlock(domains) }
