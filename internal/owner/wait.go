package owner

import (
	"context"
	"time"
)

// alive reports whether the process is still there.
func (p Process) alive() bool {
	now, err := read(p.PID)
	return err == nil && now.Started == p.Started
}

// poll is Wait where the system gives no event.
func (p Process) poll(ctx context.Context) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for p.alive() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
