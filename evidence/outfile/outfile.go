// Package outfile writes the files that a user names: whole or not at all, through links, and never in the place of a
// device or a pipe. Claim opens one that grows while a program runs, and keeps other programs of ours away from it;
// ClaimFolder does so with a folder. It also reads small files that may be anything. Recordings, traces, reports,
// storage states and lock files use it.
package outfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write puts data in a file, whole or not at all. A file that is there keeps its mode, unless
// mode is its owner's alone.
func Write(path string, data []byte, mode fs.FileMode) error {
	return Fill(path, mode, func(to io.Writer) error {
		_, err := to.Write(data)
		return err
	})
}

// Fill is Write of what fill writes. A device and a pipe get it as it comes.
func Fill(path string, mode fs.FileMode, fill func(to io.Writer) error) error {
	path, info, err := target(path)
	if err != nil {
		return err
	}
	if info != nil && info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	if info != nil && !info.Mode().IsRegular() {
		return into(path, fill)
	}
	if info != nil {
		mode = modeOf(info, mode)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".outrider-*")
	if err != nil && info != nil {
		return into(path, fill) // the folder takes no new file, the file that is there can be written
	}
	if err != nil {
		return ofFile(path, err)
	}
	defer os.Remove(f.Name())
	err = errors.Join(fill(f), f.Chmod(mode), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// modeOf is the mode of a file that is written anew: the one that it had, but for what is
// private, and never that of a program.
func modeOf(info fs.FileInfo, mode fs.FileMode) fs.FileMode {
	const others, execute = 0o077, 0o111
	if mode&others == 0 {
		return mode
	}
	return info.Mode().Perm() &^ execute
}

// target is where links lead, and what is there; nil for nothing.
func target(path string) (string, fs.FileInfo, error) {
	const mostLinks = 40
	for range mostLinks {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil, nil
		}
		if err != nil {
			return path, nil, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return path, info, nil
		}
		if followed, err := os.Stat(path); err == nil && !followed.Mode().IsRegular() {
			return path, followed, nil // such as /dev/stdout, whose link names no file
		}
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil, err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path, nil, fmt.Errorf("%s: too many links", path)
}

// into writes into what is there.
func into(path string, fill func(to io.Writer) error) error {
	f, err := openExisting(path, os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Close())
}

// openExisting opens what is there. A pipe that nobody reads is an error, not a wait.
func openExisting(path string, how int) (*os.File, error) { return os.OpenFile(path, how|noWait, 0) }

// ErrHeld says that another program writes a file.
var ErrHeld = errors.New("another program writes this file")

// Claim opens a file to write to it while the program runs, empty. It is an error of ErrHeld
// when another program has claimed it. A device and a pipe can be claimed by several.
func Claim(path string, mode fs.FileMode) (*os.File, error) {
	_, info, err := target(path)
	if err != nil {
		return nil, err
	}
	if info != nil && !info.Mode().IsRegular() {
		return openExisting(path, os.O_WRONLY)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, mode)
	if err != nil {
		return nil, err
	}
	if !hold(f) {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, ErrHeld), f.Close())
	}
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ClaimFolder keeps other programs of ours out of a folder that is there, until what it answers is closed. It is an
// error of ErrHeld when another program has claimed it.
func ClaimFolder(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if !hold(f) {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, ErrHeld), f.Close())
	}
	return f, nil
}

// Read reads a regular file of at most limit bytes. Anything else could be without an end, or
// wait for ever.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, path, limit)
}

// Open opens a regular file.
func Open(path string) (*os.File, error) {
	f, err := openExisting(path, os.O_RDONLY)
	return regular(f, path, err)
}

// ReadBelow is Read of a file in a folder that links do not lead out of.
func ReadBelow(folder, name string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|noWait, 0)
	f, err = regular(f, name, err)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, name, limit)
}

// regular is f when it is a regular file.
func regular(f *os.File, path string, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReadAll reads what has at most limit bytes.
func ReadAll(from io.Reader, path string, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return text, nil
}

// ofFile is the error of a temporary file as one of the file that it would have become.
func ofFile(path string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: "open", Path: path, Err: failed.Err}
	}
	return err
}
