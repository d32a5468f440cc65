package bridgeclient

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Host is what a face needs of the runtime. runtime.Host satisfies it.
type Host interface {
	// Do runs one call and returns its one reply, within call.Timeout and a
	// small slack.
	Do(ctx context.Context, call runtime.Call) runtime.Reply
	// Accept queues a call without blocking; calls on one tab run in the order
	// of Accept. done is called exactly once, from another goroutine, also
	// after cancel.
	Accept(call runtime.Call, done func(runtime.Reply)) (cancel func())
	// Tabs returns the tabs of the host, the active one included.
	Tabs() []runtime.TabStatus
	// Subscribe calls fn for every event until unsubscribe. fn must not block.
	Subscribe(fn func(runtime.Event)) (unsubscribe func())
	// Manifest is {protocol, version, primitive_dictionary, tools}.
	Manifest() json.RawMessage
	// Info describes the host.
	Info() runtime.Info
	// ImportBundle takes a storage bundle and returns what was imported.
	ImportBundle(ctx context.Context, bundle json.RawMessage) (json.RawMessage, *fault.Error)
}
