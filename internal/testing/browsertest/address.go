package browsertest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Address is a free one on this machine, for a program that is told where to listen. The
// system gives ports above 32767 to whoever asks for any, so one of those could be another
// test's before the program listens.
func Address(tb testing.TB) string {
	tb.Helper()
	for range 1000 {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(10_000+rand.IntN(22_000))))
		if err != nil {
			continue // somebody listens there
		}
		_ = l.Close()
		return l.Addr().String()
	}
	tb.Fatal("no port from 10000 to 31999 is free")
	return ""
}
