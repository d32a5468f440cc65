package tools

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/outrider-run/outrider/internal/idempotency"
	"github.com/outrider-run/outrider/primitives/fault"
)

// receipt is what became of a call of a tool that carries a key.
type receipt struct {
	answer *Answer
	err    *fault.Error
	cut    bool
}

// Size implements idempotency.Value.
func (r receipt) Size() int {
	if r.answer == nil {
		return 0
	}
	return len(r.answer.Text) + len(r.answer.Image) + len(r.answer.encoded)
}

// Cut implements idempotency.Value.
func (r receipt) Cut() receipt { return receipt{cut: true} }

// again is the answer to another call with the key.
func (r receipt) again(key string) (*Answer, *fault.Error) {
	switch {
	case r.cut:
		return nil, idempotency.Dropped(key)
	case r.err != nil:
		err := r.err.Clone()
		return nil, err.With("repeated", true)
	}
	out := *r.answer
	out.Result = maps.Clone(out.Result)
	out.Result["repeated"], out.encoded = true, nil
	if out.Text != "" {
		out.Text = "not done again: this is the answer to the first call with the key\n" + out.Text
	}
	return &out, nil
}

// once runs a call that carries a key, unless it was run before. While that one runs, this one waits for it.
func (s *Set) once(ctx context.Context, t *Tool, c *Call) (*Answer, *fault.Error) {
	var w where
	_ = json.Unmarshal(c.Args, &w) // they match the schema
	digest := idempotency.Digest(t.Name, string(c.Args))
	entry, known, found := s.receipts.Begin(w.scope()+"\x00"+c.Key, digest, receipt{})
	switch found {
	case idempotency.New:
		return c.first(ctx, t, entry)
	case idempotency.Ended:
		return known.again(c.Key)
	case idempotency.Other:
		return nil, idempotency.Reused(c.Key)
	}
	c.Turn.End() // the first call may stand behind this one
	ended := make(chan receipt, 1)
	entry.Wait(func(r receipt) { ended <- r })
	select {
	case r := <-ended:
		return r.again(c.Key)
	case <-ctx.Done():
		return nil, fault.From(ctx.Err())
	}
}

// first runs the call, and keeps what became of it when it did something.
func (c *Call) first(ctx context.Context, t *Tool, entry *idempotency.Entry[receipt]) (*Answer, *fault.Error) {
	kept := receipt{err: fault.New(fault.Internal, "%s failed unexpectedly", t.Name)}
	defer func() { // also when it panics
		if kept.err != nil && (!c.started || kept.err.Code == fault.InvalidInput) {
			entry.Free(kept)
		} else {
			entry.End(kept)
		}
	}()
	kept.answer, kept.err = c.runTool(ctx, t)
	return kept.answer, kept.err
}

// partOfKey is the key of the next call of the runtime, "" without one.
func (c *Call) partOfKey() string {
	c.parts++
	return idempotency.Part(c.Key, c.parts)
}
