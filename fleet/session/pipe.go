// Package session leases a worker to one caller: both ends get a stream of bytes, in
// order, and each hears at once when the other is gone. It does not know what is said
// on the stream. The verbs hub, mcp and provider lease, workers offer.
//
// # Why not requests
//
// A request that nobody answers runs into its own time, also when the worker was
// killed long before. Here each end asks the other for a sign of life, with requests
// that the server itself refuses as soon as the other end's socket is closed.
package session

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	// window is how many bytes may be on their way to an end that does not read.
	window = 4 << 20
	chunk  = 128 << 10
	// beatEvery is how often an end asks for a sign of life, beatWithin how long the
	// other may take, and missed how often it may fail to answer.
	beatEvery  = 500 * time.Millisecond
	beatWithin = 2 * time.Second
	missed     = 2
)

// Kinds of frames. Each begins with its kind and a number.
const (
	frameData  = 'd' // the number counts frames
	frameAck   = 'a' // the number is how many bytes were read
	frameBeat  = 'b'
	frameEnd   = 'e' // nothing more is written
	frameClose = 'c'
)

// Pipe is one end of a session. Read and Write may be called by one goroutine each,
// Close by any.
type Pipe struct {
	nc   *nats.Conn
	to   string // where the other end listens
	sub  *nats.Subscription
	beat sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond
	in      []byte
	ended   bool   // nothing more comes
	got     uint64 // data frames that came
	read    uint64 // bytes that were read, and of them those that were acknowledged
	acked   uint64
	frames  uint64 // data frames that were sent
	sent    uint64 // bytes that were sent, and of them those that were read there
	taken   uint64
	err     error // why it ended; io.EOF when the other end closed it
	done    chan struct{}
}

// newPipe makes an end that listens at one subject and sends to another.
func newPipe(nc *nats.Conn, listen, to string) (*Pipe, error) {
	p := &Pipe{nc: nc, to: to, done: make(chan struct{})}
	p.changed = sync.NewCond(&p.mu)
	var err error
	p.sub, err = nc.Subscribe(listen, p.receive)
	if err != nil {
		return nil, err
	}
	// What waits is bounded by the window, not by the library.
	err = p.sub.SetPendingLimits(-1, -1)
	if err == nil {
		err = nc.FlushTimeout(beatWithin)
	}
	if err != nil {
		_ = p.sub.Unsubscribe()
		return nil, err
	}
	return p, nil
}

// start begins to ask the other end for signs of life.
func (p *Pipe) start() { p.beat.Go(p.beats) }

func (p *Pipe) beats() {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for misses := 0; ; {
		select {
		case <-tick.C:
		case <-p.done:
			return
		}
		_, err := p.nc.Request(p.to, frame(frameBeat, 0, nil), beatWithin)
		switch {
		case err == nil:
			misses = 0
			continue
		case errors.Is(err, nats.ErrNoResponders):
			// It may have closed the session before it went: what it said then has come, and is handled before a
			// message to ourselves.
			_, _ = p.nc.Request(p.sub.Subject, frame(frameBeat, 0, nil), beatWithin)
			p.end(lost("it is gone"))
		case errors.Is(err, nats.ErrTimeout):
			if misses++; misses == missed {
				p.end(lost("it does not answer"))
			}
		default:
			p.end(lost("the connection to the fleet was lost"))
		}
	}
}

func lost(why string) error {
	return fault.New(fault.SessionLost, "the other end of the session: %s", why).
		Next("lease another session; what was under way may have been done")
}

func frame(kind byte, number uint64, data []byte) []byte {
	out := make([]byte, 9, 9+len(data))
	out[0] = kind
	binary.BigEndian.PutUint64(out[1:], number)
	return append(out, data...)
}

// receive handles a message of the other end.
func (p *Pipe) receive(m *nats.Msg) {
	if len(m.Data) < 9 {
		return
	}
	number, data := binary.BigEndian.Uint64(m.Data[1:]), m.Data[9:]
	p.mu.Lock()
	defer p.mu.Unlock()
	switch m.Data[0] {
	case frameBeat:
		_ = m.Respond(nil)
	case frameAck:
		p.taken = max(p.taken, min(number, p.sent))
		p.changed.Broadcast()
	case frameData:
		if p.got++; number != p.got {
			p.endLocked(lost("a part of the stream is missing"))
			return
		}
		if len(p.in)+len(data) > window+chunk {
			p.endLocked(lost("it sends more than it may"))
			return
		}
		p.in = append(p.in, data...)
		p.changed.Broadcast()
	case frameEnd:
		p.ended = true
		p.changed.Broadcast()
	case frameClose:
		p.endLocked(io.EOF)
	}
}

// end ends the pipe, once.
func (p *Pipe) end(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endLocked(err)
}

func (p *Pipe) endLocked(err error) {
	if p.err == nil {
		p.err = err
		close(p.done)
		p.changed.Broadcast()
	}
}

// Done is closed when the session has ended.
func (p *Pipe) Done() <-chan struct{} { return p.done }

// Err says why the session ended: io.EOF when an end closed it, else an error of code
// session_lost. It is nil before.
func (p *Pipe) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Read implements io.Reader. What came before the end is read first.
func (p *Pipe) Read(to []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.in) == 0 && p.err == nil && !p.ended {
		p.changed.Wait()
	}
	switch {
	case len(p.in) > 0:
	case p.ended:
		return 0, io.EOF
	default:
		return 0, p.err
	}
	n := copy(to, p.in)
	p.in = p.in[n:]
	p.read += uint64(n)
	if p.read-p.acked >= window/4 && p.err == nil {
		p.acked = p.read
		if err := p.nc.Publish(p.to, frame(frameAck, p.read, nil)); err != nil {
			p.endLocked(lost("the connection to the fleet was lost"))
		}
	}
	return n, nil
}

// Write implements io.Writer. It waits while the other end does not read.
func (p *Pipe) Write(from []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for n < len(from) {
		part := from[n:min(n+chunk, len(from))]
		for p.err == nil && p.sent-p.taken+uint64(len(part)) > window {
			p.changed.Wait()
		}
		if p.err != nil {
			if errors.Is(p.err, io.EOF) {
				return n, io.ErrClosedPipe
			}
			return n, p.err
		}
		p.frames++
		p.sent += uint64(len(part))
		if err := p.nc.Publish(p.to, frame(frameData, p.frames, part)); err != nil {
			p.endLocked(lost("the connection to the fleet was lost"))
			return n, p.err
		}
		n += len(part)
	}
	return n, nil
}

// CloseWrite says that nothing more is written. What the other end writes can still
// be read.
func (p *Pipe) CloseWrite() error { return p.nc.Publish(p.to, frame(frameEnd, 0, nil)) }

// Close ends the session. The other end reads what was written, then io.EOF.
func (p *Pipe) Close() error {
	if p.Err() == nil {
		_ = p.nc.Publish(p.to, frame(frameClose, 0, nil))
		_ = p.nc.FlushTimeout(time.Second)
	}
	p.end(io.EOF)
	err := p.sub.Unsubscribe()
	p.beat.Wait()
	if errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrBadSubscription) {
		return nil
	}
	return err
}

// Context ends with the session.
func (p *Pipe) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := make(chan struct{})
	p.beat.Go(func() {
		select {
		case <-p.done:
			cancel(p.Err())
		case <-stop:
		}
	})
	return ctx, sync.OnceFunc(func() { close(stop); cancel(nil) })
}
