package projection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

// extraction is what the page answered.
type extraction struct {
	head
	records json.RawMessage
}

// head is the first half of the answer of inject/maps/extract_plan.js.
type head struct {
	URL          json.RawMessage `json:"url"`
	Title        json.RawMessage `json:"title"`
	Counts       json.RawMessage `json:"counts"`
	Missing      []string        `json:"missing"`
	MissingCount int             `json:"missing_count"`
	Truncated    bool            `json:"truncated"`
	Answer       int             `json:"answer"` // names the answer when it has several parts
	Parts        int             `json:"parts"`
}

// answerExtraWait is waited beyond the limit of time for the answer to arrive: the
// page watches its own clock between nodes, but a single step of the browser
// (one innerText, one XPath) cannot be interrupted from inside.
const answerExtraWait = 3 * time.Second

// extract queries every frame of the plan, one page call each, and puts together what
// they say. The page is that of the main frame.
func (p *plan) extract(ctx context.Context, page primitives.Page, limits Limits) (*extraction, *fault.Error) {
	out := &extraction{}
	members := make([]json.RawMessage, len(p.prefixes))
	size := 0
	for i, f := range p.frames {
		h, results, err := p.query(ctx, page, f, limits)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			out.head = h
		} else if err := out.add(h); err != nil {
			return nil, unreadable(err)
		}
		for n, result := range results {
			members[f.members[n]] = result
			size += len(result)
		}
		if size > limits.Bytes {
			return nil, limits.overBytes(size)
		}
	}
	b := append(make([]byte, 0, size+64*len(members)+2), '{')
	for i, result := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, p.prefixes[i]...), result...)
	}
	out.records = append(b, '}')
	return out, nil
}

// add joins the diagnostics of another frame.
func (x *extraction) add(h head) error {
	counts, err := parseValue(x.Counts)
	if err != nil {
		return err
	}
	more, err := parseValue(h.Counts)
	if err != nil {
		return err
	}
	counts.names, counts.items = append(counts.names, more.names...), append(counts.items, more.items...)
	x.Counts = counts.append(nil)
	x.Missing = append(x.Missing, h.Missing...)
	x.MissingCount += h.MissingCount
	x.Truncated = x.Truncated || h.Truncated
	if len(x.Missing) > MaxDiagnostics {
		x.Missing, x.Truncated = x.Missing[:MaxDiagnostics], true
	}
	return nil
}

// query runs the extractors of one frame and returns what each gives.
func (p *plan) query(
	ctx context.Context, page primitives.Page, f framePlan, limits Limits,
) (head, []json.RawMessage, *fault.Error) {
	bounded, cancel := context.WithTimeout(ctx, limits.Time+answerExtraWait)
	defer cancel()
	h, values, err := f.fetch(bounded, page, limits)
	if err != nil {
		if ctx.Err() == nil && errors.Is(err, fault.Timeout) {
			return head{}, nil, limits.overTime()
		}
		return head{}, nil, pageFault(err, f)
	}
	results, err := readRecords(values, f.shapes, limits)
	switch {
	case errors.Is(err, errBytes):
		return head{}, nil, limits.overBytes(limits.Bytes + 1)
	case err != nil:
		return head{}, nil, unreadable(err)
	}
	return h, results, nil
}

// fetch queries the values of the frame, part by part.
func (f framePlan) fetch(ctx context.Context, page primitives.Page, limits Limits) (head, []byte, error) {
	call := func(fn string, args any) (raw json.RawMessage, err error) {
		if f.selectors == nil {
			err = page.Call(ctx, "", fn, args, &raw)
		} else {
			err = locator.CallFrame(ctx, page, f.selectors, fn, args.(map[string]any), &raw)
		}
		return raw, err
	}
	var args any = f.main
	if f.main == nil || limits != DefaultLimits {
		args = map[string]any{"extract": f.extract, "limits": limits.encoded()}
	}
	raw, err := call("extract_plan", args)
	if err != nil {
		return head{}, nil, err
	}
	h, values, err := split(raw)
	if err != nil {
		return head{}, nil, unreadable(err)
	}
	if h.Parts > 1 { // the parts are about equally long
		values = slices.Grow(
			values, min((h.Parts-1)*(len(values)+len(values)/16), max(limits.Bytes-len(values), 0))+len("[]"),
		)
	}
	for part := 1; part < h.Parts; part++ {
		more, err := call("extract_part", map[string]any{"answer": h.Answer, "part": part})
		if err != nil {
			return head{}, nil, err
		}
		if len(more) < 2 || more[0] != '[' || more[len(more)-1] != ']' {
			return head{}, nil, unreadable(errAnswer)
		}
		if len(values)+len(more) > limits.Bytes+len("[]") {
			return head{}, nil, limits.overBytes(len(values) + len(more))
		}
		more[0] = ','
		values = append(values[:len(values)-1], more...)
	}
	return h, values, nil
}

func unreadable(err error) *fault.Error {
	return &fault.Error{Code: fault.StateProjectionFailed, Message: "the page gave an unreadable answer", Err: err}
}

// pageFault keeps what says more than that the projection failed.
func pageFault(err error, f framePlan) *fault.Error {
	e := fault.From(err)
	switch e.Code {
	case fault.StateExtractLimitExceeded:
		return e.Next(raiseOrNarrow)
	case fault.StateProjectionFailed, fault.StateDocumentUnavailable:
		return e
	case fault.FrameNotFound, fault.FrameCrossOrigin:
		return e.With("pointer", f.at)
	case fault.InvalidSelector:
		return (&fault.Error{Code: fault.StateProjectionFailed, Message: "a frame selector does not parse", Err: err}).
			With("pointer", f.at).With("cause", e.Code)
	}
	if fault.Universal(e.Code) && e.Code != fault.Internal {
		return e
	}
	return (&fault.Error{
		Code:     fault.StateProjectionFailed,
		Message:  "reading the page failed: " + e.Message,
		Evidence: e.Evidence,
		Err:      err,
	}).
		Field("cause", map[string]any{"code": e.Code})
}

var errAnswer = errors.New("the answer is not [head, values]")

// split takes [head, values] apart without reading the values, which may be
// megabytes of our own library's JSON.
func split(raw json.RawMessage) (head, []byte, error) {
	var h head
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return h, nil, errAnswer
	}
	if err := d.Decode(&h); err != nil {
		return h, nil, err
	}
	rest := bytes.TrimSpace(raw[d.InputOffset():])
	if len(rest) < 2 || rest[0] != ',' || rest[len(rest)-1] != ']' {
		return h, nil, errAnswer
	}
	return h, rest[1 : len(rest)-1], nil
}

// schemaValid is how diagnostics speak of the output schema. Without one there
// is nothing wrong.
const schemaValid = `,"schema_valid":true`

// diagnostics is the public form of what the extraction noticed.
func (x *extraction) diagnostics() json.RawMessage {
	b := []byte(`{"missing_required_fields":[`)
	for i, path := range x.Missing {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, path)
	}
	b = append(append(b, `],"selector_counts":`...), x.Counts...)
	b = append(b, schemaValid+`,"truncated":`...)
	if !x.Truncated {
		return append(b, "false}"...)
	}
	n, _ := json.Marshal(x.MissingCount)
	return append(append(append(b, `true,"missing_required_count":`...), n...), '}')
}
