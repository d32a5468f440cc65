package runtime

import (
	"time"

	"github.com/outrider-run/outrider/primitives/quirks"
)

// extensionPacing is the least distance between two human-visible actions in
// the Chrome extension, until runtime.configure_pacing changes it.
const extensionPacing = 500 * time.Millisecond

// pacing is what a tab begins with.
func (h *Host) pacing() time.Duration {
	if h.opts.Pacing == 0 && h.opts.Quirks.Has(quirks.DefaultPacing) {
		return extensionPacing
	}
	return h.opts.Pacing
}
