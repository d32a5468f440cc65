package record

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/internal/jsonout"
)

// Sink keeps entries. Its methods are called one at a time.
type Sink interface {
	// Has reports whether a resource is kept.
	Has(name string) bool
	// Resource is called before the first event that names it, once or more often.
	Resource(r Resource) error
	// Event gets an event, its line without the line end, and the resources that it names.
	Event(e Event, line []byte, names []string) error
}

// Resource is content that events name.
type Resource struct {
	Name   string `json:"resource"`
	Type   string `json:"type"`
	Size   int    `json:"size"`
	Stored int    `json:"stored"`
	Coding string `json:"coding,omitempty"` // gzip, or "" for none
	data   []byte // as stored
}

// Log numbers events, takes what is secret out of them, and gives them to its sinks. It is safe for
// concurrent use.
type Log struct {
	start time.Time
	mask  func([]byte) []byte // nil for nothing
	// Strings masks the strings alone of an event that mask made unreadable, when a secret
	// is a word or a number of the event itself. It is set before the first event, or nil.
	Strings func([]byte) []byte

	mu      sync.Mutex
	seq     int64
	sinks   []Sink
	dropped int
	err     error
}

// NewLog begins a recording. mask takes what is secret out of text and JSON; it may be nil.
func NewLog(header Header, mask func([]byte) []byte, sinks ...Sink) *Log {
	if header.Started.IsZero() {
		header.Started = time.Now()
	}
	header.Format, header.Version = Format, Version
	l := &Log{start: header.Started, mask: mask, sinks: sinks}
	l.Put(KindRecording, 0, header)
	return l
}

// T is the time of an instant in the recording.
func (l *Log) T(at time.Time) float64 {
	return float64(at.Sub(l.start).Microseconds()) / 1000
}

// Put adds an event of this moment. resources are the names in data.
func (l *Log) Put(kind Kind, tab int, data any, resources ...string) {
	l.PutAt(time.Now(), kind, tab, data, resources...)
}

// PutAt is Put for an instant that has passed.
func (l *Log) PutAt(at time.Time, kind Kind, tab int, data any, resources ...string) {
	raw, err := jsonout.Line(data)
	if err == nil && l.mask != nil {
		raw, err = l.masked(raw, kind, data)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failed(err)
		return
	}
	l.seq++
	e := Event{Seq: l.seq, T: l.T(at), Kind: kind, Tab: tab, Data: raw}
	line, err := jsonout.Line(e)
	if err != nil {
		l.failed(err)
		return
	}
	for _, s := range l.sinks {
		if err := s.Event(e, line, resources); err != nil {
			l.failed(err)
		}
	}
}

// masked is an event without what is secret, as its readers expect it.
func (l *Log) masked(raw []byte, kind Kind, data any) ([]byte, error) {
	out := l.mask(raw)
	readable := func() bool {
		return bytes.Equal(out, raw) || json.Unmarshal(out, reflect.New(reflect.TypeOf(data)).Interface()) == nil
	}
	if !readable() && l.Strings != nil {
		out = l.Strings(raw)
	}
	if !readable() {
		return nil, fmt.Errorf("an event of kind %s cannot be read after masking", kind)
	}
	return out, nil
}

// Keep stores content and returns its name. Text is masked.
func (l *Log) Keep(mediaType string, data []byte) string {
	if l.mask != nil && textual(mediaType) {
		data = l.mask(data)
	}
	name := nameOf(mediaType, data)
	if l.Has(name) {
		return name
	}
	r := newResource(name, mediaType, data)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.sinks {
		if err := s.Resource(r); err != nil {
			l.failed(err)
		}
	}
	return name
}

// Has reports whether every sink has a resource. A ring forgets those that no event names any more.
func (l *Log) Has(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.sinks {
		if !s.Has(name) {
			return false
		}
	}
	return true
}

// Finish adds the last event and returns the first error.
func (l *Log) Finish() error {
	l.mu.Lock()
	end := End{Events: l.seq, Dropped: l.dropped}
	l.mu.Unlock()
	l.Put(KindEnd, 0, end)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// failed counts what was not written; l.mu is held.
func (l *Log) failed(err error) {
	l.dropped++
	if l.err == nil {
		l.err = err
	}
}

// textual: content of the type can be searched for what is secret.
func textual(mediaType string) bool {
	mediaType, _, _ = strings.Cut(strings.ToLower(mediaType), ";")
	switch {
	case strings.HasPrefix(mediaType, "text/"), strings.HasSuffix(mediaType, "+json"),
		strings.HasSuffix(mediaType, "+xml"):
		return true
	}
	switch mediaType {
	case "application/json", "application/javascript", "application/xml", "application/x-www-form-urlencoded",
		"application/x-javascript", "":
		return true
	}
	return strings.HasPrefix(mediaType, "multipart/")
}

func nameOf(mediaType string, data []byte) string {
	sum := sha256.New()
	sum.Write([]byte(mediaType + "\n"))
	sum.Write(data)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

func newResource(name, mediaType string, data []byte) Resource {
	r := Resource{Name: name, Type: mediaType, Size: len(data), data: data}
	if len(data) > 256 && (textual(mediaType) || strings.HasPrefix(mediaType, "image/svg")) {
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is one of its own
		_, _ = w.Write(data)                            // to memory
		_ = w.Close()
		if b.Len() < len(data) {
			r.data, r.Coding = b.Bytes(), "gzip"
		}
	}
	r.Stored = len(r.data)
	return r
}
