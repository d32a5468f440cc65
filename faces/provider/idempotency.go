package provider

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/internal/idempotency"
	"github.com/outrider-run/outrider/primitives/fault"
)

// receipt is what became of a request that carries a key.
type receipt struct {
	result   json.RawMessage
	failure  *Failure
	warnings []Warning
	cut      bool
}

// Size implements idempotency.Value.
func (r receipt) Size() int { return len(r.result) }

// Cut implements idempotency.Value.
func (receipt) Cut() receipt { return receipt{cut: true} }

// once runs a request that carries a key, unless it was run before. While that one runs, this one waits for it.
func (r *request) once(ctx context.Context) (any, *Failure) {
	digest := idempotency.Digest(r.method.name, string(r.params))
	entry, known, found := r.server.receipts.Begin(r.session.id+"\x00"+r.key, digest, receipt{})
	switch found {
	case idempotency.New:
		return r.first(ctx, entry)
	case idempotency.Ended:
		return r.again(known)
	case idempotency.Other:
		return nil, invalidRequest("/idempotency_key", "the key was used for another request; nothing was done").
			with("code", string(fault.KeyReused))
	}
	ended := make(chan receipt, 1)
	entry.Wait(func(known receipt) { ended <- known })
	select {
	case known := <-ended:
		return r.again(known)
	case <-ctx.Done():
		return nil, cancelled()
	}
}

// first runs the request, and keeps what became of it when it acted.
func (r *request) first(ctx context.Context, entry *idempotency.Entry[receipt]) (any, *Failure) {
	kept := receipt{failure: newFailure(InternalError, "%s failed unexpectedly", r.method.name)}
	defer func() { // also when it panics
		if r.acted {
			entry.End(kept)
		} else {
			entry.Free(kept)
		}
	}()
	result, failure := r.method.run(ctx, r)
	if failure == nil {
		encoded, err := json.Marshal(result)
		if err != nil {
			failure = newFailure(InternalError, "encoding the result")
		}
		kept.result = encoded
	}
	kept.failure, kept.warnings = failure, r.warnings
	return result, failure
}

// again answers with what became of the first request with the key.
func (r *request) again(known receipt) (any, *Failure) {
	r.warnings = append(r.warnings, known.warnings...)
	r.warn("repeated", "nothing was done: this is the answer to the first request with the key")
	switch {
	case known.cut:
		return nil, newFailure(InternalError, "the request with this key has ended; its answer is not kept").
			with("code", string(fault.AnswerDropped))
	case known.failure != nil:
		return nil, known.failure
	}
	return known.result, nil
}
