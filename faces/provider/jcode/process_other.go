//go:build !unix

package jcode

import (
	"os"
	"os/exec"
)

// endSignal is the signal that ends a session's process.
var endSignal = os.Kill

// lockFile takes a lock that a process leaves behind only when it is killed.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

func ignoreBrokenPipes() {}

func detach(*exec.Cmd) {}
