// Package ownfolder makes folders for files that must not outlive the process that needs them. A process that is killed
// removes nothing, so the next one that makes a folder of the same kind removes what is left.
package ownfolder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// lockFile is in each folder. Its process holds it locked for as long as it lives.
const lockFile = "lock"

// New makes a folder below base whose name begins with prefix, and removes those of processes that were killed. An
// empty base is the system's folder for such.
func New(base, prefix string) (dir string, remove func(), err error) {
	if base == "" {
		base = os.TempDir()
	}
	Sweep(base, prefix)
	for range 3 { // another process may have swept it before it was locked
		dir, err = os.MkdirTemp(base, prefix)
		if err != nil {
			break
		}
		lock := flock.New(filepath.Join(dir, lockFile))
		var held bool
		held, err = lock.TryLock()
		if held {
			if _, gone := os.Lstat(lock.Path()); gone != nil {
				_ = lock.Unlock()
				continue
			}
			return dir, func() { _ = errors.Join(lock.Unlock(), os.RemoveAll(dir)) }, nil
		}
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}
	if err == nil {
		err = errors.New("others swept it")
	}
	return "", nil, fmt.Errorf("making a folder of its own: %w", err)
}

// Sweep removes the folders below base whose name begins with prefix and whose process was killed. An empty base is the
// system's folder for such.
func Sweep(base, prefix string) {
	if base == "" {
		base = os.TempDir()
	}
	entries, _ := os.ReadDir(base) // a base that cannot be read may be written to
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), prefix) {
			sweep(filepath.Join(base, e.Name()))
		}
	}
}

// sweep removes the folder of a process that does not live.
func sweep(dir string) {
	lock := flock.New(filepath.Join(dir, lockFile))
	if held, err := lock.TryLock(); err != nil || !held {
		return
	}
	_ = errors.Join(os.RemoveAll(dir), lock.Unlock()) // who locks it then sees that it is gone
}
