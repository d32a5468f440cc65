package session

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	// maxTransferSize bounds one item, in bytes, also after appending, where
	// upstream does not check again.
	maxTransferSize = 256 << 10
	// maxTransferItems bounds what a session keeps.
	maxTransferItems   = 256
	DefaultTransferTTL = 7200
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
	TransferRecord
	value   json.RawMessage
	expires time.Time
}

// TransferRecord describes an item without showing it.
type TransferRecord struct {
	ID          string          `json:"id"`
	Label       string          `json:"label"`
	Format      string          `json:"format"`
	Source      TransferSource  `json:"source"`
	CreatedAt   string          `json:"created_at"`
	ExpiresAt   string          `json:"expires_at"`
	SizeBytes   int             `json:"size_bytes"`
	SafePreview any             `json:"safe_preview,omitempty"` // what the redaction says may be shown
	Redaction   map[string]any  `json:"redaction"`
	Metadata    json.RawMessage `json:"metadata"`
	RecordCount *int            `json:"record_count,omitempty"`
}

type TransferSource struct {
	TabID     int    `json:"tab_id"`
	FrameID   int    `json:"frame_id"` // 0, the main frame
	RuntimeID string `json:"runtime_id"`
	URL       string `json:"url"`
}

// TransferKey names an item: the id is looked up before the label.
type TransferKey struct {
	Primitive, Label, Id string
}

// Fault is about the item of this key. A part that was not given is null.
func (k TransferKey) Fault(code fault.Code, message string) *fault.Error {
	given := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	return fault.New(code, "%s", message).
		With("primitive", k.Primitive).With("label", given(k.Label)).With("id", given(k.Id))
}

// find runs under the lock. An item that has expired is removed.
func (s *Transfers) find(k TransferKey, now time.Time) (*transferItem, *fault.Error) {
	at := s.index(k)
	if at < 0 {
		return nil, k.Fault(fault.TransferLabelNotFound, "no transfer item has this label or id")
	}
	item := s.items[at]
	if !now.Before(item.expires) {
		s.remove(at)
		return nil, k.Fault(fault.TransferExpired, "the transfer item is older than its time to live").
			With("expires_at", item.ExpiresAt)
	}
	return item, nil
}

func (s *Transfers) index(k TransferKey) int {
	k.Label = strings.TrimSpace(k.Label)
	if k.Id != "" {
		for i, item := range s.items {
			if item.ID == k.Id {
				return i
			}
		}
	}
	if k.Label != "" {
		for i, item := range s.items {
			if item.Label == k.Label {
				return i
			}
		}
	}
	return -1
}

func (s *Transfers) remove(at int) { s.items = append(s.items[:at:at], s.items[at+1:]...) }

// Get returns a copy of an item.
func (s *Transfers) Get(k TransferKey) (TransferRecord, json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	item, err := s.find(k, time.Now())
	if err != nil {
		return TransferRecord{}, nil, err
	}
	return item.TransferRecord, item.value, nil
}

// Clear removes one item, or all of them without a key.
func (s *Transfers) Clear(k TransferKey, all bool) (int, error) {
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

// TransferDraft is an item to be written.
type TransferDraft struct {
	Key       TransferKey
	Format    string
	Value     json.RawMessage
	Metadata  json.RawMessage
	Redaction map[string]any
	Ttl       time.Duration
	Add       bool
	Source    TransferSource
}

func (s *Transfers) Write(d TransferDraft) (TransferRecord, error) {
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
	at := s.index(d.Key)
	var item *transferItem
	if d.Add && at >= 0 {
		old := s.items[at]
		var before, more []json.RawMessage
		if old.Format != d.Format || json.Unmarshal(old.value, &before) != nil ||
			json.Unmarshal(d.Value, &more) != nil || before == nil || more == nil {
			return TransferRecord{}, d.Key.Fault(
				fault.TransferAppendIncompatible, "both items must be lists of the same format",
			).With("format", d.Format).With("existing_format", old.Format)
		}
		joined, err := json.Marshal(append(before, more...))
		if err != nil {
			return TransferRecord{}, d.Key.Fault(fault.TransferFailed, "the joined items cannot be encoded")
		}
		d.Value = arguments.Stringify(joined)
		next := *old
		item = &next
	} else {
		if at < 0 && len(s.items) >= maxTransferItems {
			return TransferRecord{}, d.Key.Fault(fault.TransferFailed, "the session holds too many transfer items").
				With("max_items", maxTransferItems).
				Next("clear what is not needed")
		}
		s.last++
		item = &transferItem{TransferRecord: TransferRecord{
			ID:        "transfer-" + strconv.Itoa(s.last),
			Label:     strings.TrimSpace(d.Key.Label),
			Format:    d.Format,
			CreatedAt: jsonout.Time(now),
		}}
	}
	size := transferSize(d.Value)
	if size > maxTransferSize {
		return TransferRecord{}, d.Key.Fault(fault.TransferPayloadTooLarge, "the transfer item exceeds its byte limit").
			With("size_bytes", size).With("max_bytes", maxTransferSize)
	}
	item.value, item.SizeBytes = d.Value, size
	if d.Add && at >= 0 {
		item.Metadata = mergedMembers(item.Metadata, d.Metadata) // all else stays as it was
	} else {
		item.expires = now.Add(d.Ttl)
		item.Source = d.Source
		item.Metadata = d.Metadata
		item.ExpiresAt = jsonout.Time(item.expires)
		item.Redaction = map[string]any{"log_payload": false}
		maps.Copy(item.Redaction, d.Redaction)
		item.SafePreview = item.Redaction["safe_preview"]
	}
	item.RecordCount = recordCount(d.Value, d.Metadata)
	if item.RecordCount != nil {
		item.Metadata = mergedMembers(item.Metadata, []byte(`{"record_count":`+strconv.Itoa(*item.RecordCount)+`}`))
	}
	if at >= 0 {
		s.items[at] = item
	} else {
		s.items = append(s.items, item)
	}
	return item.TransferRecord, nil
}

// recordCount is the count in the metadata, or the length of a list.
func recordCount(value, metadata json.RawMessage) *int {
	var said struct {
		Count *int `json:"record_count"`
	}
	if json.Unmarshal(metadata, &said) == nil && said.Count != nil {
		return said.Count
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil || list == nil {
		return nil
	}
	n := len(list)
	return &n
}

// mergedMembers is an object with the members of another over its own.
func mergedMembers(object, over json.RawMessage) json.RawMessage {
	members := map[string]json.RawMessage{}
	for _, in := range []json.RawMessage{object, over} {
		if json.Unmarshal(in, &members) != nil || members == nil {
			return object
		}
	}
	out, err := json.Marshal(members)
	if err != nil {
		return object
	}
	return out
}

// transferSize is that of the text of a string and of the JSON of anything else.
func transferSize(value json.RawMessage) int {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return len(text)
	}
	return len(value)
}
