package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// guard is a host that asks the fleet before each call that can change something:
// after the fleet said yes, no other worker does the same call for this job.
type guard struct {
	plan.Host
	to    worker.Reporter
	reads map[string]bool // calls that only read
	// setups says that a map has steps in its checks.
	setups bool

	mu   sync.Mutex
	step fleet.Step
}

func newGuard(h Host, to worker.Reporter, maps []string) *guard {
	g := &guard{Host: h, to: to, reads: map[string]bool{}, setups: anySetup(maps)}
	for _, d := range h.Dictionary() {
		g.reads[d.Name] = !d.Acts
	}
	// Going to an address is a read by the rules of HTTP, as opening the plan's
	// first page is.
	g.reads["browser.navigate"] = true
	return g
}

// starts is plan.Options.Starts.
func (g *guard) starts(name string, number, of int) {
	s := fleet.Step{Name: name, Number: number, Of: of}
	g.mu.Lock()
	g.step = s
	g.mu.Unlock()
	g.to.Step(s)
}

// Do implements plan.Host.
func (g *guard) Do(ctx context.Context, call runtime.Call) runtime.Reply {
	if g.acts(call) {
		g.mu.Lock()
		s := g.step
		g.mu.Unlock()
		s.Call = call.Name
		if err := g.to.Act(ctx, s); err != nil {
			return runtime.Reply{ID: call.ID, Err: fault.From(err)}
		}
	}
	return g.Host.Do(ctx, call)
}

// acts says whether a call can change something. What is not known does.
func (g *guard) acts(call runtime.Call) bool {
	if call.Name != runtime.SiteTool {
		return !g.reads[call.Name]
	}
	var in struct {
		Mode string `json:"mode"`
	}
	if json.Unmarshal(call.Arguments, &in) != nil {
		return true
	}
	switch in.Mode {
	case "list", "signals", "attachments", "state_read", "state_summary", "state_diff", "state_watch":
		return false
	case "check":
		return g.setups
	}
	return true
}

// anySetup says whether a map could have checks with steps. It reads no maps: a word
// that stands elsewhere makes a job that is lost end as worker_lost, which is the
// careful side.
func anySetup(maps []string) bool {
	found := false
	for _, m := range maps {
		_ = filepath.WalkDir(m, func(at string, d fs.DirEntry, err error) error {
			if err != nil || found || !d.Type().IsRegular() || filepath.Ext(at) != ".json" {
				return nil
			}
			data, err := os.ReadFile(at)
			found = err != nil || bytes.Contains(data, []byte(`"setup"`))
			return nil
		})
	}
	return found
}
