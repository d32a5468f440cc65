package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/internal/ownfolder"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/truncate"
)

// UploadFiles implements primitives.FilePage.
func (t *Transfers) UploadFiles(paths []string) ([]primitives.UploadFile, error) {
	own := func(path string) bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.uploads != "" && strings.HasPrefix(path, t.uploads+string(filepath.Separator))
	}
	if len(t.uploadDirs) == 0 && !slices.ContainsFunc(paths, own) {
		return nil, fault.New(fault.CapabilityUnavailable, "no folder is declared for uploads").
			With("capability", "upload.files").
			Next("start the host with an upload folder (--upload-dir DIR)")
	}
	files := make([]primitives.UploadFile, len(paths))
	for i, p := range paths {
		dirs := t.uploadDirs
		if own(p) {
			dirs = []string{t.uploads}
		}
		f, err := uploadFile(dirs, p)
		if err != nil {
			e := fault.From(err)
			return nil, e.With("index", i).With("name", truncate.Bytes(filepath.Base(p), 100))
		}
		files[i] = f
	}
	return files, nil
}

// OwnUploads is a folder for files that the program itself uploads. It is made at the first call, below base, or below
// the system's folder for such with an empty one, and goes with the browser.
func (t *Transfers) OwnUploads(base string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.uploads != "" {
		return t.uploads, nil
	}
	dir, remove, err := ownfolder.New(base, "outrider-uploads-")
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "making a folder for uploads")
	}
	t.uploads, t.removeUploads = dir, remove
	return dir, nil
}

// longestPath bounds what a message has of paths, in bytes.
const longestPath = 200

// uploadFile finds a file in one of the folders. No part of its path below the
// folder may be a symbolic link: a page that can write there could name any file.
func uploadFile(dirs []string, path string) (primitives.UploadFile, error) {
	named := truncate.Bytes(path, longestPath)
	folders := truncate.Bytes(strings.Join(dirs, ", "), longestPath)
	outside := fault.New(
		fault.PermissionDenied, "the file %q is not in a folder that is declared for uploads: %s", named, folders,
	)
	missing := fault.New(
		fault.InvalidArguments, "there is no file %q in the folders that are declared for uploads: %s", named, folders,
	)
	last := error(missing)
	for _, dir := range dirs {
		root, err := filepath.Abs(dir)
		if err != nil {
			continue
		}
		rel := path
		if filepath.IsAbs(path) {
			rel, err = filepath.Rel(root, filepath.Clean(path))
			if err != nil {
				last = outside
				continue
			}
		}
		if !filepath.IsLocal(rel) {
			last = outside
			continue
		}
		at := root
		linked := false
		for _, part := range strings.Split(filepath.Clean(rel), string(filepath.Separator)) {
			at = filepath.Join(at, part)
			info, err := os.Lstat(at)
			if err != nil {
				break
			}
			linked = linked || info.Mode()&fs.ModeSymlink != 0
		}
		if linked {
			return primitives.UploadFile{}, fault.New(fault.PermissionDenied, "the path goes through a symbolic link")
		}
		info, err := os.Stat(filepath.Join(root, rel))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			last = missing
		case err != nil:
			last = fault.Wrap(fault.PermissionDenied, err, "the file cannot be read")
		case !info.Mode().IsRegular():
			last = fault.New(fault.InvalidArguments, "this is not a file")
		default:
			return primitives.UploadFile{
				Name: filepath.Base(rel),
				Path: filepath.Join(root, rel),
				Size: info.Size(),
			}, nil
		}
	}
	return primitives.UploadFile{}, last
}
