package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ProfileError says why a profile folder cannot be used, and what a person can do. The
// browser was not started: with a folder that it cannot use, Chromium works in the
// person's own profile instead and says nothing.
type ProfileError struct {
	Dir  string
	Next string
	Err  error
}

func (e *ProfileError) Error() string {
	return fmt.Sprintf("the profile folder %s cannot be used: %v", e.Dir, e.Err)
}

func (e *ProfileError) Unwrap() error { return e.Err }

// useProfile makes a profile folder that a person named ready, and returns its full path.
func useProfile(named string) (string, error) {
	dir, err := filepath.Abs(named)
	if err != nil {
		return "", &ProfileError{Dir: named, Err: err, Next: "give the full path of a folder"}
	}

	const choose = "choose a folder that this user may write, or leave --user-data-dir away for a new profile"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", &ProfileError{Dir: dir, Err: err, Next: choose}
	}
	for _, part := range []string{"", "Default"} {
		if err := writable(filepath.Join(dir, part)); err != nil && (part == "" || !errors.Is(err, fs.ErrNotExist)) {
			return "", &ProfileError{Dir: dir, Err: err, Next: choose}
		}
	}
	if err := readable(filepath.Join(dir, "Local State")); err != nil {
		return "", &ProfileError{Dir: dir, Err: err, Next: choose}
	}
	return dir, elsewhere(dir)
}

// writable makes a file in a folder and removes it: the bits of a folder do not say what
// a mount, a list of rights or a full disk say.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".outrider-*")
	if err != nil {
		return err
	}
	_, written := f.WriteString("x")
	return errors.Join(written, f.Close(), os.Remove(f.Name()))
}

// readable opens a file for reading and writing. One that is not there is right.
func readable(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// lockName is the link by which Chromium knows that a profile is in use. It leads to
// HOST-PROCESS. One of this host is Chromium's to judge: it looks whether the process is
// there. One of another host stays for ever when that host is a container that ended.
const lockName = "SingletonLock"

// elsewhere finds the lock of another host.
func elsewhere(dir string) error {
	lock := filepath.Join(dir, lockName)
	owner, err := os.Readlink(lock)
	if err != nil {
		return nil
	}
	end := strings.LastIndexByte(owner, '-')
	here, err := os.Hostname()
	if end < 0 || err != nil || owner[:end] == here {
		return nil
	}
	return &ProfileError{
		Dir: dir,
		Err: fmt.Errorf("it is locked by process %s of the host %s, in %s", owner[end+1:], owner[:end], lock),
		Next: "if no browser of that host uses the profile any more, as after a container was started again, " +
			"remove the file " + lock + "; else choose another folder",
	}
}
