package record

import (
	"bytes"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/outrider-run/outrider/internal/jsonout"
)

// Ring is a sink that remembers the last minutes. What is older, or more than fits, is forgotten; the
// first event, the maps and the newest state of each tab that is open stay. All that is kept counts.
type Ring struct {
	age   float64 // milliseconds
	limit int     // bytes

	mu        sync.Mutex
	head      *kept
	retained  map[string]kept // what a reader needs of what is forgotten, by kind and subject
	events    []kept
	bytes     int
	resources map[string]*held
}

type kept struct {
	event Event
	line  []byte
	names []string
}

type held struct {
	Resource
	uses int
}

// NewRing remembers what is not older than age and takes no more than limit bytes.
func NewRing(age time.Duration, limit int) *Ring {
	return &Ring{
		age:       float64(age.Milliseconds()),
		limit:     limit,
		retained:  map[string]kept{},
		resources: map[string]*held{},
	}
}

// Has implements Sink.
func (r *Ring) Has(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.resources[name] != nil
}

// Resource implements Sink.
func (r *Ring) Resource(res Resource) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.resources[res.Name] == nil {
		r.resources[res.Name] = &held{Resource: res}
		r.bytes += res.Stored
	}
	return nil
}

// Event implements Sink.
func (r *Ring) Event(e Event, line []byte, names []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	// A line has the data of its event in it: they are held once, and without the room that an encoder leaves.
	line = bytes.Clone(line)
	if i := bytes.LastIndex(line, e.Data); i >= 0 && len(e.Data) > 0 {
		e.Data = line[i : i+len(e.Data) : i+len(e.Data)]
	}
	k := kept{e, line, names}
	for _, n := range names {
		if h := r.resources[n]; h != nil {
			h.uses++
		}
	}
	if e.Kind == KindRecording {
		r.head = &k
		return nil
	}
	r.events = append(r.events, k)
	r.bytes += k.size()
	for len(r.events) > 1 && (r.bytes > r.limit || e.T-r.events[0].event.T > r.age) {
		r.forget(r.events[0])
		r.events[0] = kept{}
		r.events = r.events[1:]
	}
	return nil
}

// size is what an event takes: its line, which has its data in it, and what is held of an event beside that.
func (k kept) size() int { return len(k.line) + keptBeside }

const keptBeside = 160

// forget takes an event out, or keeps it as the newest about its subject; r.mu is held. A tab that
// is gone has no newest state.
func (r *Ring) forget(k kept) {
	subject := retainedSubject(k.event)
	if subject == "" {
		r.drop(k)
		return
	}
	if old, there := r.retained[subject]; there {
		r.drop(old)
		delete(r.retained, subject)
	}
	if removed(k.event) {
		r.drop(k)
		return
	}
	r.retained[subject] = k
}

// drop forgets an event and what only it needs; r.mu is held.
func (r *Ring) drop(k kept) {
	r.bytes -= k.size()
	r.release(k.names)
}

// removed says that an event is the last of its tab.
func removed(e Event) bool {
	var tab Tab
	return e.Kind == KindTab && json.Unmarshal(e.Data, &tab) == nil && tab.State == "removed"
}

func (r *Ring) release(names []string) {
	for _, n := range names {
		h := r.resources[n]
		if h == nil {
			continue
		}
		if h.uses--; h.uses <= 0 {
			r.bytes -= h.Stored
			delete(r.resources, n)
		}
	}
}

// retainedSubject names what an event says the newest about, "" for what need not be remembered.
func retainedSubject(e Event) string {
	switch e.Kind {
	case KindMap:
		var m Map
		if json.Unmarshal(e.Data, &m) == nil && m.Call == "" {
			return "map\x00" + strconv.Itoa(m.Root) + "\x00" + m.Path
		}
	case KindTab:
		return "tab\x00" + strconv.Itoa(e.Tab)
	case KindHost:
		return "host"
	}
	return ""
}

// all lists what is remembered, oldest first; r.mu is held.
func (r *Ring) all() []kept {
	var out []kept
	if r.head != nil {
		out = append(out, *r.head)
	}
	for _, k := range r.retained {
		out = append(out, k)
	}
	byNumber(out)
	return append(out, r.events...)
}

// Events are the events that are remembered, oldest first.
func (r *Ring) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all()
	out := make([]Event, len(all))
	for i, k := range all {
		out[i] = k.event
	}
	return out
}

// Data is the content of a resource that an event names.
func (r *Ring) Data(name string) ([]byte, bool) {
	r.mu.Lock()
	h := r.resources[name]
	r.mu.Unlock()
	if h == nil {
		return nil, false
	}
	data, err := h.content()
	return data, err == nil
}

// Save writes what is remembered as a recording and returns how many events it has.
func (r *Ring) Save(path string) (int, error) {
	f, err := Create(path)
	if err != nil {
		return 0, err
	}
	n, err := r.Write(f)
	if closing := f.Close(); err == nil {
		err = closing
	}
	return n, err
}

// Write writes what is remembered as a whole recording, and returns how many events it has.
func (r *Ring) Write(f *File) (int, error) {
	r.mu.Lock()
	all := r.all()
	resources := make(map[string]Resource, len(r.resources))
	for n, h := range r.resources {
		resources[n] = h.Resource
	}
	since, last := 0.0, Event{}
	if len(r.events) > 0 {
		since, last = r.events[0].event.T, r.events[len(r.events)-1].event
	}
	r.mu.Unlock()
	for i, k := range all {
		if k.event.Kind == KindRecording {
			if header, err := Of[Header](k.event); err == nil {
				header.Since = since
				k.line, err = lineOf(&k.event, header)
				if err != nil {
					return i, err
				}
			}
		}
		for _, n := range k.names {
			if res, ok := resources[n]; ok {
				if err := f.Resource(res); err != nil {
					return i, err
				}
			}
		}
		if err := f.Event(k.event, k.line, nil); err != nil {
			return i, err
		}
	}
	if last.Kind == KindEnd {
		return len(all), nil
	}
	end := Event{Seq: last.Seq + 1, T: last.T, Kind: KindEnd}
	line, err := lineOf(&end, End{Events: int64(len(all))})
	if err != nil {
		return len(all), err
	}
	return len(all) + 1, f.Event(end, line, nil)
}

// lineOf gives an event data, and returns it as a line.
func lineOf(e *Event, data any) ([]byte, error) {
	raw, err := jsonout.Line(data)
	if err != nil {
		return nil, err
	}
	e.Data = raw
	return jsonout.Line(e)
}
