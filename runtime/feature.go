package runtime

import (
	"cmp"
	"context"
	"slices"

	"github.com/outrider-run/outrider/runtime/call"
)

// feature follows one tab beside its calls and keeps state of its own. It
// is all that a tab knows of its features.
type feature interface {
	// Run begins when the tab has a page and ends with ctx: the tab was closed.
	Run(ctx context.Context)
	// Changed reports what changed about the tab. It must not block.
	Changed(call.Change)
}

// changed reports a change to the features.
func (t *Tab) changed(c call.Change) {
	for _, f := range t.features {
		f.Changed(c)
	}
}

// The rest is what features see of a tab; each declares the part that it needs.

// ID is the tab's number in this host.
func (t *Tab) ID() int { return t.id }

// Context ends with the tab or the host.
func (t *Tab) Context() context.Context { return t.ctx }

// Go runs f beside the calls of the tab; the host waits for it. It is false, and f
// does not run, when the host is closed.
func (t *Tab) Go(f func()) bool {
	t.host.mu.Lock()
	defer t.host.mu.Unlock()
	if !t.host.closed {
		t.host.life.Go(f)
	}
	return !t.host.closed
}

// Emit emits an event of the tab.
func (t *Tab) Emit(ev Event) { t.host.emit(ev) }

// LastCall is the id of the call that ran last.
func (t *Tab) LastCall() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lastCall
}

// CallID is the id of the call that runs, or ran last.
func (t *Tab) CallID() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return cmp.Or(t.runningCall, t.lastCall)
}

// SetStates takes over the names of the states that are current, and reports them
// when they are other ones than before.
func (t *Tab) SetStates(names []string) (changed bool) {
	t.mu.Lock()
	changed = !slices.Equal(t.status.States, names)
	if changed {
		t.status.States = names
	}
	t.mu.Unlock()
	if changed {
		t.emit(TabChanged)
		t.changed(call.StatesChanged)
	}
	return changed
}

// SetAttachments takes over where attachments stand, and reports them when that is
// elsewhere than before.
func (t *Tab) SetAttachments(status []AttachmentStatus) {
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
