//go:build unix && !solaris && !aix

package outfile

import (
	"os"
	"syscall"
)

// hold keeps other programs of ours from claiming a file. The system ends it with the program.
func hold(f *os.File) bool {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return err != syscall.EWOULDBLOCK //nolint:errorlint // a system call returns it as it is
}

// noWait keeps a pipe that nobody has the other end of from being waited for.
const noWait = syscall.O_NONBLOCK
