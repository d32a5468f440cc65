package session

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/outrider-run/outrider/primitives/fault"
)

// longestLine bounds a line of a protocol.
const longestLine = 64 << 20

// Relay carries a protocol of one JSON object per line between a client and a session
// until either ends. When the session is lost, each request that has no answer gets
// the one that failed makes of its id, so that the client hears at once; Relay then
// returns why. It returns nil when the client ended.
func Relay(
	ctx context.Context, p *Pipe, in io.Reader, out io.Writer, failed func(id json.RawMessage, why *fault.Error) any,
) error {
	open := &requests{}
	go func() { // reading the client's input cannot be interrupted: it ends with the process
		if lines(in, func(line []byte) error {
			open.sent(line)
			_, err := p.Write(line)
			return err
		}) == nil {
			_ = p.CloseWrite()
		}
	}()
	stop := context.AfterFunc(ctx, func() { p.end(io.EOF) })
	defer stop()
	if err := lines(p, func(line []byte) error {
		open.answered(line)
		_, err := out.Write(line)
		return err
	}); err != nil && p.Err() == nil {
		return err // the client does not read any more
	}
	err := p.Err()
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	why := fault.From(err)
	for _, id := range open.left() {
		raw, err := json.Marshal(failed(id, why))
		if err != nil {
			continue
		}
		if _, err := out.Write(append(raw, '\n')); err != nil {
			break
		}
	}
	return why
}

// lines calls do with each line of from, its end included. It returns nil at the end
// of from.
func lines(from io.Reader, do func([]byte) error) error {
	r := bufio.NewReaderSize(from, 64<<10)
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if len(line) > longestLine {
				return fault.New(fault.PayloadTooLarge, "a line of more than %d MiB", longestLine>>20)
			}
			continue
		case errors.Is(err, io.EOF):
			if len(line) > 0 {
				return do(append(line, '\n'))
			}
			return nil
		case err != nil:
			return err
		}
		if err := do(line); err != nil {
			return err
		}
		line = line[:0]
	}
}

// requests are those of a client that have no answer.
type requests struct {
	mu   sync.Mutex
	open []json.RawMessage
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

func (r *requests) sent(line []byte) {
	var m message
	if json.Unmarshal(line, &m) == nil && len(m.ID) > 0 && m.Method != "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.open = append(r.open, m.ID)
	}
}

func (r *requests) answered(line []byte) {
	var m message
	if json.Unmarshal(line, &m) != nil || len(m.ID) == 0 || m.Method != "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, id := range r.open {
		if bytes.Equal(id, m.ID) {
			r.open = append(r.open[:i], r.open[i+1:]...)
			return
		}
	}
}

func (r *requests) left() []json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]json.RawMessage(nil), r.open...)
}
