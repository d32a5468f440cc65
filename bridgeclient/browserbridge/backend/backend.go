// Package backend is the other end of the browser bridge protocol v4: it accepts a
// client, checks its hello, sends it requests and holds it to the protocol. It is no
// agent and decides nothing about pages. Tests call it, and people who try a client.
package backend

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/outrider-run/outrider/bridgeclient/browserbridge"
)

const (
	maxIn        = 64 << 20
	helloTimeout = 10 * time.Second
)

// Options configure a Backend.
type Options struct {
	// Token is the pairing token that a client must present; "" accepts any.
	Token string
	// Version is what ack says. Default "outrider-backend".
	Version string
	// Protocol is the version that this backend speaks and demands. Default 4;
	// others are for tests.
	Protocol int
	// NewID makes the ids of requests. Default: UUID version 4.
	NewID func() string
	// OnEvent gets events, in order. It must not block.
	OnEvent func(json.RawMessage)
	// OnConnection is called for clients that were accepted, replaced, refused or lost.
	OnConnection func(kind string)
	Logger       *slog.Logger
}

// Backend is an http.Handler that accepts clients. One is connected at a time:
// the newest wins.
type Backend struct {
	o   Options
	log *slog.Logger

	mu         sync.Mutex
	conn       *connection
	changed    chan struct{} // closed when conn changes
	violations []string
	serving    sync.WaitGroup
	closed     bool
}

// connection is one accepted client.
type connection struct {
	ws                  *websocket.Conn
	gone                chan struct{}
	mu                  sync.Mutex
	pending             map[string]chan browserbridge.Response
	requested, answered map[string]int // requests and responses of each id
}

// New makes a backend.
func New(o Options) *Backend {
	if o.Version == "" {
		o.Version = "outrider-backend"
	}
	if o.Protocol == 0 {
		o.Protocol = browserbridge.ProtocolVersion
	}
	if o.NewID == nil {
		o.NewID = newID
	}
	if o.OnEvent == nil {
		o.OnEvent = func(json.RawMessage) {}
	}
	if o.OnConnection == nil {
		o.OnConnection = func(string) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Backend{o: o, log: o.Logger.With("component", "backend"), changed: make(chan struct{})}
}

// newID is a random UUID (RFC 9562, version 4).
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Violations lists what clients did against the protocol.
func (b *Backend) Violations() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.violations...)
}

func (b *Backend) violation(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	b.log.Warn("against the protocol", "what", s)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.violations = append(b.violations, s)
}

// ServeHTTP accepts a client and serves it until it disconnects.
func (b *Backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		http.Error(w, "closed", http.StatusServiceUnavailable)
		return
	}
	b.serving.Add(1)
	b.mu.Unlock()
	defer b.serving.Done()
	if r.Header.Get("Authorization") != "" {
		b.violation("an Authorization header, where only hello carries the token")
	}
	ws, err := websocket.Accept(w, r, nil) // refuses pages of another origin
	if err != nil {
		return
	}
	ws.SetReadLimit(maxIn)
	defer func() { _ = ws.CloseNow() }()
	ctx := context.WithoutCancel(r.Context())
	if !b.greet(ctx, ws) {
		b.o.OnConnection("refused")
		return
	}
	c := &connection{
		ws:        ws,
		gone:      make(chan struct{}),
		pending:   map[string]chan browserbridge.Response{},
		requested: map[string]int{},
		answered:  map[string]int{},
	}
	b.replace(c)
	b.o.OnConnection("accepted")
	err = b.read(ctx, c)
	b.log.Debug("a client went", "error", err)
	b.mu.Lock()
	if b.conn == c {
		b.conn = nil
		b.signal()
	}
	b.mu.Unlock()
	close(c.gone) // Drop returns, and who asks for a client gets the next one
	b.o.OnConnection("lost")
}

// signal tells waiters that conn has changed. b.mu is held.
func (b *Backend) signal() {
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *Backend) replace(c *connection) {
	b.mu.Lock()
	old := b.conn
	b.conn = c
	b.signal()
	b.mu.Unlock()
	if old != nil {
		b.o.OnConnection("replaced")
		// bounded by the library
		b.serving.Go(func() { _ = old.ws.Close(websocket.StatusNormalClosure, "replaced by a newer client") })
	}
}

// greet reads hello and answers ack, or reject and the close that goes with it.
func (b *Backend) greet(ctx context.Context, ws *websocket.Conn) bool {
	late := time.AfterFunc(helloTimeout, func() { _ = ws.CloseNow() })
	defer late.Stop()
	_, frame, err := ws.Read(ctx)
	if err != nil {
		return false
	}
	var hello browserbridge.Hello
	if err := json.Unmarshal(frame, &hello); err != nil || hello.Type != "hello" {
		b.violation("the first message is no hello")
		_ = ws.Close(websocket.StatusPolicyViolation, "hello first")
		return false
	}
	reject := func(code websocket.StatusCode, kind, message string) bool {
		_ = b.send(ctx, ws, browserbridge.Reject{
			Type:                       "reject",
			RequiredMinProtocolVersion: b.o.Protocol,
			Error:                      browserbridge.Error{Code: kind, Message: message},
		})
		_ = ws.Close(code, message)
		return false
	}
	switch {
	case hello.ProtocolVersion != b.o.Protocol: // minimum and own version are the same
		return reject(
			browserbridge.CloseVersion, "invalid_action", fmt.Sprintf("protocol version %d is needed", b.o.Protocol),
		)
	case b.o.Token != "" && subtle.ConstantTimeCompare([]byte(hello.PairingToken), []byte(b.o.Token)) != 1:
		return reject(browserbridge.ClosePairing, "internal_error", "the pairing token is not valid")
	}
	return b.send(ctx, ws, browserbridge.Ack{
		Type:            "ack",
		ProtocolVersion: b.o.Protocol,
		ServerVersion:   b.o.Version,
	}) == nil
}

func (b *Backend) send(ctx context.Context, ws *websocket.Conn, message any) error {
	frame, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return ws.Write(ctx, websocket.MessageText, frame)
}

func (b *Backend) read(ctx context.Context, c *connection) error {
	for {
		kind, frame, err := c.ws.Read(ctx)
		if err != nil {
			return err
		}
		var m struct {
			browserbridge.Response
			Event json.RawMessage `json:"event"`
		}
		if err := json.Unmarshal(frame, &m); err != nil || kind != websocket.MessageText {
			b.violation("a message that is no JSON object in a text frame")
			continue
		}
		switch m.Type {
		case "response":
			b.response(c, m.Response)
		case "event":
			b.checkEvent(m.Event)
			b.o.OnEvent(m.Event)
		default:
			b.violation("a message of type %q", m.Type)
		}
	}
}

func (b *Backend) response(c *connection, r browserbridge.Response) {
	if (r.Error == nil) == (len(r.Result) == 0) {
		b.violation("response %s has not exactly one of result and error", r.ID)
	}
	if r.Error != nil && !codes[r.Error.Code] {
		b.violation("response %s has the unknown code %q", r.ID, r.Error.Code)
	}
	c.mu.Lock()
	waiting, ok := c.pending[r.ID]
	delete(c.pending, r.ID)
	c.answered[r.ID]++
	again := c.answered[r.ID] > max(1, c.requested[r.ID]) // an id in flight that is used again has an answer for each
	c.mu.Unlock()
	switch {
	case ok:
		waiting <- r
	case again:
		b.violation("response %s came twice", r.ID)
	default:
		b.log.Debug("a response that nobody waits for", "id", r.ID)
	}
}

var codes = map[string]bool{
	"domain_blocked": true, "session_not_found": true,
	"tab_not_found": true, "element_not_found": true, "element_stale": true,
	"timeout": true, "debugger_attach_failed": true, "invalid_action": true, "internal_error": true,
}

// eventFields are the members that the kinds of events have to have.
var eventFields = map[string][]string{
	"session_started": {"domain", "tabId", "startedAt"},
	"session_ended":   {"domain", "tabId", "actionCount", "reason"},
	"domain_blocked":  {"domain", "attemptedAction"},
	"tab_closed":      {"tabId"},
	"global_stop":     {"endedCount"},
}

func (b *Backend) checkEvent(raw json.RawMessage) {
	var e map[string]any
	if json.Unmarshal(raw, &e) != nil {
		b.violation("an event that is no object")
		return
	}
	kind, _ := e["type"].(string)
	for _, name := range eventFields[kind] {
		if _, ok := e[name]; !ok {
			b.violation("event %s lacks %s", kind, name)
		}
	}
	if eventFields[kind] == nil {
		b.violation("event of the unknown kind %q", kind)
	}
}

// ErrNoClient says that no client is connected.
var ErrNoClient = errors.New("no client is connected")

// ErrLost says that the client disconnected before it answered.
var ErrLost = errors.New("the client went before it answered")

// Await waits for a client.
func (b *Backend) Await(ctx context.Context) error {
	_, err := b.client(ctx)
	return err
}

func (b *Backend) client(ctx context.Context) (*connection, error) {
	for {
		b.mu.Lock()
		c, changed := b.conn, b.changed
		b.mu.Unlock()
		if c != nil {
			return c, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ErrNoClient
		}
	}
}

// Do requests an action and waits for its response, as long as the protocol's
// pool does. The error of the client is *browserbridge.Error.
func (b *Backend) Do(ctx context.Context, action json.RawMessage) (json.RawMessage, error) {
	wait, err := b.Start(ctx, action)
	if err != nil {
		return nil, err
	}
	return wait()
}

// Start is Do that returns when the request is sent; the result waits.
func (b *Backend) Start(ctx context.Context, action json.RawMessage) (wait func() (json.RawMessage, error), err error) {
	c, err := b.client(ctx)
	if err != nil {
		return nil, err
	}
	id := b.o.NewID()
	answered, err := b.request(
		ctx, c, id, browserbridge.Request{Type: "request", ID: id, Action: action}, poolLimit(action),
	)
	if err != nil {
		return nil, err
	}
	return func() (json.RawMessage, error) {
		r, err := answered()
		if err != nil {
			return nil, err
		}
		if r.Error != nil {
			return nil, r.Error
		}
		return r.Result, nil
	}, nil
}

// Raw sends any message with an id and waits for the response to it.
func (b *Backend) Raw(ctx context.Context, id string, message any) (browserbridge.Response, error) {
	c, err := b.client(ctx)
	if err != nil {
		return browserbridge.Response{}, err
	}
	wait, err := b.request(ctx, c, id, message, 15*time.Second)
	if err != nil {
		return browserbridge.Response{}, err
	}
	return wait()
}

// Send sends a frame as it is.
func (b *Backend) Send(ctx context.Context, kind websocket.MessageType, frame []byte) error {
	c, err := b.client(ctx)
	if err != nil {
		return err
	}
	return c.ws.Write(context.WithoutCancel(ctx), kind, frame)
}

func (b *Backend) request(
	ctx context.Context, c *connection, id string, message any, limit time.Duration,
) (func() (browserbridge.Response, error), error) {
	waiting := make(chan browserbridge.Response, 1)
	c.mu.Lock()
	c.pending[id] = waiting
	c.requested[id]++
	c.mu.Unlock()
	if err := b.send(context.WithoutCancel(ctx), c.ws, message); err != nil {
		return nil, err
	}
	end := time.Now().Add(limit)
	return func() (browserbridge.Response, error) { return c.await(ctx, id, waiting, time.Until(end)) }, nil
}

func (c *connection) await(
	ctx context.Context, id string, waiting <-chan browserbridge.Response, limit time.Duration,
) (browserbridge.Response, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case r := <-waiting:
		return r, nil
	case <-c.gone:
		return browserbridge.Response{}, ErrLost
	case <-timer.C:
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
		return browserbridge.Response{}, &browserbridge.Error{
			Code:    "timeout",
			Message: "the client did not answer in time",
		}
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.pending, id) // the answer comes all the same, and nobody waits
		c.mu.Unlock()
		return browserbridge.Response{}, ctx.Err()
	}
}

// poolLimit is how long an action is waited for.
func poolLimit(action json.RawMessage) time.Duration {
	var a struct {
		Type      string `json:"type"`
		TimeoutMS int    `json:"timeoutMs"`
	}
	_ = json.Unmarshal(action, &a)
	switch a.Type {
	case "navigate", "open_tab":
		return 35 * time.Second
	case "extract", "screenshot":
		return 30 * time.Second
	case "wait_for":
		if a.TimeoutMS <= 0 {
			a.TimeoutMS = 10_000
		}
		return time.Duration(a.TimeoutMS)*time.Millisecond + 5*time.Second
	}
	return 15 * time.Second
}

// Drop cuts the connection to the client, as a network does.
func (b *Backend) Drop() {
	b.mu.Lock()
	c := b.conn
	b.mu.Unlock()
	if c != nil {
		_ = c.ws.CloseNow()
		<-c.gone
	}
}

// Close ends every connection and returns when they have ended.
func (b *Backend) Close() {
	b.mu.Lock()
	b.closed = true
	c := b.conn
	b.mu.Unlock()
	if c != nil {
		_ = c.ws.CloseNow()
	}
	b.serving.Wait()
}
