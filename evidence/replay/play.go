package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/internal/ownfolder"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/runtime"
)

// Options say how a log is repeated.
type Options struct {
	// Open opens a host after change, which may be called more than once, has changed its options. close
	// ends it and what it needs.
	Open func(ctx context.Context, change func(*runtime.Options) error) (h *runtime.Host, close func(), err error)
	// URL is the address to begin at in place of that of the log. Its origin stands for the recorded one.
	URL string
	// Offline answers requests with those of the recording.
	Offline bool
	// Until ends the replay after so many calls; 0 is all.
	Until int
	// Quirks are those of the profile; nil is the profile of the log.
	Quirks *quirks.Set
	// OwnMaps: the options have the maps; those of the recording are not used.
	OwnMaps bool
	// Prepare, when set, is called before the first call, such as to restore a storage state.
	Prepare func(ctx context.Context, do func(runtime.Call) runtime.Reply) error
	// Step, when set, is called before each call; an error ends the replay.
	Step func(n int, c Call) error
	// OnCall, when set, gets each result.
	OnCall func(CallResult)
	// CallTimeout bounds a call of which the log does not say how long it may take.
	CallTimeout time.Duration
	// Secrets stand for the placeholders in the log.
	Secrets *mask.Set

	used *quirks.Used // gets the quirks that the replay is asked for; nil for nobody
	// shared is the host that the replay uses with others; nil: it opens one of its own.
	shared *shared
	// hurried leaves the page the time that it needs, not the time that it had.
	hurried bool
}

// Verdicts of a replay.
const (
	Reproduced = "reproduced"
	Differs    = "differs"
	Cannot     = "cannot_be_replayed"
	Ended      = "ended" // a search that was ended
)

// Report says what became of a replay. The same log and pages give the same report.
type Report struct {
	Verdict string       `json:"verdict"`
	Format  string       `json:"format"`
	Profile string       `json:"profile"`
	Offline bool         `json:"offline"`
	Calls   []CallResult `json:"calls"`
	// First is the number of the first call whose result differs, 0 for none.
	First    int       `json:"first_difference"`
	Missing  []Missing `json:"missing,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
	NotFixed []string  `json:"not_fixed,omitempty"` // what the replay cannot make as it was
}

// CallResult is one call that was repeated.
type CallResult struct {
	N           int           `json:"n"`
	Event       string        `json:"event"`
	Name        string        `json:"name"`
	Verdict     string        `json:"verdict"` // same, different, not_compared
	Was         Outcome       `json:"was"`
	Is          Outcome       `json:"is"`
	Differences []Difference  `json:"differences,omitempty"`
	Page        *PageEvidence `json:"page,omitempty"`

	output json.RawMessage
}

// Outcome is how a call went, in short.
type Outcome struct {
	OK      bool   `json:"ok"`
	Code    string `json:"code,omitempty"`
	Step    string `json:"step_id,omitempty"` // that failed
	Message string `json:"message,omitempty"`
	URL     string `json:"url,omitempty"`
}

// Verdicts of a call.
const (
	Same        = "same"
	Different   = "different"
	NotCompared = "not_compared"
)

// Play repeats the calls of a log up to the first whose result differs.
func Play(ctx context.Context, l *Log, o Options) (*Report, error) {
	r := &Report{Format: l.Format, Offline: o.Offline, Notes: l.Notes, Calls: []CallResult{}}
	calls := l.Calls
	if o.Until > 0 && o.Until < len(calls) {
		calls = calls[:o.Until]
	}
	for _, c := range calls {
		r.Missing = append(r.Missing, c.Missing...)
	}
	start := cmp.Or(o.URL, l.Open)
	switch {
	case len(r.Missing) > 0:
		r.Verdict = Cannot
		return r, nil
	case start == "":
		r.Verdict = Cannot
		r.Notes = append(slices.Clone(r.Notes), "the log does not say on which page it begins: give --url")
		return r, nil
	case o.Offline && l.Recording == nil:
		return nil, fault.New(
			fault.InvalidInput, "a log of the format %s has no requests, so it cannot be replayed offline", l.Format,
		)
	}
	set, err := profileOf(l, o)
	if err != nil {
		return nil, err
	}
	r.Profile = nameOf(set)
	p := &player{
		log:    l,
		opts:   o,
		report: r,
		ids:    newIdentities(),
		start:  start,
		began:  time.Now(),
	}
	defer p.clean()
	return r, p.play(ctx, set, calls)
}

func profileOf(l *Log, o Options) (quirks.Set, error) {
	if o.Quirks != nil {
		return *o.Quirks, nil
	}
	set, ok := quirks.Profile(l.Profile)
	if !ok {
		return set, fault.New(
			fault.InvalidInput, "the log names the profile %s, which there is not", fault.Clip(l.Profile, 40),
		)
	}
	return set, nil
}

func nameOf(set quirks.Set) string {
	switch {
	case set.Empty():
		return quirks.StrictProfile
	case len(set.Names()) == len(quirks.All()):
		return quirks.ExtensionProfile
	}
	var names []string
	for _, n := range set.Names() {
		names = append(names, string(n))
	}
	return strings.Join(names, ",")
}

// player is one replay.
type player struct {
	log     *Log
	opts    Options
	report  *Report
	ids     *identities
	start   string
	network *network
	shown   *watcher // nil where somebody else records
	folder  string   // of the maps of the recording
	remove  func()   // the folder
	known   func(primitive string) bool
	began   time.Time
}

func (p *player) clean() {
	if p.folder != "" {
		p.remove()
	}
}

func (p *player) play(ctx context.Context, set quirks.Set, calls []Call) error {
	if p.opts.URL != "" {
		p.ids.oldOrigin, p.ids.newOrigin = address.Origin(p.log.Open), address.Origin(p.opts.URL)
	}
	if p.opts.Offline {
		p.network = newNetwork(p.log.Recording)
	}
	h, closing, err := p.open(ctx, set)
	if err != nil {
		return err
	}
	defer closing()
	defer p.network.end()
	if p.opts.Prepare != nil {
		if err := p.opts.Prepare(ctx, func(c runtime.Call) runtime.Reply { return h.do(ctx, c) }); err != nil {
			return err
		}
	}
	p.report.Verdict = Reproduced
	ready := false // the page is as it was before the call
	for i, c := range calls {
		if p.opts.Step != nil {
			if err := p.opts.Step(i+1, c); err != nil {
				return err
			}
		}
		if !ready {
			p.ready(ctx, c, i > 0)
		}
		ready = false
		result := p.call(ctx, h, i+1, c)
		if len(c.States) > 0 && result.Verdict == Same {
			if i+1 < len(calls) {
				p.ready(ctx, calls[i+1], true)
				ready = true
			}
			p.compareStates(ctx, h, c, calls[i+1:], &result)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.report.Calls = append(p.report.Calls, result)
		if result.Verdict == Different {
			p.report.Verdict, p.report.First = Differs, result.N
		}
		if p.opts.OnCall != nil {
			p.opts.OnCall(result)
		}
		if p.report.First > 0 {
			break
		}
	}
	p.network.end()
	p.report.NotFixed = p.network.lacks()
	if p.opts.Offline && p.report.Verdict == Differs {
		p.report.NotFixed = append(p.report.NotFixed,
			"the clock runs: results that hold milliseconds differ",
			"workers have the real clock and their own random numbers",
			"random numbers are the same in each replay, not those of the recording")
	}
	return nil
}

// open opens the place of the replay.
func (p *player) open(ctx context.Context, set quirks.Set) (place, func(), error) {
	if s := p.opts.shared; s != nil {
		return s.enter(ctx, p)
	}
	h, closing, err := p.opts.Open(ctx, func(o *runtime.Options) error { return p.configure(o, set) })
	return place{host: h}, closing, err
}

// configure makes the options of the host those of the recording.
func (p *player) configure(o *runtime.Options, set quirks.Set) error {
	o.Open, o.Quirks = []string{p.start}, set
	if p.opts.Secrets != nil {
		o.Secrets = p.opts.Secrets
	}
	h := p.log.Header
	if v := h.Viewport; v != nil && o.Browser.Viewport.Width == 0 {
		o.Browser.Viewport.Width, o.Browser.Viewport.Height = v.Width, v.Height
	}
	o.Browser.Locale, o.Browser.Timezone = cmp.Or(o.Browser.Locale, h.Locale), cmp.Or(o.Browser.Timezone, h.Timezone)
	if p.network != nil {
		if o.Browser.Attach != "" {
			return fault.New(
				fault.InvalidInput,
				"a replay offline needs a browser that is launched, so it does not go with --attach",
			)
		}
		o.Browser.Answer, o.Browser.Script = p.network.answer, p.script
	}
	if o.Recorder == nil {
		p.shown = newWatcher(p.opts.used)
		o.Recorder = p.shown
	}
	registry := o.Registry
	p.known = func(name string) bool { _, ok := registry.Lookup(name); return ok }
	if p.log.Recording == nil {
		return nil
	}
	if !p.opts.OwnMaps {
		paths, err := p.writeMaps()
		if err != nil {
			return err
		}
		if len(paths) > 0 {
			o.Maps, _ = runtime.LoadMaps(paths, o.Registry, o.Engine, runtime.MapOptions{
				AcceptDrafts: true,
				Salvage:      set.Has(quirks.MapsAsTheyCome),
			})
		}
	}
	return nil
}

// script makes the clock of a page that of the recording, from the beginning of the replay on.
func (p *player) script() string { return script(p.log.Header.Started.Sub(p.began).Milliseconds()) }

// writeMaps writes the maps of the recording to a folder of its own, and returns what to load.
func (p *player) writeMaps() ([]string, error) {
	var paths []string
	for _, e := range p.log.Recording.Events {
		if e.Kind != record.KindMap {
			continue
		}
		m, err := record.Of[record.Map](e)
		if err != nil || m.Call != "" || !filepath.IsLocal(filepath.FromSlash(m.Path)) || m.Root < 0 || m.Root > 1000 {
			continue
		}
		data, err := p.log.Recording.Data(m.Resource)
		if err != nil {
			return nil, err
		}
		if p.folder == "" {
			p.folder, p.remove, err = ownfolder.New("", "outrider-replay-")
			if err != nil {
				return nil, err
			}
		}
		root := filepath.Join(p.folder, jsonText(m.Root))
		path := filepath.Join(root, filepath.FromSlash(m.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return nil, err
		}
		load := path
		if m.Folder {
			load = root
		}
		if !m.Import && !slices.Contains(paths, load) {
			paths = append(paths, load)
		}
	}
	return paths, nil
}

// longestGap is how long the replay waits at most where the log has a pause: the page had time then.
const longestGap = time.Second

// longestWait is how long it waits for requests that had been answered before a call.
const longestWait = 5 * time.Second

// hurriedWait is longestWait where calls are left out: what they would have asked for never comes.
const hurriedWait = 200 * time.Millisecond

// ready waits until the page has what it had before a call: the requests that had been answered, and as much time.
func (p *player) ready(ctx context.Context, c Call, pauses bool) {
	if p.opts.hurried {
		p.network.arrive(ctx, c.Began, hurriedWait)
		return
	}
	gap := p.network.arrive(ctx, c.Began, longestWait)
	if pauses {
		gap = max(gap, c.Gap)
	}
	_ = primitives.Sleep(ctx, min(time.Duration(gap)*time.Millisecond, longestGap))
}

func (p *player) call(ctx context.Context, h place, n int, c Call) CallResult {
	target := p.target(h, c.Tab)
	if n > 1 && p.log.Recording == nil && c.URL != "" {
		p.arrive(ctx, h, target, c)
	}
	timeout := p.opts.CallTimeout
	if c.TimeoutMS > 0 {
		timeout = time.Duration(c.TimeoutMS * float64(time.Millisecond))
	}
	reply := h.do(ctx, runtime.Call{
		ID:        "replay-" + jsonText(n),
		Target:    target,
		Name:      c.Name,
		Arguments: p.ids.arguments(withoutRouting(c.Arguments)),
		Map:       c.Map,
		Timeout:   timeout,
	})
	out := CallResult{
		N:      n,
		Event:  c.Event,
		Name:   c.Name,
		Was:    Outcome{OK: c.Expected.OK, Code: c.Expected.Code},
		Is:     Outcome{OK: reply.Err == nil},
		output: reply.Output,
	}
	steps := stepResults(reply.Steps)
	out.Was.Step, out.Is.Step = failedStep(c.Expected.Steps), failedStep(steps)
	if reply.Err != nil {
		out.Is.Code, out.Is.Message = string(reply.Err.Code), fault.Clip(reply.Err.Message, 300)
	} else if code, failed := answeredFailure(reply.Output); failed {
		out.Is.OK, out.Is.Code = false, code
	}
	switch {
	case !c.Expected.Known:
		out.Verdict = NotCompared
	case out.Was.OK != out.Is.OK:
		out.Differences = []Difference{{Pointer: "/ok", Was: out.Was.OK, Is: out.Is.OK}}
	case !out.Was.OK && out.Was.Code != "" && out.Was.Code != out.Is.Code:
		out.Differences = []Difference{{Pointer: "/error/code", Was: out.Was.Code, Is: out.Is.Code}}
	case !out.Was.OK && out.Was.Step != "" && out.Was.Step != out.Is.Step:
		out.Differences = []Difference{{Pointer: "/error/step_id", Was: out.Was.Step, Is: out.Is.Step}}
	case out.Was.OK && c.Expected.Output != nil:
		p.ids.learn(c.Expected.Output, reply.Output)
		out.Differences = differences(p.ids, p.known(c.Name), c.Expected.Output, reply.Output)
	}
	if out.Verdict == "" {
		out.Verdict = Same
		if len(out.Differences) > 0 {
			out.Verdict = Different
			out.Page = p.evidence(ctx, c, target, h)
		}
	}
	return out
}

func failedStep(steps []StepResult) string {
	for _, s := range steps {
		if !s.OK && !s.Skipped {
			return s.ID
		}
	}
	return ""
}

// target is the tab of a call: the one with its number, or the first.
func (p *player) target(h place, tab int) runtime.Target {
	tabs := h.tabs()
	for _, t := range tabs {
		if jsonText(t.TabID) == p.ids.tab(jsonText(tab)) {
			return runtime.Target{RuntimeID: t.RuntimeID, Workspace: t.Workspace}
		}
	}
	if len(tabs) > 0 {
		return runtime.Target{RuntimeID: tabs[0].RuntimeID, Workspace: tabs[0].Workspace}
	}
	return runtime.Target{}
}

// arrive brings the tab to the page that the log names, when something that is no call has led there.
func (p *player) arrive(ctx context.Context, h place, target runtime.Target, c Call) {
	want := p.ids.text(c.URL)
	for _, t := range h.tabs() {
		if t.RuntimeID == target.RuntimeID && !samePage(t.URL, want) {
			args, _ := json.Marshal(map[string]string{"url": want}) // a string
			h.do(ctx, runtime.Call{ID: "replay-navigation", Target: target, Name: "browser.navigate", Arguments: args})
			p.report.Notes = append(slices.Clone(p.report.Notes), "before event "+c.Event+" the page was led to "+want)
		}
	}
}

func samePage(a, b string) bool {
	cut := func(text string) string {
		text, _, _ = strings.Cut(text, "#")
		text, _, _ = strings.Cut(text, "?")
		return strings.TrimSuffix(text, "/")
	}
	return cut(a) == cut(b)
}
