package runtime

import (
	"github.com/outrider-run/outrider/runtime/call"
)

// The messages of the runtime, by the names that faces use.
type (
	Call             = call.Call
	Target           = call.Target
	SuppliedMap      = call.SuppliedMap
	Progress         = call.Progress
	Reply            = call.Reply
	Event            = call.Event
	EventKind        = call.EventKind
	TabStatus        = call.TabStatus
	AttachmentStatus = call.AttachmentStatus
	Info             = call.Info
)

// Kinds of events.
const (
	TabReady   = call.TabReady
	TabChanged = call.TabChanged
	TabRemoved = call.TabRemoved
	DOMEvent   = call.DOMEvent
)
