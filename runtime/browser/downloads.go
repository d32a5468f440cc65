package browser

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	// defaultDownload bounds one download, in bytes.
	defaultDownload = 1 << 30
	// maxDownloads bounds the list; the oldest that have ended make room.
	maxDownloads = 500
	// maxFilename bounds a name, in bytes.
	maxFilename = 150
)

// downloads are the files that the tabs of a browser got. Without a declared
// folder the browser refuses every download.
type downloads struct {
	change broadcast

	mu   sync.Mutex
	list []*download
	last int
}

type download struct {
	primitives.Download
	guid     string
	context  string
	returned bool // by an AwaitDownload without an id
	stopped  bool // we cancelled it: too large
}

// downloadBehavior are the parameters that say where downloads go.
func (b *Browser) downloadBehavior(context string) []byte {
	params := []byte(`{"behavior":"deny"`)
	if dir := b.opts.DownloadDir; dir != "" {
		params = appendQuoted([]byte(`{"behavior":"allowAndName","eventsEnabled":true,"downloadPath":`), dir)
	}
	if context != "" {
		params = appendQuoted(append(params, `,"browserContextId":`...), context)
	}
	return append(params, '}')
}

// prepareDownloads makes the declared folder an absolute one that exists.
func (o *Options) prepareDownloads() error {
	if o.DownloadDir == "" {
		return nil
	}
	dir, err := filepath.Abs(o.DownloadDir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return &fault.Error{Code: fault.BrowserFailed, Message: "the download folder cannot be made", Err: err}
	}
	o.DownloadDir = dir
	return nil
}

// onDownloadBegin is the reader's.
func (b *Browser) onDownloadBegin(params []byte) {
	var e struct {
		FrameID   primitives.FrameID `json:"frameId"`
		GUID      string             `json:"guid"`
		URL       string             `json:"url"`
		Suggested string             `json:"suggestedFilename"`
	}
	if b.opts.DownloadDir == "" || json.Unmarshal(params, &e) != nil || e.GUID == "" || e.GUID != filepath.Base(e.GUID) {
		return
	}
	d := &download{guid: e.GUID}
	d.URL, d.Filename, d.State, d.Started = address(e.URL), safeName(e.Suggested), "in_progress", time.Now()
	for _, t := range b.Tabs() {
		if t.hasFrame(e.FrameID) {
			d.TabID, d.context = t.Tab().ID, t.context
		}
	}
	l := &b.downloads
	l.mu.Lock()
	l.last++
	d.ID = "d" + strconv.Itoa(l.last)
	l.list = append(l.list, d)
	if len(l.list) > maxDownloads {
		if i := slices.IndexFunc(l.list, func(d *download) bool { return !d.Ended.IsZero() }); i >= 0 {
			l.list = slices.Delete(l.list, i, i+1)
		}
	}
	l.mu.Unlock()
	l.change.notify()
}

// onDownloadProgress is the reader's.
func (b *Browser) onDownloadProgress(params []byte) {
	var e struct {
		GUID     string  `json:"guid"`
		Total    float64 `json:"totalBytes"`
		Received float64 `json:"receivedBytes"`
		State    string  `json:"state"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	l := &b.downloads
	l.mu.Lock()
	i := slices.IndexFunc(l.list, func(d *download) bool { return d.guid == e.GUID })
	if i < 0 || !l.list[i].Ended.IsZero() {
		l.mu.Unlock()
		return
	}
	d := l.list[i]
	d.Received, d.Total = int64(e.Received), int64(e.Total)
	limit := b.opts.DownloadLimit
	if limit <= 0 {
		limit = defaultDownload
	}
	tooLarge := max(d.Received, d.Total) > limit
	stop := tooLarge && !d.stopped && e.State != "completed"
	d.stopped = d.stopped || tooLarge
	switch {
	case e.State == "canceled" && d.stopped:
		d.State, d.Ended = "too_large", time.Now()
	case e.State == "canceled":
		d.State, d.Ended = "cancelled", time.Now()
	case e.State == "completed":
		b.wg.Go(func() { b.finishDownload(d, tooLarge) })
	}
	l.mu.Unlock()
	if stop {
		cancel := map[string]any{"guid": d.guid}
		b.mu.Lock()
		if b.contexts[d.context] {
			cancel["browserContextId"] = d.context
		}
		b.mu.Unlock()
		if cmd, err := newCommand("", "Browser.cancelDownload", cancel); err == nil {
			b.c.post(cmd)
		}
	}
	l.change.notify()
}

// finishDownload gives a complete file its name and sum.
func (b *Browser) finishDownload(d *download, tooLarge bool) {
	raw := filepath.Join(b.opts.DownloadDir, d.guid)
	state, path, sum := "completed", "", ""
	size := int64(0)
	var err error
	if tooLarge {
		state = "too_large"
		_ = os.Remove(raw)
	} else if path, err = placeFile(b.opts.DownloadDir, d.Filename, func(to string) error { return os.Link(raw, to) }); err == nil {
		_ = os.Remove(raw)
		sum, size, err = sumOf(path)
	}
	if err != nil {
		b.log.Warn("keeping a download failed", "error", err)
		state = "failed"
	}
	l := &b.downloads
	l.mu.Lock()
	d.State, d.Path, d.SHA256, d.Ended = state, path, sum, time.Now()
	if state == "completed" {
		d.Filename, d.Received, d.Total = filepath.Base(path), size, size
	}
	l.mu.Unlock()
	l.change.notify()
}

// placeFile finds a name that is not taken and makes the file with it; make
// fails with fs.ErrExist when it is.
func placeFile(dir, name string, make func(path string) error) (string, error) {
	stem, ext := strings.TrimSuffix(name, filepath.Ext(name)), filepath.Ext(name)
	for n := range 1000 {
		if n > 0 {
			name = stem + " (" + strconv.Itoa(n) + ")" + ext
		}
		path := filepath.Join(dir, name)
		err := make(path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return "", errors.New("every name is taken")
}

func sumOf(path string) (string, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), n, err
}

// safeName makes a name that a server or a page suggested one of a plain file:
// no folders, no controls, nothing hidden, not too long, nothing that a system
// reads as a device.
func safeName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '/' || r == '\\' || r == ':' || strings.ContainsRune(`<>"|?*`, r):
			return '_'
		case unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, name)
	name = strings.Trim(strings.TrimLeft(name, "."), " .")
	stem, ext := strings.TrimSuffix(name, filepath.Ext(name)), filepath.Ext(name)
	switch strings.ToUpper(stem) {
	case "":
		stem = "download"
	case "CON", "PRN", "AUX", "NUL", "COM1", "COM2", "COM3", "COM4", "LPT1", "LPT2", "LPT3":
		stem = "_" + stem
	}
	if len(ext) > 20 {
		stem, ext = stem+ext, ""
	}
	if limit := maxFilename - len(ext); len(stem) > limit {
		stem = strings.ToValidUTF8(stem[:limit], "")
	}
	return stem + ext
}

func (b *Browser) undeclaredDownloads() error {
	if b.opts.DownloadDir != "" {
		return nil
	}
	return fault.New(fault.CapabilityUnavailable, "no folder is declared for downloads, so they are refused").With("capability", "download.files").
		Next("start the host with a download folder (--download-dir DIR)")
}

// Downloads implements primitives.FilePage.
func (t *Tab) Downloads() ([]primitives.Download, error) {
	if err := t.b.undeclaredDownloads(); err != nil {
		return nil, err
	}
	l := &t.b.downloads
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]primitives.Download, len(l.list))
	for i, d := range l.list {
		out[i] = d.Download
	}
	return out, nil
}

// AwaitDownload implements primitives.FilePage.
func (t *Tab) AwaitDownload(ctx context.Context, id string) (primitives.Download, error) {
	if err := t.b.undeclaredDownloads(); err != nil {
		return primitives.Download{}, err
	}
	l := &t.b.downloads
	for {
		changed := l.change.wait()
		known := id == ""
		l.mu.Lock()
		for _, d := range l.list {
			if id != "" && d.ID != id || id == "" && d.returned {
				continue
			}
			known = true
			if d.Ended.IsZero() {
				continue
			}
			d.returned = true
			out := d.Download
			l.mu.Unlock()
			return out, nil
		}
		l.mu.Unlock()
		if !known {
			return primitives.Download{}, fault.New(fault.TargetNotFound, "there is no download with this id").With("download_id", id)
		}
		select {
		case <-changed:
		case <-t.b.done:
			return primitives.Download{}, fault.New(fault.BrowserLost, "the browser ended")
		case <-ctx.Done():
			return primitives.Download{}, ctx.Err()
		}
	}
}

// SaveFile implements primitives.FilePage.
func (t *Tab) SaveFile(name string, data []byte) (string, error) {
	if err := t.b.undeclaredDownloads(); err != nil {
		return "", err
	}
	path, err := placeFile(t.b.opts.DownloadDir, safeName(name), func(to string) error {
		f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "writing a file")
	}
	return path, nil
}
