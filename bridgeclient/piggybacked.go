package bridgeclient

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// Limits of what results carry (wire reference, "a11y_announcement").
const (
	maxPiggybacked      = 5    // records in one result
	maxPiggybackedBytes = 1200 // of their texts in one result; one record always fits
	maxWaiting          = 300  // records that wait, for one reader
	repeatWindow        = 2 * time.Second
	replaceWindow       = 5 * time.Second
	deliveryInject      = "inject"
)

// Piggybacked holds announcements of live regions until the next result of a face
// carries them, the oldest first. Each reader has a queue of its own. The zero
// value is empty and ready.
type Piggybacked struct {
	mu      sync.Mutex
	waiting map[string][]waitingRecord // by reader
}

type waitingRecord struct {
	record json.RawMessage
	read   announcementRecord
	at     time.Time
}

// announcementRecord is what Piggybacked reads of a record. Delivery is what our runtime
// says the reader wants. Others say nothing, and get the default: assertive
// records are carried.
type announcementRecord struct {
	Text       string          `json:"text"`
	Politeness string          `json:"politeness"`
	Delivery   string          `json:"delivery"`
	Region     string          `json:"region"`
	RegionRole string          `json:"region_role"`
	Relevant   string          `json:"relevant"`
	Tab        json.RawMessage `json:"tab"` // a number with us, whatever others have
	RuntimeKey string          `json:"runtime_key"`
}

// Add queues the record of an announcement, unless it has no text or is not to be
// carried. A region that speaks again within seconds replaces what still waits.
func (r *Piggybacked) Add(reader string, record json.RawMessage) {
	var read announcementRecord
	if json.Unmarshal(record, &read) != nil {
		return
	}
	byKind := "buffer"
	if read.Politeness == "assertive" {
		byKind = deliveryInject
	}
	if cmp.Or(read.Delivery, byKind) == deliveryInject {
		r.Inject(reader, record)
	}
}

// Inject is Add for a record that is to be carried, whatever it says.
func (r *Piggybacked) Inject(reader string, record json.RawMessage) {
	now := waitingRecord{record: record, at: time.Now()}
	if json.Unmarshal(record, &now.read) != nil || now.read.Text == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	queue := r.waiting[reader]
	for i, old := range slices.Backward(queue) {
		if old.read.Region != now.read.Region || string(old.read.Tab) != string(now.read.Tab) ||
			old.read.RuntimeKey != now.read.RuntimeKey {
			continue
		}
		age := now.at.Sub(old.at)
		if old.read.Text == now.read.Text && age < repeatWindow {
			return
		}
		if age < replaceWindow && now.read.RegionRole != "log" && now.read.Relevant != "additions" {
			queue = slices.Delete(queue, i, i+1)
		}
		break
	}
	if len(queue) == maxWaiting {
		queue = slices.Delete(queue, 0, 1)
	}
	if r.waiting == nil {
		r.waiting = map[string][]waitingRecord{}
	}
	r.waiting[reader] = append(queue, now)
}

// Take returns what the next result for reader carries, nil for nothing.
func (r *Piggybacked) Take(reader string) []json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	queue := r.waiting[reader]
	var out []json.RawMessage
	bytes := 0
	for _, next := range queue {
		bytes += len(next.read.Text)
		if len(out) == maxPiggybacked || len(out) > 0 && bytes > maxPiggybackedBytes {
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

// Forget drops what waits for a reader that has left.
func (r *Piggybacked) Forget(reader string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waiting, reader)
}
