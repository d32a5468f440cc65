package browserbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"

	addresses "github.com/outrider-run/outrider/primitives/address"
)

const (
	// maxIn bounds a message of the backend, in bytes.
	maxIn = 16 << 20
	// chunk is how much of a message goes into one frame: a ping passes between
	// frames.
	chunk = 256 << 10
	// rejectedClose bounds the wait for the close that follows reject.
	rejectedClose = 2 * time.Second
	// missedPings ends a connection.
	missedPings = 2
)

// connect makes one connection and serves it to its end.
//
// The WebSocket library closes a connection when the context of a read or write
// ends; so those get one that lives as long as the connection.
func (c *Client) connect(ctx context.Context) error {
	dialing, cancel := context.WithTimeout(ctx, c.o.AckTimeout)
	defer cancel()
	// No Authorization header: the pairing token is part of hello.
	ws, _, err := websocket.Dial(dialing, c.o.URL, nil)
	if err != nil {
		return fmt.Errorf("connecting to the backend: %w", addresses.Unnamed(err))
	}
	ws.SetReadLimit(maxIn)
	live, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer func() { _ = ws.CloseNow() }()
	ack, err := c.handshake(ctx, live, ws)
	if err != nil {
		return refusedBy(err)
	}
	c.o.OnState(State{Kind: Ready, ServerVersion: ack.ServerVersion})
	return refusedBy(c.serve(ctx, live, ws))
}

// refusedBy turns the two close codes into what they mean.
func refusedBy(err error) error {
	var refused *RejectedError
	if errors.As(err, &refused) {
		return err
	}
	switch code := int(websocket.CloseStatus(err)); code {
	case CloseVersion, ClosePairing:
		return &RejectedError{CloseCode: code}
	}
	return err
}

// handshake sends hello and waits for the answer. Nothing else is sent before.
func (c *Client) handshake(ctx, live context.Context, ws *websocket.Conn) (incoming, error) {
	hello, err := json.Marshal(Hello{
		Type:            "hello",
		ProtocolVersion: ProtocolVersion,
		ClientVersion:   c.o.ClientVersion,
		PairingToken:    c.o.Token,
		Caps:            caps,
	})
	if err != nil {
		return incoming{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = ws.CloseNow() })
	defer stop()
	late := time.AfterFunc(c.o.AckTimeout, func() { _ = ws.CloseNow() })
	defer late.Stop()
	if err := ws.Write(live, websocket.MessageText, hello); err != nil {
		return incoming{}, fmt.Errorf("sending hello: %w", err)
	}
	for {
		kind, frame, err := ws.Read(live)
		if err != nil {
			return incoming{}, fmt.Errorf("waiting for ack: %w", err)
		}
		if kind != websocket.MessageText {
			continue
		}
		m, err := decodeMessage(frame)
		if err != nil {
			continue
		}
		switch m.Type {
		case "ack":
			if m.ProtocolVersion != ProtocolVersion {
				return m, &RejectedError{
					RequiredMin: m.ProtocolVersion,
					Message:     fmt.Sprintf("the backend acknowledged protocol version %d", m.ProtocolVersion),
				}
			}
			return m, nil
		case "reject":
			return m, c.rejected(live, ws, m)
		}
	}
}

// rejected waits for the close that says which kind of refusal it is.
func (c *Client) rejected(live context.Context, ws *websocket.Conn, m incoming) error {
	refused := &RejectedError{RequiredMin: m.RequiredMin}
	if m.Error != nil {
		refused.Message = m.Error.Message
	}
	late := time.AfterFunc(rejectedClose, func() { _ = ws.CloseNow() })
	defer late.Stop()
	for {
		if _, _, err := ws.Read(live); err != nil {
			if code := int(websocket.CloseStatus(err)); code > 0 {
				refused.CloseCode = code
			}
			return refused
		}
	}
}

func (c *Client) serve(ctx, live context.Context, ws *websocket.Conn) error {
	gen := c.engine.nextGeneration()
	c.out.begin(gen)
	defer c.out.begin(0)
	over, finish := context.WithCancelCause(live)
	stop := context.AfterFunc(ctx, func() { finish(ctx.Err()) })
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { finish(c.write(over, live, ws)) })
	running.Go(func() { finish(c.ping(over, ws)) })
	running.Go(func() { finish(c.read(live, ws, gen)) })
	<-over.Done()
	if ctx.Err() != nil {
		closing := time.AfterFunc(time.Second, func() { _ = ws.CloseNow() })
		_ = ws.Close(websocket.StatusGoingAway, "the runtime is shutting down")
		closing.Stop()
	}
	_ = ws.CloseNow()
	running.Wait()
	return context.Cause(over)
}

func (c *Client) read(live context.Context, ws *websocket.Conn, gen uint64) error {
	for {
		kind, frame, err := ws.Read(live)
		if err != nil {
			return fmt.Errorf("the connection ended: %w", err)
		}
		if kind != websocket.MessageText {
			continue
		}
		m, err := decodeMessage(frame)
		switch {
		case m.ID != "" && err == nil && m.Type == "request":
			c.engine.request(gen, m.ID, m.Action)
		case m.ID != "" && (err != nil || m.Type == ""):
			c.engine.request(gen, m.ID, nil) // no request, but somebody waits
		case err != nil || m.Type == "request":
			c.log.Warn("a message that cannot be answered", "bytes", len(frame))
		default:
			// A second ack, or what a later version sends: not for us.
			c.log.Debug("message ignored", "type", cut(m.Type, 40))
		}
	}
}

func (c *Client) write(over, live context.Context, ws *websocket.Conn) error {
	for {
		item, full, ok := c.out.take()
		switch {
		case full:
			return errors.New("the backend does not read")
		case !ok:
			select {
			case <-c.out.wake:
			case <-over.Done():
				return context.Cause(over)
			}
			continue
		}
		if err := writeMessage(live, ws, item.frame); err != nil {
			c.out.giveBack(item)
			return fmt.Errorf("sending: %w", err)
		}
	}
}

func writeMessage(ctx context.Context, ws *websocket.Conn, frame []byte) error {
	if len(frame) <= chunk {
		return ws.Write(ctx, websocket.MessageText, frame)
	}
	w, err := ws.Writer(ctx, websocket.MessageText)
	if err != nil {
		return err
	}
	for len(frame) > 0 {
		n := min(len(frame), chunk)
		if _, err := w.Write(frame[:n]); err != nil {
			return err
		}
		frame = frame[n:]
	}
	return w.Close()
}

// ping ends with an error when the backend is dead.
func (c *Client) ping(over context.Context, ws *websocket.Conn) error {
	ticker := time.NewTicker(c.o.PingEvery)
	defer ticker.Stop()
	for missed := 0; ; {
		select {
		case <-ticker.C:
		case <-over.Done():
			return context.Cause(over)
		}
		ctx, cancel := context.WithTimeout(over, c.o.PingEvery)
		err := ws.Ping(ctx)
		cancel()
		if err == nil {
			missed = 0
			continue
		}
		if missed++; missed >= missedPings {
			return fmt.Errorf("%d pings were not answered: %w", missed, err)
		}
	}
}
