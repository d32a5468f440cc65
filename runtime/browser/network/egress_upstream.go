package network

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
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
	if len(fields) < 2 || fields[1] != "200" {
		return errors.New("the upstream proxy refuses the tunnel")
	}
	return nil
}
