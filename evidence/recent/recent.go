// Package recent remembers the last minutes of a host as a recording that can be saved after something went
// wrong: by the verb record save, over a socket of the process, and by mode record of actions.site. It does
// not decide what is recorded; package evidence/capture does. The verbs that serve calls make one.
package recent

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/call"
)

// What is remembered.
const (
	age   = 30 * time.Minute
	bytes = 8 << 20
)

// Modes say what is remembered.
const (
	Off   = "off"
	Calls = "calls" // with their steps and the elements that they are about
	Pages = "pages" // and the documents before and after each acting step
	Full  = "full"  // and requests, the console and pictures
)

// Options fits the options of a recording to a mode, which is not Off.
func Options(mode string, o capture.Options) capture.Options {
	o.Pages = mode != Calls
	o.Quiet = mode != Full
	o.Pictures = mode == Full
	return o
}

// Check reports whether there is such a mode.
func Check(mode string) error {
	if !slices.Contains([]string{Off, Calls, Pages, Full}, mode) {
		return fault.New(fault.InvalidInput, "--recent is %q: expected off, calls, pages or full", mode)
	}
	return nil
}

// Recent is what a host did last.
type Recent struct {
	ring     *record.Ring
	recorder *capture.Recorder
	folder   string
	now      func() time.Time
}

// New remembers what a recorder of o records. Agents save into folder.
func New(folder string, open func(sink record.Sink) (*capture.Recorder, error)) (*Recent, error) {
	r := &Recent{ring: record.NewRing(age, bytes), folder: folder, now: time.Now}
	recorder, err := open(r.ring)
	r.recorder = recorder
	return r, err
}

// Recorder is what the host reports to.
func (r *Recent) Recorder() *capture.Recorder { return r.recorder }

// Calls are the calls that are remembered.
func (r *Recent) Calls() []record.Call {
	r.recorder.Settle()
	return record.Calls(r.ring.Events())
}

// Saved is a recording that was saved.
type Saved struct {
	Path   string  `json:"path"`
	Events int     `json:"events"`
	Calls  int     `json:"calls"`
	Failed int     `json:"failed_calls"`
	Since  float64 `json:"since_ms"` // how long ago the first of them began
	Bytes  int64   `json:"bytes"`
}

// namePrefix begins the name of a recording that an agent saved.
const namePrefix = "outrider-"

// maxSaved is how many recordings of agents are kept.
const maxSaved = 20

// Answer implements mode record of actions.site: it saves what is remembered. The caller does not choose the
// place.
func (r *Recent) Answer(_ context.Context, _ *runtime.Host, _ runtime.TabStatus, _ json.RawMessage) runtime.Reply {
	if err := os.MkdirAll(r.folder, 0o700); err != nil {
		return runtime.Reply{
			Err: fault.Wrap(fault.CapabilityUnavailable, err, "the folder of recordings cannot be made"),
		}
	}
	r.forget()
	saved, err := r.Save(filepath.Join(r.folder, namePrefix+r.now().UTC().Format("20060102-150405.000")+".rec"))
	if err != nil {
		return runtime.Reply{Err: fault.From(err)}
	}
	return call.Encoded(saved)
}

// forget removes the oldest recordings that agents saved.
func (r *Recent) forget() {
	list, err := filepath.Glob(filepath.Join(r.folder, namePrefix+"*.rec"))
	if err != nil {
		return
	}
	slices.SortFunc(list, cmp.Compare[string]) // by time
	for _, path := range list[:max(0, len(list)-maxSaved+1)] {
		_ = os.Remove(path)
	}
}

// Save writes what is remembered to a file.
func (r *Recent) Save(path string) (Saved, error) {
	r.recorder.Settle()
	n, err := r.ring.Save(path)
	if err != nil {
		return Saved{}, err
	}
	return Describe(path, n)
}

// Describe says what a saved recording holds.
func Describe(path string, events int) (Saved, error) {
	out := Saved{Path: path, Events: events}
	in, err := record.Open(path)
	if err != nil {
		return out, err
	}
	defer in.Close()
	for _, c := range record.Calls(in.Events) {
		out.Calls++
		if c.Finished && !c.OK {
			out.Failed++
		}
	}
	out.Events = len(in.Events)
	out.Since = in.Events[len(in.Events)-1].T - in.Header.Since
	if info, err := os.Stat(path); err == nil {
		out.Bytes = info.Size()
	}
	return out, nil
}

// Folder is where agents' recordings go when nobody says otherwise.
func Folder() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "outrider", "recordings")
}

// printable is text without control characters, for a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}
