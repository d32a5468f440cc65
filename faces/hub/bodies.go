package hub

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// quietBody is how long a body that is on its way says nothing until another may have its place.
const quietBody = time.Second

// bodies are the requests whose body is on its way, and what the bodies hold that are being answered.
type bodies struct {
	most      int   // at once
	mostBytes int64 // of all calls, and mostItems of all that runtimes post
	mostItems int64

	mu     sync.Mutex
	coming map[*body]struct{}
	bytes  int64
	items  int64
}

// bounded bounds how long the body of a request may take to arrive, how many may be on their way,
// and what all hold together. When every place is taken, the body that has said nothing for the
// longest gives its place to the next: a peer that holds many places keeps nobody away.
func (h *Hub) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		// The server reads on after a refusal, too.
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(h.opts.BodyWithin))
		b := &body{
			ReadCloser: r.Body,
			of:         &h.bodies,
			control:    control,
			lastRead:   time.Now(),
			posted:     r.URL.Path == itemsPath,
		}
		if !h.bodies.enter(b) {
			busy(w, fault.New(fault.QueueFull, "%d requests are being received", h.opts.MaxBodies))
			return
		}
		defer h.bodies.leave(b)
		r.Body = b
		next.ServeHTTP(w, r)
	})
}

// busy refuses a request that may come again, and does not read it.
func busy(w http.ResponseWriter, why *fault.Error) {
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Connection", "close")
	fail(w, http.StatusServiceUnavailable, why)
}

// enter gives a body a place; false when there is none.
func (a *bodies) enter(b *body) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.coming) >= a.most && !a.end() {
		return false
	}
	if a.coming == nil {
		a.coming = map[*body]struct{}{}
	}
	a.coming[b] = struct{}{}
	return true
}

// end ends the body that has said nothing for the longest, when that is long; a.mu is held.
func (a *bodies) end() bool {
	var quietest *body
	for b := range a.coming {
		if quietest == nil || b.lastRead.Before(quietest.lastRead) {
			quietest = b
		}
	}
	if quietest == nil || time.Since(quietest.lastRead) < quietBody {
		return false
	}
	delete(a.coming, quietest)
	_ = quietest.control.SetReadDeadline(time.Now())
	return true
}

// leave takes a body out whose request has been answered.
func (a *bodies) leave(b *body) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.coming, b)
	*a.sum(b) -= b.held
	b.held = 0
}

// sum is what counts b; a.mu is held.
func (a *bodies) sum(b *body) *int64 {
	if b.posted {
		return &a.items
	}
	return &a.bytes
}

// awaitSpace reports whether a body may hold n bytes in all beside the others. What it says beforehand of its
// length does not count: it could be never sent. Without room a body that says nothing is ended, so
// that there is some soon.
func (a *bodies) awaitSpace(b *body, n int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	most := a.mostBytes
	if b.posted {
		most = a.mostItems
	}
	sum, more := a.sum(b), n-b.held
	if *sum > b.held && *sum+more > most {
		a.end()
		return false
	}
	*sum += more
	b.held = n
	return true
}

// body is that of one request.
type body struct {
	io.ReadCloser
	of      *bodies
	control *http.ResponseController
	posted  bool // by a runtime that polls

	read     int64     // bytes so far
	lastRead time.Time // when the last came; protected by bodies.mu, as is held
	held     int64
}

// Read implements io.Reader. A whole body has no deadline any more, and no place.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if n > 0 && !b.of.awaitSpace(b, b.read) {
		return 0, errTooMuch
	}
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	if n > 0 {
		b.lastRead = time.Now()
	}
	if _, there := b.of.coming[b]; there && errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{})
		delete(b.of.coming, b)
	}
	return n, err
}

// errTooMuch ends a body for which the others leave no room.
var errTooMuch = errors.New("the requests under way are too long together")
