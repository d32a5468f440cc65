package cdp

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/go-rod/rod/lib/cdp"
)

// socket is the transport of a running browser: rod's WebSocket, which panics
// on lengths no browser sends and has no deadlines of its own.
type socket struct {
	ws cdp.WebSocket
}

// Dial connects to a browser at a WebSocket address. The header goes with the request that opens it.
func Dial(ctx context.Context, address string, header http.Header) (Transport, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	d := &boundedDialer{secure: u.Scheme == "wss"}
	if u.Port() == "" {
		u.Host += map[bool]string{false: ":80", true: ":443"}[d.secure]
	}
	s := &socket{ws: cdp.WebSocket{Dialer: d}}
	if err := s.ws.Connect(ctx, u.String(), header); err != nil {
		if d.conn != nil {
			d.conn.Close()
		}
		return nil, err
	}
	// The handshake is over: from here on frames come when they come.
	if err := d.conn.SetReadDeadline(time.Time{}); err != nil {
		d.conn.Close()
		return nil, err
	}
	return s, nil
}

// boundedDialer makes connections whose handshake and writes end.
type boundedDialer struct {
	secure bool
	conn   net.Conn
}

func (d *boundedDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	var err error
	if d.secure {
		d.conn, err = (&tls.Dialer{}).DialContext(ctx, network, address)
	} else {
		d.conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
	}
	if err != nil {
		d.conn = nil
		return nil, err
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(CommandTimeout)
	}
	if err := d.conn.SetReadDeadline(deadline); err != nil {
		return nil, err
	}
	return &boundedConn{Conn: d.conn}, nil
}

// boundedConn bounds each write.
type boundedConn struct {
	net.Conn
}

func (c *boundedConn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func (s *socket) Receive() (frame []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			frame, err = nil, fmt.Errorf("reading a WebSocket frame: %v", p)
		}
	}()
	return s.ws.Read()
}

func (s *socket) Send(frames []byte, _ time.Time) error {
	for len(frames) > 0 {
		i := bytes.IndexByte(frames, 0)
		if i < 0 {
			i = len(frames) - 1
		}
		if err := s.ws.Send(frames[:i]); err != nil {
			return err
		}
		frames = frames[i+1:]
	}
	return nil
}

func (s *socket) Close() error { return s.ws.Close() }

// ResolveAddress turns what the user gave into a WebSocket address. The host of
// the answer is replaced by the one given: a browser in a container names itself
// differently. The header goes with the request, if there is one.
func ResolveAddress(ctx context.Context, address string, header http.Header) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	switch u.Scheme {
	case "ws", "wss":
		return address, nil
	case "http", "https":
	default:
		return "", fmt.Errorf("expected http://host:port or a WebSocket URL")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.JoinPath("json/version").String(), nil)
	if err != nil {
		return "", err
	}
	req.Header = header.Clone()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the browser answered %s", resp.Status)
	}
	var version struct {
		WebSocketDebuggerURL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&version); err != nil {
		return "", err
	}
	ws, err := url.Parse(version.WebSocketDebuggerURL)
	if err != nil || ws.Host == "" {
		return "", fmt.Errorf("the answer names no WebSocket address")
	}
	ws.Host = u.Host
	if u.Scheme == "https" {
		ws.Scheme = "wss"
	}
	return ws.String(), nil
}
