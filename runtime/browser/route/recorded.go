package route

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Recorded is what the requests of a visit were answered with. The zero value has nothing.
// It is safe for concurrent use.
type Recorded[T any] struct {
	mu      sync.Mutex
	entries map[string][]*recorded[T] // by method and address
	wrote   map[string]time.Time      // by document and origin: when the newest write that was answered began
}

type recorded[T any] struct {
	body         []byte
	referrer     string
	began, ended time.Time
	answer       T
	given        bool
}

// Add appends a request and its answer. began and ended are times of the visit, zero when they are not known.
func (r *Recorded[T]) Add(q Request, began, ended time.Time, answer T) {
	q.URL, _, _ = strings.Cut(q.URL, "#")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries == nil {
		r.entries, r.wrote = map[string][]*recorded[T]{}, map[string]time.Time{}
	}
	key := q.Method + " " + q.URL
	r.entries[key] = append(r.entries[key], &recorded[T]{
		body:     q.Body,
		referrer: q.header("Referer"),
		began:    began,
		ended:    ended,
		answer:   answer,
	})
}

// Has reports whether there is a recorded request of a method to an address.
func (r *Recorded[T]) Has(method, address string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.entries[method+" "+address]) > 0
}

// Next is the answer of a request: of those with its method and address the first that
// was not given yet. When all were given it is the last of them again. Before others is
// one with the same body; then one that had not ended before a write that this document
// has made by now, so that a page reads what it wrote, however often it had read before;
// then one that was not given; then one that the same document asked for, because which
// of two frames asks first is chance.
func (r *Recorded[T]) Next(q Request) (answer T, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	referrer, by := q.header("Referer"), writer(q)
	reads := q.Method == http.MethodGet || q.Method == http.MethodHead
	wrote := r.wrote[by]
	stale := func(e *recorded[T]) bool { return reads && !e.ended.IsZero() && e.ended.Before(wrote) }
	var best *recorded[T]
	most := 0
	for _, e := range r.entries[q.Method+" "+q.URL] {
		rank := 0
		for _, fits := range [...]bool{bytes.Equal(e.body, q.Body), !stale(e), !e.given, e.referrer == referrer} {
			rank *= 2
			if fits {
				rank++
			}
		}
		if best == nil || rank > most || rank == most && e.given {
			best, most = e, rank
		}
	}
	if best == nil {
		return answer, false
	}
	best.given = true
	// What a page tells in passing is nothing that it reads.
	writes := !reads && q.Method != http.MethodOptions && q.Type != "Ping" && q.Type != "CSPViolationReport"
	if writes && referrer != "" && best.began.After(wrote) {
		r.wrote[by] = best.began
	}
	return best.answer, true
}

// writer is the document that makes a request, and the origin that it asks.
func writer(q Request) string {
	u, err := url.Parse(q.URL)
	if err != nil {
		return ""
	}
	return q.header("Referer") + " " + u.Scheme + "://" + u.Host
}

// sending are headers that say how an answer was sent, or that stand for later requests.
var sending = []string{
	"content-length", "content-encoding", "transfer-encoding", "connection", "alt-svc", "strict-transport-security",
}

// Resent are the headers of a recorded answer whose body is as the page saw it, without
// those that say how it was sent. Cookies that a recorder has joined are lines of their own.
func Resent(headers []Header) []Header {
	var out []Header
	for _, h := range headers {
		if strings.HasPrefix(h.Name, ":") || slices.Contains(sending, strings.ToLower(h.Name)) {
			continue
		}
		if !strings.EqualFold(h.Name, "set-cookie") {
			out = append(out, h)
			continue
		}
		for line := range strings.SplitSeq(h.Value, "\n") {
			line = strings.TrimSpace(line)
			if line != "" {
				out = append(out, Header{Name: h.Name, Value: line})
			}
		}
	}
	return out
}
