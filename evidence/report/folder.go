package report

import (
	"errors"
	"os"
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

// Here is the working directory and what is below it.
func Here() Folder {
	root, err := os.OpenRoot(".")
	if err != nil {
		return noFolder{err}
	}
	return root
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
	return os.WriteFile(name, data, perm)
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
