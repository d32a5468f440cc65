package bridgeclient

import (
	"context"
	"net/url"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Conn carries whole frames. Read is called by one goroutine, Write by one
// other, Ping by a third; Close and Abort by any.
type Conn interface {
	// Read returns the next frame. It returns io.EOF when the peer ended the
	// connection on purpose.
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, frame []byte) error
	// Ping returns nil when the peer has read everything that was written
	// before.
	Ping(ctx context.Context) error
	// Active is a number that grows whenever bytes move, so that a long frame
	// on a slow line is not taken for a dead peer.
	Active() uint64
	// Close ends the connection politely, within a second; Abort at once. Both
	// may be called more than once.
	Close(reason string)
	Abort()
	// Traits says what this kind of connection can do.
	Traits() Traits
}

// Traits of a kind of connection.
type Traits struct {
	// Once: there is no second connection; when the peer stops sending, the
	// client answers what it has accepted and ends.
	Once bool
	// Confirms: Ping means something. Otherwise a frame counts as delivered
	// when it was written.
	Confirms bool
	// Heartbeat: the peer wants to see that this side is open.
	Heartbeat bool
}

// Dial opens one connection to a bridge, as a Client does. It needs the URL of the
// options alone.
func Dial(ctx context.Context, opts *Options) (Conn, error) {
	o := *opts
	o.defaults()
	dial, err := dialer(&o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.ConnectTimeout)
	defer cancel()
	return dial(ctx)
}

// dialer returns how to connect to the address in o.
func dialer(o *Options) (func(ctx context.Context) (Conn, error), error) {
	if o.Dial != nil {
		return o.Dial, nil
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, &fault.Error{Code: fault.InvalidInput, Message: "the bridge address does not parse", Err: err}
	}
	switch u.Scheme {
	case "ws", "wss":
		if u.Host == "" {
			return nil, fault.New(fault.InvalidInput, "the bridge address names no host")
		}
		return func(ctx context.Context) (Conn, error) { return dialWebSocket(ctx, u, o) }, nil
	case "stdio":
		if o.Stdin == nil || o.Stdout == nil {
			return nil, fault.New(fault.InvalidInput, "stdio: needs an input and an output")
		}
		return func(context.Context) (Conn, error) {
			return newStdio(o.Stdin, o.Stdout, min(o.MaxRead, MaxLine)), nil
		}, nil
	case "http", "https":
		if u.Host == "" {
			return nil, fault.New(fault.InvalidInput, "the bridge address names no host")
		}
		return func(ctx context.Context) (Conn, error) { return dialPolling(ctx, u, o) }, nil
	}
	return nil, fault.New(
		fault.InvalidInput, "the bridge address has the scheme %q; expected ws, wss, http, https or stdio", u.Scheme,
	)
}
