package jcode

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/faces/provider"
	"github.com/outrider-run/outrider/internal/background"
)

// client speaks the provider protocol with a session's process.
type client struct {
	conn    net.Conn
	in      *bufio.Reader
	session string // session_id
	next    int
}

// errSessionEnded means that the process of the session went away before it answered.
var errSessionEnded = errors.New("browser_not_running: the process of the session ended")

// joinAttempts is how often a session that ends again and again is joined.
const joinAttempts = 4

// dial connects to the process of a session, which is started when there
// is none. A process that is being killed accepts connections for a moment more:
// whoever got one of these starts anew.
func (f *Face) dial(ctx context.Context, s Session) (*client, error) {
	for attempt := 1; ; attempt++ {
		c, err := s.join(ctx)
		if err == nil || ctx.Err() != nil || attempt == joinAttempts || !errors.Is(err, errSessionEnded) {
			return c, err
		}
		if err := f.start(ctx, s); err != nil {
			return nil, err
		}
	}
}

// join connects to the process that serves the session and opens the session there.
func (s Session) join(ctx context.Context) (*client, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", s.Socket())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSessionEnded, err)
	}
	c := &client{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	out, failure, err := c.call("session.ensure", map[string]any{"client_session_id": s.Name, "persist": true})
	if err == nil && failure != nil {
		err = failure
	}
	if err != nil {
		c.close()
		return nil, err
	}
	c.session, _ = out["session_id"].(string)
	return c, nil
}

func (c *client) close() { _ = c.conn.Close() }

// start starts the session's process and returns when it serves, or
// another one that was started at the same time does.
func (f *Face) start(ctx context.Context, s Session) error {
	if len(f.Self) == 0 {
		return errors.New("internal_error: the command line has no --")
	}
	err := background.Start(ctx, append(slices.Clone(f.Self), "session", "start", s.Name), s.file(".log"))
	if err != nil && !errors.Is(err, background.ErrEnded) {
		return fmt.Errorf("browser_not_running: %w", err)
	}
	if err == nil {
		return nil
	}
	// It ended at once: another one may be on its way.
	waiting, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	if background.Until(waiting, func() bool { return s.answers(waiting) }) == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errSessionEnded, err)
}

// call sends one request and waits for its answer.
func (c *client) call(method string, params map[string]any) (map[string]any, *provider.Failure, error) {
	c.next++
	id := strconv.Itoa(c.next)
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, nil, err
	}
	line, err := json.Marshal(provider.Request{
		ProtocolVersion: provider.ProtocolVersion,
		ID:              id,
		Method:          method,
		Params:          raw,
	})
	if err != nil {
		return nil, nil, err
	}
	if _, err := c.conn.Write(append(line, '\n')); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errSessionEnded, err)
	}
	for {
		line, err := c.in.ReadBytes('\n')
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, nil, fmt.Errorf("not_ready: %s was not answered in time", method)
		}
		if err != nil {
			return nil, nil, errSessionEnded
		}
		var answer provider.Response
		if err := json.Unmarshal(line, &answer); err != nil {
			return nil, nil, fmt.Errorf("internal_error: reading the answer to %s: %w", method, err)
		}
		if answer.ID == nil || *answer.ID != id {
			continue
		}
		if !answer.OK {
			return nil, answer.Error, nil
		}
		out := map[string]any{}
		if err := json.Unmarshal(answer.Result, &out); err != nil {
			return nil, nil, fmt.Errorf("internal_error: reading the result of %s: %w", method, err)
		}
		if len(answer.Warnings) > 0 {
			out["warnings"] = answer.Warnings
		}
		return out, nil, nil
	}
}

// do is call on the session, with failures in jcode's words.
func (c *client) do(method string, params map[string]any) (map[string]any, error) {
	all := map[string]any{"session_id": c.session}
	maps.Copy(all, params)
	out, failure, err := c.call(method, all)
	if err != nil {
		return nil, err
	}
	if failure != nil {
		return nil, inWords(failure)
	}
	return out, nil
}

// inWords is a failure as the text that jcode shows. The only text that it
// understands is the one about unknown actions.
func inWords(f *provider.Failure) error {
	switch f.Code {
	case provider.UnsupportedMethod:
		name, _ := f.Details["method"].(string)
		return &failure{f.Code, "Unknown action: " + name}
	case provider.ElementNotFound:
		return &failure{f.Code, "Element not found"}
	}
	return &failure{f.Code, string(f.Code) + ": " + f.Message}
}

// failure is a failure with the code that the text does not always contain.
type failure struct {
	code provider.Code
	text string
}

func (f *failure) Error() string { return f.text }

// failedWith reports whether err is a failure of the provider with one of codes.
func failedWith(err error, codes ...provider.Code) bool {
	var f *failure
	return errors.As(err, &f) && slices.Contains(codes, f.code)
}
