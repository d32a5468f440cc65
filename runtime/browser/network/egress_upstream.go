package network

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

func dialProxy(ctx context.Context, proxy *url.URL, host string) (net.Conn, error) {
	if proxy.Scheme == "https" {
		return (&tls.Dialer{Config: &tls.Config{ServerName: proxy.Hostname()}}).DialContext(ctx, "tcp", host)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", host)
}

// readConnected reads the head of the answer to CONNECT byte by byte, so that
// nothing of what follows is taken.
func readConnected(conn net.Conn) error {
	var head strings.Builder
	one := make([]byte, 1)
	for head.Len() < 16<<10 && !strings.HasSuffix(head.String(), "\r\n\r\n") {
		if _, err := io.ReadFull(conn, one); err != nil {
			return err
		}
		head.WriteByte(one[0])
	}
	fields := strings.Fields(head.String())
	if len(fields) >= 2 && fields[1] == "407" {
		return errCredentials
	}
	if len(fields) < 2 || fields[1] != "200" {
		return errors.New("the upstream proxy refuses the tunnel")
	}
	return nil
}

// errCredentials is a proxy's refusal of what it was given.
var errCredentials = errors.New("the proxy refused the credentials")

// checkUpstream ends a request that the proxy itself answers: its page would pass for the
// site's.
func (e *Egress) checkUpstream(r *http.Response) error {
	if e.upstream == nil {
		return nil
	}
	if r.StatusCode == http.StatusProxyAuthRequired {
		return errCredentials
	}
	e.noteUpstream(nil)
	return nil
}

// noteUpstream remembers why the proxy did not take the last request on; nil is that it did.
func (e *Egress) noteUpstream(err error) {
	if e.upstream == nil || errors.Is(err, context.Canceled) {
		return
	}
	var why *fault.Error
	var dial *net.OpError
	switch {
	case errors.Is(err, errCredentials):
		why = fault.New(fault.NavigationFailed, "the proxy refused the credentials (407)").
			Next("correct the name and the password in OUTRIDER_PROXY")
	case errors.As(err, &dial) && dial.Op == "dial", errors.As(err, &dial) && dial.Op == "proxyconnect":
		why = fault.New(fault.NavigationFailed, "the proxy cannot be reached").With("proxy", e.upstream.Host).
			Next("see that the proxy runs at this address")
	case err != nil:
		why = fault.New(fault.NavigationFailed, "the proxy did not take the request on").With("proxy", e.upstream.Host)
	}
	e.mu.Lock()
	e.failing = why
	e.mu.Unlock()
	if why != nil {
		e.log.Info(why.Message, "proxy", e.upstream.Host)
	}
}

// upstreamFailure is why the proxy did not take the last request on, and forgets it.
func (e *Egress) upstreamFailure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	why := e.failing
	e.failing = nil
	if why == nil {
		return nil
	}
	return why
}
