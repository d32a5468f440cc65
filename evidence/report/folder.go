package report

import "os"

// Folder is where files are written: an *os.Root, from which no path and no
// symbolic link leads out, or Anywhere.
type Folder interface {
	MkdirAll(name string, perm os.FileMode) error
	WriteFile(name string, data []byte, perm os.FileMode) error
}

// Anywhere is the whole file system. It is for paths that the user gave.
var Anywhere Folder = anywhere{}

type anywhere struct{}

func (anywhere) MkdirAll(name string, perm os.FileMode) error { return os.MkdirAll(name, perm) }

func (anywhere) WriteFile(name string, data []byte, perm os.FileMode) error {
	return os.WriteFile(name, data, perm)
}
