// Package background is what programs of one user share that go on without a terminal: the folder of their sockets, who
// may connect to one, the lock of a name, a detached start, and the end of what nobody uses. It knows no protocol.
// Sessions of the shell and of jcode, and record save, use it.
package background

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// StartLimit bounds the start of a process.
const StartLimit = 20 * time.Second

// Folder is where processes of this user have their sockets; "" where the user has no such place.
func Folder() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "outrider")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "outrider", "run")
}

// ErrEnded says that a process which was started went away before it was ready. What it wrote goes with it.
var ErrEnded = errors.New("the background process ended before it was ready")

// Start starts this program with args, on its own, and returns when it has written its first line. Its standard error
// goes to the file log, which only this user can read. ErrEnded is returned when it ends before.
func Start(ctx context.Context, args []string, log string) error {
	ctx, cancel := context.WithTimeout(ctx, StartLimit)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, args[1:]...) //nolint:gosec,noctx // this program; it outlives this process
	cmd.Args[0] = args[0]
	detach(cmd)
	words, err := os.OpenFile(log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer words.Close()
	cmd.Stderr = words
	ready, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	line := make(chan bool, 1)
	go func() {
		_, err := bufio.NewReader(ready).ReadString('\n')
		line <- err == nil
		if err != nil {
			_ = cmd.Wait() // it has ended
		}
	}()
	select {
	case ok := <-line:
		if ok {
			return nil
		}
	case <-ctx.Done():
		return fmt.Errorf("the background process was not ready within %s", StartLimit)
	}
	why, _ := os.ReadFile(log)
	return fmt.Errorf("%w: %s", ErrEnded, strings.TrimSpace(string(why[:min(len(why), 2000)])))
}

// Until polls until ok: what other processes do with files gives no event everywhere.
func Until(ctx context.Context, ok func() bool) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Remove removes a file that may be missing.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
