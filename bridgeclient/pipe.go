package bridgeclient

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Pipe is a connection inside the process: one end is a Conn for a Client, the
// other is for whoever plays the bridge. It behaves like a socket: it holds a
// few frames, a writer waits for a reader, and what is in it is lost when it is
// cut.
type Pipe struct {
	traits  Traits
	toHost  chan []byte
	toPeer  chan []byte
	done    chan struct{}
	once    sync.Once
	written atomic.Uint64
	active  atomic.Uint64

	// mu protects what Ping waits for.
	mu       sync.Mutex
	received uint64
	moved    chan struct{} // closed and replaced by Receive
	closing  string
}

// pipeFrames is how many frames are in the pipe before a writer waits.
const pipeFrames = 16

// NewPipe makes a connection with the given traits.
func NewPipe(traits Traits) *Pipe {
	return &Pipe{
		traits: traits, toHost: make(chan []byte), toPeer: make(chan []byte, pipeFrames),
		done: make(chan struct{}), moved: make(chan struct{}),
	}
}

// Send gives the client a frame.
func (p *Pipe) Send(ctx context.Context, frame []byte) error {
	select {
	case p.toHost <- frame:
		return nil
	case <-p.done:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Receive returns the next frame of the client.
func (p *Pipe) Receive(ctx context.Context) ([]byte, error) {
	// What is in the pipe can be read although it has ended.
	select {
	case f := <-p.toPeer:
		p.took()
		return f, nil
	default:
	}
	select {
	case f := <-p.toPeer:
		p.took()
		return f, nil
	case <-p.done:
		return nil, io.ErrClosedPipe
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *Pipe) took() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received++
	close(p.moved)
	p.moved = make(chan struct{})
}

// Cut ends the connection from the bridge's side.
func (p *Pipe) Cut() { p.Abort() }

// Closed is closed when the connection has ended.
func (p *Pipe) Closed() <-chan struct{} { return p.done }

// Reason is what the client gave when it closed the connection politely.
func (p *Pipe) Reason() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closing
}

// Read implements Conn.
func (p *Pipe) Read(ctx context.Context) ([]byte, error) {
	select {
	case f := <-p.toHost:
		p.active.Add(1)
		return f, nil
	case <-p.done:
		return nil, broken()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Write implements Conn.
func (p *Pipe) Write(ctx context.Context, frame []byte) error {
	select {
	case <-p.done:
		return broken()
	default:
	}
	select {
	case p.toPeer <- frame:
		p.written.Add(1)
		p.active.Add(1)
		return nil
	case <-p.done:
		return broken()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Ping implements Conn.
func (p *Pipe) Ping(ctx context.Context) error {
	target := p.written.Load()
	for {
		p.mu.Lock()
		ok, moved := p.received >= target, p.moved
		p.mu.Unlock()
		if ok {
			p.active.Add(1)
			return nil
		}
		select {
		case <-moved:
		case <-p.done:
			return broken()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Active implements Conn.
func (p *Pipe) Active() uint64 { return p.active.Load() }

// Close implements Conn.
func (p *Pipe) Close(reason string) {
	p.mu.Lock()
	p.closing = reason
	p.mu.Unlock()
	p.Abort()
}

// Abort implements Conn.
func (p *Pipe) Abort() { p.once.Do(func() { close(p.done) }) }

// Traits implements Conn.
func (p *Pipe) Traits() Traits { return p.traits }

func broken() error { return fault.New(fault.TransportFailed, "the connection broke") }
