package provider

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// ListenUnix listens on a Unix socket that only this user can connect to. A socket
// without a listener is replaced; one that is in use is an error.
func ListenUnix(ctx context.Context, path string) (net.Listener, error) {
	if c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path); err == nil {
		_ = c.Close()
		return nil, fmt.Errorf("%s is in use by another process", path)
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("%s is there and is no socket", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	// Bound in a folder of our own first, so that nobody else can connect before
	// the mode is set.
	dir, err := os.MkdirTemp(filepath.Dir(path), ".outrider-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	hidden := filepath.Join(dir, "s")
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", hidden)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	err = os.Chmod(hidden, 0o600)
	if err == nil {
		err = os.Rename(hidden, path)
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// ServeClients serves each connection in a goroutine of its own and returns
// after ctx has ended and all of them are done.
func ServeClients(ctx context.Context, l net.Listener, serve func(context.Context, net.Conn)) {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var clients sync.WaitGroup
	defer clients.Wait()
	for {
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			timer := time.NewTimer(100 * time.Millisecond) // out of descriptors, for a moment
			select {
			case <-timer.C:
				continue
			case <-ctx.Done():
				timer.Stop()
				return
			}
		}
		clients.Go(func() {
			defer c.Close()
			closing := context.AfterFunc(ctx, func() { _ = c.SetReadDeadline(time.Now()) })
			defer closing()
			serve(ctx, c)
		})
	}
}
