package runtime

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
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
	// maxAttachments bounds those of one page, maxAttached the places of each.
	maxAttachments = 100
	maxAttached    = 50
	// maxAffordanceText bounds what an affordance shows, in bytes.
	maxAffordanceText = 200
)

// AttachmentStatus is one attachment of a page in reports.
type AttachmentStatus struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

// attachments keeps those of one tab. It costs nothing while no map with
// attachments applies to the page.
type attachments struct {
	wake chan struct{} // buffered, 1: the address, the states or the maps changed

	mu      sync.Mutex
	now     []attachedRow
	pending map[string]bool // by the id offered: its tool is being called
}

// attachedRow is an attachment and where it stands.
type attachedRow struct {
	offeredAttachment
	state     string
	reason    string // why it is not on the page, when the runtime keeps it away
	instances int
	candidate string
}

func (a *attachments) poke() {
	select {
	case a.wake <- struct{}{}:
	default:
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
	Target       primitives.Descriptor `json:"target"`
	Label        string                `json:"label"`
	Title        string                `json:"title"`
	Placement    string                `json:"placement"`
	MaxInstances int                   `json:"max_instances"`
	Opens        bool                  `json:"opens"`
	Keys         *primitives.Shortcut  `json:"keys"`
	Reattach     string                `json:"reattach"` // always, url, never
	Remove       bool                  `json:"remove"`
	HideDrifted  bool                  `json:"hide_drifted"`
	Epoch        string                `json:"epoch"` // changes with the address
}

func (o offeredAttachment) spec(url string) attachmentSpec {
	a := o.attachment
	s := attachmentSpec{
		ID: o.id, Kind: a.Kind, Target: descriptorOf(a.Target, "", nil), Label: a.Description, MaxInstances: 1,
		Placement: "afterend", Reattach: "always", Remove: true, HideDrifted: strings.Contains(a.Lifecycle.Drift, "hide"), Epoch: url,
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
	s.Label, s.Title = clip(s.Label, maxAffordanceText), clip(s.Title, maxAffordanceText)
	if a.Kind == "shortcut" {
		s.Keys = o.keys()
	}
	switch a.Lifecycle.Reattach {
	case "never", "none", "manual":
		s.Reattach = "never"
	case "on_url_change":
		s.Reattach = "url"
	}
	if a.Lifecycle.Remove == "never" {
		s.Remove = false
	}
	return s
}

// keys is the shortcut that an affordance declares: x_keys, or else a title or a
// label that is one. nil when there is none.
func (o offeredAttachment) keys() *primitives.Shortcut {
	f := o.attachment.Affordance
	if f == nil {
		return nil
	}
	var declared string
	if raw := f.Extensions["x_keys"]; raw != nil {
		_ = json.Unmarshal(raw, &declared)
	}
	for _, text := range []string{declared, f.Title, f.Label} {
		if s, err := primitives.ParseShortcut(text); text != "" && err == nil {
			return &s
		}
	}
	return nil
}

// attachmentsWanted says what belongs on the page now, and where the others
// stand that its maps declare.
func (t *Tab) attachmentsWanted(url string) (rows []attachedRow, specs []attachmentSpec) {
	o := t.host.offerAt(url)
	if o.library == nil {
		return nil, nil
	}
	applying := o.library.For(url)
	for _, a := range attachmentsOffered(o.library, applying) {
		row := attachedRow{offeredAttachment: a, state: attUnattached}
		spec := a.spec(url)
		switch {
		case !spec.Target.OnPage(url):
			row.state, row.reason = attWrongContext, "other_url"
		case t.certainlyNot(a.in, a.attachment.Target.State):
			row.state, row.reason = attWrongContext, "other_state"
		case a.attachment.Lifecycle.Install == "manual" || a.attachment.Lifecycle.Install == "never":
			row.reason = "install_policy"
		case a.attachment.Kind == "shortcut" && spec.Keys == nil:
			row.reason = "no_keys"
		default:
			specs = append(specs, spec)
		}
		// What was put there with remove never stays in a context that is not its own.
		if row.state == attWrongContext && !spec.Remove && t.attached(a.id) {
			row.state = attAttached
			specs = append(specs, spec)
		}
		rows = append(rows, row)
	}
	return rows, specs
}

// certainlyNot says whether a state of a map was seen not to be current.
func (t *Tab) certainlyNot(m *sites.Map, state string) bool {
	if state == "" || manifest.LifecycleState(state) {
		return false
	}
	t.diagnoser.mu.Lock()
	defer t.diagnoser.mu.Unlock()
	return t.diagnoser.last.verdictOf(m, state) == no
}

// attached says whether an attachment is on the page.
func (t *Tab) attached(id string) bool {
	t.attachments.mu.Lock()
	defer t.attachments.mu.Unlock()
	return slices.ContainsFunc(t.attachments.now, func(r attachedRow) bool { return r.id == id && r.instances > 0 })
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

// attachmentAnswer is what attachments.js answers.
type attachmentAnswer struct {
	Revision    string `json:"revision"`
	Attachments []struct {
		ID        string `json:"id"`
		State     string `json:"state"`
		Candidate string `json:"candidate"`
		Instances int    `json:"instances"`
	} `json:"attachments"`
	Activations []struct {
		ID  string `json:"id"`
		How string `json:"how"` // click, keys
	} `json:"activations"`
}

// keepAttachments keeps on the page what its maps attach, until the tab is gone.
func (t *Tab) keepAttachments() {
	var asking sync.WaitGroup
	defer asking.Wait()
	ctx, cancel := context.WithCancel(t.host.ctx)
	defer cancel()
	asking.Go(func() {
		select {
		case <-t.gone:
			cancel()
		case <-ctx.Done():
		}
	})
	type answered struct {
		page primitives.Page
		out  attachmentAnswer
		err  error
	}
	answers := make(chan answered)
	var drawn primitives.Page // has attachments of ours, perhaps
	open, seen := 0, ""
	defer func() {
		if drawn != nil && t.host.opts.Browser.Attach != "" { // a browser that lives on
			last, end := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer end()
			_ = drawn.Call(last, "", "attachments", map[string]any{"items": []attachmentSpec{}, "timeout_ms": 0}, nil)
		}
	}()
	for ctx.Err() == nil {
		page, err := t.livePage(ctx)
		if err != nil {
			return
		}
		rows, specs := t.attachmentsWanted(page.Tab().URL)
		if len(specs) == 0 && drawn == nil {
			t.noteAttachments(rows, attachmentAnswer{})
			select {
			case <-t.attachments.wake:
			case <-ctx.Done():
			}
			continue
		}
		drawn = page
		args := map[string]any{"items": append([]attachmentSpec{}, specs...), "seen": seen, "timeout_ms": attachSilence.Milliseconds()}
		if len(specs) == 0 {
			args["timeout_ms"] = 0
		}
		open++
		asking.Go(func() {
			bounded, end := context.WithTimeout(ctx, 2*attachSilence)
			defer end()
			a := answered{page: page}
			a.err = page.Call(bounded, "", "attachments", args, &a.out)
			select {
			case answers <- a:
			case <-ctx.Done():
			}
		})
		for again := false; !again && open > 0; {
			select {
			case a := <-answers:
				open--
				again = open == 0
				if a.err != nil {
					seen = ""
					if fault.CodeOf(a.err) != fault.PageNavigated {
						t.host.log.Debug("keeping attachments", "tab", t.id, "error", a.err)
						rest(ctx, attachRest)
					}
					continue
				}
				seen = a.out.Revision
				if len(specs) == 0 {
					drawn = nil
				}
				t.noteAttachments(rows, a.out)
				for _, used := range a.out.Activations {
					for _, r := range rows {
						if r.id == used.ID {
							t.activate(r, used.How)
						}
					}
				}
			case <-t.attachments.wake:
				again = true // the new question ends the one that is open
			case <-ctx.Done():
				return
			}
		}
	}
}

// noteAttachments takes over where attachments stand and tells of what changed.
func (t *Tab) noteAttachments(rows []attachedRow, seen attachmentAnswer) {
	rows = slices.Clone(rows)
	for i := range rows {
		for _, a := range seen.Attachments {
			if a.ID == rows[i].id && rows[i].reason == "" {
				rows[i].state, rows[i].candidate, rows[i].instances = a.State, a.Candidate, a.Instances
			}
		}
	}
	t.attachments.mu.Lock()
	before := t.attachments.now
	t.attachments.now = rows
	t.attachments.mu.Unlock()
	var status []AttachmentStatus
	for _, r := range rows {
		status = append(status, AttachmentStatus{r.id, r.state})
		was := attUnattached
		for _, b := range before {
			if b.id == r.id {
				was = b.state
			}
		}
		if was != r.state {
			t.reportAttachment(r, r.state, "")
		}
	}
	t.mu.Lock()
	changed := !slices.Equal(t.status.Attachments, status)
	if changed {
		t.status.Attachments = status
	}
	all := t.status
	t.mu.Unlock()
	if changed {
		t.host.emit(Event{Kind: TabChanged, Tab: all})
	}
}
