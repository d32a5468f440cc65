package replay

import (
	"context"
	"slices"
	"time"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime"
)

// PageEvidence is how the page differs after a call whose result differs: lines of its text.
type PageEvidence struct {
	WasURL  string   `json:"was_url"`
	IsURL   string   `json:"is_url"`
	OnlyWas []string `json:"only_was,omitempty"`
	OnlyIs  []string `json:"only_is,omitempty"`
}

// maxLines bounds the lines of each side.
const maxLines = 10

// settleTime is how long after a call the page is read: a recording reads it as late.
const settleTime = 150 * time.Millisecond

// evidence compares the document that the recording has after a call, or else after the last one before it that
// acted, with what the page shows; nil without one of them.
func (p *player) evidence(ctx context.Context, c Call, target runtime.Target, h place) *PageEvidence {
	was, ok := p.documentAfter(c)
	if !ok || p.shown == nil {
		return nil
	}
	before, err := p.log.Recording.Data(was.Resource)
	if err != nil {
		return nil
	}
	_ = primitives.Sleep(ctx, settleTime)
	tab := 0
	for _, t := range h.tabs() {
		if t.RuntimeID == target.RuntimeID {
			tab = t.TabID
		}
	}
	after, address, err := p.shown.document(ctx, tab)
	if err != nil {
		return nil
	}
	after = p.opts.Secrets.MaskJSON(after)
	a, b := record.Lines(before), record.Lines(after)
	out := &PageEvidence{WasURL: was.URL, IsURL: address}
	for _, line := range a {
		if !slices.Contains(b, line) && len(out.OnlyWas) < maxLines {
			out.OnlyWas = append(out.OnlyWas, line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) && len(out.OnlyIs) < maxLines {
			out.OnlyIs = append(out.OnlyIs, line)
		}
	}
	return out
}

// documentAfter is the document of the tab of a call that the recording has last when it had ended.
func (p *player) documentAfter(c Call) (record.Snapshot, bool) {
	at := slices.IndexFunc(p.log.Calls, func(o Call) bool { return o.Event == c.Event })
	for _, o := range slices.Backward(p.log.Calls[:at+1]) {
		if snap, ok := lastSnapshot(o.steps); ok && o.Tab == c.Tab {
			return snap, true
		}
	}
	return record.Snapshot{}, false
}

func lastSnapshot(steps []record.Step) (record.Snapshot, bool) {
	for _, s := range slices.Backward(steps) {
		for _, snap := range slices.Backward(s.Snapshots) {
			if snap.Main {
				return snap, true
			}
		}
	}
	return record.Snapshot{}, false
}
