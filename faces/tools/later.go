package tools

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

const (
	// longestLater is how long after an action a page's changes are told as its own; the watch in the page ends then.
	longestLater = 10 * time.Second
	// laterQuiet is how long a page must not change until a wait without conditions ends.
	laterQuiet = 80 * time.Millisecond
)

// watcher is the client as the runtime knows it.
func (c *Call) watcher() string { return "agent " + c.Client }

// noteAct notes that the client has acted on a page, so that its next answer says what came later.
func (c *Call) noteAct(p page) { c.set.acted.set(p.handle()+" "+c.Client, time.Now()) }

// readLater takes what came of the client's actions on a page since its last answer. quiet is how long the page must
// not change until then, 0 for what there is.
func (c *Call) readLater(ctx context.Context, p page, quiet time.Duration) {
	key := p.handle() + " " + c.Client
	at, acted := c.set.acted.get(key)
	if !acted {
		return
	}
	args := map[string]any{"quiet_ms": quiet.Milliseconds()}
	value, _, err := c.do(ctx, p, runtime.LaterEffects, args, where{})
	if err != nil {
		return // a dialog, or the page is gone: the call itself says so
	}
	if time.Since(at) > longestLater {
		c.set.acted.remove(key)
	}
	var reports []followed
	if json.Unmarshal(value, &reports) != nil {
		return
	}
	c.tellLater(p, reports)
	c.later = append(c.later, c.complaints(ctx, p)...)
}

// tellLater words reports of what came after an answer.
func (c *Call) tellLater(p page, reports []followed) {
	for _, f := range reports {
		if f.Requests != nil {
			f.Requests.Pending = 0 // nobody waits for them
		}
		c.later = append(c.later, f.seen(p, nil)...)
		c.awaitDownloads(p, f)
	}
}

// laterOfFailure takes what came of earlier actions from an action that failed.
func (c *Call) laterOfFailure(p page, err *fault.Error) {
	f, ok := reportOf(err)
	if !ok {
		return
	}
	c.tellLater(p, f.Earlier)
	f.wordEffects(p, err)
}

// waitQuiet is a wait without conditions: until the page is quiet after an action, for what came of it.
func (c *Call) waitQuiet(ctx context.Context, p page) (*Answer, *fault.Error) {
	c.readLater(ctx, p, laterQuiet)
	out := inBrief(map[string]any{"page": p.handle(), "url": p.tab.URL})
	if len(c.later) == 0 {
		out["followed"] = "nothing since the last answer"
	}
	return &Answer{Result: out}, nil
}
