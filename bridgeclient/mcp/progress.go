package mcp

import (
	"context"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/runtime"
)

// reporter tells a client that asked for it which step a call has reached. The
// host must not be held up: what a slow client does not take is left out.
type reporter struct {
	mu      sync.Mutex
	steps   chan string // nil when nobody asked, or the call has ended
	sending sync.WaitGroup
}

func newReporter(ctx context.Context, req *sdk.CallToolRequest) *reporter {
	r := &reporter{}
	token := req.Params.GetProgressToken()
	if token == nil {
		return r
	}
	steps := make(chan string, 16)
	r.steps = steps
	r.sending.Go(func() {
		n := 0.0
		for message := range steps {
			n++
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: message})
		}
	})
	return r
}

func (r *reporter) progress(p runtime.Progress) {
	message := strings.TrimSpace(p.Step + " " + p.Primitive)
	if message == "" {
		message = p.Phase
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.steps == nil {
		return
	}
	select {
	case r.steps <- message:
	default:
	}
}

// end returns after what was taken has been sent.
func (r *reporter) end() {
	r.mu.Lock()
	steps := r.steps
	r.steps = nil
	r.mu.Unlock()
	if steps != nil {
		close(steps)
	}
	r.sending.Wait()
}
