package runtime

import (
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/primitives/upstream"
)

// DictionaryEntry describes one primitive to a face.
type DictionaryEntry struct {
	Name    string
	Summary string
	Class   string // capability class: portable, privileged, mixed, debug, bridge, host
	// Acts means that it can change the page; others only read.
	Acts         bool
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage // of the payload, without its envelope
	// Refused: the profile knows only the primitives of the extension, so that a
	// caller who names this one is refused (quirks.UpstreamVocabulary).
	Refused bool
}

// Dictionary lists the primitives of this host by name.
func (h *Host) Dictionary() []DictionaryEntry {
	out := Dictionary(h.opts.Registry)
	for i := range out {
		out[i].Refused = h.opts.Quirks.Has(quirks.UpstreamVocabulary) && !upstream.Has(out[i].Name)
	}
	return out
}

// Dictionary lists the primitives of a registry by name.
func Dictionary(reg *primitives.Registry) []DictionaryEntry {
	records := reg.Records()
	out := make([]DictionaryEntry, len(records))
	for i, r := range records {
		out[i] = DictionaryEntry{
			Name:         r.Name,
			Summary:      r.Summary,
			Class:        r.Class,
			Acts:         r.Acts,
			InputSchema:  r.InputSchema,
			OutputSchema: r.OutputSchema,
		}
	}
	return out
}
