//go:build unix

package background

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// EndSignal is the signal that ends a background process.
var EndSignal os.Signal = syscall.SIGTERM

// Lock takes a lock that ends with the process, however it ends. It does not wait. unlock removes the file.
func Lock(path string) (unlock func(), err error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			_ = f.Close()
			return nil, err
		}
		ours, err := f.Stat()
		there, gone := os.Stat(path)
		if err == nil && gone == nil && os.SameFile(ours, there) {
			return func() {
				_ = os.Remove(path)
				_ = f.Close()
			}, nil
		}
		_ = f.Close() // it was removed meanwhile: a lock of it is nobody's
	}
}

// IgnoreBrokenPipes keeps a process alive whose parent read one line of it and went.
func IgnoreBrokenPipes() { signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP) }

// detach lets a process live on when its parent, or the parent's terminal, ends.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
