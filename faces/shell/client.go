package shell

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"time"

	"github.com/outrider-run/outrider/internal/background"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Run does steps on the session. each is called with what came of each step, in order, as soon as it is done. The first
// step that fails ends them: its error names the step. A session whose process ends meanwhile is session_lost.
func (s Session) Run(ctx context.Context, steps []Step, each func(Answer) error) error {
	return s.ask(ctx, request{Ask: askRun, Steps: steps}, func(r reply) error {
		if r.Error != nil {
			if len(steps) > 1 {
				r.Error = r.Error.With("step", r.Step+1).With("command", steps[r.Step].Line)
			}
			return r.Error
		}
		if r.Result == nil {
			return nil
		}
		return each(Answer{Step: steps[r.Step], Text: r.Text, Result: r.Result, Said: r.Said, Image: r.Image})
	})
}

// infoTime bounds the question what a session is.
const infoTime = 3 * time.Second

// Info describes the session.
func (s Session) Info(ctx context.Context) (Info, error) {
	ctx, cancel := context.WithTimeout(ctx, infoTime)
	defer cancel()
	var out Info
	err := s.ask(ctx, request{Ask: askInfo}, func(r reply) error {
		if r.Error != nil {
			return r.Error
		}
		if r.Info != nil {
			out = *r.Info
		}
		return nil
	})
	return out, err
}

// Close ends the session and returns when its browser has ended.
func (s Session) Close(ctx context.Context) error {
	if err := s.ask(ctx, request{Ask: askClose}, func(reply) error { return nil }); err != nil {
		return err
	}
	return background.Until(ctx, s.free)
}

// ask sends a request and hands on its replies.
func (s Session) ask(ctx context.Context, r request, each func(reply) error) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", s.Socket())
	if err != nil {
		return s.NotFound()
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	r.Protocol = Protocol
	if err := json.NewEncoder(c).Encode(r); err != nil {
		return s.lost(ctx, err)
	}
	in := bufio.NewReaderSize(c, 64<<10)
	for {
		line, err := readLine(in, mostReply)
		if err != nil {
			return s.lost(ctx, err)
		}
		var got reply
		if err := json.Unmarshal(line, &got); err != nil {
			return fault.Wrap(fault.Internal, err, "reading the answer of the session")
		}
		if err := each(got); err != nil || got.End {
			return err
		}
	}
}

// mostReply bounds a reply, which may have a picture in it.
const mostReply = 128 << 20

// readLine reads a line of at most so many bytes.
func readLine(in *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if err == nil {
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		if len(line) > most {
			return nil, errors.New("the message is too long")
		}
	}
}

// NotFound is the error that no process serves the session.
func (s Session) NotFound() error {
	if s.Shared {
		return fault.New(fault.SessionNotFound, "there is no session %s", s.Name).
			Next("open it with outrider open URL -s " + s.Name)
	}
	return fault.New(fault.SessionNotFound, "no session of this caller is open").
		Next("open one with outrider open URL, or name another one with -s NAME")
}

func (s Session) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fault.From(context.Cause(ctx))
	}
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.New(fault.SessionLost, "the process of the session ended before it had answered").
			Next("open it again with outrider open URL")
	}
	return fault.Wrap(fault.SessionLost, err, "the connection to the session")
}
