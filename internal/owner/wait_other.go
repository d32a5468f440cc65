//go:build !linux

package owner

import "context"

// Wait returns when the process has ended, or ctx.
func (p Process) Wait(ctx context.Context) { p.poll(ctx) }
