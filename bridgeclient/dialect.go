package bridgeclient

import (
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Dialect translates between one bridge protocol and the client. It holds no
// connection state and is safe for concurrent use.
//
// The encoding methods return one frame each; nil means that the protocol has
// no form for it, and nothing is sent.
type Dialect interface {
	Name() string

	// Decode says what a frame of the peer means. It never fails: what it does
	// not understand is Refused or Ignored. It may keep parts of frame.
	Decode(frame []byte) Message

	// Ready announces a tab; first is true for the first announcement of that
	// tab on a connection.
	Ready(host Host, tab runtime.TabStatus, first bool) []byte
	// Status reports a tab that was announced.
	Status(host Host, tab runtime.TabStatus, at time.Time) []byte
	// Removed takes back the announcement of a tab.
	Removed(runtimeID string) []byte
	// Event encodes an event of kind runtime.DOMEvent.
	Event(ev runtime.Event) []byte
	// Progress says where a running call is.
	Progress(call *Call, p runtime.Progress, at time.Time) []byte
	// Reply encodes the answer to call. A Call without ID stands for a frame
	// that made no call; its failure belongs to call.RuntimeID.
	Reply(call *Call, reply runtime.Reply) []byte
	// Alive answers a Probe.
	Alive(probe Probe, alive bool) []byte
}

// Message is what a frame means to the client: *Call, Cancel, Refused, Probe,
// Poll, Notice or Ignored.
type Message interface{ message() }

// Call is a call of the peer.
type Call struct {
	// ID is the correlation id, as the peer wrote it.
	ID string
	// RuntimeID is the runtime the peer addressed, "" when it named none. The
	// reply repeats it.
	RuntimeID string
	// Type is the wire type of the item.
	Type string
	// Run is a call that the host executes. Its Progress is set by the client.
	Run runtime.Call
	// Bundle is set instead of Run.Name and Run.Arguments when the call hands
	// over a storage bundle.
	Bundle json.RawMessage
	// frame is how the call came, for a recording, and at when.
	frame []byte
	at    time.Time
	// Digest distinguishes two calls with the same ID. Zero means unknown.
	Digest uint64
}

// Refused is a frame that is answered with a failure and nothing else.
// Call.ID is "" when the failure belongs to no call.
type Refused struct {
	Call *Call
	Err  *fault.Error
}

// Probe asks whether a runtime is there. It is answered at once, past all
// queues.
type Probe struct {
	ID        string
	RuntimeID string
}

// Poll asks for a status of every runtime.
type Poll struct{}

// Cancel says that nobody waits for the answer to a call any more.
type Cancel struct{ ID, RuntimeID string }

// Notice is a frame whose only answer is another frame.
type Notice struct {
	Reply []byte
	// Log names the frame. It never holds contents.
	Log string
}

// Ignored is a frame that wants no answer.
type Ignored struct{ Why string }

func (*Call) message()   {}
func (Refused) message() {}
func (Probe) message()   {}
func (Poll) message()    {}
func (Cancel) message()  {}
func (Notice) message()  {}
func (Ignored) message() {}
