package plan

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/plan/serve"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/fault"
)

// ServeResult is what became of a program that a plan serves.
type ServeResult struct {
	Command string `json:"command"`
	Ready   string `json:"ready"` // how it is known
	At      string `json:"at,omitempty"`
	// Reused says that it was there before the run, and stays.
	Reused  bool  `json:"reused,omitempty"`
	ReadyMS int64 `json:"ready_ms,omitempty"`
	// Ended is how it ended by itself.
	Ended string `json:"ended,omitempty"`
	// Output is the end of what it printed, of a case that failed.
	Output string `json:"output,omitempty"`
}

// Apps are the programs that the plans of a run serve. They start with Start and end with Stop;
// cases only look at them. A run without Apps starts none: whose plan comes from elsewhere has none.
type Apps struct {
	secrets *mask.Set
	say     func(string)

	mu      sync.Mutex
	started map[string]*servedApp
	order   []*servedApp
}

// servedApp is one of them; err is why it is not there.
type servedApp struct {
	running *serve.Running
	err     *fault.Error
	printed string // by one that is not there
}

// NewApps makes the programs of a run. secrets, which may be nil, are what their environments may
// have; say tells people what is used as it is.
func NewApps(secrets *mask.Set, say func(string)) *Apps {
	return &Apps{secrets: secrets, say: say, started: map[string]*servedApp{}}
}

// Start starts what the cases of a suite need and what is not there yet, one after the other. What
// cannot be started fails the cases that need it.
func (a *Apps) Start(ctx context.Context, s *Suite) {
	for _, c := range s.Cases {
		secrets := a.secrets
		if own := s.own[c.Plan.Path()]; own != nil {
			secrets = own
		}
		c.Serves(func(_ *spec.Plan, one *spec.Serve) {
			key, expanded, err := keyOf(c, *one)
			if err != nil || ctx.Err() != nil {
				return // the case says it
			}
			a.mu.Lock()
			known := a.started[key]
			a.mu.Unlock()
			if known != nil && known.err == nil && known.running.Ended() == "" {
				return
			}
			app := a.start(ctx, expanded, secrets)
			a.mu.Lock()
			defer a.mu.Unlock()
			a.started[key] = app
			a.order = append(a.order, app)
		})
	}
}

func (a *Apps) start(ctx context.Context, s spec.Serve, secrets *mask.Set) *servedApp {
	app := serve.App{
		Shell:   s.Command.Shell,
		Program: s.Command.Program,
		Dir:     s.Dir,
		URL:     s.URL,
		Port:    s.Port,
		Timeout: time.Duration(s.Timeout),
		Fresh:   s.Reuse != nil && !*s.Reuse,
	}
	if s.Output != "" {
		match, err := regexp.Compile(s.Output)
		if err != nil { // one with a variable in it
			return &servedApp{err: fault.New(fault.InvalidInput, "output: %v", err)}
		}
		app.Output = match
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		value, err := secrets.Reveal(s.Env[name], s.URL)
		if err != nil {
			return &servedApp{err: fault.From(err)}
		}
		app.Env = append(app.Env, name+"="+value)
	}
	running, err := serve.Start(ctx, app)
	if err != nil {
		f := fault.From(err)
		printed, _ := f.Evidence["output"].(string)
		return &servedApp{err: a.secrets.Fault(f), printed: a.secrets.Mask(printed)}
	}
	if running.Reused && a.say != nil {
		a.say(s.Ready() + " answers already: it is used as it is, and " + s.Command.String() + " is not started")
	}
	return &servedApp{running: running}
}

// Stop ends what was started, the last first.
func (a *Apps) Stop() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, app := range slices.Backward(a.order) {
		if app.running != nil {
			app.running.Stop()
		}
	}
	a.order, a.started = nil, map[string]*servedApp{}
}

// of is the program that a case needs, nil when this run does not start programs.
func (a *Apps) of(key string) *servedApp {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.started[key]
}

// keyOf is what makes two programs one: all that plans say of them.
func keyOf(c *spec.Case, s spec.Serve) (string, spec.Serve, error) {
	scope := spec.Scope{Vars: c.Scope.Vars, Env: c.Scope.Env, Row: c.Scope.Row}
	if err := s.Expand(&scope); err != nil {
		return "", s, err
	}
	raw, err := json.Marshal(struct {
		spec.Serve
		Dir string
	}{s, s.Dir})
	return string(raw), s, err
}

// serves begins a case: what it needs has to be there.
func (r *run) serves() {
	r.c.Serves(func(_ *spec.Plan, s *spec.Serve) {
		if r.stopped {
			return
		}
		key, expanded, err := keyOf(r.c, *s)
		if err != nil {
			r.stop("serve", fault.New(fault.InvalidInput, "%s", err.Error()), s.At)
			return
		}
		app := r.o.Apps.of(key)
		result := ServeResult{
			Command: r.o.Secrets.Mask(expanded.Command.String()),
			Ready:   r.o.Secrets.Mask(expanded.Ready()),
			At:      s.At.String(),
		}
		switch {
		case app == nil:
			r.stop("serve", fault.New(
				fault.PermissionDenied, "this run starts no programs, and the plan serves %s", expanded.Command,
			), s.At)
		case app.err != nil:
			result.Output = app.printed
			r.stop("serve", app.err.Clone(), s.At)
		default:
			result.Reused = app.running.Reused
			result.ReadyMS = app.running.Ready.Milliseconds()
			result.Ended = app.running.Ended()
			if result.Ended != "" {
				result.Output = r.o.Secrets.Mask(app.running.Output())
				r.stop("serve", fault.New(fault.HandlerFailed, "the app ended by itself: %s", result.Ended), s.At)
			}
			r.apps = append(r.apps, caseApp{app, s.At, len(r.served)})
		}
		r.served = append(r.served, result)
	})
}

// caseApp is a program that a case uses.
type caseApp struct {
	*servedApp
	at     spec.Place
	result int // in served
}

// settleApps adds to a case that failed what its programs printed, and which of them are gone.
func (r *run) settleApps(failed bool) []ServeResult {
	for _, app := range r.apps {
		result := &r.served[app.result]
		if !failed || result.Ended != "" {
			continue
		}
		result.Output = r.o.Secrets.Mask(app.running.Output())
		result.Ended = app.running.Ended()
		if result.Ended != "" {
			r.stop("serve", fault.New(
				fault.HandlerFailed, "the app ended by itself while the case ran: %s", result.Ended,
			), app.at)
		}
	}
	return r.served
}

// appTexts are what programs printed, for a report.
func (c CaseResult) appTexts() []report.Text {
	var out []report.Text
	for _, s := range c.Serve {
		if s.Output != "" {
			out = append(out, report.Text{Title: "output of " + s.Command, Body: s.Output})
		}
	}
	return out
}
