package plan

import (
	"context"
	"strings"
	"time"

	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/runtime"
)

// listsRead are primitives beside those that read the page: they say what has happened so
// far, and can be asked again.
var listsRead = map[string]bool{
	"console.list":  true,
	"cookie.list":   true,
	"download.list": true,
	"network.get":   true,
	"network.list":  true,
	"storage.list":  true,
}

// onlyReads reports whether a step does nothing but read, so that it can be read again.
func onlyReads(x *spec.Step) bool {
	return x.State != "" || runtime.ReadsPage(x.Call) || listsRead[x.Call]
}

// reread reads a step again until its expressions hold, or their time is over. Other
// expectations look at the page themselves, and wait.
func (r *run) reread(
	ctx context.Context, at place, list spec.Expectations, read func(context.Context) runtime.Reply, result *StepResult,
) {
	within := time.Duration(0)
	for _, e := range list {
		if e.Expression != "" {
			within = max(within, withinOf(e))
		}
	}
	if within == 0 || r.falseOfAny(ctx, list, *result) == "" {
		return
	}
	r.poll(ctx, at, within, func() (string, bool) {
		reply := read(ctx)
		if reply.Err != nil {
			return errorText(reply.Err), isPermanent(reply.Err)
		}
		result.URL, result.Output = reply.URL, reply.Output
		return r.falseOfAny(ctx, list, *result), false
	})
}

// falseOfAny is why expressions of a list do not hold, all in one text.
func (r *run) falseOfAny(ctx context.Context, list spec.Expectations, result StepResult) string {
	var out []string
	for _, e := range list {
		if e.Expression != "" {
			out = append(out, r.falseOf(ctx, e, result)...)
		}
	}
	return strings.Join(out, "; ")
}

// withinOf is how long an expectation may take to hold.
func withinOf(e spec.Expectation) time.Duration {
	if e.Within > 0 {
		return time.Duration(e.Within)
	}
	return expectTime
}
