package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// session is a session of the case with the names of its tabs.
type session struct {
	Session
	tabs    map[string]string // runtime ids by name; "" is the first tab
	watched map[string]bool   // tabs whose console and network are recorded
	// projections are names of projections by the address of a page, see run.projections.
	projections map[string][]string
	routing     bool // it has answered requests, so that its end has to be said
}

// begin makes the first session.
func (r *run) begin(ctx context.Context) {
	if _, err := r.session(ctx, "", nil); err != nil {
		r.stop("start", err, spec.Place{})
	}
}

// session is the session of a name, which is made when it is new. x is the step that needs it.
func (r *run) session(ctx context.Context, name string, x *spec.Step) (made *session, err error) {
	if s := r.sessions[name]; s != nil {
		return s, nil
	}
	defer func() {
		if err != nil && name != "" {
			delete(r.sessions, name) // a retry begins it again
		}
	}()
	return r.newSession(ctx, name, x)
}

func (r *run) newSession(ctx context.Context, name string, x *spec.Step) (*session, error) {
	made, err := r.browser.Session(ctx, name == "")
	if err != nil {
		return nil, err
	}
	s := &session{Session: made, tabs: map[string]string{}, watched: map[string]bool{}}
	r.sessions[name] = s
	r.order = append(r.order, s)
	if err := r.emulate(ctx, made); err != nil {
		return nil, err
	}
	main, err := made.Main(ctx)
	if err != nil {
		return nil, err
	}
	s.tabs[""] = main.RuntimeID
	if err := r.route(ctx, s, nil); err != nil {
		return nil, err
	}
	if err := r.signIn(ctx, s); err != nil {
		return nil, err
	}
	path, open := r.beginnings(name)
	state := r.o.StorageState
	if name != "" || state == nil {
		state, err = r.loadState(path)
		if err != nil {
			return nil, err
		}
	}
	on := runtime.Target{RuntimeID: main.RuntimeID}
	if state != nil {
		if err := setState(ctx, s, on, state, r.o); err != nil {
			return nil, err
		}
	}
	if open != "" {
		reply := r.navigate(ctx, s, on, open, r.o.CallTimeout, true)
		if reply.Err != nil {
			return nil, reply.Err
		}
		if status := badStatus(reply); status != 0 && !(x.Open == "" && x.Tab == "" && judges(x, status)) {
			return nil, r.refusal(open, reply, status)
		}
	}
	return s, nil
}

// beginnings is what a session begins with: a file of storage state, and an address.
func (r *run) beginnings(name string) (path, open string) {
	for _, p := range slices.Concat(r.c.Teardown, r.c.Setup, []*spec.Plan{r.c.Plan}) {
		if name == "" {
			path = cmp.Or(p.StorageState, path)
			continue
		}
		if s, ok := p.Sessions[name]; ok {
			path, open = cmp.Or(s.StorageState, path), cmp.Or(s.Open, open)
		}
	}
	return path, open
}

// tab is the tab of a name, which is opened when it is new.
func (r *run) tab(ctx context.Context, s *session, name string) (runtime.Target, error) {
	id, ok := s.tabs[name]
	if !ok {
		status, err := s.Open(ctx)
		if err != nil {
			return runtime.Target{}, err
		}
		id = status.RuntimeID
		s.tabs[name] = id
	}
	on := runtime.Target{RuntimeID: id}
	if (r.o.Evidence || r.o.prover != nil || r.o.watcher != nil) && !s.watched[id] {
		s.watched[id] = true
		record(ctx, s, on, r.o)
	}
	return on, nil
}

func (r *run) close(ctx context.Context) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	for _, s := range slices.Backward(r.order) {
		if err := s.Close(bounded); err != nil {
			r.o.warn("closing a session: %w", err)
		}
	}
}

func (s *session) ids() map[string]bool {
	out := map[string]bool{}
	for _, t := range s.Tabs() {
		out[t.RuntimeID] = true
	}
	return out
}

// nameNewTab waits for the tab that a step made the page open.
func (r *run) nameNewTab(
	ctx context.Context, s *session, known map[string]bool, name string, limit time.Duration,
) error {
	found := ""
	ok := until(ctx, s, limit, func() bool {
		for _, t := range s.Tabs() {
			if !known[t.RuntimeID] {
				found = t.RuntimeID
			}
		}
		return found != ""
	})
	if !ok {
		return fault.New(fault.Timeout, "the step opened no tab").With("new_tab", name)
	}
	s.tabs[name] = found
	return nil
}

// missedEventInterval is when a condition is checked again although no event came, since a host may report
// none.
const missedEventInterval = 250 * time.Millisecond

// until waits until holds is true, ctx ends or the time is up. It checks after each event of
// the session.
func until(ctx context.Context, s *session, limit time.Duration, holds func() bool) bool {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	events := make(chan struct{}, 1)
	unsubscribe := s.Subscribe(func(runtime.Event) {
		select {
		case events <- struct{}{}:
		default:
		}
	})
	defer unsubscribe()
	ticker := time.NewTicker(missedEventInterval)
	defer ticker.Stop()
	for {
		if holds() {
			return true
		}
		select {
		case <-events:
		case <-ticker.C:
		case <-bounded.Done():
			return holds()
		}
	}
}

// operatorOnly: the address is of a scheme that no primitive opens, such as file and data. Whoever starts the run may
// give it.
func operatorOnly(text string) bool {
	_, err := address.Web(text)
	return fault.CodeOf(err) == fault.PermissionDenied
}

// notByPlan refuses an address that only a plan names.
func notByPlan(text string) string {
	scheme, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), ":")
	return "a plan may not open an address of the scheme " + scheme + ": give it by --open, without a profile"
}

// CheckOpens refuses plans that open what is for the caller of the run alone. open is the address of --open, which the
// plan of a case begins at in place of its own.
func (s *Suite) CheckOpens(open string) error {
	var problems spec.Problems
	for _, c := range s.Cases {
		c.Opens(func(p *spec.Plan, at spec.Place, opened string) {
			replaced := open != "" && p == c.Plan && at == p.At("/open")
			problem := spec.Problem{Place: at, Message: notByPlan(opened)}
			if operatorOnly(opened) && !replaced && opened != open && !slices.Contains(problems, problem) {
				problems = append(problems, problem)
			}
		})
	}
	if len(problems) == 0 {
		return nil
	}
	return problems
}

// openAt begins a session at an address that only the caller of the run may give, in place of its first tab. One that
// only the plan names is refused: it may come from anybody.
func (r *run) openAt(ctx context.Context, s *session, text string) error {
	if !operatorOnly(text) {
		return nil
	}
	at, ok := s.Session.(fileOpener)
	if text != r.o.Open || !ok {
		return fault.New(fault.PermissionDenied, "%s", notByPlan(text)).With("address", text)
	}
	status, err := at.OpenAt(ctx, text)
	if err != nil {
		return err
	}
	s.tabs[""] = status.RuntimeID
	return nil
}

// navigate opens an address in a tab. With leaves a page that asks whether to leave it is
// left.
func (r *run) navigate(
	ctx context.Context, s *session, on runtime.Target, address string, limit time.Duration, leaves bool,
) runtime.Reply {
	text, err := r.scope.Text(address)
	if err == nil {
		text, err = Address(text)
	}
	if err == nil {
		text = r.rebased(text)
	}
	if err != nil {
		return runtime.Reply{Err: fault.New(fault.InvalidInput, "%s", err.Error())}
	}
	arguments, err := json.Marshal(map[string]string{"url": text})
	if err != nil {
		return runtime.Reply{Err: fault.From(err)}
	}
	return s.Do(ctx, runtime.Call{
		ID:        r.o.NewID(),
		Target:    on,
		Name:      "browser.navigate",
		Arguments: arguments,
		Timeout:   limit,
		Leaves:    leaves,
	})
}

// firstTab selects the tab that the first address made: a page that opens a
// popup meanwhile must not make a call ambiguous.
func firstTab(h Host) runtime.Target {
	if tabs := h.Tabs(); len(tabs) > 0 {
		return runtime.Target{RuntimeID: tabs[0].RuntimeID}
	}
	return runtime.Target{}
}

// loadState reads a file of storage state; "" has none.
func (r *run) loadState(path string) (json.RawMessage, error) {
	path, err := r.scope.Text(path)
	if err != nil || path == "" {
		return nil, err
	}
	if r.o.Root != "" && !spec.Below(r.o.Root, path) {
		return nil, fault.New(fault.UnsafePath, "the storage state %s is none of the plan's own files", path)
	}
	return LoadState(path)
}
