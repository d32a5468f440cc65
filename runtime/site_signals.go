package runtime

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/sites"
)

// listedSignal is a signal of the page as agents see it.
type listedSignal struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Event       string          `json:"event"`
	Ingestion   string          `json:"ingestion"`
	Enabled     bool            `json:"enabled"` // in this tab, now
	Payload     json.RawMessage `json:"payload_schema,omitempty"`
	Forwarded   int             `json:"forwarded"`
	Dropped     map[string]int  `json:"dropped,omitempty"` // by reason
	MapPath     string          `json:"map_path"`
}

func (t *Tab) listSignals(l *sites.Library, applying []*sites.Map) []listedSignal {
	out := []listedSignal{}
	for _, s := range signalsOffered(l, applying) {
		if slices.ContainsFunc(out, func(o listedSignal) bool { return o.Name == s.name }) {
			continue
		}
		row := listedSignal{
			Name: s.name, Description: s.signal.Description, Event: s.signal.Event, Ingestion: s.signal.Ingestion,
			Enabled: t.listensTo(s), Payload: s.signal.Payload, MapPath: s.in.Path,
		}
		t.signals.mu.Lock()
		if y := t.signals.tallies[s.name]; y != nil {
			row.Forwarded, row.Dropped = y.forwarded, maps.Clone(y.dropped)
		}
		t.signals.mu.Unlock()
		out = append(out, row)
	}
	return out
}

// siteSignals answers mode signals: what the page may say, and whether it is
// heard. With a name and enabled it says that first.
func (h *Host) siteSignals(ctx context.Context, t *Tab, j *job, in siteArguments) Reply {
	o, url, err := h.offerFor(ctx, t, j)
	if err != nil {
		return Reply{Err: err}
	}
	applying := o.Library.For(url)
	if in.Enabled != nil || in.Name != "" {
		var names []string
		for _, s := range signalsOffered(o.Library, applying) {
			names = append(names, s.name)
		}
		if !slices.Contains(names, in.Name) {
			return Reply{Err: fault.New(fault.UnknownReference, "the maps of this page declare no signal %s", fault.Clip(in.Name, 100)).
				With("signal", fault.Clip(in.Name, 100)).With("nearest", fault.Near(in.Name, names))}
		}
	}
	if in.Enabled != nil {
		t.signals.mu.Lock()
		if t.signals.asked == nil {
			t.signals.asked = map[string]bool{}
		}
		t.signals.asked[in.Name] = *in.Enabled
		t.signals.mu.Unlock()
		h.relisten(ctx)
	}
	rows := t.listSignals(o.Library, applying)
	if in.Name != "" {
		rows = slices.DeleteFunc(rows, func(r listedSignal) bool { return r.Name != in.Name })
	}
	return call.Encoded(map[string]any{"ok": true, "url": url, "signals": rows})
}

// attachmentGrace is how long mode attachments waits for the page to show what
// was said.
const attachmentGrace = 2 * time.Second

// siteAttachments answers mode attachments: what hangs on the page, and why
// something does not. With a name and enabled it first puts that attachment on
// the page of this tab, also one that is installed by hand, or takes it away.
func (h *Host) siteAttachments(ctx context.Context, t *Tab, j *job, in siteArguments) Reply {
	o, url, err := h.offerFor(ctx, t, j)
	if err != nil {
		return Reply{Err: err}
	}
	applying := o.Library.For(url)
	if in.Enabled != nil || in.Name != "" {
		var ids []string
		for _, a := range attachmentsOffered(o.Library, applying) {
			ids = append(ids, a.id)
		}
		if !slices.Contains(ids, in.Name) {
			return Reply{Err: fault.New(fault.UnknownReference, "the maps of this page declare no attachment %s", fault.Clip(in.Name, 100)).
				With("attachment", fault.Clip(in.Name, 100)).With("nearest", fault.Near(in.Name, ids))}
		}
	}
	if in.Enabled != nil {
		t.switchAttachment(ctx, in.Name, *in.Enabled)
	}
	rows := t.listAttachments(o.Library, applying)
	if in.Name != "" {
		rows = slices.DeleteFunc(rows, func(r listedAttachment) bool { return r.ID != in.Name })
	}
	return call.Encoded(map[string]any{"ok": true, "url": url, "attachments": rows})
}

// switchAttachment says for this tab whether an attachment belongs on its pages,
// and waits a moment for it to come or go.
func (t *Tab) switchAttachment(ctx context.Context, id string, on bool) {
	a := &t.attachments
	a.mu.Lock()
	if a.asked == nil {
		a.asked = map[string]bool{}
	}
	a.asked[id] = on
	a.mu.Unlock()
	a.poke()
	bounded, end := context.WithTimeout(ctx, attachmentGrace)
	defer end()
	for bounded.Err() == nil {
		a.mu.Lock()
		done := slices.ContainsFunc(a.now, func(r attachedRow) bool {
			return r.id == id && (r.instances > 0) == on && (on || r.reason == awayAsked)
		})
		if a.noted == nil {
			a.noted = make(chan struct{})
		}
		noted := a.noted
		a.mu.Unlock()
		if done {
			return
		}
		select {
		case <-noted:
		case <-bounded.Done():
		}
	}
}

// listedAttachment is an attachment of the page as agents see it.
type listedAttachment struct {
	ID          string `json:"id"`
	Kind        string `json:"kind"`
	Description string `json:"description,omitempty"`
	State       string `json:"state"`
	// Reason is why it is not on the page: other_url, other_state, no_target,
	// frame_limit, drift_policy, install_policy, disabled, no_keys.
	Reason    string `json:"reason,omitempty"`
	Instances int    `json:"instances"`
	FrameURL  string `json:"frame_url,omitempty"` // of the first that is in a child frame
	Candidate string `json:"candidate,omitempty"` // of the target, that matched
	Opens     string `json:"opens,omitempty"`     // the tool
	MapPath   string `json:"map_path"`
}

func (t *Tab) listAttachments(l *sites.Library, applying []*sites.Map) []listedAttachment {
	out := []listedAttachment{}
	for _, o := range attachmentsOffered(l, applying) {
		row := listedAttachment{ID: o.id, Kind: o.attachment.Kind, Description: o.attachment.Description, State: attUnattached, MapPath: o.in.Path}
		if f := o.attachment.Affordance; f != nil && f.Opens != nil {
			row.Opens = f.Opens.Tool
		}
		t.attachments.mu.Lock()
		for _, r := range t.attachments.now {
			if r.id == o.id {
				row.State, row.Reason, row.Instances, row.Candidate, row.FrameURL = r.state, r.reason, r.instances, r.candidate, r.frameURL
			}
		}
		t.attachments.mu.Unlock()
		out = append(out, row)
	}
	return out
}
