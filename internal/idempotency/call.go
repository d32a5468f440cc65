package idempotency

import (
	"hash/maphash"

	"github.com/outrider-run/outrider/primitives/fault"
)

var seed = maphash.MakeSeed()

// Digest is that of a call whose parts are these. Another process has other ones.
func Digest(parts ...string) uint64 {
	var sum maphash.Hash
	sum.SetSeed(seed)
	for _, part := range parts {
		_, _ = sum.WriteString(part)
		_ = sum.WriteByte(0)
	}
	return sum.Sum64()
}

// Reused refuses a call whose key is that of another one.
func Reused(key string) *fault.Error {
	return fault.New(fault.KeyReused, "the idempotency key was used for another call; nothing was done").
		With("key", Given(key)).Next("give each act a key of its own")
}

// Dropped is the answer to a call that comes again when the answer of the first is no longer kept.
func Dropped(key string) *fault.Error {
	return fault.New(fault.AnswerDropped, "the call with this key has ended; its answer is not kept").
		With("key", Given(key)).Next("ask for it with call.outcome, and read the page")
}
