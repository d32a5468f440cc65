package replay

import (
	"slices"

	"github.com/outrider-run/outrider/evidence/record"
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

// evidence compares the last documents that the recording and the replay have of a call; nil when one has none.
func (p *player) evidence(c Call) *PageEvidence {
	if p.ring == nil {
		return nil
	}
	p.shown.Settle()
	calls := record.Calls(p.ring.Events())
	if len(calls) == 0 {
		return nil
	}
	was, okWas := lastSnapshot(c.steps)
	is, okIs := lastSnapshot(calls[len(calls)-1].Steps)
	if !okWas || !okIs {
		return nil
	}
	before, err := p.log.Recording.Data(was.Resource)
	if err != nil {
		return nil
	}
	after, ok := p.ring.Data(is.Resource)
	if !ok {
		return nil
	}
	a, b := record.Lines(before), record.Lines(after)
	out := &PageEvidence{WasURL: was.URL, IsURL: is.URL}
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
