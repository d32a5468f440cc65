package route

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// Recorded is what the requests of a visit were answered with. The zero value has nothing.
// It is safe for concurrent use.
type Recorded[T any] struct {
	mu      sync.Mutex
	entries map[string][]*recorded[T] // by method and address
}

type recorded[T any] struct {
	body   []byte
	answer T
	given  bool
}

// Add appends a request that had a body, nil for none, and its answer.
func (r *Recorded[T]) Add(method, address string, body []byte, answer T) {
	address, _, _ = strings.Cut(address, "#")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries == nil {
		r.entries = map[string][]*recorded[T]{}
	}
	key := method + " " + address
	r.entries[key] = append(r.entries[key], &recorded[T]{body: body, answer: answer})
}

// Next is the answer of a request: of those with its method and address the first that
// was not given yet, one with the same body before others. When all were given it is the
// last of them again.
func (r *Recorded[T]) Next(q Request) (answer T, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var best *recorded[T]
	rank := func(e *recorded[T]) int {
		n := 0
		if bytes.Equal(e.body, q.Body) {
			n += 2
		}
		if !e.given {
			n++
		}
		return n
	}
	for _, e := range r.entries[q.Method+" "+q.URL] {
		if best == nil || rank(e) > rank(best) || rank(e) == rank(best) && e.given {
			best = e
		}
	}
	if best == nil {
		return answer, false
	}
	best.given = true
	return best.answer, true
}

// sending are headers that say how an answer was sent, or that stand for later requests.
var sending = []string{"content-length", "content-encoding", "transfer-encoding", "connection", "alt-svc", "strict-transport-security"}

// Resent are the headers of a recorded answer whose body is as the page saw it, without
// those that say how it was sent.
func Resent(headers []Header) []Header {
	return slices.DeleteFunc(slices.Clone(headers), func(h Header) bool {
		return strings.HasPrefix(h.Name, ":") || slices.Contains(sending, strings.ToLower(h.Name))
	})
}
