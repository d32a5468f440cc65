package background

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// sameUser reports whether the other end of a socket is a process of this user, or of root.
func sameUser(c net.Conn) bool {
	socket, ok := c.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	same := false
	err = raw.Control(func(fd uintptr) {
		peer, err := unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		same = err == nil && (int(peer.Uid) == os.Geteuid() || peer.Uid == 0)
	})
	return err == nil && same
}
