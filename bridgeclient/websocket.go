package bridgeclient

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
)

// chunk is how much of a message is sent in one WebSocket frame. The upstream
// bridge refuses frames beyond 16 MiB, and a ping can only pass between frames.
const chunk = 256 << 10

// closeWithin bounds the closing handshake.
const closeWithin = time.Second

// webSocket is a Conn over one WebSocket.
//
// The library closes the connection when the context of a Read or Write ends,
// so those get one that lives as long as the connection, and only Ping gets a
// deadline.
type webSocket struct {
	c      *websocket.Conn
	ctx    context.Context
	cancel context.CancelFunc
	active atomic.Uint64
	once   sync.Once
	closed chan struct{}
}

func dialWebSocket(ctx context.Context, u *url.URL, o *Options) (Conn, error) {
	header := o.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if o.Token != "" && header.Get("Authorization") == "" {
		header.Set("Authorization", "Bearer "+o.Token)
	}
	c, resp, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		e := &fault.Error{Code: fault.TransportFailed, Message: "connecting to the bridge", Err: address.Unnamed(err)}
		if resp != nil {
			e.Message = "the bridge refused the connection"
			e.With("status", resp.StatusCode)
			if resp.StatusCode == http.StatusUnauthorized {
				e.Message = "the bridge refused the connection: the token is missing or wrong"
				e.Next("give the token of the bridge with --token-file or OUTRIDER_TOKEN")
			}
		}
		return nil, e
	}
	return WrapWebSocket(c, o.MaxRead), nil
}

// WrapWebSocket makes a Conn of a WebSocket that was dialled or accepted.
// Messages beyond maxRead bytes end it.
func WrapWebSocket(c *websocket.Conn, maxRead int) Conn {
	c.SetReadLimit(int64(maxRead))
	w := &webSocket{c: c, closed: make(chan struct{})}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

func (w *webSocket) Traits() Traits { return Traits{Confirms: true, Heartbeat: true} }

func (w *webSocket) Active() uint64 { return w.active.Load() }

func (w *webSocket) Read(context.Context) ([]byte, error) {
	// A binary message is taken for what it says: the protocols send text, and
	// whatever is not JSON is refused by the dialect.
	_, r, err := w.c.Reader(w.ctx)
	if err != nil {
		return nil, readError(err)
	}
	frame, err := io.ReadAll(counted{r, &w.active})
	if err != nil {
		return nil, readError(err)
	}
	w.active.Add(1)
	return frame, nil
}

type counted struct {
	r io.Reader
	n *atomic.Uint64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(1)
	return n, err
}

func readError(err error) error {
	if s := websocket.CloseStatus(err); s != -1 {
		return &fault.Error{
			Code:    fault.TransportFailed,
			Message: "the bridge closed the connection (" + s.String() + ")",
			Err:     err,
		}
	}
	if errors.Is(err, websocket.ErrMessageTooBig) {
		return &fault.Error{Code: fault.TransportFailed, Message: "a message of the bridge is too long", Err: err}
	}
	return &fault.Error{Code: fault.TransportFailed, Message: "the connection broke", Err: err}
}

func (w *webSocket) Write(_ context.Context, frame []byte) error {
	if len(frame) <= chunk {
		err := w.c.Write(w.ctx, websocket.MessageText, frame)
		w.active.Add(1)
		return writeError(err)
	}
	m, err := w.c.Writer(w.ctx, websocket.MessageText)
	if err != nil {
		return writeError(err)
	}
	for len(frame) > 0 {
		n := min(len(frame), chunk)
		if _, err := m.Write(frame[:n]); err != nil {
			return writeError(err)
		}
		w.active.Add(1)
		frame = frame[n:]
	}
	return writeError(m.Close())
}

func writeError(err error) error {
	if err == nil {
		return nil
	}
	return &fault.Error{Code: fault.TransportFailed, Message: "sending to the bridge", Err: err}
}

func (w *webSocket) Ping(ctx context.Context) error {
	if err := w.c.Ping(ctx); err != nil {
		return &fault.Error{Code: fault.TransportFailed, Message: "the bridge does not answer a ping", Err: err}
	}
	w.active.Add(1)
	return nil
}

func (w *webSocket) Close(reason string) {
	w.once.Do(func() {
		// The library waits up to ten seconds for the peer; ending the context
		// of the reader cuts that short.
		t := time.AfterFunc(closeWithin, w.cancel)
		_ = w.c.Close(websocket.StatusNormalClosure, reason)
		t.Stop()
		w.cancel()
		close(w.closed)
	})
	<-w.closed
}

func (w *webSocket) Abort() {
	w.cancel()
	w.once.Do(func() {
		_ = w.c.CloseNow()
		close(w.closed)
	})
	<-w.closed
}
