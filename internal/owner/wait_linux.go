package owner

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// Wait returns when the process has ended, or ctx.
func (p Process) Wait(ctx context.Context) {
	fd, err := unix.PidfdOpen(p.PID, unix.PIDFD_NONBLOCK)
	if err != nil {
		p.poll(ctx)
		return
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	if !p.alive() { // another process may have the PID
		return
	}
	raw, err := f.SyscallConn()
	if err != nil {
		p.poll(ctx)
		return
	}
	defer context.AfterFunc(ctx, func() { _ = f.Close() })()
	err = raw.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return err == nil && n > 0
	})
	if err != nil && ctx.Err() == nil {
		p.poll(ctx)
	}
}
