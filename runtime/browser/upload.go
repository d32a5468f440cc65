package browser

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// UploadFiles implements primitives.FilePage.
func (t *Tab) UploadFiles(paths []string) ([]primitives.UploadFile, error) {
	if len(t.b.opts.UploadDirs) == 0 {
		return nil, fault.New(fault.CapabilityUnavailable, "no folder is declared for uploads").With("capability", "upload.files").
			Next("start the host with an upload folder (--upload-dir DIR)")
	}
	files := make([]primitives.UploadFile, len(paths))
	for i, p := range paths {
		f, err := uploadFile(t.b.opts.UploadDirs, p)
		if err != nil {
			e := fault.From(err)
			return nil, e.With("index", i).With("name", cutText(filepath.Base(p), 100))
		}
		files[i] = f
	}
	return files, nil
}

// uploadFile finds a file in one of the folders. No part of its path below the
// folder may be a symbolic link: a page that can write there could name any file.
func uploadFile(dirs []string, path string) (primitives.UploadFile, error) {
	outside := fault.New(fault.PermissionDenied, "the file is not in a folder that is declared for uploads")
	missing := fault.New(fault.InvalidArguments, "there is no such file in the folders that are declared for uploads")
	last := error(missing)
	for _, dir := range dirs {
		root, err := filepath.Abs(dir)
		if err != nil {
			continue
		}
		rel := path
		if filepath.IsAbs(path) {
			if rel, err = filepath.Rel(root, filepath.Clean(path)); err != nil {
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
			return primitives.UploadFile{Name: filepath.Base(rel), Path: filepath.Join(root, rel), Size: info.Size()}, nil
		}
	}
	return primitives.UploadFile{}, last
}

func pathsOf(files []primitives.UploadFile) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.Path
	}
	return out
}

// SetFiles implements primitives.FilePage.
func (t *Tab) SetFiles(ctx context.Context, frame primitives.FrameID, handle string, files []primitives.UploadFile) error {
	p, err := t.locate(ctx, frame)
	if err != nil {
		return t.b.explain(err, "choosing files")
	}
	remote, err := t.inWorld(ctx, p.id, func(token string) invocation {
		return invocation{function: elementFunction, args: []string{token, handle}}
	})
	if err != nil {
		return t.b.explain(err, "choosing files")
	}
	object := string(plainString(member(remote, "objectId")))
	if object == "" {
		return fault.New(fault.TargetNotFound, "the file input is not there any more")
	}
	var out struct{}
	err = t.askPage(ctx, p, "DOM.setFileInputFiles", map[string]any{"files": pathsOf(files), "objectId": object}, &out)
	t.b.c.post(command{session: p.s.id, method: "Runtime.releaseObject", params: objectParam(object)})
	return t.b.explain(err, "choosing files")
}

// chooser is a file chooser that a page asked for.
type chooser struct {
	s       *session
	mode    string
	backend int
}

// chooserCap is how long a press may take to make the page ask for files.
const chooserCap = 5 * time.Second

// ChooseFiles implements primitives.FilePage.
func (t *Tab) ChooseFiles(ctx context.Context, press func() error, files []primitives.UploadFile) error {
	asked := make(chan chooser, 1)
	t.mu.Lock()
	if t.chooser != nil {
		t.mu.Unlock()
		return fault.New(fault.UnsafeState, "another call is choosing files on this tab")
	}
	t.chooser = asked
	sessions := t.sessionsLocked()
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		t.chooser = nil
		sessions := t.sessionsLocked()
		t.mu.Unlock()
		for _, s := range sessions {
			t.b.c.post(command{session: s.id, method: "Page.setInterceptFileChooserDialog", params: []byte(`{"enabled":false}`)})
		}
	}()
	if err := t.enableAll(ctx, sessions, command{method: "Page.setInterceptFileChooserDialog", params: []byte(`{"enabled":true}`)}); err != nil {
		return t.b.explain(err, "choosing files")
	}
	if err := press(); err != nil {
		return err
	}
	timer := time.NewTimer(chooserCap)
	defer timer.Stop()
	l := t.currentLife()
	select {
	case c := <-asked:
		if c.mode == "selectSingle" && len(files) > 1 {
			return fault.New(fault.InvalidArguments, "the page asks for one file").With("count", len(files))
		}
		if c.backend == 0 {
			return fault.New(fault.CapabilityUnavailable, "the page asks for files in a way that has no file input").With("capability", "upload.picker")
		}
		err := t.askIn(ctx, c.s, "DOM.setFileInputFiles", map[string]any{"files": pathsOf(files), "backendNodeId": c.backend}, nil)
		return t.b.explain(err, "choosing files")
	case <-timer.C:
		return fault.New(fault.TargetNotActionable, "the press did not make the page ask for files").With("reason", "no_file_chooser")
	case <-l.over:
		return l.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// onChooser is the reader's.
func (t *Tab) onChooser(s *session, params []byte) {
	var e struct {
		Mode    string `json:"mode"`
		Backend int    `json:"backendNodeId"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.chooser == nil {
		return
	}
	select {
	case t.chooser <- chooser{s, e.Mode, e.Backend}:
	default: // the first one is answered
	}
}
