package bridgeclient

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// stdio is a Conn with one item per line.
//
// Abort ends a blocked Read when the input can be interrupted: a pipe of this
// process, or a file the Go runtime polls. For other files (an ordinary stdin)
// the read ends with the next line or with the process, so it runs apart and
// nobody waits for it.
type stdio struct {
	in     io.Reader
	out    io.Writer
	max    int
	lines  chan line
	start  sync.Once
	done   chan struct{}
	stop   sync.Once
	active atomic.Uint64
}

type line struct {
	text []byte
	err  error
}

// MaxLine is the longest line that is read, in bytes.
const MaxLine = 16 << 20

// errLineTooLong says that a line was longer than allowed; it has been skipped.
var errLineTooLong = errors.New("the line is too long")

func newStdio(in io.Reader, out io.Writer, maxRead int) *stdio {
	return &stdio{in: in, out: out, max: maxRead, lines: make(chan line), done: make(chan struct{})}
}

func (s *stdio) Traits() Traits { return Traits{Once: true} }

func (s *stdio) Active() uint64 { return s.active.Load() }

func (s *stdio) Read(ctx context.Context) ([]byte, error) {
	s.start.Do(func() { go s.scan() })
	select {
	case l := <-s.lines:
		s.active.Add(1)
		return l.text, l.err
	case <-s.done:
		return nil, fault.New(fault.TransportFailed, "the input was closed")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *stdio) scan() {
	r := bufio.NewReaderSize(s.in, 64<<10)
	for {
		text, err := readLine(r, s.max)
		if err == nil && len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		select {
		case s.lines <- line{text, err}:
		case <-s.done:
			return
		}
		if err != nil && !errors.Is(err, errLineTooLong) {
			return
		}
	}
}

// readLine returns the next line without its end. A last line without an end
// counts; after it comes io.EOF. A line that is too long is read to its end and not kept.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var out []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		long = long || len(out)+len(part) > limit
		if long {
			out = nil
		} else {
			out = append(out, part...)
		}
		switch {
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLineTooLong
		case err == nil:
			return bytes.TrimRight(out, "\r\n"), nil
		case errors.Is(err, io.EOF):
			if len(out) > 0 {
				return out, nil
			}
			return nil, io.EOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, &fault.Error{Code: fault.TransportFailed, Message: "reading the input", Err: err}
		}
	}
}

func (s *stdio) Write(_ context.Context, frame []byte) error {
	b := make([]byte, 0, len(frame)+1)
	b = append(append(b, frame...), '\n')
	if _, err := s.out.Write(b); err != nil {
		return &fault.Error{Code: fault.TransportFailed, Message: "writing the output", Err: err}
	}
	s.active.Add(1)
	return nil
}

func (s *stdio) Ping(context.Context) error { return nil }

func (s *stdio) Close(string) { s.Abort() }

func (s *stdio) Abort() {
	s.stop.Do(func() {
		close(s.done)
		switch in := s.in.(type) {
		case interface{ SetReadDeadline(time.Time) error }:
			_ = in.SetReadDeadline(time.Now())
		case io.Closer:
			_ = in.Close()
		}
	})
}
