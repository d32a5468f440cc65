package shell

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"

	"github.com/outrider-run/outrider/primitives/fault"
)

// join serves a client of MCP until it goes away, beside the commands of the session.
func (s *Server) join(ctx context.Context, c net.Conn, in *bufio.Reader, options json.RawMessage, answer func(reply)) {
	serve, err := s.MCP(ctx, options)
	if err != nil {
		answer(reply{Error: fault.From(err), End: true})
		return
	}
	answer(reply{})
	if err := serve(ctx, in, c); err != nil && ctx.Err() == nil {
		s.Log.Info("a client of MCP has left", "error", err)
	}
}

// Join is a client of MCP on the session: lines of in go to it, and its lines to out, until in ends and all is
// answered. It is session_lost where the session ends before.
func (s Session) Join(ctx context.Context, options json.RawMessage, in io.Reader, out io.Writer) error {
	c, answers, err := s.connect(ctx, request{Ask: askMCP, MCP: options})
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	asked := make(chan error, 1)
	go func() { // a read of standard input cannot be ended; it ends with the process
		_, err := io.Copy(c, in)
		if half, ok := c.(*net.UnixConn); ok {
			_ = half.CloseWrite()
		}
		asked <- err
	}()
	_, err = io.Copy(out, answers)
	select {
	case <-asked:
		if errors.Is(err, net.ErrClosed) {
			err = nil
		}
		return err
	default:
	}
	if err == nil {
		err = io.EOF
	}
	return s.lost(ctx, err)
}
