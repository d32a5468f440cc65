package attach

import (
	"context"
	"slices"
	"time"

	"github.com/outrider-run/outrider/sites"
)

// attachmentWait is how long mode attachments waits for the page to show what
// was requested.
const attachmentWait = 2 * time.Second

// Current are the attachments of maps that are on the page.
func (t *Attachments) Current(lib *sites.Library, maps []*sites.Map) []string {
	var out []string
	for _, m := range maps {
		for _, e := range lib.Attachments(m) {
			state, known := t.State(e.Source.Map, e.Entry.ID)
			if known && slices.Contains([]string{Attached, Reattached, Drifted}, state) {
				out = append(out, e.Name)
			}
		}
	}
	return out
}

// Switch says for this tab whether an attachment belongs on its pages,
// and waits a moment for it to come or go.
func (t *Attachments) Switch(ctx context.Context, id string, on bool) {
	t.mu.Lock()
	if t.switched == nil {
		t.switched = map[string]bool{}
	}
	t.switched[id] = on
	t.mu.Unlock()
	t.Refresh()
	bounded, end := context.WithTimeout(ctx, attachmentWait)
	defer end()
	for bounded.Err() == nil {
		t.mu.Lock()
		done := slices.ContainsFunc(t.now, func(r attachedRow) bool {
			return r.ID == id && (r.instances > 0) == on && (on || r.reason == awayDisabled)
		})
		if t.noted == nil {
			t.noted = make(chan struct{})
		}
		noted := t.noted
		t.mu.Unlock()
		if done {
			return
		}
		select {
		case <-noted:
		case <-bounded.Done():
		}
	}
}

// Listed is an attachment of the page as agents see it.
type Listed struct {
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

// List lists the attachments that maps offer, as agents see them.
func (t *Attachments) List(l *sites.Library, applying []*sites.Map) []Listed {
	out := []Listed{}
	for _, o := range OfferedBy(l, applying) {
		row := Listed{
			ID:          o.ID,
			Kind:        o.attachment.Kind,
			Description: o.attachment.Description,
			State:       Unattached,
			MapPath:     o.in.Path,
		}
		if f := o.attachment.Affordance; f != nil && f.Opens != nil {
			row.Opens = f.Opens.Tool
		}
		t.mu.Lock()
		for _, r := range t.now {
			if r.ID == o.ID {
				row.State = r.state
				row.Reason = r.reason
				row.Instances = r.instances
				row.Candidate = r.candidate
				row.FrameURL = r.frameURL
			}
		}
		t.mu.Unlock()
		out = append(out, row)
	}
	return out
}
