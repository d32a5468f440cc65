package runtime

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/runtime/verify"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/keys"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// AttachmentCalledEvent tells that somebody used an attachment and what became
// of the tool that it opens; the payload is attachmentCalled.
const AttachmentCalledEvent = "runtime.attachment_called"

// States of an attachment, schema v1.
const (
	attUnattached   = "unattached"
	attAttached     = "attached"
	attWrongContext = "wrong_context"
	attStale        = "stale"
	attReattached   = "reattached"
	attDrifted      = "drifted"
)

const (
	// attachSilence bounds one question of a page on which nothing happens.
	attachSilence = 15 * time.Second
	// attachRest is the pause before a page that could not be asked is asked
	// again: a dialog is open, or it hangs.
	attachRest = 250 * time.Millisecond
	// maxAttachments bounds those of one page, maxAttached the places of each,
	// maxAttachFrames the documents of a page that are looked at, the main one
	// among them.
	maxAttachments  = 100
	maxAttached     = 50
	maxAttachFrames = 50
	// maxAffordanceText bounds what an affordance shows, in bytes.
	maxAffordanceText = 200
)

// Why an attachment is not on the page.
const (
	awayURL     = "other_url"
	awayState   = "other_state"
	awayInstall = "install_policy" // install says manual or never
	awayAsked   = "disabled"       // mode attachments said so for the tab
	awayKeys    = "no_keys"        // a shortcut without a key
	awayDrift   = "drift_policy"   // only a fallback selector matches
	awayTarget  = "no_target"      // no document of the page has the target
	awayFrames  = "frame_limit"    // those that were looked at have not
)

// attachments keeps those of one tab. It costs nothing while no map with
// attachments applies to the page.
type attachments struct {
	wake   chan struct{} // buffered, 1: the address, the states, the frames or the maps changed
	framed atomic.Bool   // changes of frames matter
	// documents counts the main documents of the tab.
	documents atomic.Int64

	mu      sync.Mutex
	now     []attachedRow
	noted   chan struct{}   // closed when now is replaced; nil while nobody waits
	asked   map[string]bool // by the id offered: enabled or disabled in this tab
	pending map[string]bool // by the id offered: its tool is being called
}

// attachedRow is an attachment and where it stands.
type attachedRow struct {
	offeredAttachment
	state     string
	reason    string // why it is not on the page
	instances int
	candidate string
	frameURL  string             // of the first child frame that has it; "" in the main frame
	frame     primitives.FrameID // the one that has it; "" for the main frame
}

func (a *attachments) poke() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// onFrames has the tab look at its frames again. The browser's reader calls it.
func (h *Host) onFrames(bt *browser.Tab) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.tabs {
		if t.attachments.framed.Load() && t.shows(bt) {
			t.attachments.poke()
		}
	}
}

// offeredAttachment is an attachment under the id by which the maps of a page
// offer it.
type offeredAttachment struct {
	id         string
	attachment *manifest.Attachment
	in         *sites.Map // declares it
	via        *sites.Map // applies to the page
}

func attachmentsOffered(l *sites.Library, maps []*sites.Map) []offeredAttachment {
	var out []offeredAttachment
	for _, m := range maps {
		c := l.Composition(m)
		if c == nil {
			continue
		}
		for i := range c.Attachments {
			e := &c.Attachments[i]
			if len(out) < maxAttachments && !slices.ContainsFunc(out, func(o offeredAttachment) bool { return o.id == e.Name }) {
				out = append(out, offeredAttachment{e.Name, e.Entry, e.Source.Map, m})
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

func (o offeredAttachment) spec() attachmentSpec {
	a := o.attachment
	s := attachmentSpec{
		ID: o.id, Kind: a.Kind, Target: verify.DescriptorOf(a.Target, "", nil), Label: a.Description, MaxInstances: 1, Placement: "afterend",
		Reattach: a.Lifecycle.Return(), Remove: a.Lifecycle.Removal(), HideDrifted: a.Lifecycle.HidesDrifted(),
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
func (o offeredAttachment) keys() *keys.Shortcut {
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

// certainlyNot says whether a state of a map was seen not to be current.
func (t *Tab) certainlyNot(m *sites.Map, state string) bool {
	if state == "" || manifest.LifecycleState(state) {
		return false
	}
	t.diagnoser.mu.Lock()
	defer t.diagnoser.mu.Unlock()
	return t.diagnoser.last.VerdictOf(m, state) == verify.No
}

// keptAway says why the lifecycle of an attachment, or somebody who was asked in
// its place, keeps it off the page; "" when nothing does.
func (t *Tab) keptAway(a offeredAttachment) string {
	t.attachments.mu.Lock()
	defer t.attachments.mu.Unlock()
	on, said := t.attachments.asked[a.id]
	switch {
	case said && !on:
		return awayAsked
	case !said && !a.attachment.Lifecycle.Installs():
		return awayInstall
	}
	return ""
}

// attachmentStateOf is the state of an attachment of a map by its own id.
func (t *Tab) attachmentStateOf(m *sites.Map, id string) (state string, known bool) {
	t.attachments.mu.Lock()
	defer t.attachments.mu.Unlock()
	for _, r := range t.attachments.now {
		if r.in.Path == m.Path && r.attachment.ID == id {
			return r.state, true
		}
	}
	return "", false
}

// noteAttachments takes over where attachments stand and tells of what changed.
func (t *Tab) noteAttachments(rows []attachedRow) {
	rows = slices.Clone(rows)
	t.attachments.mu.Lock()
	before := t.attachments.now
	t.attachments.now = rows
	if t.attachments.noted != nil {
		close(t.attachments.noted)
		t.attachments.noted = nil
	}
	t.attachments.mu.Unlock()
	var status []AttachmentStatus
	for _, r := range rows {
		status = append(status, AttachmentStatus{ID: r.id, State: r.state, Reason: r.reason})
		was := attachedRow{state: attUnattached}
		for _, b := range before {
			if b.id == r.id {
				was = b
			}
		}
		if was.state != r.state {
			t.reportAttachment(r, was, r.state, "")
		}
	}
	t.mu.Lock()
	changed := !slices.Equal(t.status.Attachments, status)
	if changed {
		t.status.Attachments = status
	}
	t.mu.Unlock()
	if changed {
		t.emit(TabChanged)
	}
}
