package capture

import (
	"time"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/runtime"
)

// states records how the state projections of a page were. The queue calls it.
func (r *Recorder) states(at time.Time, tab int, e runtime.PageEvent) {
	for _, s := range e.States {
		out := record.State{Projection: s.Projection, Call: e.Call, Hash: s.Hash, Code: s.Code, Patches: s.Patches}
		if s.State == nil {
			r.log.PutAt(at, record.KindState, tab, out)
			continue
		}
		out.Resource = r.log.Keep("application/json", s.State)
		r.log.PutAt(at, record.KindState, tab, out, out.Resource)
	}
}
