//go:build !linux

package launch

import "time"

// Spent is how much processor time the browser's main process has used, which is not known here.
func (p *Process) Spent() (spent time.Duration, ok bool) { return 0, false }
