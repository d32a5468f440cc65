// Package signal forwards what pages say by the signals that maps declare: which
// events documents listen for, how many of them are forwarded, and which are left
// out. It does not know who listens. The runtime has one Hub, and Signals for each
// tab; site actions and attachments use them.
package signal

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/inject"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// DroppedEvent reports page events that were declared and not
// forwarded; the payload is signalsDropped.
const DroppedEvent = "runtime.signals_dropped"

const (
	// What is forwarded of one signal on one tab: signalBurst at once, then
	// signalRate a second. The page's own script has a limit for each document.
	signalBurst = 30
	signalRate  = 10.0
	// maxReports bounds the reports of a tab that wait to be read.
	maxReports = 256
	// dropQuiet is the least distance between two events that report drops, and
	// how long drops are gathered.
	dropQuiet = 2 * time.Second
	// maxUnclaimed bounds the tabs whose reports are kept until they are known.
	maxUnclaimed = 16
	// listenTime bounds the wait for documents to take over another table.
	listenTime = 5 * time.Second
)

// Why an event was not forwarded, beside what the script itself reports.
const (
	droppedRate    = "rate_limited"
	droppedPayload = "invalid_payload"
	droppedState   = "other_state"
	droppedQueue   = "queue_full"
)

// signalsDropped reports how many events were not forwarded since the last one.
type signalsDropped struct {
	Dropped []droppedCount `json:"dropped"`
}

type droppedCount struct {
	Signal string `json:"signal"`
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// Script is what documents run to listen.
type Script struct {
	Source string
	// Any means that it is for documents of every host, else those of Hosts.
	Any   bool
	Hosts []string
}

// Hub knows what the documents of a host listen for, and its tabs.
type Hub struct {
	maps   *mapset.Maps
	quirks quirks.Set
	log    *slog.Logger
	// publish has the documents of the browser run another script.
	publish func(ctx context.Context, script Script)

	table   sync.Mutex // held while the script is made and published
	rows    string     // of the version before, without its number
	version int
	script  Script

	mu        sync.Mutex
	tabs      []*Signals
	unclaimed map[primitives.Page][]report // of pages that are no tab's yet
}

// NewHub is for one host.
func NewHub(
	maps *mapset.Maps, q quirks.Set, log *slog.Logger, publish func(ctx context.Context, script Script),
) *Hub {
	return &Hub{maps: maps, quirks: q, log: log, publish: publish}
}

// Tab is the tab whose page signals.
type Tab interface {
	ID() int
	Status() call.TabStatus
	// CallID is the id of the call that runs, or ran last; LastCall of the one
	// that ran last.
	CallID() string
	LastCall() string
	Emit(call.Event)
}

// States reports which states of maps are current.
type States interface {
	Verdict(m *sites.Map, state string) verify.Verdict
}

// report is what the script of a document reported, on its way from the reader.
type report struct {
	raw     []byte
	topURL  string
	call    string // id of the call that was running, or ran last
	runtime call.TabStatus
}

// pageReport is the content of a report: an event of the page, or counts of those left out.
type pageReport struct {
	Event   string   `json:"event"`
	Keys    []string `json:"keys"`
	URL     string   `json:"url"`
	Payload string   `json:"payload"` // JSON text
	Dropped []struct {
		Event  string `json:"event"`
		Reason string `json:"reason"`
		Count  int    `json:"count"`
	} `json:"dropped"`
}

// Signals are the signals of one tab. It is safe for concurrent use.
type Signals struct {
	hub    *Hub
	tab    Tab
	states States
	wake   chan struct{} // buffered, 1

	mu       sync.Mutex
	waiting  []report
	lost     int
	switched map[string]bool // by the name offered: enabled or disabled in this tab
	waited   map[string]int  // by the name offered: transitions that wait for it
	tallies  map[string]*tally
}

// Open is for one more tab, until its Run ends.
func (h *Hub) Open(tab Tab, states States) *Signals {
	s := &Signals{hub: h, tab: tab, states: states, wake: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tabs = append(h.tabs, s)
	return s
}

// Changed implements the feature of a tab: the table of the scripts is the host's.
func (s *Signals) Changed(call.Change) {}

// tally is what became of one signal on a tab.
type tally struct {
	forwarded  int
	dropped    map[string]int // by reason
	unreported map[string]int // of these, not reported yet
	tokens     float64
	filled     time.Time
}

// Offered is a signal under the name by which the maps of a page offer it.
type Offered struct {
	Name   string
	Signal *manifest.Signal
	In     *sites.Map // declares it
	Via    *sites.Map // applies to the page
}

// key names a signal in the table of the page's script.
func (s Offered) key() string { return s.Via.Path + "\x00" + s.Name }

// OfferedBy lists the signals of pages that maps offer, imported ones
// included.
func OfferedBy(l *sites.Library, maps []*sites.Map) []Offered {
	var out []Offered
	for _, m := range maps {
		c := l.Composition(m)
		if c == nil {
			continue
		}
		for i := range c.Signals {
			if e := &c.Signals[i]; e.Entry.Event != "" && e.Entry.Direction != manifest.AgentToHTML {
				out = append(out, Offered{e.Name, e.Entry, e.Source.Map, m})
			}
		}
	}
	return out
}

// listenedSignal is one row of the table of listen.js.
type listenedSignal struct {
	Key          string   `json:"key"`
	Hosts        []string `json:"hosts"` // null for any
	Event        string   `json:"event"`
	Selectors    []string `json:"selectors"`
	TextEquals   string   `json:"text_equals"`
	TextContains string   `json:"text_contains"`
}

// listenRows are the signals that some page's script has to listen for.
func (h *Hub) listenRows() []listenedSignal {
	wanted := map[string]bool{}
	h.mu.Lock()
	tabs := slices.Clone(h.tabs)
	h.mu.Unlock()
	for _, t := range tabs {
		t.mu.Lock()
		for name, on := range t.switched {
			wanted[name] = wanted[name] || on
		}
		for name := range t.waited {
			wanted[name] = true
		}
		t.mu.Unlock()
	}
	var rows []listenedSignal
	seen := map[string]bool{}
	for _, o := range h.maps.All() {
		for _, s := range OfferedBy(o.Library, o.Library.Maps()) {
			if seen[s.key()] || !s.Signal.Enabled() && !wanted[s.Name] {
				continue
			}
			seen[s.key()] = true
			row := listenedSignal{Key: s.key(), Event: s.Signal.Event, Selectors: []string{}}
			if hosts, ok := s.Via.Hosts(); ok {
				row.Hosts = hosts
			}
			if target := s.Signal.Target; target != nil {
				row.Selectors = append(row.Selectors, target.Candidates()...)
				row.TextEquals, row.TextContains = target.TextEquals, target.TextContains
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// Script is the script for the documents of a browser that is just starting.
func (h *Hub) Script() Script {
	h.table.Lock()
	defer h.table.Unlock()
	script, _ := h.listenScript()
	return script
}

// listenScript is the script for documents, and whether it is another one than
// before. It is empty while no map ever had signals. h.table is held.
func (h *Hub) listenScript() (script Script, changed bool) {
	rows := h.listenRows()
	table, err := json.Marshal(rows)
	g := h
	if err != nil || len(rows) == 0 && g.script.Source == "" || g.script.Source != "" && string(table) == g.rows {
		return g.script, false
	}
	g.version++
	g.rows = string(table)
	full := call.JSON(map[string]any{
		"version":          g.version,
		"ignorable_counts": h.quirks.Has(quirks.IgnorableCounts),
		"signals":          append([]listenedSignal{}, rows...),
	})
	g.script = Script{Source: "(" + inject.Listen + "\n)(" + string(full) + ");\n//# sourceURL=outrider-listen.js\n"}
	for _, r := range rows {
		g.script.Any = g.script.Any || r.Hosts == nil
		g.script.Hosts = append(g.script.Hosts, r.Hosts...)
	}
	slices.Sort(g.script.Hosts)
	g.script.Hosts = slices.Compact(g.script.Hosts)
	return g.script, true
}

// Relisten has the documents listen for what the current maps declare.
func (h *Hub) Relisten(ctx context.Context) {
	h.table.Lock()
	defer h.table.Unlock()
	script, changed := h.listenScript()
	if !changed {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, listenTime)
	defer cancel()
	h.publish(bounded, script)
}

// KeepReport keeps a report of a page that is no tab's yet.
func (h *Hub) KeepReport(page primitives.Page, raw []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.unclaimed == nil {
		h.unclaimed = map[primitives.Page][]report{}
	}
	if list := h.unclaimed[page]; len(list) < signalBurst && (list != nil || len(h.unclaimed) < maxUnclaimed) {
		h.unclaimed[page] = append(list, report{raw: raw, topURL: page.Tab().URL})
	}
}

// Forget drops the early reports of a page.
func (h *Hub) Forget(page primitives.Page) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.unclaimed, page)
}

// Take takes over what a page reported before it was the tab's page.
func (s *Signals) Take(page primitives.Page) {
	s.hub.mu.Lock()
	list := s.hub.unclaimed[page]
	delete(s.hub.unclaimed, page)
	s.hub.mu.Unlock()
	for _, r := range list {
		s.add(r)
	}
}

// Report takes a report of the tab's page off its reader's hands.
func (s *Signals) Report(page primitives.Page, raw []byte) {
	s.add(report{raw: raw, topURL: page.Tab().URL})
}

func (s *Signals) add(r report) {
	r.call, r.runtime = s.tab.CallID(), s.tab.Status()
	s.mu.Lock()
	if len(s.waiting) < maxReports {
		s.waiting = append(s.waiting, r)
	} else {
		s.lost++
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run turns what the page's scripts report into events until ctx ends: the tab was
// closed.
func (s *Signals) Run(ctx context.Context) {
	defer func() {
		s.hub.mu.Lock()
		defer s.hub.mu.Unlock()
		s.hub.tabs = slices.DeleteFunc(s.hub.tabs, func(o *Signals) bool { return o == s })
	}()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	timer.Stop()
	var reported time.Time
	pending := false
	for {
		select {
		case <-s.wake:
		case <-timer.C:
			pending = false
		case <-ctx.Done():
			return
		}
		s.mu.Lock()
		list, lost := s.waiting, s.lost
		s.waiting, s.lost = nil, 0
		s.mu.Unlock()
		for _, r := range list {
			s.take(r)
		}
		if lost > 0 {
			s.drop("", droppedQueue, lost)
		}
		if !pending && s.unreported() {
			if wait := time.Until(reported.Add(dropQuiet)); wait > 0 || len(list) > 0 || lost > 0 {
				pending = true
				timer.Reset(max(wait, dropQuiet/2))
				continue
			}
			reported = time.Now()
			s.reportDropped()
		}
	}
}

// take forwards the signals of one report that may be.
func (t *Signals) take(r report) {
	var got pageReport
	if json.Unmarshal(r.raw, &got) != nil {
		return
	}
	o := t.hub.maps.At(r.topURL)
	if o.Library == nil {
		return
	}
	offered := OfferedBy(o.Library, o.Library.For(r.topURL))
	for _, d := range got.Dropped {
		for _, s := range offered {
			if s.Signal.Event == d.Event && t.ListensTo(s) {
				t.drop(s.Name, d.Reason, d.Count)
				break
			}
		}
	}
	if got.Event == "" {
		return
	}
	forwarded := map[string]bool{}
	for _, s := range offered {
		if s.Signal.Event != got.Event || forwarded[s.Name] || !t.ListensTo(s) || !slices.Contains(got.Keys, s.key()) {
			continue
		}
		if target := s.Signal.Target; target != nil {
			if !(descriptor.Descriptor{
				URLContains: target.URLContains,
				URLMatches:  target.URLMatches,
			}).OnPage(got.URL) {
				continue
			}
			elsewhere := target.State != "" && t.states.Verdict(s.In, target.State) == verify.No
			if elsewhere {
				t.drop(s.Name, droppedState, 1)
				continue
			}
		}
		forwarded[s.Name] = t.forward(s, r, got.Event, got.URL, json.RawMessage(got.Payload))
	}
}

// forward emits a signal when its payload is as declared and its share is not
// used up.
func (t *Signals) forward(s Offered, r report, event, url string, payload json.RawMessage) bool {
	if !t.spend(s.Name) {
		t.drop(s.Name, droppedRate, 1)
		return false
	}
	if problems := s.Signal.PayloadSchema.Validate(payload); len(problems) > 0 {
		t.drop(s.Name, droppedPayload, 1)
		t.hub.log.Debug(
			"the payload of a signal is not as declared",
			"tab", t.tab.ID(),
			"signal", s.Name,
			"keyword", problems[0].Keyword,
		)
		return false
	}
	t.tab.Emit(call.Event{
		Kind:           call.DOMEvent,
		Tab:            r.runtime,
		Name:           s.Name,
		PageEvent:      event,
		URL:            url,
		Payload:        payload,
		PreviousCallID: r.call,
		Signal:         call.SignalID{MapPath: s.In.Path, Name: s.Signal.Name},
	})
	return true
}

// Forward emits a signal that the runtime itself has reason for, when its payload is
// as declared and its share is not used up.
func (t *Signals) Forward(s Offered, payload json.RawMessage) {
	t.forward(s, report{call: t.tab.LastCall(), runtime: t.tab.Status()}, s.Signal.Event, "", payload)
}

// ListensTo reports whether a signal is enabled in this tab.
func (t *Signals) ListensTo(s Offered) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waited[s.Name] > 0 {
		return true
	}
	if on, set := t.switched[s.Name]; set {
		return on
	}
	return s.Signal.Enabled()
}

func (s *Signals) tallyLocked(name string) *tally {
	if s.tallies == nil {
		s.tallies = map[string]*tally{}
	}
	if s.tallies[name] == nil {
		s.tallies[name] = &tally{
			dropped:    map[string]int{},
			unreported: map[string]int{},
			tokens:     signalBurst,
			filled:     time.Now(),
		}
	}
	return s.tallies[name]
}

func (t *Signals) spend(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	y := t.tallyLocked(name)
	now := time.Now()
	y.tokens = min(signalBurst, y.tokens+now.Sub(y.filled).Seconds()*signalRate)
	y.filled = now
	if y.tokens < 1 {
		return false
	}
	y.tokens--
	y.forwarded++
	return true
}

func (t *Signals) drop(name, reason string, count int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	y := t.tallyLocked(name)
	if reason == droppedPayload {
		y.forwarded--
	}
	y.dropped[reason] += count
	y.unreported[reason] += count
}

func (t *Signals) unreported() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, y := range t.tallies {
		if len(y.unreported) > 0 {
			return true
		}
	}
	return false
}

func (t *Signals) reportDropped() {
	var out signalsDropped
	t.mu.Lock()
	for _, name := range slices.Sorted(maps.Keys(t.tallies)) {
		y := t.tallies[name]
		for _, reason := range slices.Sorted(maps.Keys(y.unreported)) {
			out.Dropped = append(out.Dropped, droppedCount{name, reason, y.unreported[reason]})
		}
		clear(y.unreported)
	}
	t.mu.Unlock()
	status, previous := t.tab.Status(), t.tab.LastCall()
	t.tab.Emit(call.Event{
		Kind:           call.DOMEvent,
		Tab:            status,
		Name:           DroppedEvent,
		PageEvent:      DroppedEvent,
		Payload:        call.JSON(out),
		PreviousCallID: previous,
	})
}

// Await has the tab listen to a signal of a map, also one that is disabled, until
// the function it returns is called.
func (t *Signals) Await(ctx context.Context, m *sites.Map, own string) (end func()) {
	url := t.tab.Status().URL
	o := t.hub.maps.At(url)
	name := own
	if o.Library != nil {
		for _, s := range OfferedBy(o.Library, o.Library.For(url)) {
			if s.In.Path == m.Path && s.Signal.Name == own {
				name = s.Name
			}
		}
	}
	change := func(by int) {
		t.mu.Lock()
		if t.waited == nil {
			t.waited = map[string]int{}
		}
		t.waited[name] += by
		if t.waited[name] == 0 {
			delete(t.waited, name)
		}
		t.mu.Unlock()
	}
	change(1)
	t.hub.Relisten(ctx)
	return func() {
		change(-1)
		t.hub.Relisten(context.WithoutCancel(ctx))
	}
}
