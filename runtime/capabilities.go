package runtime

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives"
)

// What the host asks of a page beyond primitives.Page. A page of a browser is all of these; a page of a test may be
// none.
type (
	// admittingPage checks, before a call, whether the document of a frame may be touched.
	admittingPage interface {
		Admit(ctx context.Context, frame primitives.FrameID) error
	}
	// protocolPage sends commands of the browser's own protocol.
	protocolPage interface {
		Protocol(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	}
	// numberedPage counts the documents that it has had.
	numberedPage interface {
		Documents() int
	}
	// identifiedPage tells its scripts which tab they are in.
	identifiedPage interface {
		SetIdentity(primitives.TabInfo)
	}
	closingPage interface {
		Close(context.Context) error
	}
	// activePage can be brought to the front of its window.
	activePage interface {
		Activate(context.Context) error
	}
)

// itemRecorder is a Recorder of the messages that a face receives and sends.
type itemRecorder interface {
	Item(at time.Time, received bool, name string, item []byte)
}
