package mcp

import (
	"context"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/runtime"
)

// maxSteps bounds the steps of one call that wait to be sent.
const maxSteps = 16

// reporter reports to a client that asked for it which step a call has reached. All that it
// sends is sent before the result of the call. The host must not be blocked: of a client
// that takes them slowly the oldest steps are left out, never the newest.
type reporter struct {
	send    func(n float64, message string)
	sending sync.WaitGroup

	mu    sync.Mutex
	steps []string
	ended bool
	wake  chan struct{} // buffered, 1; nil when no client asked for progress
}

func newReporter(ctx context.Context, req *sdk.CallToolRequest) *reporter {
	token := req.Params.GetProgressToken()
	if token == nil {
		return &reporter{}
	}
	return startReporter(func(n float64, message string) {
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token,
			Progress:      n,
			Message:       message,
		})
	})
}

func startReporter(send func(n float64, message string)) *reporter {
	r := &reporter{send: send, wake: make(chan struct{}, 1)}
	r.sending.Go(r.run)
	return r
}

func (r *reporter) run() {
	n := 0.0
	for range r.wake {
		for {
			r.mu.Lock()
			if len(r.steps) == 0 {
				ended := r.ended
				r.mu.Unlock()
				if ended {
					return
				}
				break
			}
			message := r.steps[0]
			r.steps = r.steps[1:]
			r.mu.Unlock()
			n++
			r.send(n, message)
		}
	}
}

func (r *reporter) progress(p runtime.Progress) {
	if r.wake == nil {
		return
	}
	message := strings.TrimSpace(p.Step + " " + p.Primitive)
	if message == "" {
		message = p.Phase
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.steps = append(r.steps, message)
	if len(r.steps) > maxSteps {
		r.steps = r.steps[1:]
	}
	r.notify()
}

func (r *reporter) notify() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// end returns after what was taken has been sent.
func (r *reporter) end() {
	if r.wake == nil {
		return
	}
	r.mu.Lock()
	r.ended = true
	r.notify()
	r.mu.Unlock()
	r.sending.Wait()
}
