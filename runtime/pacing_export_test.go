package runtime

import "time"

// PacingOfNewTabs is what a tab begins with.
func (h *Host) PacingOfNewTabs() time.Duration { return h.pacing() }
