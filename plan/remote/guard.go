package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

// guard asks the fleet before each call that can change something: after the fleet said
// yes, no other worker does the same call for this job.
type guard struct {
	to    worker.Reporter
	reads map[string]bool // calls that only read
	// setups says that a map has steps in its checks.
	setups bool

	mu   sync.Mutex
	step fleet.Step
}

func newGuard(dictionary []runtime.DictionaryEntry, to worker.Reporter, maps []string) *guard {
	g := &guard{to: to, reads: map[string]bool{}, setups: anySetup(maps)}
	for _, d := range dictionary {
		g.reads[d.Name] = !d.Acts
	}
	// Going to an address is a read by the rules of HTTP, as opening the plan's
	// first page is. A new session is given its storage before it has seen the site.
	g.reads["browser.navigate"], g.reads["storage_state.set"] = true, true
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

// do makes a call on a host, if the fleet lets it.
func (g *guard) do(ctx context.Context, h plan.Host, call runtime.Call) runtime.Reply {
	if g.acts(call) {
		if err := g.ask(ctx, call.Name); err != nil {
			return runtime.Reply{ID: call.ID, Err: fault.From(err)}
		}
	}
	return h.Do(ctx, call)
}

// ask asks the fleet whether the step may do something that changes something.
func (g *guard) ask(ctx context.Context, what string) error {
	g.mu.Lock()
	s := g.step
	g.mu.Unlock()
	s.Call = what
	return g.to.Act(ctx, s)
}

// guarded is a browser with a guard before its sessions. What a session can do beside
// its interface is not on offer: opening files of this machine.
type guarded struct {
	plan.Browser
	guard *guard
}

func (b guarded) Session(ctx context.Context, first bool) (plan.Session, error) {
	s, err := b.Browser.Session(ctx, first)
	if err != nil {
		return nil, err
	}
	return guardedSession{s, b.guard}, nil
}

type guardedSession struct {
	plan.Session
	guard *guard
}

func (s guardedSession) Do(ctx context.Context, call runtime.Call) runtime.Reply {
	return s.guard.do(ctx, s.Session, call)
}

// Request asks the fleet first for one that can change something, by the rules of HTTP.
func (s guardedSession) Request(ctx context.Context, q browser.HTTPRequest) (browser.HTTPAnswer, error) {
	if q.Method != http.MethodGet && q.Method != http.MethodHead && q.Method != http.MethodOptions {
		if err := s.guard.ask(ctx, "request "+q.Method); err != nil {
			return browser.HTTPAnswer{}, err
		}
	}
	return s.Session.Request(ctx, q)
}

// guardedHost is a host with a guard before it.
type guardedHost struct {
	plan.Host
	guard *guard
}

func (h guardedHost) Do(ctx context.Context, call runtime.Call) runtime.Reply {
	return h.guard.do(ctx, h.Host, call)
}

// acts reports whether a call can change something. What is not known does.
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

// anySetup reports whether a map could have checks with steps. It reads no maps: a word
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
