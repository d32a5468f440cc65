package state

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/projection"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// maxStateReread bounds how often a projection is read again because the
// document was replaced under it.
const maxStateReread = 3

// Modes of actions.site that read state projections.
const (
	modeStateRead    = "state_read"
	modeStateSummary = "state_summary"
	modeStateDiff    = "state_diff"
	modeStateWatch   = "state_watch"
)

// defaultSummary is the summary of a caller that names none.
const defaultSummary = "agent_context"

// maxBaseline bounds a state that a caller sends to compare with, in bytes.
const maxBaseline = 1 << 20

// stateReading is the output of state_read and state_summary; the order of its
// members is that of the wire reference, "State modes: outputs".
type stateReading struct {
	OK          bool            `json:"ok"`
	Projection  string          `json:"projection"`
	StateHash   string          `json:"state_hash"`
	ObservedAt  string          `json:"observed_at"`
	Markers     json.RawMessage `json:"markers,omitempty"`
	Diagnostics json.RawMessage `json:"diagnostics"`
	SummaryName string          `json:"summary_name,omitempty"`
	Summary     json.RawMessage `json:"summary,omitempty"`
	State       json.RawMessage `json:"state,omitempty"`
}

// stateDifference is the output of state_diff.
type stateDifference struct {
	OK             bool            `json:"ok"`
	Projection     string          `json:"projection"`
	Baseline       string          `json:"baseline"` // initialized, previous_snapshot, caller
	PatchFormat    string          `json:"patch_format"`
	Patches        json.RawMessage `json:"patches"`
	SemanticDeltas json.RawMessage `json:"semantic_deltas"`
	PreviousHash   *string         `json:"previous_state_hash"`
	StateHash      string          `json:"state_hash"`
	ObservedAt     string          `json:"observed_at"`
}

// Query is the arguments of a call of a state mode.
type Query struct {
	Mode        string
	Projection  string
	SummaryName string // "" for the default
	MaxBytes    *int
	Baseline    json.RawMessage
	Enabled     *bool
	Debounce    *time.Duration
	Page        Page
	Limits      projection.Limits // 0 is the default
}

// Answer answers the state modes of actions.site. supplied is the map that came
// with the call, nil for none.
func (p *Projections) Answer(ctx context.Context, supplied *call.SuppliedMap, in Query) call.Reply {
	reply := p.answer(ctx, supplied, in)
	reply.Err = p.coded(reply.Err)
	return reply
}

// coded is a failure as the profile answers it: the extension passes the code of
// the expression engine on.
func (p *Projections) coded(err *fault.Error) *fault.Error {
	if err == nil || !p.Quirks.Has(quirks.UpstreamAnswers) {
		return err
	}
	switch err.Code {
	case fault.StateProjectionFailed, fault.StateSummaryFailed, fault.ExpressionEvaluationFailed:
		if code, ok := err.Evidence["jsonata_code"].(string); ok && code != "" {
			out := *err
			out.Code = fault.Code(code)
			return &out
		}
	}
	return err
}

func (p *Projections) answer(ctx context.Context, supplied *call.SuppliedMap, in Query) call.Reply {
	if in.Projection == "" {
		return call.Reply{Err: fault.New(fault.InvalidInput, "mode %s needs the name of a projection", in.Mode).
			With("tool", call.SiteTool).With("missing_required", []string{"projection_name"})}
	}
	if in.Mode == modeStateWatch {
		return p.watch(ctx, supplied, in)
	}
	if given(in.Baseline) && in.Mode != modeStateDiff {
		return call.Reply{Err: fault.New(fault.InvalidInput, "baseline belongs to mode state_diff").
			With("tool", call.SiteTool).With("mode", in.Mode)}
	}
	if len(in.Baseline) > maxBaseline {
		return call.Reply{Err: fault.New(
			fault.InvalidInput, "the baseline has %d bytes; the limit is %d", len(in.Baseline), maxBaseline,
		).With("tool", call.SiteTool)}
	}
	options, err := p.options(in)
	if err != nil {
		return call.Reply{Err: err}
	}
	if in.Page.Rows != nil {
		return p.page(ctx, p.reader(supplied), in, options)
	}
	declared, snap, err := p.reader(supplied).read(ctx, in.Projection, options)
	if err != nil {
		return call.Reply{Err: err}
	}
	switch in.Mode {
	case modeStateSummary:
		return readSummary(ctx, declared, snap, in)
	case modeStateDiff:
		return call.Encoded(p.last.diff(p.Quirks, declared, snap, in.Baseline))
	}
	if len(snap.State) <= maxBaseline {
		p.last.swap(declared.Name(), lastState{snap.State, snap.Hash})
	}
	return call.Encoded(stateReading{
		OK:          true,
		Projection:  declared.Name(),
		StateHash:   snap.Hash,
		ObservedAt:  jsonout.Time(snap.ObservedAt),
		Markers:     snap.Markers,
		Diagnostics: snap.Diagnostics,
		State:       snap.State,
	})
}

// options are those of a read, within what the operator allows.
func (p *Projections) options(in Query) (projection.ReadOptions, *fault.Error) {
	most := projection.MostLimits(p.MostBytes)
	options := projection.ReadOptions{SkipStateLimit: in.Mode == modeStateSummary, Limits: in.Limits.Within(most)}
	if above := in.Limits.Above(most); above != "" {
		return options, fault.New(fault.InvalidInput, "limits allow more %s than this runtime does", above).
			With("tool", call.SiteTool).With("limit", above).With("most", map[string]any{
			"nodes":   most.Nodes,
			"bytes":   most.Bytes,
			"time_ms": most.Time.Milliseconds(),
		})
	}
	if in.MaxBytes != nil {
		options.MaxBytes = *in.MaxBytes
		if in.Mode == modeStateDiff {
			options.MaxBytes = min(options.MaxBytes, maxBaseline) // as large as what it is compared with may be
		}
		if !p.Quirks.Has(quirks.UpstreamAnswers) {
			options.ExpressionBytes = min(max(options.MaxBytes, projection.MaxExpressionBytes), most.Bytes)
		}
	}
	if in.Mode == modeStateSummary && in.Limits != (projection.Limits{}) {
		options.ExpressionBytes = options.Limits.Bytes // nobody gets the state
	}
	page := in.Page
	switch {
	case page.Rows == nil && (page.Offset > 0 || page.Limit > 0 || page.Hash != ""):
		return options, fault.New(
			fault.InvalidInput, "offset, limit and state_hash need rows, the JSON pointer of a list in the state",
		).With("tool", call.SiteTool)
	case page.Rows != nil && in.Mode != modeStateRead:
		return options, fault.New(fault.InvalidInput, "rows belongs to mode state_read").
			With("tool", call.SiteTool).With("mode", in.Mode)
	case page.Rows != nil && in.Limits == (projection.Limits{}):
		options.Limits = most // what is handed out is bounded by the page
	}
	return options, nil
}

func readSummary(ctx context.Context, p *projection.Projection, snap *projection.Snapshot, in Query) call.Reply {
	name := cmp.Or(in.SummaryName, defaultSummary)
	summary, err := p.Summary(ctx, snap, name)
	if err != nil {
		return call.Reply{Err: err}
	}
	return call.Encoded(stateReading{
		OK:          true,
		Projection:  p.Name(),
		StateHash:   snap.Hash,
		ObservedAt:  jsonout.Time(snap.ObservedAt),
		Markers:     snap.Markers,
		Diagnostics: snap.Diagnostics,
		SummaryName: name,
		Summary:     summary,
	})
}

// diff compares a state with the caller's baseline, else with the last state,
// whose place it takes either way.
func (s *states) diff(
	set quirks.Set, p *projection.Projection, snap *projection.Snapshot, baseline json.RawMessage,
) stateDifference {
	last, known := s.swap(p.Name(), lastState{snap.State, snap.Hash})
	out := stateDifference{
		OK:             true,
		Projection:     p.Name(),
		Baseline:       "previous_snapshot",
		PatchFormat:    "json_patch",
		Patches:        emptyArray,
		SemanticDeltas: emptyArray,
		StateHash:      snap.Hash,
		ObservedAt:     jsonout.Time(snap.ObservedAt),
	}
	switch {
	case given(baseline):
		out.Baseline = "caller"
		last = lastState{baseline, projection.Hash(baseline)}
	case !known:
		out.Baseline = "initialized"
		return out
	}
	out.PreviousHash = &last.hash
	delta := difference(set, p, last.state, snap.State)
	out.Patches, out.SemanticDeltas = delta.Patches, delta.Semantic
	return out
}

// difference is the way from one state of p to another.
func difference(set quirks.Set, p *projection.Projection, before, after json.RawMessage) projection.Delta {
	if set.Has(quirks.IndexedDiff) {
		return projection.DiffByIndex(before, after)
	}
	return projection.Diff(before, after, p.Identity())
}

var emptyArray = json.RawMessage("[]")

// given reports whether a member was sent: absent and null are the same.
func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// stateReader reads projections on one tab, as the maps on offer declare them
// or as the map that came with a call does.
type stateReader struct {
	*Projections
	supplied *call.SuppliedMap
	// quiet leaves the markers of the tab alone: the reader is not the caller
	// who will use them.
	quiet bool
}

func (p *Projections) reader(supplied *call.SuppliedMap) stateReader {
	return stateReader{Projections: p, supplied: supplied}
}

// find picks the declaration that applies to an address.
type find func(o *mapset.Offer, url string) (*sites.Map, *manifest.Projection, *fault.Error)

func named(name string) find {
	return func(o *mapset.Offer, url string) (*sites.Map, *manifest.Projection, *fault.Error) {
		return o.Library.FindProjection(url, name)
	}
}

// read reads the projection of this name. It leaves the snapshot store alone.
func (r stateReader) read(
	ctx context.Context, name string, options projection.ReadOptions,
) (*projection.Projection, *projection.Snapshot, *fault.Error) {
	return r.readFound(ctx, named(name), options)
}

func (r stateReader) readFound(
	ctx context.Context, find find, options projection.ReadOptions,
) (*projection.Projection, *projection.Snapshot, *fault.Error) {
	options.Limits = options.Limits.Within(projection.MostLimits(r.MostBytes))
	o := r.Maps.Current()
	if r.supplied != nil {
		var err *fault.Error
		o, err = r.Maps.Supplied(r.supplied)
		if err != nil {
			return nil, nil, err
		}
	}
	for n := 0; ; n++ {
		page, e := r.tab.LivePage(ctx)
		if e != nil {
			return nil, nil, fault.From(e)
		}
		offered := r.Maps.WithWeb(ctx, o, page)
		url := page.Tab().URL
		in, declared, err := find(offered, url)
		if err != nil {
			return nil, nil, err
		}
		p, err := r.Maps.Projection(offered, declared)
		if err != nil {
			return nil, nil, err
		}
		snap, err := r.readOnce(r.Within(ctx, in, in, url), page, in, p, options)
		if err != nil && err.Code == fault.PageNavigated && n < maxStateReread && ctx.Err() == nil {
			continue // the new document may have another address, and so another declaration
		}
		return p, snap, err
	}
}

func (r stateReader) readOnce(
	ctx context.Context, page primitives.Page, in *sites.Map, p *projection.Projection, options projection.ReadOptions,
) (*projection.Snapshot, *fault.Error) {
	if r.quiet || !p.HasMarkers() {
		return p.Read(ctx, page, options)
	}
	// The document is read before and after, so that markers of one that
	// was replaced meanwhile never count for its successor.
	before, err := documentToken(ctx, page)
	if err != nil {
		return nil, fault.From(err)
	}
	snap, fe := p.Read(ctx, page, options)
	if fe != nil {
		return nil, fe
	}
	after, err := documentToken(ctx, page)
	if err != nil {
		return nil, fault.From(err)
	}
	if before != after {
		return nil, fault.New(fault.PageNavigated, "the document was replaced during the read")
	}
	markers, fe := projection.ParseMarkers(snap.Markers)
	if fe != nil {
		return nil, fe
	}
	r.markers.replace(after, in, p.Name(), markers, snap.ObservedAt)
	return snap, nil
}

// namedIn is named, but tries one map first: a postcondition means the
// projection of its own map.
func namedIn(m *sites.Map, name string) find {
	elsewhere := named(name)
	return func(o *mapset.Offer, url string) (*sites.Map, *manifest.Projection, *fault.Error) {
		if declared := m.Projection(url, name); declared != nil {
			return m, declared, nil
		}
		return elsewhere(o, url)
	}
}
