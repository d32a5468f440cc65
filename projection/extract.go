package projection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// extraction is what the page said.
type extraction struct {
	head
	records json.RawMessage
}

// head is the first half of the answer of inject/extract_plan.js.
type head struct {
	URL          json.RawMessage `json:"url"`
	Title        json.RawMessage `json:"title"`
	Counts       json.RawMessage `json:"counts"`
	Missing      []string        `json:"missing"`
	MissingCount int             `json:"missing_count"`
	Truncated    bool            `json:"truncated"`
}

// answerGrace is waited beyond MaxExtractTime for the answer to arrive: the
// page watches its own clock between nodes, but a single step of the browser
// (one innerText, one XPath) cannot be interrupted from inside.
const answerGrace = 3 * time.Second

// extract asks every frame of the plan, one call each.
func (p *Projection) extract(ctx context.Context, page primitives.Page) (*extraction, *fault.Error) {
	first, err := p.ask(ctx, page, p.plan.frames[0])
	if err != nil || len(p.plan.frames) == 1 {
		return first, err
	}
	parts := []*extraction{first}
	size := len(first.records)
	for _, f := range p.plan.frames[1:] {
		part, err := p.ask(ctx, page, f)
		if err != nil {
			return nil, err
		}
		if size += len(part.records); size > MaxExtractBytes {
			return nil, overBytes(size)
		}
		parts = append(parts, part)
	}
	return p.join(parts)
}

// ask runs the extractors of one frame.
func (p *Projection) ask(ctx context.Context, page primitives.Page, f framePlan) (*extraction, *fault.Error) {
	bounded, cancel := context.WithTimeout(ctx, MaxExtractTime+answerGrace)
	defer cancel()
	var raw json.RawMessage
	var err error
	if f.main != nil {
		err = page.Call(bounded, "", "extract_plan", f.main, &raw)
	} else {
		args := map[string]any{"extract": f.extract, "limits": planLimits}
		err = primitives.CallFrame(bounded, page, f.selectors, "extract_plan", args, &raw)
	}
	if err != nil {
		if ctx.Err() == nil && errors.Is(err, fault.Timeout) {
			return nil, fault.New(fault.StateExtractLimitExceeded, "the page did not answer within its limit of time").
				With("limit", "time").With("max", MaxExtractTime.Milliseconds())
		}
		return nil, pageFault(err, f)
	}
	x, err := split(raw)
	if err != nil {
		return nil, &fault.Error{Code: fault.StateProjectionFailed, Message: "the page gave an unreadable answer", Err: err}
	}
	if len(x.records) > MaxExtractBytes {
		return nil, overBytes(len(x.records))
	}
	return x, nil
}

// pageFault keeps what says more than that the projection failed.
func pageFault(err error, f framePlan) *fault.Error {
	e := fault.From(err)
	switch e.Code {
	case fault.StateProjectionFailed, fault.StateExtractLimitExceeded, fault.StateDocumentUnavailable:
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
	return (&fault.Error{Code: fault.StateProjectionFailed, Message: "reading the page failed: " + e.Message, Evidence: e.Evidence, Err: err}).
		Field("cause", map[string]any{"code": e.Code})
}

func overBytes(n int) *fault.Error {
	return fault.New(fault.StateExtractLimitExceeded, "reading the page used up its limit of bytes").
		With("limit", "bytes").With("max", MaxExtractBytes).With("bytes", n)
}

var errAnswer = errors.New("the answer is not [head, records]")

// split takes [head, records] apart without reading the records, which may be
// megabytes of our own library's JSON.
func split(raw json.RawMessage) (*extraction, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, errAnswer
	}
	var x extraction
	if err := d.Decode(&x.head); err != nil {
		return nil, err
	}
	rest := bytes.TrimSpace(raw[d.InputOffset():])
	if len(rest) < 2 || rest[0] != ',' || rest[len(rest)-1] != ']' {
		return nil, errAnswer
	}
	x.records = rest[1 : len(rest)-1]
	return &x, nil
}

// join makes one extraction of those of several frames, in the order of the
// declaration. The page is that of the main frame.
func (p *Projection) join(parts []*extraction) (*extraction, *fault.Error) {
	out := &extraction{head: parts[0].head}
	records := map[string]json.RawMessage{}
	counts := &value{kind: kindObject}
	out.Missing, out.MissingCount, out.Truncated = nil, 0, false
	for _, part := range parts {
		if err := json.Unmarshal(part.records, &records); err != nil {
			return nil, &fault.Error{Code: fault.StateProjectionFailed, Message: "the page gave an unreadable answer", Err: err}
		}
		c, err := parseValue(part.Counts)
		if err != nil {
			return nil, &fault.Error{Code: fault.StateProjectionFailed, Message: "the page gave an unreadable answer", Err: err}
		}
		counts.names, counts.items = append(counts.names, c.names...), append(counts.items, c.items...)
		out.Missing = append(out.Missing, part.Missing...)
		out.MissingCount += part.MissingCount
		out.Truncated = out.Truncated || part.Truncated
	}
	if len(out.Missing) > MaxDiagnostics {
		out.Missing, out.Truncated = out.Missing[:MaxDiagnostics], true
	}
	out.Counts = counts.append(nil)
	b := []byte{'{'}
	for _, id := range p.plan.ids {
		text, ok := records[id]
		if !ok {
			continue
		}
		delete(records, id) // an id that is declared twice appears once
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(appendString(b, id), ':'), text...)
	}
	out.records = append(b, '}')
	return out, nil
}

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
	b = append(b, `,"schema_valid":true,"truncated":`...)
	if !x.Truncated {
		return append(b, "false}"...)
	}
	n, _ := json.Marshal(x.MissingCount)
	return append(append(append(b, `true,"missing_required_count":`...), n...), '}')
}
