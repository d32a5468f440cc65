package bridgekit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/outrider-run/outrider/bridgeclient"
)

// Link is one connection, seen from the side of the kit.
type Link interface {
	Send(ctx context.Context, frame []byte) error
	Receive(ctx context.Context) ([]byte, error)
	// Cut ends it without a word, as a network does.
	Cut()
}

// LinkOf makes a Link of a connection that was dialled or accepted.
func LinkOf(c bridgeclient.Conn) Link { return connLink{c} }

type connLink struct{ bridgeclient.Conn }

func (c connLink) Send(ctx context.Context, frame []byte) error { return c.Write(ctx, frame) }
func (c connLink) Receive(ctx context.Context) ([]byte, error)  { return c.Read(ctx) }
func (c connLink) Cut()                                         { c.Abort() }

// item is one item that came, with the members that checks read.
type item struct {
	Type       string          `json:"type"`
	CallID     string          `json:"call_id"`
	RuntimeID  string          `json:"runtime_id"`
	RuntimeKey string          `json:"runtime_key"`
	ProbeID    string          `json:"probe_id"`
	Alive      bool            `json:"alive"`
	Name       string          `json:"name"`
	URL        string          `json:"url"`
	Arguments  json.RawMessage `json:"arguments"`
	Output     json.RawMessage `json:"output"`
	Error      json.RawMessage `json:"error"`
	Runtime    struct {
		Name         string `json:"name"`
		Version      string `json:"version"`
		RepeatsCalls bool   `json:"repeats_calls"`
		CancelsCalls bool   `json:"cancels_calls"`
	} `json:"runtime"`
	ExtensionVersion string `json:"extension_version"`
	Tab              struct {
		Title *string `json:"title"`
	} `json:"tab"`

	raw   []byte
	seq   int // of the items of its connection
	taken bool
}

// wire is a link with everything that came on it.
type wire struct {
	link   Link
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	items   []*item
	seq     int
	changed chan struct{}
	err     error // why it ended
}

func (k *kit) wire(link Link) *wire {
	ctx, cancel := context.WithCancel(context.Background())
	w := &wire{link: link, cancel: cancel, done: make(chan struct{}), changed: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.read(ctx)
	}()
	k.mu.Lock()
	k.wires = append(k.wires, w)
	k.mu.Unlock()
	return w
}

func (w *wire) read(ctx context.Context) {
	for {
		raw, err := w.link.Receive(ctx)
		w.mu.Lock()
		if err != nil {
			w.err = err
		} else {
			it := &item{raw: raw, seq: w.seq}
			w.seq++
			_ = json.Unmarshal(raw, it) // what is no item matches nothing
			w.items = append(w.items, it)
		}
		close(w.changed)
		w.changed = make(chan struct{})
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (w *wire) end() {
	w.cancel()
	w.link.Cut()
	<-w.done
}

var errNothing = errors.New("nothing came")

// await returns the first item that matches and was not taken yet.
func (w *wire) await(ctx context.Context, within time.Duration, match func(*item) bool) (*item, error) {
	t := time.NewTimer(within)
	defer t.Stop()
	for {
		w.mu.Lock()
		for _, it := range w.items {
			if !it.taken && match(it) {
				it.taken = true
				w.mu.Unlock()
				return it, nil
			}
		}
		changed, err := w.changed, w.err
		w.mu.Unlock()
		if err != nil {
			return nil, fmt.Errorf("the connection ended: %w", err)
		}
		select {
		case <-changed:
		case <-t.C:
			return nil, errNothing
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// mark is the seq of the next item.
func (w *wire) mark() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seq
}

// count says how many items that match came, taken or not.
func (w *wire) count(match func(*item) bool) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, it := range w.items {
		if match(it) {
			n++
		}
	}
	return n
}

func (w *wire) has(match func(*item) bool) bool { return w.count(match) > 0 }

func ofType(kind string) func(*item) bool { return func(it *item) bool { return it.Type == kind } }

// send sends an item, or text that is none.
func (r *run) send(w *wire, format string, args ...any) {
	r.check(w.link.Send(r.ctx, fmt.Appendf(nil, format, args...)), "sending")
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
