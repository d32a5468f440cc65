package signal

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/outrider-run/outrider/sites"
)

// Listed is a signal of the page as agents see it.
type Listed struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Event       string          `json:"event"`
	Ingestion   string          `json:"ingestion"`
	Enabled     bool            `json:"enabled"` // in this tab
	Payload     json.RawMessage `json:"payload_schema,omitempty"`
	Forwarded   int             `json:"forwarded"`
	Dropped     map[string]int  `json:"dropped,omitempty"` // by reason
	MapPath     string          `json:"map_path"`
}

// List lists the signals that maps offer, as agents see them.
func (t *Signals) List(l *sites.Library, applying []*sites.Map) []Listed {
	out := []Listed{}
	for _, s := range OfferedBy(l, applying) {
		if slices.ContainsFunc(out, func(o Listed) bool { return o.Name == s.Name }) {
			continue
		}
		row := Listed{
			Name:        s.Name,
			Description: s.Signal.Description,
			Event:       s.Signal.Event,
			Ingestion:   s.Signal.Ingestion,
			Enabled:     t.ListensTo(s),
			Payload:     s.Signal.Payload,
			MapPath:     s.In.Path,
		}
		t.mu.Lock()
		if y := t.tallies[s.Name]; y != nil {
			row.Forwarded, row.Dropped = y.forwarded, maps.Clone(y.dropped)
		}
		t.mu.Unlock()
		out = append(out, row)
	}
	return out
}

// Enable says for this tab whether a signal is forwarded.
func (t *Signals) Enable(ctx context.Context, name string, on bool) {
	t.mu.Lock()
	if t.switched == nil {
		t.switched = map[string]bool{}
	}
	t.switched[name] = on
	t.mu.Unlock()
	t.hub.Relisten(ctx)
}
