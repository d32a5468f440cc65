package state

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection"
	"github.com/outrider-run/outrider/runtime/call"
)

// heldFor is how long a state waits for the call of its next page.
const heldFor = time.Minute

// Page says which items of a list of the state a call wants.
type Page struct {
	Rows   *string // JSON pointer of the list; nil for the whole state
	Offset int
	Limit  int // 0 is as many as max_bytes allows
	Hash   string
}

// rowsPage is where a page stands in its list.
type rowsPage struct {
	Rows       string `json:"rows"`
	Offset     int    `json:"offset"`
	Count      int    `json:"count"`
	Total      int    `json:"total"`
	NextOffset *int   `json:"next_offset"` // null behind the last page
}

// rowsReading is the output of state_read with rows.
type rowsReading struct {
	OK          bool            `json:"ok"`
	Projection  string          `json:"projection"`
	StateHash   string          `json:"state_hash"`
	ObservedAt  string          `json:"observed_at"`
	Diagnostics json.RawMessage `json:"diagnostics"`
	Page        rowsPage        `json:"page"`
	Rows        json.RawMessage `json:"rows"`
}

// held is the state that was read for a page, until its last page is handed out or heldFor is over: so the pages
// belong to one moment, and the page is read once. There is one for each tab.
type held struct {
	mu      sync.Mutex
	name    string
	pointer string
	snap    *projection.Snapshot
	rows    *projection.Rows
	expiry  *time.Timer
}

func (h *held) put(name, pointer string, snap *projection.Snapshot, rows *projection.Rows) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget()
	snap.Records = nil
	h.name = name
	h.pointer = pointer
	h.snap = snap
	h.rows = rows
	h.expiry = time.AfterFunc(heldFor, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.snap == snap {
			h.forget()
		}
	})
}

// forget is called with the lock.
func (h *held) forget() {
	if h.expiry != nil {
		h.expiry.Stop()
	}
	h.name = ""
	h.pointer = ""
	h.snap = nil
	h.rows = nil
	h.expiry = nil
}

func (h *held) drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget()
}

func (h *held) get(name, pointer, hash string) (*projection.Snapshot, *projection.Rows) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.snap == nil || h.name != name || h.pointer != pointer || h.snap.Hash != hash {
		return nil, nil
	}
	h.expiry.Reset(heldFor)
	return h.snap, h.rows
}

// page answers state_read with rows.
func (p *Projections) page(ctx context.Context, r stateReader, in Query, options projection.ReadOptions) call.Reply {
	want := in.Page
	snap, rows := p.held.get(in.Projection, *want.Rows, want.Hash)
	if snap == nil {
		options.SkipStateLimit, options.ExpressionBytes = true, options.Limits.Bytes
		_, read, err := r.read(ctx, in.Projection, options)
		if err != nil {
			return call.Reply{Err: err}
		}
		if want.Hash != "" && want.Hash != read.Hash {
			return call.Reply{Err: fault.New(
				fault.StateMismatch, "the state is another one than that of the earlier pages",
			).With("state_hash", read.Hash).With("expected", fault.Clip(want.Hash, 40)).Next(
				"begin again with offset 0 and without state_hash",
			)}
		}
		rows, err = read.Rows(*want.Rows)
		if err != nil {
			return call.Reply{Err: err}
		}
		snap = read
		p.held.put(in.Projection, *want.Rows, snap, rows)
	}
	items, count, err := rows.Page(want.Offset, want.Limit, cmp.Or(options.MaxBytes, projection.DefaultStateBytes))
	if err != nil {
		return call.Reply{Err: err}
	}
	at := rowsPage{Rows: *want.Rows, Offset: want.Offset, Count: count, Total: rows.Len()}
	if next := want.Offset + count; next < rows.Len() {
		at.NextOffset = &next
	} else {
		p.held.drop()
	}
	return call.Encoded(rowsReading{
		OK:          true,
		Projection:  snap.Projection,
		StateHash:   snap.Hash,
		ObservedAt:  jsonout.Time(snap.ObservedAt),
		Diagnostics: snap.Diagnostics,
		Page:        at,
		Rows:        items,
	})
}
