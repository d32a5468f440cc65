package outrider

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

// File is a file to upload whose content the program has.
type File struct {
	// Name is what the page sees, without folders.
	Name    string
	Content io.Reader
}

// shown is the tab for what does not wait for its calls.
func (t *Tab) shown() (*browser.Tab, error) {
	return t.session.host.Shown(runtime.Target{Workspace: t.session.groupID(), RuntimeID: t.id})
}

// stored writes files where the browser can read them, and returns their paths. They go with the browser, which reads
// them when the page does.
func (t *Tab) stored(files []File) ([]string, error) {
	page, err := t.shown()
	if err != nil {
		return nil, fromFault(err)
	}
	own, err := page.OwnUploads()
	if err != nil {
		return nil, fromFault(err)
	}
	dir, err := os.MkdirTemp(own, "")
	if err != nil {
		return nil, fromFault(fault.Wrap(fault.Internal, err, "making a folder for uploads"))
	}
	var paths []string
	for _, f := range files {
		if f.Content == nil || f.Name != filepath.Base(f.Name) || !filepath.IsLocal(f.Name) || f.Name == "." {
			return nil, fromFault(fault.New(
				fault.InvalidInput, "the file %q cannot be uploaded: expected a name without folders, and content",
				fault.Clip(f.Name, 100),
			))
		}
		path := filepath.Join(dir, f.Name)
		if err := write(path, f.Content); err != nil {
			return nil, fromFault(fault.Wrap(fault.InvalidInput, err, "reading the content of %q", f.Name))
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// write makes a file of what a reader has. A file that is there is an error.
func write(path string, content io.Reader) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return errors.Join(err, out.Close())
}

// UploadFiles is [Locator.Upload] for files that the program has in memory or reads from elsewhere. It needs no
// [BrowserOptions.UploadDirs].
func (l Locator) UploadFiles(ctx context.Context, files ...File) error {
	if err := l.usable(); err != nil {
		return err
	}
	paths, err := l.tab.stored(files)
	if err != nil {
		return err
	}
	return l.Upload(ctx, paths...)
}

// FileChooser is a choice of files that a page asks for. Upload or UploadFiles makes it.
type FileChooser struct {
	// Multiple: the page takes several files.
	Multiple bool

	tab     *Tab
	watched *watched
	session string
	input   int // backend id of the file input, 0 where there is none
}

const chooserOpened = "Page.fileChooserOpened"

// intercept is the command that gives choices of files to the program, or to the browser again.
func intercept(on bool) command {
	return command{"Page.setInterceptFileChooserDialog", map[string]bool{"enabled": on}}
}

// WaitFileChooser runs act and waits until the page asks for files. [Locator.Upload] does it for a click.
func (t *Tab) WaitFileChooser(ctx context.Context, act func() error) (*FileChooser, error) {
	within, cancel := t.session.within(ctx)
	defer cancel()
	w, err := t.watch(within, []command{{"Page.enable", nil}, intercept(true)}, chooserOpened)
	if err != nil {
		return nil, err
	}
	err = act()
	var e CDPEvent
	if err == nil {
		var ok bool
		e, ok = w.nextEvent(within)
		if !ok {
			err = t.didNotCome(within, "file chooser")
		}
	}
	var in struct {
		Mode  string `json:"mode"`
		Input int    `json:"backendNodeId"`
	}
	if err == nil {
		err = decode(e.Params, &in)
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	c := &FileChooser{Multiple: in.Mode == "selectMultiple", tab: t, watched: w}
	c.session, c.input = e.SessionID, in.Input
	return c, nil
}

// Upload chooses files of [BrowserOptions.UploadDirs].
func (c *FileChooser) Upload(ctx context.Context, paths ...string) error {
	page, err := c.tab.shown()
	if err != nil {
		return fromFault(err)
	}
	files, err := page.UploadFiles(paths)
	if err != nil {
		return fromFault(err)
	}
	whole := make([]string, len(files))
	for i, f := range files {
		whole[i] = f.Path
	}
	switch {
	case len(files) > 1 && !c.Multiple:
		return fromFault(fault.New(fault.InvalidArguments, "the page asks for one file").With("count", len(files)))
	case c.input == 0:
		e := fault.New(fault.CapabilityUnavailable, "the page asks for files in a way that has no file input")
		return fromFault(e.With("capability", "upload.picker"))
	}
	defer c.watched.Close()
	return c.watched.CallIn(ctx, c.session, "DOM.setFileInputFiles", map[string]any{
		"files": whole, "backendNodeId": c.input,
	}, nil)
}

// UploadFiles chooses files that the program has in memory or reads from elsewhere.
func (c *FileChooser) UploadFiles(ctx context.Context, files ...File) error {
	paths, err := c.tab.stored(files)
	if err != nil {
		return err
	}
	return c.Upload(ctx, paths...)
}

// Cancel chooses nothing.
func (c *FileChooser) Cancel() { c.watched.Close() }
