// Package attach draws on live pages what maps attach to their elements, follows it
// through renders, frames and documents, and calls the tool that an attachment opens
// when somebody uses it. It runs no tool itself. The runtime makes Attachments for
// each tab; actions.site lists and switches them.
package attach

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/keys"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/runtime/signal"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// CalledEvent reports that somebody used an attachment and what became
// of the tool that it opens; the payload is called.
const CalledEvent = "runtime.attachment_called"

// States of an attachment, schema v1.
const (
	Unattached   = "unattached"
	Attached     = "attached"
	WrongContext = "wrong_context"
	Stale        = "stale"
	Reattached   = "reattached"
	Drifted      = "drifted"
)

const (
	// attachIdleTime bounds one page call to a page on which nothing happens.
	attachIdleTime = 15 * time.Second
	// attachRest is the pause before a page that could not be called is called
	// again: a dialog is open, or it hangs.
	attachRest = 250 * time.Millisecond
	// maxAttachments bounds those of one page, maxAttached the places of each,
	// maxAttachFrames the documents of a page that are observed, the main one
	// among them.
	maxAttachments  = 100
	maxAttached     = 50
	maxAttachFrames = 50
	// maxAffordanceText bounds what an affordance shows, in bytes.
	maxAffordanceText = 200
	// maxEventBytes bounds the output in one event. Beyond it the event leaves the
	// output out.
	maxEventBytes = 64 << 10
)

// Why an attachment is not on the page.
const (
	awayURL      = "other_url"
	awayState    = "other_state"
	awayInstall  = "install_policy" // install says manual or never
	awayDisabled = "disabled"       // mode attachments disabled it in the tab
	awayKeys     = "no_keys"        // a shortcut without a key
	awayDrift    = "drift_policy"   // only a fallback selector matches
	awayTarget   = "no_target"      // no document of the page has the target
	awayFrames   = "frame_limit"    // the frames that were searched have not
)

// Deps are shared by the attachments of every tab of a host.
type Deps struct {
	Maps  *mapset.Maps
	Log   *slog.Logger
	NewID func() string
	// Leaves means that the browser stays open after the host: what is drawn is
	// taken off its pages.
	Leaves bool
	// Accept queues a call on behalf of a map, nil for an agent's.
	Accept func(from *sites.Map, msg call.Call, done func(call.Reply))
}

// Tab is the tab on whose pages attachments are drawn.
type Tab interface {
	observe.Pages
	ID() int
	Status() call.TabStatus
	// SetAttachments takes over where attachments stand, and reports them.
	SetAttachments(status []call.AttachmentStatus)
	Emit(call.Event)
	// Context ends when the tab is closed. Go runs f beside the calls; the host
	// waits for it.
	Context() context.Context
	Go(f func()) bool
}

// States reports which states of maps are current.
type States interface {
	Verdict(m *sites.Map, state string) verify.Verdict
}

// Signals forwards the signals that attachments declare.
type Signals interface {
	ListensTo(s signal.Offered) bool
	Forward(s signal.Offered, payload json.RawMessage)
}

// Attachments are those of one tab. They cost nothing while no map with
// attachments applies to the page. It is safe for concurrent use.
type Attachments struct {
	Deps
	tab     Tab
	states  States
	signals Signals

	wake   chan struct{} // buffered, 1: the address, the states, the frames or the maps changed
	framed atomic.Bool   // changes of frames matter
	// documents counts the main documents of the tab.
	documents atomic.Int64

	mu       sync.Mutex
	now      []attachedRow
	noted    chan struct{}   // closed when now is replaced; nil while nobody waits
	switched map[string]bool // by the id offered: enabled or disabled in this tab
	pending  map[string]bool // by the id offered: its tool is being called
}

// New is for one tab.
func New(d Deps, tab Tab, states States, signals Signals) *Attachments {
	return &Attachments{Deps: d, tab: tab, states: states, signals: signals, wake: make(chan struct{}, 1)}
}

// Refresh schedules another drawing and observation of the page.
func (t *Attachments) Refresh() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Changed implements the feature of a tab. It does not block.
func (t *Attachments) Changed(c call.Change) {
	switch c {
	case call.DocumentReplaced:
		t.documents.Add(1)
	case call.FramesChanged:
		if !t.framed.Load() {
			return
		}
	}
	t.Refresh()
}

// attachedRow is an attachment and where it stands.
type attachedRow struct {
	Offered
	state     string
	reason    string // why it is not on the page
	instances int
	candidate string
	frameURL  string             // of the first child frame that has it; "" in the main frame
	frame     primitives.FrameID // the one that has it; "" for the main frame
}

// Offered is an attachment under the id by which the maps of a page
// offer it.
type Offered struct {
	ID         string
	attachment *manifest.Attachment
	in         *sites.Map // declares it
	via        *sites.Map // applies to the page
}

// OfferedBy lists the attachments that maps offer.
func OfferedBy(l *sites.Library, maps []*sites.Map) []Offered {
	var out []Offered
	for _, m := range maps {
		c := l.Composition(m)
		if c == nil {
			continue
		}
		for i := range c.Attachments {
			e := &c.Attachments[i]
			if len(out) < maxAttachments && !slices.ContainsFunc(out, func(o Offered) bool { return o.ID == e.Name }) {
				out = append(out, Offered{e.Name, e.Entry, e.Source.Map, m})
			}
		}
	}
	return out
}

// attachmentSpec is an attachment as attachments.js draws it.
type attachmentSpec struct {
	ID           string                `json:"id"`
	Kind         string                `json:"kind"`
	Target       descriptor.Descriptor `json:"target"`
	Label        string                `json:"label"`
	Title        string                `json:"title"`
	Placement    string                `json:"placement"`
	MaxInstances int                   `json:"max_instances"`
	Opens        bool                  `json:"opens"`
	Keys         *keys.Shortcut        `json:"keys"`
	Reattach     manifest.Return       `json:"reattach"`
	Remove       manifest.Removal      `json:"remove"`
	HideDrifted  bool                  `json:"hide_drifted"`
	Epoch        string                `json:"epoch"`     // changes with the address
	Present      bool                  `json:"present"`   // the context matches
	Elsewhere    bool                  `json:"elsewhere"` // another document has the anchor of this shortcut
}

func (o Offered) spec() attachmentSpec {
	a := o.attachment
	s := attachmentSpec{
		ID:           o.ID,
		Kind:         a.Kind,
		Target:       verify.DescriptorOf(a.Target, "", nil),
		Label:        a.Description,
		MaxInstances: 1,
		Placement:    "afterend",
		Reattach:     a.Lifecycle.Return(),
		Remove:       a.Lifecycle.Removal(),
		HideDrifted:  a.Lifecycle.HidesDrifted(),
	}
	if f := a.Affordance; f != nil {
		if f.Title != "" {
			s.Label = f.Title
		}
		if f.Label != "" {
			s.Label = f.Label
		}
		s.Title, s.Opens = f.Title, f.Opens != nil
		if slices.Contains([]string{"beforebegin", "afterbegin", "beforeend"}, f.Placement) {
			s.Placement = f.Placement
		}
		if f.MaxInstances != nil {
			s.MaxInstances = min(*f.MaxInstances, maxAttached)
		}
	}
	if s.Label == "" {
		s.Label = a.ID
	}
	s.Label, s.Title = fault.Clip(s.Label, maxAffordanceText), fault.Clip(s.Title, maxAffordanceText)
	if a.Kind == "shortcut" {
		s.Keys = o.keys()
	}
	return s
}

// keys is the shortcut that an affordance declares: x_keys, or else a title or a
// label that is one. nil when there is none.
func (o Offered) keys() *keys.Shortcut {
	f := o.attachment.Affordance
	if f == nil {
		return nil
	}
	var declared string
	if raw := f.Extensions["x_keys"]; raw != nil {
		_ = json.Unmarshal(raw, &declared)
	}
	for _, text := range []string{declared, f.Title, f.Label} {
		if s, err := keys.ParseShortcut(text); text != "" && err == nil {
			return &s
		}
	}
	return nil
}

// certainlyNot reports whether a state of a map was observed not to be current.
func (t *Attachments) certainlyNot(m *sites.Map, state string) bool {
	if state == "" || manifest.LifecycleState(state) {
		return false
	}
	return t.states.Verdict(m, state) == verify.No
}

// keptAway says why the lifecycle of an attachment, or mode attachments in
// its place, keeps it off the page; "" when nothing does.
func (t *Attachments) keptAway(a Offered) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	on, set := t.switched[a.ID]
	switch {
	case set && !on:
		return awayDisabled
	case !set && !a.attachment.Lifecycle.Installs():
		return awayInstall
	}
	return ""
}

// State is the state of an attachment of a map by its own id.
func (t *Attachments) State(m *sites.Map, id string) (state string, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.now {
		if r.in.Path == m.Path && r.attachment.ID == id {
			return r.state, true
		}
	}
	return "", false
}

// note takes over where attachments stand and reports what changed.
func (t *Attachments) note(rows []attachedRow) {
	rows = slices.Clone(rows)
	t.mu.Lock()
	before := t.now
	t.now = rows
	if t.noted != nil {
		close(t.noted)
		t.noted = nil
	}
	t.mu.Unlock()
	var status []call.AttachmentStatus
	for _, r := range rows {
		status = append(status, call.AttachmentStatus{ID: r.ID, State: r.state, Reason: r.reason})
		was := attachedRow{state: Unattached}
		for _, b := range before {
			if b.ID == r.ID {
				was = b
			}
		}
		if was.state != r.state {
			t.report(r, was, r.state, "")
		}
	}
	t.tab.SetAttachments(status)
}
