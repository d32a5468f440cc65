package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Request has what a job needs of its worker: a browser with these options.
type Request struct {
	Settings Settings `json:"settings"`
	Maps     []string `json:"-"` // as files of this machine
	// Project are those of the maps that a project file names.
	Project []string `json:"-"`
	// Tenant is whose job it is, "" for the only one.
	Tenant string `json:"tenant,omitempty"`
	// Secrets are those that the job uses, by name, with the origins that it declares for
	// each. Nil is all that the tenant has.
	Secrets map[string][]string `json:"secrets"`
	// Prepare runs before addresses are opened; may be nil.
	Prepare func(context.Context, *runtime.Host) error `json:"-"`
	// OnOpen is called with how each address was opened; see runtime.Options. It may be nil.
	OnOpen func(address, runtimeID string, err error) `json:"-"`
}

// Host is a browser for jobs.
type Host struct {
	*runtime.Host
	Secrets *mask.Set // that its pages may be given
	Done    func()    // closes what was opened beside the host
	// Within makes the calls of the next job spans within that job's; may be nil.
	Within func(traceparent string)
}

func (h Host) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	_ = h.Host.Close(ctx)
	if h.Done != nil {
		h.Done()
	}
}

// Bounds of a browser that stays for the next job.
const (
	closeWithin = 15 * time.Second
	probeWithin = 2 * time.Second
	// idleFor is how long it waits for one, jobsEach after how many it is replaced: a
	// browser that runs for days grows.
	idleFor  = 30 * time.Second
	jobsEach = 200
)

// hosts keeps the browsers of jobs for the next ones that ask for the same: settings,
// maps, secrets and tenant. Each case has browser contexts of its own in it, as the cases
// of one run have.
type hosts struct {
	open func(context.Context, Request) (Host, error)
	temp string
	most int // browsers, busy and idle

	mu     sync.Mutex
	idle   []*warm // the one that waits longest first
	busy   int
	closed bool
	life   sync.WaitGroup
}

// warm is a browser, and the folder of its maps.
type warm struct {
	Host
	key, dir string
	maps     []string
	jobs     int
	expires  *time.Timer
}

// keyOf is the same for jobs that may share a browser.
func keyOf(r Request, maps []Mapped, archive []byte) (string, error) {
	raw, err := json.Marshal(struct {
		Request
		Maps []Mapped
		Sum  [sha256.Size]byte
	}{r, maps, sha256.Sum256(archive)})
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "naming what the job asks for")
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// take is a browser for a job. shared says that one may be taken, and left behind, whose
// own tabs nobody used.
func (p *hosts) take(ctx context.Context, r Request, maps []Mapped, archive []byte, shared bool) (*warm, error) {
	key, err := keyOf(r, maps, archive)
	if err != nil {
		return nil, err
	}
	for shared {
		w := p.waiting(key)
		if w == nil {
			break
		}
		if w.answers(ctx) {
			return w, nil
		}
		p.discard(w)
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, fault.New(fault.Cancelled, "the worker is ending")
	}
	p.busy++
	var old *warm
	if len(p.idle) > 0 && p.busy+len(p.idle) > p.most && p.stays(p.idle[0]) {
		old, p.idle = p.idle[0], p.idle[1:]
	}
	p.mu.Unlock()
	if old != nil {
		old.end()
	}
	w := &warm{key: key}
	if !shared {
		w.key = ""
	}
	w.dir, err = os.MkdirTemp(p.temp, "outrider-maps-")
	if err == nil {
		w.maps, err = mapsIn(w.dir, maps, archive)
	}
	if err == nil {
		r.Maps = w.maps
		for i, m := range maps {
			if m.Project {
				r.Project = append(r.Project, w.maps[i])
			}
		}
		w.Host, err = p.open(ctx, r)
	}
	if err != nil {
		_ = os.RemoveAll(w.dir)
		p.mu.Lock()
		p.busy--
		p.mu.Unlock()
		return nil, err
	}
	return w, nil
}

// mapsIn unpacks maps into a folder and returns where they are.
func mapsIn(dir string, maps []Mapped, archive []byte) ([]string, error) {
	if len(maps) == 0 {
		return nil, nil
	}
	if err := unpack(dir, archive); err != nil {
		return nil, err
	}
	var out []string
	for _, m := range maps {
		if !filepath.IsLocal(m.At) {
			return nil, fault.New(fault.UnsafePath, "the job names the map %q, which is not one of its own files", m.At)
		}
		out = append(out, filepath.Join(dir, filepath.FromSlash(m.At)))
	}
	return out, nil
}

// stays reports whether an idle browser had not expired; then it does not any more.
func (p *hosts) stays(w *warm) bool {
	stopped := w.expires.Stop()
	if stopped {
		p.life.Done()
	}
	return stopped
}

// waiting is an idle browser, which is busy from now on; nil when there is none.
func (p *hosts) waiting(key string) *warm {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, w := range slices.Backward(p.idle) {
		if w.key == key && p.stays(w) {
			p.idle = slices.Delete(p.idle, i, i+1)
			p.busy++
			return w
		}
	}
	return nil
}

// answers reports whether the browser is there: it may have ended while nobody looked.
func (w *warm) answers(ctx context.Context) bool {
	tabs := w.Tabs()
	if len(tabs) != 1 { // its own, which no job has
		return false
	}
	reply := w.Do(ctx, runtime.Call{
		ID:      "probe",
		Target:  runtime.Target{RuntimeID: tabs[0].RuntimeID},
		Name:    "page.info",
		Timeout: probeWithin,
	})
	return reply.Err == nil
}

// put gives back a browser. well says that the next job may have it.
func (p *hosts) put(w *warm, well bool) {
	w.jobs++
	p.mu.Lock()
	if !well || p.closed || w.key == "" || w.jobs >= jobsEach {
		p.mu.Unlock()
		p.discard(w)
		return
	}
	p.busy--
	p.idle = append(p.idle, w)
	p.life.Add(1)
	w.expires = time.AfterFunc(idleFor, func() {
		defer p.life.Done()
		p.mu.Lock()
		p.idle = slices.DeleteFunc(p.idle, func(o *warm) bool { return o == w })
		p.mu.Unlock()
		w.end()
	})
	p.mu.Unlock()
}

// discard ends a browser that is busy.
func (p *hosts) discard(w *warm) {
	w.end()
	p.mu.Lock()
	p.busy--
	p.mu.Unlock()
}

func (w *warm) end() {
	w.Host.close(context.Background())
	_ = os.RemoveAll(w.dir)
}

// close ends the browsers that wait, and those in use when they are given back.
func (p *hosts) close() {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, w := range idle {
		if p.stays(w) {
			w.end()
		}
	}
	p.life.Wait()
}
