package background

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

// MaxSocketPath is how long the path of a socket may be on every system, in bytes.
const MaxSocketPath = 100

// PrivateFolder makes a folder that nobody else may enter. It fails for one of somebody else.
func PrivateFolder(path string) error {
	if path == "" {
		return errors.New("there is no folder for sockets: set XDG_RUNTIME_DIR or HOME")
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	return os.Chmod(path, 0o700) //nolint:gosec // a folder
}

// ListenUnix listens at path, for this user alone. A socket that nobody serves is replaced. It is an error that another
// process serves it, and that path is no socket.
func ListenUnix(ctx context.Context, path string) (net.Listener, error) {
	if len(path) > MaxSocketPath {
		return nil, fmt.Errorf("the path of the socket has %d bytes: expected at most %d", len(path), MaxSocketPath)
	}
	if Answers(ctx, path) {
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

// Answers reports whether somebody serves the socket at path.
func Answers(ctx context.Context, path string) bool {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// ServeClients serves each connection in a goroutine of its own and returns after ctx has ended and all of them are
// done. A client of another user is turned away.
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
		if !sameUser(c) {
			_ = c.Close()
			continue
		}
		clients.Go(func() {
			defer c.Close()
			closing := context.AfterFunc(ctx, func() { _ = c.SetReadDeadline(time.Now()) })
			defer closing()
			serve(ctx, c)
		})
	}
}

// Sweep removes the sockets of a folder that nobody serves: of processes that were killed.
func Sweep(ctx context.Context, folder string) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.sock"))
	if err != nil {
		return
	}
	for _, path := range paths {
		if !Answers(ctx, path) && ctx.Err() == nil {
			_ = os.Remove(path)
		}
	}
}
