package remote

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/outrider-run/outrider/primitives/fault"
)

// folders begin the names of the folders that workers keep their jobs' files in. Each has
// a file that its worker holds locked for as long as it lives.
const (
	folders  = "outrider-worker-"
	lockFile = "lock"
)

// ownFolder makes a folder for this worker below base, "" being the system's folder for
// such, and removes those of workers that were killed.
func ownFolder(base string) (dir string, remove func(), err error) {
	if base == "" {
		base = os.TempDir()
	}
	left, err := filepath.Glob(filepath.Join(base, folders+"*"))
	if err != nil {
		return "", nil, fault.Wrap(fault.Internal, err, "looking for folders of workers")
	}
	for _, old := range left {
		sweep(old)
	}
	for range 3 { // another worker may have swept it before it was locked
		dir, err = os.MkdirTemp(base, folders)
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
	}
	return "", nil, fault.Wrap(fault.Internal, err, "making a folder for the worker")
}

// sweep removes the folder of a worker that does not live.
func sweep(dir string) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return
	}
	lock := flock.New(filepath.Join(dir, lockFile))
	if held, err := lock.TryLock(); err != nil || !held {
		return
	}
	_ = errors.Join(os.RemoveAll(dir), lock.Unlock()) // who locks it then sees that it is gone
}
