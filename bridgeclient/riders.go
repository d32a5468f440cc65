package bridgeclient

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// Limits of what rides on results (wire reference, "a11y_announcement").
const (
	maxRiders      = 5    // records in one result
	maxRiderBytes  = 1200 // of their texts in one result; one record always fits
	maxRidersWait  = 300  // records that wait, for one reader
	riderRepeat    = 2 * time.Second
	riderReplaces  = 5 * time.Second
	deliveryInject = "inject"
)

// Riders are announcements of live regions that ride on the next result of a
// face, first come, first told. Each reader has a queue of its own. The zero
// value is empty and ready.
type Riders struct {
	mu      sync.Mutex
	waiting map[string][]rider // by reader
}

type rider struct {
	record json.RawMessage
	read   riderRecord
	at     time.Time
}

// riderRecord is what Riders reads of a record. Delivery is what our runtime
// says the reader wants; others say nothing, and get the default: assertive
// records ride.
type riderRecord struct {
	Text       string          `json:"text"`
	Politeness string          `json:"politeness"`
	Delivery   string          `json:"delivery"`
	Region     string          `json:"region"`
	RegionRole string          `json:"region_role"`
	Relevant   string          `json:"relevant"`
	Tab        json.RawMessage `json:"tab"` // a number with us, whatever others have
	RuntimeKey string          `json:"runtime_key"`
}

// Add takes the record of an announcement, unless it has no text or does not
// ride. A region that speaks again within seconds takes back what still waits.
func (r *Riders) Add(reader string, record json.RawMessage) {
	now := rider{record: record, at: time.Now()}
	if json.Unmarshal(record, &now.read) != nil || now.read.Text == "" {
		return
	}
	byKind := "buffer"
	if now.read.Politeness == "assertive" {
		byKind = deliveryInject
	}
	if cmp.Or(now.read.Delivery, byKind) != deliveryInject {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	queue := r.waiting[reader]
	for i, old := range slices.Backward(queue) {
		if old.read.Region != now.read.Region || string(old.read.Tab) != string(now.read.Tab) || old.read.RuntimeKey != now.read.RuntimeKey {
			continue
		}
		age := now.at.Sub(old.at)
		if old.read.Text == now.read.Text && age < riderRepeat {
			return
		}
		if age < riderReplaces && now.read.RegionRole != "log" && now.read.Relevant != "additions" {
			queue = slices.Delete(queue, i, i+1)
		}
		break
	}
	if len(queue) == maxRidersWait {
		queue = slices.Delete(queue, 0, 1)
	}
	if r.waiting == nil {
		r.waiting = map[string][]rider{}
	}
	r.waiting[reader] = append(queue, now)
}

// Take returns what rides on the result that is on its way to reader, nil for
// nothing.
func (r *Riders) Take(reader string) []json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	queue := r.waiting[reader]
	var out []json.RawMessage
	bytes := 0
	for _, next := range queue {
		bytes += len(next.read.Text)
		if len(out) == maxRiders || len(out) > 0 && bytes > maxRiderBytes {
			break
		}
		out = append(out, next.record)
	}
	if len(out) == len(queue) {
		delete(r.waiting, reader)
	} else {
		r.waiting[reader] = slices.Clone(queue[len(out):])
	}
	return out
}

// Forget drops what waits for a reader that is gone.
func (r *Riders) Forget(reader string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waiting, reader)
}
