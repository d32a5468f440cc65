// Package lock keeps what the targets of a map looked like, in a file beside the map. It reads and writes that file and
// does not read pages. Checks write it, and repair reads it.
package lock

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Version is that of the format. A file of another version is refused.
const Version = 1

// maxBytes bounds a lock file, which is read whole.
const maxBytes = 16 << 20

// Entry is what one target of a map looked like.
type Entry struct {
	Target  descriptor.Descriptor `json:"target"`
	Element likeness.Element      `json:"element"`
}

// File is a lock file: entries in the order of their targets, each target once.
type File struct {
	Version int     `json:"version"`
	Targets []Entry `json:"targets"`
}

// PathOf is the lock file of a map: actions.json has actions.lock.json beside it.
func PathOf(mapFile string) string {
	return strings.TrimSuffix(mapFile, filepath.Ext(mapFile)) + ".lock.json"
}

// Key is what distinguishes one target from another, wherever it stands in the map.
func Key(d descriptor.Descriptor) string {
	d.Explain = false
	text, err := json.Marshal(d)
	if err != nil {
		return ""
	}
	return string(text)
}

// Find returns what a target looked like.
func (f *File) Find(d descriptor.Descriptor) (likeness.Element, bool) {
	if f == nil {
		return likeness.Element{}, false
	}
	key := Key(d)
	i := slices.IndexFunc(f.Targets, func(e Entry) bool { return Key(e.Target) == key })
	if i < 0 {
		return likeness.Element{}, false
	}
	return f.Targets[i].Element, true
}

// Merge puts in what was observed. Targets that were not observed keep what they have:
// they may be on another page.
func (f *File) Merge(seen []Entry) {
	byKey := map[string]Entry{}
	for _, e := range append(slices.Clone(f.Targets), seen...) {
		e.Target.Explain = false
		byKey[Key(e.Target)] = e
	}
	f.Version, f.Targets = Version, make([]Entry, 0, len(byKey))
	for _, e := range byKey {
		f.Targets = append(f.Targets, e)
	}
	slices.SortFunc(f.Targets, func(a, b Entry) int { return strings.Compare(Key(a.Target), Key(b.Target)) })
}

// Encode is the file as it is written: the same for the same content.
func (f *File) Encode() ([]byte, error) {
	return jsonout.File(f, "  ")
}

// Read reads a lock file. One that is not there is empty.
func Read(path string) (*File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{Version: Version}, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.StorageFileReadFailed, err, "reading the lock file").With("path", path)
	}
	if info.Size() > maxBytes {
		return nil, fault.New(
			fault.StorageFileReadFailed, "the lock file %s has %d bytes, expected at most %d",
			path, info.Size(), maxBytes,
		)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(fault.StorageFileReadFailed, err, "reading the lock file").With("path", path)
	}
	return Parse(text, path)
}

// Parse reads the text of a lock file; path is for the error.
func Parse(text []byte, path string) (*File, error) {
	var f File
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fault.New(
			fault.InvalidInput, "the lock file %s is not JSON of its format: write it anew with check --update-lock",
			path,
		)
	}
	if f.Version != Version {
		return nil, fault.New(
			fault.InvalidInput, "the lock file %s has version %d, expected %d: write it anew with check --update-lock",
			path, f.Version, Version,
		)
	}
	return &f, nil
}
