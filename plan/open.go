package plan

import (
	"encoding/json"
	"fmt"

	"github.com/outrider-run/outrider/plan/spec"
	bare "github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// badStatus is the HTTP status of the document that was opened, when it is one of an
// error; else 0. A file has no status.
func badStatus(reply runtime.Reply) int {
	var out struct {
		Status int `json:"status"`
	}
	if reply.Err != nil || json.Unmarshal(reply.Output, &out) != nil || out.Status < 400 {
		return 0
	}
	return out.Status
}

// refusal is the failure of a document that was opened and has the status of an error.
func (r *run) refusal(address string, reply runtime.Reply, status int) *fault.Error {
	if text, err := r.scope.Text(address); err == nil {
		address = text
	}
	return r.o.Secrets.Fault(fault.New(
		fault.NavigationFailed, "open %s: HTTP status %d, expected one below 400",
		fault.Clip(bare.WithoutUser(address), 200),
		status,
	).
		With("http_status", status).With("url", reply.URL).
		Next(fmt.Sprintf("where the page is meant to answer so, say it: expect: {status: %d}", status)))
}

// judges reports whether a step looks at the status of the document that is opened for it:
// it expects that one, or is a check, which judges it.
func judges(x *spec.Step, status int) bool {
	if x.Check {
		return true
	}
	for _, e := range x.Expect {
		if x.Request != nil && e.Status != 0 {
			return true
		}
		if e.Status == status || x.Action+x.State+x.Call == "" && e.Judges("output.status") {
			return true
		}
	}
	return false
}

// judgesOpen is judges for what a plan opens: its first step has to be about that document.
func judgesOpen(steps []spec.Step, status int) bool {
	return len(steps) > 0 && steps[0].Open+steps[0].Session+steps[0].Tab == "" && judges(&steps[0], status)
}
