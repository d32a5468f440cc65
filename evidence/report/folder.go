package report

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/outrider-run/outrider/evidence/outfile"
)

// Folder is where files are written: an *os.Root, from which no path and no
// symbolic link leads out, or Anywhere.
type Folder interface {
	MkdirAll(name string, perm os.FileMode) error
	WriteFile(name string, data []byte, perm os.FileMode) error
}

// Changed is a folder whose files go through change before they are written.
func Changed(to Folder, change func([]byte) []byte) Folder { return changed{to, change} }

type changed struct {
	Folder
	change func([]byte) []byte
}

func (c changed) WriteFile(name string, data []byte, perm os.FileMode) error {
	return c.Folder.WriteFile(name, c.change(data), perm)
}

func (c changed) AppendFile(name string, data []byte, perm os.FileMode) error {
	a, ok := c.Folder.(appender)
	if !ok {
		return c.WriteFile(name, data, perm)
	}
	return a.AppendFile(name, c.change(data), perm)
}

// Here is the working directory and what is below it, for paths that a file of a checkout
// gave. What version control systems keep for themselves is not among it: a hook there is run.
func Here() Folder {
	root, err := os.OpenRoot(".")
	if err != nil {
		return noFolder{err}
	}
	return checkout{root}
}

type checkout struct{ root *os.Root }

func (c checkout) MkdirAll(name string, perm os.FileMode) error {
	if err := c.allowed(name); err != nil {
		return err
	}
	return c.root.MkdirAll(name, perm)
}

// WriteFile writes beside the file and renames, so that a program that is there does not stay
// one. A link that leads out of the folder is an error of the root.
func (c checkout) WriteFile(name string, data []byte, perm os.FileMode) error {
	if err := c.allowed(name); err != nil {
		return err
	}
	info, err := c.root.Stat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", name)
	}
	if link, err := c.root.Lstat(name); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		return errors.Join(c.root.WriteFile(name, data, perm), c.root.Chmod(name, perm))
	}
	beside := filepath.Join(filepath.Dir(name), ".outrider-"+rand.Text())
	f, err := c.root.OpenFile(beside, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = c.root.Rename(beside, name)
	}
	if err != nil {
		return errors.Join(err, c.root.Remove(beside))
	}
	return nil
}

// allowed refuses a path that leads into a folder of a version control system, also through
// links.
func (c checkout) allowed(name string) error {
	if Administrative(name) {
		return fmt.Errorf("%s is in the folder of a version control system", name)
	}
	at := name
	for {
		found, err := filepath.EvalSymlinks(at)
		if err == nil && Administrative(found) {
			return fmt.Errorf("%s leads into the folder of a version control system", name)
		}
		above := filepath.Dir(at)
		if err == nil || above == at {
			return nil
		}
		at = above
	}
}

// Administrative reports whether a path leads into a folder in which a version control system
// keeps its own files, in any spelling that a file system takes for it.
func Administrative(path string) bool {
	own := []string{".git", ".hg", ".svn", ".bzr", ".jj", "_darcs", "git~1", "cvs"}
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		part = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) { // macOS ignores them
				return -1
			}
			return r
		}, strings.ToLower(part))
		part, _, _ = strings.Cut(part, ":") // a stream of a file, on Windows
		if slices.Contains(own, strings.TrimRight(part, ". ")) {
			return true
		}
	}
	return false
}

// noFolder is a folder that cannot be opened.
type noFolder struct{ err error }

func (f noFolder) MkdirAll(string, os.FileMode) error          { return f.err }
func (f noFolder) WriteFile(string, []byte, os.FileMode) error { return f.err }

// Anywhere is the whole file system. It is for paths that the user gave.
var Anywhere Folder = anywhere{}

type anywhere struct{}

func (anywhere) MkdirAll(name string, perm os.FileMode) error { return os.MkdirAll(name, perm) }

func (anywhere) WriteFile(name string, data []byte, perm os.FileMode) error {
	return outfile.Write(name, data, perm)
}

// appender is a folder that can add to a file.
type appender interface {
	AppendFile(name string, data []byte, perm os.FileMode) error
}

func (anywhere) AppendFile(name string, data []byte, perm os.FileMode) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
