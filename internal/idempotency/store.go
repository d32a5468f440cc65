// Package idempotency keeps what became of calls that carry an idempotency key, so that a call that comes again acts
// once. It does not know what calls are: the files idempotency.go of the runtime and of the faces decide what a call
// that comes again gets.
package idempotency

import (
	"sync"
	"time"
)

const (
	// Keep is how long a key is known after its call has ended.
	Keep = time.Hour
	// Most bounds the ended calls that are known.
	Most = 10_000
	// LongestKey bounds a key, in bytes.
	LongestKey = 200
	// mostBytes bounds the values that are kept whole. The oldest are cut first; their keys stay known.
	mostBytes = 8 << 20
)

// Value is what is kept of a call.
type Value[V any] interface {
	// Size is about how many bytes it takes.
	Size() int
	// Cut is the value without what makes it large.
	Cut() V
}

// Store knows the calls of one session by their keys. The zero value is empty and ready. It is safe for concurrent use.
type Store[V Value[V]] struct {
	mu    sync.Mutex
	byKey map[string]*Entry[V]
	ended []*Entry[V] // oldest first
	bytes int
	cut   int // how many at the front of ended are cut
}

// Entry is one call.
type Entry[V Value[V]] struct {
	key     string
	digest  uint64
	store   *Store[V]
	value   V
	size    int       // of value, 0 once it is cut
	endedAt time.Time // zero while it runs
	free    bool      // it did nothing: the key is that of the next call
	waiting []func(V)
}

// Found says what a store knows of a key.
type Found int

// What a store knows of a key.
const (
	New     Found = iota // nothing: the call is entered
	Running              // the same call has not ended
	Ended                // the same call has ended
	Other                // the key belongs to a call with other arguments
)

// Begin enters a call, unless its key is known. digest tells calls with other arguments apart, and about is the value
// until the call ends. The value of a call that has ended is returned.
func (s *Store[V]) Begin(key string, digest uint64, about V) (*Entry[V], V, Found) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(time.Now())
	if e := s.byKey[key]; e != nil && !e.free {
		switch {
		case e.digest != digest:
			return e, e.value, Other
		case e.endedAt.IsZero():
			return e, e.value, Running
		}
		return e, e.value, Ended
	}
	e := &Entry[V]{key: key, digest: digest, store: s, value: about}
	if s.byKey == nil {
		s.byKey = map[string]*Entry[V]{}
	}
	s.byKey[key] = e
	return e, about, New
}

// forget drops what is too old or too many. s.mu is held.
func (s *Store[V]) forget(now time.Time) {
	n := 0
	for n < len(s.ended) && (now.Sub(s.ended[n].endedAt) > Keep || len(s.ended)-n >= Most) {
		s.bytes -= s.ended[n].size
		if s.byKey[s.ended[n].key] == s.ended[n] {
			delete(s.byKey, s.ended[n].key)
		}
		s.ended[n] = nil
		n++
	}
	s.ended = s.ended[n:]
	s.cut = max(0, s.cut-n)
}

// Values are the values of the calls whose key is wanted, in no order.
func (s *Store[V]) Values(wanted func(key string) bool) []V {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(time.Now())
	var out []V
	for key, e := range s.byKey {
		if wanted(key) {
			out = append(out, e.value)
		}
	}
	return out
}

// End keeps what became of the call, and tells those who wait for it.
func (e *Entry[V]) End(value V) { e.end(value, false) }

// Free is End for a call that did nothing. What became of it is kept, and the next call with its key is a new one.
func (e *Entry[V]) Free(value V) { e.end(value, true) }

func (e *Entry[V]) end(value V, free bool) {
	s := e.store
	s.mu.Lock()
	e.value, e.size = value, value.Size()
	e.endedAt, e.free = time.Now(), free
	s.ended = append(s.ended, e)
	s.bytes += e.size
	for ; s.bytes > mostBytes && s.cut < len(s.ended); s.cut++ {
		old := s.ended[s.cut]
		s.bytes -= old.size
		old.value, old.size = old.value.Cut(), 0
	}
	waiting := e.waiting
	e.waiting = nil
	s.mu.Unlock()
	for _, fn := range waiting {
		fn(value)
	}
}

// Wait calls fn once with what becomes of the call, at once when it has ended.
func (e *Entry[V]) Wait(fn func(V)) {
	e.store.mu.Lock()
	if e.endedAt.IsZero() {
		e.waiting = append(e.waiting, fn)
		e.store.mu.Unlock()
		return
	}
	value := e.value
	e.store.mu.Unlock()
	fn(value)
}
