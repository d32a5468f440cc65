package server

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Two servers on one folder write over each other's store. Each holds a file in it locked for
// as long as it runs; the system lets go of it when the process dies. Another file says who
// holds it, for the message.
const (
	lockFile   = "outrider.lock"
	holderFile = "outrider.pid"
)

// hold makes the folder of a server and locks it. The error names the process that has it.
func hold(folder string) (release func(), err error) {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return nil, fault.New(fault.InvalidInput, "the folder for the fleet's data, %s, is a file", folder).
			Next("name a folder with --data")
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fault.New(fault.TransportFailed, "the folder for the fleet's data cannot be made: %v", err).
			Next("name another folder with --data")
	}
	lock := flock.New(filepath.Join(folder, lockFile))
	held, err := lock.TryLock()
	if err != nil {
		return nil, fault.New(
			fault.TransportFailed, "the folder for the fleet's data, %s, cannot be locked: %v", folder, err,
		).
			Next("name another folder with --data")
	}
	holder := filepath.Join(folder, holderFile)
	if !held {
		who := "another process"
		if text, err := os.ReadFile(holder); err == nil {
			if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
				who = "process " + strconv.Itoa(pid)
			}
		}
		return nil, fault.New(fault.TransportFailed, "the fleet's data in %s is in use by %s", folder, who).
			Next("use the fleet that runs there, or name another folder with --data")
	}
	if err := os.WriteFile(holder, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return nil, errors.Join(
			fault.New(fault.TransportFailed, "the folder for the fleet's data cannot be written: %v", err),
			lock.Unlock(),
		)
	}
	return func() { _ = errors.Join(os.Remove(holder), lock.Unlock()) }, nil
}
