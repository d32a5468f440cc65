//go:build unix

package jcode

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// endSignal is the signal that ends a session's process.
var endSignal os.Signal = syscall.SIGTERM

// lockFile takes a lock that ends with the process, however it ends.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	// The file stays: removing it would let two processes lock two files.
	return func() { _ = f.Close() }, nil
}

// ignoreBrokenPipes keeps a process alive whose parent read one line of it and
// went.
func ignoreBrokenPipes() { signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP) }

// detach lets a process live on when its parent, or the parent's terminal, ends.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
