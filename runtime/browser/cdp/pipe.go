package cdp

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"
)

// maxFrame bounds one incoming frame in bytes. A longer one is skipped: nothing
// we request comes near it, and a page decides how long its answers are.
const maxFrame = 512 << 20

// Transport carries frames to and from a browser. Receive is called by one
// goroutine, Send by one at a time, Close by any.
type Transport interface {
	// Receive returns the next frame. It stays valid until the next call.
	Receive() ([]byte, error)
	// Send writes frames, each ended by a NUL byte. It gives up at the deadline
	// with an error that matches os.ErrDeadlineExceeded. The rest of a message
	// that it has begun is written before anything else.
	Send(frames []byte, deadline time.Time) error
	Close() error
}

// pipe is the transport of --remote-debugging-pipe: JSON ended by NUL bytes.
type pipe struct {
	r io.ReadCloser
	w interface {
		io.WriteCloser
		SetWriteDeadline(time.Time) error
	}
	unsent []byte // rest of a message whose writer gave up

	buf        []byte
	start, end int // unread bytes of buf
	scanned    int // bytes after start known to hold no NUL
	skipping   bool
}

func NewPipe(r io.ReadCloser, w *os.File) *pipe {
	return &pipe{r: r, w: w, buf: make([]byte, 64<<10)}
}

func (p *pipe) Receive() ([]byte, error) {
	for {
		if i := bytes.IndexByte(p.buf[p.start+p.scanned:p.end], 0); i >= 0 {
			frame := p.buf[p.start : p.start+p.scanned+i]
			p.start += p.scanned + i + 1
			p.scanned = 0
			if p.skipping {
				p.skipping = false
				continue
			}
			if len(frame) > 0 {
				return frame, nil
			}
			continue
		}
		p.scanned = p.end - p.start
		switch {
		case p.start == p.end:
			p.start = 0
			p.end = 0
			p.scanned = 0
			if len(p.buf) > 4<<20 {
				p.buf = make([]byte, 64<<10) // a large answer does not keep its memory
			}
		case p.skipping || p.scanned > maxFrame:
			p.skipping = true
			p.start = 0
			p.end = 0
			p.scanned = 0
		case p.end == len(p.buf):
			if p.start > len(p.buf)/2 {
				copy(p.buf, p.buf[p.start:p.end])
			} else {
				grown := make([]byte, 2*len(p.buf))
				copy(grown, p.buf[p.start:p.end])
				p.buf = grown
			}
			p.end -= p.start
			p.start = 0
		}
		n, err := p.r.Read(p.buf[p.end:])
		p.end += n
		if n == 0 && err != nil {
			return nil, err
		}
	}
}

func (p *pipe) Send(frames []byte, deadline time.Time) error {
	if err := p.w.SetWriteDeadline(deadline); err != nil {
		return err
	}
	if len(p.unsent) > 0 {
		n, err := p.w.Write(p.unsent)
		p.unsent = p.unsent[n:]
		if err != nil {
			return err
		}
	}
	n, err := p.w.Write(frames)
	if err != nil && n > 0 && n < len(frames) && errors.Is(err, os.ErrDeadlineExceeded) {
		// Only the message cut in the middle is completed; those after it were
		// not sent at all.
		if i := bytes.IndexByte(frames[n:], 0); i >= 0 && frames[n-1] != 0 {
			p.unsent = bytes.Clone(frames[n : n+i+1])
		}
	}
	return err
}

func (p *pipe) Close() error {
	return errors.Join(p.w.Close(), p.r.Close())
}
