package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/outrider-run/outrider/internal/ownfolder"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/truncate"
)

const (
	// defaultDownload bounds one download, in bytes.
	defaultDownload = 1 << 30
	// maxDownloads bounds the list; the oldest that have ended make room.
	maxDownloads = 500
	// maxFilename bounds a name, in bytes.
	maxFilename = 150
)

// Options are where files may come from and where they are stored.
type Options struct {
	// UploadDirs are the folders whose files may be uploaded. None means that
	// uploads are refused.
	UploadDirs []string
	// DownloadDir is the folder that downloads go to; it is made when it is not
	// there. Empty means that downloads are refused.
	DownloadDir string
	// DownloadLimit bounds one download, in bytes; 0 is 1 GiB.
	DownloadLimit int64
}

// Browser is the browser whose tabs exchange files.
type Browser interface {
	// Owner says which tab shows a frame: its id, and its browser context, which is
	// empty for that of the profile.
	Owner(frame primitives.FrameID) (tabID int, context string)
	// Done is closed when the browser is lost or closed.
	Done() <-chan struct{}
}

// Transfers are the files that the tabs of a browser may upload and have got. It
// implements those parts of primitives.FilePage that need no page. Without a declared
// folder the browser refuses every download.
type Transfers struct {
	client     *cdp.Client
	browser    Browser
	log        *slog.Logger
	uploadDirs []string
	dir        string // of downloads; "" refuses them
	incoming   string // folder in it of those that are not complete
	remove     func() // incoming
	limit      int64

	change cdp.Broadcast
	wg     sync.WaitGroup // of finished downloads that get their name

	mu   sync.Mutex
	list []*download
	last int // number of the newest download

	uploads       string // folder of files that the program itself uploads; "" until there is one
	removeUploads func()
}

// New makes the transfers of a browser.
func New(o Options, browser Browser, log *slog.Logger) (*Transfers, error) {
	t := &Transfers{browser: browser, log: log, uploadDirs: o.UploadDirs, limit: o.DownloadLimit}
	if t.limit <= 0 {
		t.limit = defaultDownload
	}
	if o.DownloadDir == "" {
		return t, nil
	}
	dir, err := filepath.Abs(o.DownloadDir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, &fault.Error{Code: fault.BrowserFailed, Message: "the download folder cannot be made", Err: err}
	}
	t.dir = dir
	t.incoming, t.remove, err = ownfolder.New(dir, ".outrider-incoming-")
	if err != nil {
		t.incoming = dir
		log.Warn("a browser that is killed will leave incomplete downloads", "error", err)
	}
	return t, nil
}

// StoreBelow makes a folder for downloads that goes with the browser: below base, or below the system's folder for such
// with an empty one. It is called before the browser is told where downloads go.
func (t *Transfers) StoreBelow(base string) error {
	dir, remove, err := ownfolder.New(base, "outrider-downloads-")
	if err != nil {
		return err
	}
	t.dir, t.remove = dir, remove
	t.incoming = filepath.Join(dir, "incoming")
	return os.Mkdir(t.incoming, 0o700)
}

// Connect gives the connection over which downloads are cancelled.
func (t *Transfers) Connect(client *cdp.Client) { t.client = client }

// Close waits for the files that are being named, and removes what is not complete. The browser has ended.
func (t *Transfers) Close() {
	t.wg.Wait()
	if t.remove != nil {
		t.remove()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.removeUploads != nil {
		t.removeUploads()
	}
}

// Accepts reports whether there is a folder for downloads.
func (t *Transfers) Accepts() bool { return t.dir != "" }

// Changed returns a channel that the next change of a download closes.
func (t *Transfers) Changed() <-chan struct{} { return t.change.Wait() }

// Last is the number of the newest download, to be given to Since.
func (t *Transfers) Last() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// Since are the downloads of a browser context that began after the one with this number,
// those that were refused among them.
func (t *Transfers) Since(context string, last int) []primitives.Download {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []primitives.Download
	for _, d := range t.list {
		if d.number > last && d.context == context {
			out = append(out, d.Download)
		}
	}
	return out
}

type download struct {
	primitives.Download
	number   int
	guid     string
	context  string
	returned bool // by an AwaitDownload without an id
	stopped  bool // we cancelled it: too large
}

// Behavior is the command that says where the downloads of a browser context go. Those that
// are refused are reported too, since nothing else says that there was one.
func (t *Transfers) Behavior(context string) cdp.Command {
	params := []byte(`{"behavior":"deny","eventsEnabled":true`)
	if t.dir != "" {
		params = cdp.AppendQuoted([]byte(`{"behavior":"allowAndName","eventsEnabled":true,"downloadPath":`), t.incoming)
	}
	if context != "" {
		params = cdp.AppendQuoted(append(params, `,"browserContextId":`...), context)
	}
	return cdp.Command{Method: "Browser.setDownloadBehavior", Params: append(params, '}')}
}

// HandleEvent takes an event of a download. The reader calls it.
func (t *Transfers) HandleEvent(method, params []byte) {
	switch string(method) {
	case "Browser.downloadWillBegin":
		t.begin(params)
	case "Browser.downloadProgress":
		t.progress(params)
	}
}

func (t *Transfers) begin(params []byte) {
	var e struct {
		FrameID   primitives.FrameID `json:"frameId"`
		GUID      string             `json:"guid"`
		URL       string             `json:"url"`
		Suggested string             `json:"suggestedFilename"`
	}
	if json.Unmarshal(params, &e) != nil || e.GUID == "" || e.GUID != filepath.Base(e.GUID) {
		return
	}
	d := &download{guid: e.GUID}
	d.URL = truncate.Address(e.URL)
	d.Filename = safeName(e.Suggested)
	d.Started = time.Now()
	d.State = primitives.DownloadInProgress
	if t.dir == "" {
		d.State, d.Ended = primitives.DownloadRefused, d.Started
	}
	d.TabID, d.context = t.browser.Owner(e.FrameID)
	t.mu.Lock()
	t.last++
	d.number = t.last
	d.ID = "d" + strconv.Itoa(t.last)
	t.list = append(t.list, d)
	if len(t.list) > maxDownloads {
		if i := slices.IndexFunc(t.list, func(d *download) bool { return !d.Ended.IsZero() }); i >= 0 {
			t.list = slices.Delete(t.list, i, i+1)
		}
	}
	t.mu.Unlock()
	t.change.Notify()
}

func (t *Transfers) progress(params []byte) {
	var e struct {
		GUID     string  `json:"guid"`
		Total    float64 `json:"totalBytes"`
		Received float64 `json:"receivedBytes"`
		State    string  `json:"state"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	t.mu.Lock()
	i := slices.IndexFunc(t.list, func(d *download) bool { return d.guid == e.GUID })
	if i < 0 || !t.list[i].Ended.IsZero() {
		t.mu.Unlock()
		return
	}
	d := t.list[i]
	d.Received, d.Total = int64(e.Received), int64(e.Total)
	tooLarge := max(d.Received, d.Total) > t.limit
	stop := tooLarge && !d.stopped && e.State != "completed"
	d.stopped = d.stopped || tooLarge
	switch {
	case e.State == "canceled" && d.stopped:
		d.State, d.Ended = primitives.DownloadTooLarge, time.Now()
	case e.State == "canceled":
		d.State, d.Ended = primitives.DownloadCancelled, time.Now()
	case e.State == "completed":
		t.wg.Go(func() { t.finish(d, tooLarge) })
	}
	t.mu.Unlock()
	if stop {
		cancel := map[string]any{"guid": d.guid}
		if d.context != "" {
			cancel["browserContextId"] = d.context
		}
		if cmd, err := cdp.NewCommand("", "Browser.cancelDownload", cancel); err == nil {
			t.client.Post(cmd)
		}
	}
	t.change.Notify()
}

// finish gives a complete file its name and sum.
func (t *Transfers) finish(d *download, tooLarge bool) {
	raw := filepath.Join(t.incoming, d.guid)
	state := primitives.DownloadCompleted
	var path, sum string
	var size int64
	var err error
	if tooLarge {
		state = primitives.DownloadTooLarge
		_ = os.Remove(raw)
	} else if path, err = placeFile(t.dir, d.Filename, func(to string) error { return os.Link(raw, to) }); err == nil {
		_ = os.Remove(raw)
		sum, size, err = sumOf(path)
	}
	if err != nil {
		t.log.Warn("keeping a download failed", "error", err)
		state = primitives.DownloadFailed
	}
	t.mu.Lock()
	d.State = state
	d.Path = path
	d.SHA256 = sum
	d.Ended = time.Now()
	if state == primitives.DownloadCompleted {
		d.Filename = filepath.Base(path)
		d.Received = size
		d.Total = size
	}
	t.mu.Unlock()
	t.change.Notify()
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

func (t *Transfers) undeclared() error {
	if t.dir != "" {
		return nil
	}
	return fault.New(fault.CapabilityUnavailable, "no folder is declared for downloads, so they are refused").
		With("capability", "download.files").
		Next("start the host with a download folder (--download-dir DIR)")
}

// Downloads are those of a browser context: one session does not see what another
// gets. Without a folder they are those that were refused.
func (t *Transfers) Downloads(context string) ([]primitives.Download, error) {
	out := t.Since(context, 0)
	if len(out) > 0 {
		return out, nil
	}
	return []primitives.Download{}, t.undeclared()
}

// AwaitDownload waits for a download of a browser context.
func (t *Transfers) AwaitDownload(ctx context.Context, in, id string) (primitives.Download, error) {
	if err := t.undeclared(); err != nil {
		return primitives.Download{}, err
	}
	for {
		changed := t.change.Wait()
		known := id == ""
		t.mu.Lock()
		for _, d := range t.list {
			if d.context != in || id != "" && d.ID != id || id == "" && d.returned {
				continue
			}
			known = true
			if d.Ended.IsZero() {
				continue
			}
			d.returned = true
			out := d.Download
			t.mu.Unlock()
			return out, nil
		}
		t.mu.Unlock()
		if !known {
			return primitives.Download{}, fault.New(fault.TargetNotFound, "there is no download with this id").
				With("download_id", id)
		}
		select {
		case <-changed:
		case <-t.browser.Done():
			return primitives.Download{}, fault.New(fault.BrowserLost, "the browser ended")
		case <-ctx.Done():
			return primitives.Download{}, ctx.Err()
		}
	}
}

// SaveFile implements primitives.FilePage.
func (t *Transfers) SaveFile(name string, data []byte) (string, error) {
	if err := t.undeclared(); err != nil {
		return "", err
	}
	path, err := placeFile(t.dir, safeName(name), func(to string) error {
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
