package primitives

import (
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	// maxTransferSize bounds one item, in bytes, also after appending, where
	// upstream does not look again.
	maxTransferSize = 256 << 10
	// maxTransferItems bounds what a session keeps.
	maxTransferItems   = 256
	defaultTransferTTL = 7200
)

// Transfers is the buffer of a session in which data waits on its way from one
// tab to another, so that it need not pass through the agent. The zero value is
// empty and ready.
type Transfers struct {
	mu    sync.Mutex
	last  int
	items []*transferItem
}

type transferItem struct {
	transferRecord
	value   json.RawMessage
	expires time.Time
}

// transferRecord is what is said of an item without showing it.
type transferRecord struct {
	ID          string          `json:"id"`
	Label       string          `json:"label"`
	Format      string          `json:"format"`
	Source      transferSource  `json:"source"`
	CreatedAt   string          `json:"created_at"`
	ExpiresAt   string          `json:"expires_at"`
	SizeBytes   int             `json:"size_bytes"`
	Redaction   map[string]any  `json:"redaction"`
	Metadata    json.RawMessage `json:"metadata"`
	RecordCount *int            `json:"record_count,omitempty"`
}

type transferSource struct {
	TabID     int    `json:"tab_id"`
	RuntimeID string `json:"runtime_id"`
	URL       string `json:"url"`
}

// transferKey names an item: the id is looked up before the label.
type transferKey struct {
	primitive, label, id string
}

func (k transferKey) fault(code fault.Code, message string) *fault.Error {
	return fault.New(code, "%s", message).With("primitive", k.primitive).With("label", k.label).With("id", k.id)
}

// find runs under the lock. An item that has expired is removed.
func (s *Transfers) find(k transferKey, now time.Time) (*transferItem, *fault.Error) {
	if k.label == "" && k.id == "" {
		return nil, k.fault(fault.TransferLabelRequired, "label or id is needed")
	}
	at := s.index(k)
	if at < 0 {
		return nil, k.fault(fault.TransferLabelNotFound, "no transfer item has this label or id")
	}
	item := s.items[at]
	if !now.Before(item.expires) {
		s.remove(at)
		return nil, k.fault(fault.TransferExpired, "the transfer item is older than its time to live").With("expires_at", item.ExpiresAt)
	}
	return item, nil
}

func (s *Transfers) index(k transferKey) int {
	if k.id != "" {
		for i, item := range s.items {
			if item.ID == k.id {
				return i
			}
		}
	}
	if k.label != "" {
		for i, item := range s.items {
			if item.Label == k.label {
				return i
			}
		}
	}
	return -1
}

func (s *Transfers) remove(at int) { s.items = append(s.items[:at:at], s.items[at+1:]...) }

// get returns a copy of an item.
func (s *Transfers) get(k transferKey) (transferRecord, json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	item, err := s.find(k, time.Now())
	if err != nil {
		return transferRecord{}, nil, err
	}
	return item.transferRecord, item.value, nil
}

// clear removes one item, or all of them without a key.
func (s *Transfers) clear(k transferKey, all bool) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if all {
		n := len(s.items)
		s.items = nil
		return n, nil
	}
	if _, err := s.find(k, time.Now()); err != nil {
		return 0, err
	}
	s.remove(s.index(k))
	return 1, nil
}

// transferDraft is an item to be written.
type transferDraft struct {
	key       transferKey
	format    string
	value     json.RawMessage
	metadata  json.RawMessage
	redaction map[string]any
	ttl       time.Duration
	add       bool
	source    transferSource
}

func (s *Transfers) write(d transferDraft) (transferRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	// What has expired makes room.
	kept := s.items[:0]
	for _, item := range s.items {
		if now.Before(item.expires) {
			kept = append(kept, item)
		}
	}
	clear(s.items[len(kept):])
	s.items = kept
	at := s.index(d.key)
	var item *transferItem
	if d.add && at >= 0 {
		old := s.items[at]
		var before, more []json.RawMessage
		if old.Format != d.format || json.Unmarshal(old.value, &before) != nil || json.Unmarshal(d.value, &more) != nil || before == nil || more == nil {
			return transferRecord{}, d.key.fault(fault.TransferAppendIncompatible, "both items must be lists of the same format").
				With("format", d.format).With("existing_format", old.Format)
		}
		joined, err := json.Marshal(append(before, more...))
		if err != nil {
			return transferRecord{}, d.key.fault(fault.TransferFailed, "the joined items cannot be encoded")
		}
		d.value = plainJSON(joined)
		next := *old
		item = &next
	} else {
		if at < 0 && len(s.items) >= maxTransferItems {
			return transferRecord{}, d.key.fault(fault.TransferFailed, "the session holds too many transfer items").With("max_items", maxTransferItems).
				Next("clear what is not needed any more")
		}
		s.last++
		item = &transferItem{transferRecord: transferRecord{ID: "transfer-" + strconv.Itoa(s.last), Label: d.key.label, Format: d.format, CreatedAt: stamp(now)}}
	}
	size := transferSize(d.value)
	if size > maxTransferSize {
		return transferRecord{}, d.key.fault(fault.TransferPayloadTooLarge, "the transfer item exceeds its byte limit").
			With("size_bytes", size).With("max_bytes", maxTransferSize)
	}
	item.value, item.expires, item.SizeBytes = d.value, now.Add(d.ttl), size
	item.ExpiresAt, item.Source, item.Metadata = stamp(item.expires), d.source, d.metadata
	item.Redaction = map[string]any{}
	for k, v := range d.redaction {
		item.Redaction[k] = v
	}
	item.Redaction["log_payload"] = false
	item.RecordCount = nil
	var list []json.RawMessage
	if json.Unmarshal(d.value, &list) == nil && list != nil {
		n := len(list)
		item.RecordCount = &n
	}
	if at >= 0 {
		s.items[at] = item
	} else {
		s.items = append(s.items, item)
	}
	return item.transferRecord, nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// transferSize is that of the text of a string and of the JSON of anything else.
func transferSize(value json.RawMessage) int {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return len(text)
	}
	return len(value)
}
