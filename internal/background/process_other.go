//go:build !unix

package background

import (
	"os"
	"os/exec"
)

// EndSignal is the signal that ends a background process.
var EndSignal = os.Kill

// Lock takes a lock that a process leaves behind only when it is killed.
func Lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// IgnoreBrokenPipes does nothing here.
func IgnoreBrokenPipes() {}

func detach(*exec.Cmd) {}
