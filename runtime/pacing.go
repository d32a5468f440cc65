package runtime

import (
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// extensionPacing is the least distance between two human-visible actions in
// the Chrome extension, until runtime.configure_pacing changes it.
const extensionPacing = 500 * time.Millisecond

// paced reports whether a call is a human-visible action. The extension paces what its
// page does, not what it sends to the browser.
func (h *Host) paced(record *primitives.Record, args json.RawMessage) bool {
	if !record.Paced || !h.opts.Quirks.Has(quirks.DefaultPacing) {
		return record.Paced
	}
	var in struct {
		Trusted bool `json:"trusted"`
	}
	return json.Unmarshal(args, &in) != nil || !in.Trusted
}

// pacing is the pacing of a new tab.
func (h *Host) pacing() time.Duration {
	switch {
	case h.opts.Pacing != nil:
		return *h.opts.Pacing
	case h.opts.Quirks.Has(quirks.DefaultPacing):
		return extensionPacing
	}
	return 0
}
