package background

import (
	"net"
	"os"
	"syscall"
)

// sameUser reports whether the other end of a socket is a process of this user, or of root.
func sameUser(c net.Conn) bool {
	unix, ok := c.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return false
	}
	same := false
	err = raw.Control(func(fd uintptr) {
		peer, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		same = err == nil && (int(peer.Uid) == os.Geteuid() || peer.Uid == 0)
	})
	return err == nil && same
}
