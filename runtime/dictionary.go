package runtime

import (
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
)

// DictionaryEntry is what a face needs to know of one primitive.
type DictionaryEntry struct {
	Name    string
	Summary string
	Class   string // capability class: portable, privileged, mixed, debug, bridge, host
	// Acts means that it can change the page; others only read.
	Acts         bool
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage // of the payload, without its envelope
}

// Dictionary lists the primitives of this host by name.
func (h *Host) Dictionary() []DictionaryEntry { return Dictionary(h.opts.Registry) }

// Dictionary lists the primitives of a registry by name.
func Dictionary(reg *primitives.Registry) []DictionaryEntry {
	records := reg.Records()
	out := make([]DictionaryEntry, len(records))
	for i, r := range records {
		out[i] = DictionaryEntry{r.Name, r.Summary, r.Class, r.Acts, r.InputSchema, r.OutputSchema}
	}
	return out
}
