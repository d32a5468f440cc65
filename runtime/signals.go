package runtime

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/outrider-run/outrider/runtime/verify"

	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/inject"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// SignalsDroppedEvent tells of page events that were declared and not
// forwarded; the payload is signalsDropped.
const SignalsDroppedEvent = "runtime.signals_dropped"

const (
	// What is forwarded of one signal on one tab: signalBurst at once, then
	// signalRate a second. The page's own script has a limit for each document.
	signalBurst = 30
	signalRate  = 10.0
	// maxReports bounds the reports of a tab that wait to be read.
	maxReports = 256
	// dropQuiet is the least distance between two events that tell of drops, and
	// how long drops are gathered.
	dropQuiet = 2 * time.Second
	// maxEarly bounds the tabs whose reports are kept until they are known.
	maxEarly = 16
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

// signalsDropped says how many events were not forwarded since the last one.
type signalsDropped struct {
	Dropped []droppedCount `json:"dropped"`
}

type droppedCount struct {
	Signal string `json:"signal"`
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// hearing is what the host's documents listen for.
type hearing struct {
	mu      sync.Mutex
	table   string // of the version before, without its number
	version int
	script  browser.ListenScript

	early map[*browser.Tab][]report // of tabs that are not the host's yet; guarded by Host.mu
}

// report is what the script of a document heard, on its way from the reader.
type report struct {
	raw     []byte
	topURL  string
	call    string // id of the call that was running, or ran last
	runtime TabStatus
}

// heardEvent is a report: an event of the page, or counts of those left out.
type heardEvent struct {
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

// signals is what a tab knows of its page events.
type signals struct {
	wake chan struct{} // buffered, 1

	mu      sync.Mutex
	waiting []report
	lost    int
	asked   map[string]bool // by the name offered: enabled or disabled in this tab
	waited  map[string]int  // by the name offered: transitions that wait for it
	tallies map[string]*tally
}

// tally is what became of one signal on a tab.
type tally struct {
	forwarded int
	dropped   map[string]int // by reason
	untold    map[string]int // of these, not told yet
	tokens    float64
	filled    time.Time
}

// offeredSignal is a signal under the name by which the maps of a page offer it.
type offeredSignal struct {
	name   string
	signal *manifest.Signal
	in     *sites.Map // declares it
	via    *sites.Map // applies to the page
}

// key names a signal in the table of the page's script.
func (s offeredSignal) key() string { return s.via.Path + "\x00" + s.name }

// signalsOffered lists the signals of pages that maps offer, imported ones
// included.
func signalsOffered(l *sites.Library, maps []*sites.Map) []offeredSignal {
	var out []offeredSignal
	for _, m := range maps {
		c := l.Composition(m)
		if c == nil {
			continue
		}
		for i := range c.Signals {
			if e := &c.Signals[i]; e.Entry.Event != "" && e.Entry.Direction != manifest.AgentToHTML {
				out = append(out, offeredSignal{e.Name, e.Entry, e.Source.Map, m})
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

// listenRows are the signals that some page's script has to listen for now.
func (h *Host) listenRows() []listenedSignal {
	wanted := map[string]bool{}
	for _, t := range h.tabList() {
		t.signals.mu.Lock()
		for name, on := range t.signals.asked {
			wanted[name] = wanted[name] || on
		}
		for name := range t.signals.waited {
			wanted[name] = true
		}
		t.signals.mu.Unlock()
	}
	var rows []listenedSignal
	seen := map[string]bool{}
	for _, o := range h.opts.Maps.All() {
		for _, s := range signalsOffered(o.Library, o.Library.Maps()) {
			if seen[s.key()] || !s.signal.Enabled() && !wanted[s.name] {
				continue
			}
			seen[s.key()] = true
			row := listenedSignal{Key: s.key(), Event: s.signal.Event, Selectors: []string{}}
			if hosts, ok := s.via.Hosts(); ok {
				row.Hosts = hosts
			}
			if target := s.signal.Target; target != nil {
				row.Selectors = append(row.Selectors, target.Candidates()...)
				row.TextEquals, row.TextContains = target.TextEquals, target.TextContains
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// listenScript is the script for documents, and whether it is another one than
// before. It is empty while no map ever had signals. h.hearing.mu is held.
func (h *Host) listenScript() (script browser.ListenScript, changed bool) {
	rows := h.listenRows()
	table, err := json.Marshal(rows)
	g := &h.hearing
	if err != nil || len(rows) == 0 && g.script.Source == "" || g.script.Source != "" && string(table) == g.table {
		return g.script, false
	}
	g.version++
	g.table = string(table)
	full := call.JSON(map[string]any{"version": g.version, "signals": append([]listenedSignal{}, rows...)})
	g.script = browser.ListenScript{Source: "(" + inject.Listen + "\n)(" + string(full) + ");\n//# sourceURL=outrider-listen.js\n"}
	for _, r := range rows {
		g.script.Any = g.script.Any || r.Hosts == nil
		g.script.Hosts = append(g.script.Hosts, r.Hosts...)
	}
	slices.Sort(g.script.Hosts)
	g.script.Hosts = slices.Compact(g.script.Hosts)
	return g.script, true
}

// relisten has the documents listen for what the maps declare now.
func (h *Host) relisten(ctx context.Context) {
	h.hearing.mu.Lock()
	defer h.hearing.mu.Unlock()
	script, changed := h.listenScript()
	if !changed {
		return
	}
	h.mu.Lock()
	b := h.browser
	h.mu.Unlock()
	if b == nil {
		return // the next one begins with it
	}
	bounded, cancel := context.WithTimeout(ctx, listenTime)
	defer cancel()
	b.Listen(bounded, script)
}

// mapsMoved follows other maps: what documents listen for, what hangs on pages.
func (h *Host) mapsMoved(ctx context.Context) {
	h.relisten(ctx)
	for _, t := range h.tabList() {
		t.diagnoser.poke()
		t.attachments.poke()
	}
}

// onSignal takes a report off the reader's hands. A tab that is just being
// opened hears what its first document said as soon as it is a tab of the host.
func (h *Host) onSignal(bt *browser.Tab, raw []byte) {
	r := report{raw: raw, topURL: bt.Tab().URL}
	h.mu.Lock()
	var t *Tab
	for _, o := range h.tabs {
		if o.shows(bt) {
			t = o
			break
		}
	}
	if t == nil {
		if h.hearing.early == nil {
			h.hearing.early = map[*browser.Tab][]report{}
		}
		if list := h.hearing.early[bt]; len(list) < signalBurst && (list != nil || len(h.hearing.early) < maxEarly) {
			h.hearing.early[bt] = append(list, r)
		}
		h.mu.Unlock()
		return
	}
	h.mu.Unlock()
	t.heardSignal(r)
}

// hearEarly gives the tab what was heard of its page before it was its page.
func (h *Host) hearEarly(t *Tab, bt *browser.Tab) {
	h.mu.Lock()
	list := h.hearing.early[bt]
	delete(h.hearing.early, bt)
	h.mu.Unlock()
	for _, r := range list {
		t.heardSignal(r)
	}
}

func (t *Tab) heardSignal(r report) {
	t.mu.Lock()
	r.call, r.runtime = t.runningCall, t.statusNow()
	if r.call == "" {
		r.call = t.lastCall
	}
	t.mu.Unlock()
	s := &t.signals
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

// keepSignals turns what the page's scripts report into events until the tab is
// gone.
func (t *Tab) keepSignals() {
	s := &t.signals
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	timer.Stop()
	var told time.Time
	pending := false
	for {
		select {
		case <-s.wake:
		case <-timer.C:
			pending = false
		case <-t.gone:
			return
		case <-t.host.ctx.Done():
			return
		}
		s.mu.Lock()
		list, lost := s.waiting, s.lost
		s.waiting, s.lost = nil, 0
		s.mu.Unlock()
		for _, r := range list {
			t.takeReport(r)
		}
		if lost > 0 {
			t.tallyDrop("", droppedQueue, lost)
		}
		if !pending && t.undropped() {
			if wait := time.Until(told.Add(dropQuiet)); wait > 0 || len(list) > 0 || lost > 0 {
				pending = true
				timer.Reset(max(wait, dropQuiet/2))
				continue
			}
			told = time.Now()
			t.tellDropped()
		}
	}
}

// takeReport forwards the signals of one report that may be.
func (t *Tab) takeReport(r report) {
	var heard heardEvent
	if json.Unmarshal(r.raw, &heard) != nil {
		return
	}
	o := t.host.opts.Maps.At(r.topURL)
	if o.Library == nil {
		return
	}
	offered := signalsOffered(o.Library, o.Library.For(r.topURL))
	for _, d := range heard.Dropped {
		for _, s := range offered {
			if s.signal.Event == d.Event && t.listensTo(s) {
				t.tallyDrop(s.name, d.Reason, d.Count)
				break
			}
		}
	}
	if heard.Event == "" {
		return
	}
	forwarded := map[string]bool{}
	for _, s := range offered {
		if s.signal.Event != heard.Event || forwarded[s.name] || !t.listensTo(s) || !slices.Contains(heard.Keys, s.key()) {
			continue
		}
		if target := s.signal.Target; target != nil {
			if !(descriptor.Descriptor{URLContains: target.URLContains, URLMatches: target.URLMatches}).OnPage(heard.URL) {
				continue
			}
			t.diagnoser.mu.Lock()
			elsewhere := target.State != "" && t.diagnoser.last.VerdictOf(s.in, target.State) == verify.No
			t.diagnoser.mu.Unlock()
			if elsewhere {
				t.tallyDrop(s.name, droppedState, 1)
				continue
			}
		}
		forwarded[s.name] = t.forward(s, r, heard.Event, heard.URL, json.RawMessage(heard.Payload))
	}
}

// forward emits a signal when its payload is as declared and its share is not
// used up.
func (t *Tab) forward(s offeredSignal, r report, event, url string, payload json.RawMessage) bool {
	if !t.spend(s.name) {
		t.tallyDrop(s.name, droppedRate, 1)
		return false
	}
	if problems := s.signal.PayloadSchema.Validate(payload); len(problems) > 0 {
		t.tallyDrop(s.name, droppedPayload, 1)
		t.host.log.Debug("the payload of a signal is not as declared", "tab", t.id, "signal", s.name, "keyword", problems[0].Keyword)
		return false
	}
	t.host.emit(Event{
		Kind: DOMEvent, Tab: r.runtime, Name: s.name, PageEvent: event, URL: url, Payload: payload, PreviousCallID: r.call,
		Signal: call.SignalID{MapPath: s.in.Path, Name: s.signal.Name},
	})
	return true
}

// listensTo says whether a signal is enabled in this tab.
func (t *Tab) listensTo(s offeredSignal) bool {
	t.signals.mu.Lock()
	defer t.signals.mu.Unlock()
	if t.signals.waited[s.name] > 0 {
		return true
	}
	if on, said := t.signals.asked[s.name]; said {
		return on
	}
	return s.signal.Enabled()
}

func (s *signals) tallyLocked(name string) *tally {
	if s.tallies == nil {
		s.tallies = map[string]*tally{}
	}
	if s.tallies[name] == nil {
		s.tallies[name] = &tally{dropped: map[string]int{}, untold: map[string]int{}, tokens: signalBurst, filled: time.Now()}
	}
	return s.tallies[name]
}

func (t *Tab) spend(name string) bool {
	t.signals.mu.Lock()
	defer t.signals.mu.Unlock()
	y := t.signals.tallyLocked(name)
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

func (t *Tab) tallyDrop(name, reason string, count int) {
	t.signals.mu.Lock()
	defer t.signals.mu.Unlock()
	y := t.signals.tallyLocked(name)
	if reason == droppedPayload {
		y.forwarded--
	}
	y.dropped[reason] += count
	y.untold[reason] += count
}

func (t *Tab) undropped() bool {
	t.signals.mu.Lock()
	defer t.signals.mu.Unlock()
	for _, y := range t.signals.tallies {
		if len(y.untold) > 0 {
			return true
		}
	}
	return false
}

func (t *Tab) tellDropped() {
	var out signalsDropped
	t.signals.mu.Lock()
	for _, name := range slices.Sorted(maps.Keys(t.signals.tallies)) {
		y := t.signals.tallies[name]
		for _, reason := range slices.Sorted(maps.Keys(y.untold)) {
			out.Dropped = append(out.Dropped, droppedCount{name, reason, y.untold[reason]})
		}
		clear(y.untold)
	}
	t.signals.mu.Unlock()
	t.mu.Lock()
	status, previous := t.statusNow(), t.lastCall
	t.mu.Unlock()
	t.host.emit(Event{Kind: DOMEvent, Tab: status, Name: SignalsDroppedEvent, PageEvent: SignalsDroppedEvent, Payload: call.JSON(out), PreviousCallID: previous})
}

// awaitSignal has the tab listen to a signal, also one that is disabled, until
// the function it returns is called.
func (h *Host) awaitSignal(ctx context.Context, t *Tab, m *sites.Map, own string) (end func()) {
	url := t.Status().URL
	o := h.opts.Maps.At(url)
	name := own
	if o.Library != nil {
		for _, s := range signalsOffered(o.Library, o.Library.For(url)) {
			if s.in.Path == m.Path && s.signal.Name == own {
				name = s.name
			}
		}
	}
	change := func(by int) {
		t.signals.mu.Lock()
		if t.signals.waited == nil {
			t.signals.waited = map[string]int{}
		}
		if t.signals.waited[name] += by; t.signals.waited[name] == 0 {
			delete(t.signals.waited, name)
		}
		t.signals.mu.Unlock()
	}
	change(1)
	h.relisten(ctx)
	return func() {
		change(-1)
		h.relisten(context.WithoutCancel(ctx))
	}
}
