package world

import (
	"sync"

	"github.com/outrider-run/outrider/primitives"
)

// Document is what belongs to one document of a frame: its isolated world and
// the frames that its elements show.
type Document struct {
	replaced chan struct{}

	building chan struct{} // held while the world is made

	mu       sync.Mutex
	world    *World
	claimed  *World                        // the same before it has a library; nil when it has none
	origin   *Origin                       // nil when nobody has asked
	byFrame  map[primitives.FrameID]string // handle of the element that shows a frame
	byHandle map[string]primitives.FrameID // the reverse
}

// World is our isolated world in one document.
//
// Context ids are numbered per renderer process, so the id of a document that
// was replaced can name some other context for a moment, even one of the page's
// own world. The token distinguishes them: it is set when the library is
// installed and checked by each call.
type World struct {
	Context int
	Token   string
}

// New makes our world of an execution context, with a token of its own.
func New(context int) *World { return &World{Context: context, Token: NewToken()} }

// NewDocument makes the record of a new document, which has no world yet.
func NewDocument() *Document {
	return &Document{replaced: make(chan struct{}), building: make(chan struct{}, 1)}
}

// End marks the document as replaced. Only the reader calls it.
func (d *Document) End() {
	select {
	case <-d.replaced:
	default:
		close(d.replaced)
	}
}

// Replaced is closed when the document was replaced or its frame removed.
func (d *Document) Replaced() <-chan struct{} { return d.replaced }

// Building takes one value at a time, from who makes the world. Who has sent it calls
// Built when the world is there.
func (d *Document) Building() chan<- struct{} { return d.building }

// Built lets the next one make the world.
func (d *Document) Built() { <-d.building }

// World is the world of the document, nil when it was not made yet.
func (d *Document) World() *World {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.world
}

// SetWorld notes that w has the library, or will have it before what is sent next.
func (d *Document) SetWorld(w *World) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.world, d.claimed = w, nil
}

// Claimed is the world of the document when it has a token but no library.
func (d *Document) Claimed() *World {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.claimed
}

// Claim notes that w has its token, or will have it before what is sent next.
func (d *Document) Claim(w *World) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.claimed = w
}

// Forget drops w: its context was destroyed.
func (d *Document) Forget(w *World) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.claimed == w {
		d.claimed = nil
	}
	if d.world == w {
		d.world, d.origin = nil, nil
		d.byFrame, d.byHandle = nil, nil
	}
}

// Origin is whose document it is, nil when that is not known yet.
func (d *Document) Origin() *Origin {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.origin
}

// SetOrigin notes whose document it is.
func (d *Document) SetOrigin(o *Origin) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.origin = o
}

// ChildFrame returns the frame that the element behind a handle shows, when that is
// known.
func (d *Document) ChildFrame(handle string) (primitives.FrameID, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, ok := d.byHandle[handle]
	return id, ok
}

// FrameElement returns the handle of the element that shows a frame, when that is known.
func (d *Document) FrameElement(frame primitives.FrameID) (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, ok := d.byFrame[frame]
	return h, ok
}

// Link notes that the element behind a handle shows a frame.
func (d *Document) Link(frame primitives.FrameID, handle string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byFrame == nil {
		d.byFrame, d.byHandle = map[primitives.FrameID]string{}, map[string]primitives.FrameID{}
	}
	d.byFrame[frame], d.byHandle[handle] = handle, frame
}
