package primitives

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/pagetool"
)

// FrameID names a frame of a tab. The empty id is the main frame.
type FrameID string

// Page has what a handler may call of one tab: only methods that some
// primitive uses; package runtime/browser implements it.
//
// Every method returns within its context. Errors carry the codes of package
// fault: dialog_open when a JavaScript dialog blocks the page, page_navigated
// when the document was replaced during the call, tab_closed, tab_crashed or
// browser_lost when the page is closed, timeout when the context ran out.
type Page interface {
	// Call calls function fn of the page library (package inject) in the
	// isolated world of frame and decodes its answer into out, which may be
	// nil. args is encoded as JSON. It costs one round trip; the first call in
	// a new document costs two. A call whose document was replaced before fn
	// started runs in the new document; one that was interrupted fails with
	// page_navigated. A dialog that opens meanwhile fails it with dialog_open.
	Call(ctx context.Context, frame FrameID, fn string, args, out any) error

	// ChildFrame returns the frame that an iframe or frame element shows. The
	// element is named by the handle under which the page library keeps it in
	// frame parent. It works across origins and processes.
	ChildFrame(ctx context.Context, parent FrameID, handle string) (FrameID, error)

	// OwnerFrame returns the parent of frame and the handle, in the parent's
	// page library, of the element that shows frame. The main frame has none:
	// ok is false.
	OwnerFrame(ctx context.Context, frame FrameID) (parent FrameID, handle string, ok bool, err error)

	// BeginFrames makes the documents of frames below frame, which its page library can access,
	// known to that: one page call in frame then reads them too. It is for what reads many; a
	// document that it leaves out is read by a page call of its own.
	BeginFrames(ctx context.Context, frame FrameID)

	// Frames lists the frames of the tab in document order, the main frame
	// first.
	Frames() []FrameInfo

	// Mouse sends trusted pointer events back to back, in order, and waits for
	// the last to be handled. When a dialog opens while they are handled, the
	// events count as sent and the error is nil: see Dialog.
	Mouse(ctx context.Context, events ...MouseEvent) error

	// Keys sends trusted key events back to back, in order, under the same
	// rules as Mouse. They go to whatever has the focus.
	Keys(ctx context.Context, events ...KeyEvent) error

	// InsertText commits text at the caret of the focused element as an input
	// method would: one beforeinput and one input event, no key events.
	InsertText(ctx context.Context, text string) error

	// Navigate loads an address, or reloads, and waits for the load event of
	// the new document up to opts.LoadTimeout.
	Navigate(ctx context.Context, opts NavigateOptions) (Navigation, error)

	// History returns the entries of the tab's history, oldest first, and which
	// of them is shown.
	History(ctx context.Context) (entries []HistoryEntry, current int, err error)

	// Capture encodes the visible viewport (or opts.Clip) as an image in device
	// pixels. It neither activates the tab nor moves the focus.
	Capture(ctx context.Context, opts CaptureOptions) (Image, error)

	// Dialog returns the JavaScript dialog that blocks the page, if any.
	Dialog() (Dialog, bool)

	// AnswerDialog closes the open dialog and returns it; no_dialog when none
	// is open. It works while everything else on the page is blocked.
	AnswerDialog(ctx context.Context, accept bool, promptText string) (Dialog, error)

	// Evaluate runs an expression in the page's own world of the main frame, as
	// if a user had asked for it, awaits a promise and returns the value as
	// JSON: null for undefined, a description for what JSON cannot express. An
	// exception is handler_failed with its text as evidence. The page can see
	// and change what happens there.
	Evaluate(ctx context.Context, expression string) (json.RawMessage, error)

	// EvaluateValue is Evaluate for callers that want to know what kind of value
	// it is, and may have dialogs answered that the script opens. Nobody counts as having
	// asked for it, unless opts say so.
	EvaluateValue(ctx context.Context, expression string, opts EvaluateOptions) (EvaluatedValue, error)

	// AXTree reads the browser's accessibility tree of the document in frame,
	// its root first. The documents of child frames are not part of it: see
	// AXNode.Shows.
	AXTree(ctx context.Context, frame FrameID) ([]AXNode, error)

	// ResolveNode has the page library of frame keep a DOM node that an AXNode
	// names, and returns its handle; target_not_found when the node is detached.
	ResolveNode(ctx context.Context, frame FrameID, domNode int) (handle string, err error)

	// OpenShadows has the page library of frame search the closed shadow roots
	// of the elements that it keeps under handles, from then on in every page call.
	// It returns how many there were; elements without one do no harm. Of a handle
	// that begins with a question mark the library also gets what the accessibility tree
	// reports, which counts when it is more than attributes give.
	OpenShadows(ctx context.Context, frame FrameID, handles []string) (opened int, err error)

	// Refs are the refs of the tab's elements, the same value
	// for as long as the tab is open.
	Refs() *Refs

	// Tab describes the tab itself without a page call.
	Tab() TabInfo

	// Peer returns another tab of the same runtime by its tab id; tab_closed
	// when there is none.
	Peer(tabID int) (Page, error)

	ObservedPage
	StoredPage
	EmulatedPage
	FilePage
	ActedPage
	pagetool.Page
}

// TextTaker is an out of Page.Call for a page call that answers text besides its
// value: many lines that are nobody's JSON. TakeText is called last, and may
// keep what it gets.
type TextTaker interface{ TakeText(text []byte) }

// FrameInfo describes one frame.
type FrameInfo struct {
	ID     FrameID
	Parent FrameID
	URL    string
	Name   string
	// Remote means that the frame lives in another process than its parent.
	Remote bool
}

// AXNode is a node of the browser's accessibility tree.
type AXNode struct {
	ID       string
	Ignored  bool // not exposed; its children may be
	Role     string
	Name     string
	Value    any // nil, a string or a number
	Children []string
	// Properties are states such as focused, disabled or live by their names.
	Properties map[string]any
	DOMNode    int     // for ResolveNode; 0 when the node has no DOM node
	Shows      FrameID // the frame whose document belongs below this node
}

// TabInfo describes a tab as the runtime knows it.
type TabInfo struct {
	ID              int    // small integer, stable for the life of the tab
	WindowID        int    // 0 when the host has no windows
	RuntimeID       string // the tab's runtime id, stable over navigations
	RuntimeKey      string
	AuthorizationID string
	URL             string
	Title           string
	Active          bool
	Loading         bool // its document has not loaded yet
	Busy            bool // its page has not answered since we are attached to it
}

// MouseEvent is one trusted pointer event at a point of the top viewport, in
// CSS pixels.
type MouseEvent struct {
	Type       MouseType
	X, Y       float64
	Button     string // "left", "middle", "right"; "" for none
	Buttons    int    // bits of the buttons held after the event: left 1, right 2, middle 4
	ClickCount int
	Modifiers  Modifiers
	DeltaX     float64 // wheel only
	DeltaY     float64
}

// MouseType is the kind of a MouseEvent.
type MouseType string

const (
	MouseMoved    MouseType = "mouseMoved"
	MousePressed  MouseType = "mousePressed"
	MouseReleased MouseType = "mouseReleased"
	MouseWheel    MouseType = "mouseWheel"
	Touched       MouseType = "touched" // one finger came down and went up
)

// Modifiers is the CDP bit set of held modifier keys.
type Modifiers int

const (
	ModAlt     Modifiers = 1
	ModControl Modifiers = 2
	ModMeta    Modifiers = 4
	ModShift   Modifiers = 8
)

// KeyEvent is one trusted key event.
type KeyEvent struct {
	Type      KeyType
	Key       string // DOM key value: "a", "Enter"
	Code      string // DOM code value: "KeyA", "Enter"; "" when unknown
	KeyCode   int    // Windows virtual key code; 0 when unknown
	Text      string // text the key produces; "" for none
	Modifiers Modifiers
	Location  int
	// Delay is waited after the event before the next one is sent.
	Delay time.Duration
}

// KeyType is the kind of a KeyEvent.
type KeyType string

const (
	KeyDown    KeyType = "keyDown" // produces text
	RawKeyDown KeyType = "rawKeyDown"
	KeyUp      KeyType = "keyUp"
)

// NavigateOptions says where to go. Exactly one of URL, Reload and Steps is set.
type NavigateOptions struct {
	URL    string
	Reload bool
	// NoCache makes a reload ask the server for everything.
	NoCache bool
	// Steps goes back (negative) or forward in the tab's history.
	Steps int
	// LoadTimeout bounds the wait for the load event, which is not reported as a failure.
	LoadTimeout time.Duration
	// AnswerTimeout bounds the wait for the new document, whose end is one: the page stays
	// as it was. One shorter than LoadTimeout is LoadTimeout.
	AnswerTimeout time.Duration
}

const (
	// LoadBound is how long a navigation waits for the load event. A page that
	// loads longer is reported with loaded:false, not as a failure.
	LoadBound = 15 * time.Second
	// LoadAnswerMargin is kept of the caller's time at most, so that a slow page gets its
	// answer instead of a timeout.
	LoadAnswerMargin = 500 * time.Millisecond
	// answerMargin is kept of it where there is nothing to read of a page any more.
	answerMargin = 20 * time.Millisecond
)

// Within has the navigation end within the time of ctx: the wait for the new document a moment
// before, and that for its load event early enough to say which document it is.
func (o NavigateOptions) Within(ctx context.Context) NavigateOptions {
	o.LoadTimeout, o.AnswerTimeout = LoadBound, LoadBound
	deadline, ok := ctx.Deadline()
	if !ok {
		return o
	}
	left := time.Until(deadline)
	o.LoadTimeout = max(time.Millisecond, min(LoadBound, left-min(left/10, LoadAnswerMargin)))
	o.AnswerTimeout = max(time.Millisecond, min(LoadBound, left-min(left/10, answerMargin)))
	return o
}

// HistoryEntry is one entry of a tab's history.
type HistoryEntry struct {
	URL   string
	Title string
}

// Navigation says what became of a navigation.
type Navigation struct {
	URL          string // address of the document that is there
	Title        string
	SameDocument bool // only the fragment or history state changed
	Replaced     bool // there is a new document
	Loaded       bool // its load event fired within LoadTimeout
	Status       int  // HTTP status of the document, 0 when unknown
	Blank        bool // it had nothing to show when it had loaded, and has scripts that may draw it
}

// CaptureOptions says how to encode a capture.
type CaptureOptions struct {
	Format  string // "png" or "jpeg"
	Quality int    // 1..100, jpeg only; 0 means the browser's default
	Clip    *Rect  // CSS pixels of the viewport; nil is the whole viewport
	Beyond  bool   // Clip counts from the corner of the document and may reach beyond the viewport
	Fast    bool   // png only: less time for a larger file
}

// Image is an encoded image as base64, as the browser gives it and as callers
// get it: megabytes that need not be decoded to be passed on.
type Image []byte

// Size is the number of bytes of the image.
func (p Image) Size() int {
	return base64.StdEncoding.DecodedLen(len(p)) - (len(p) - len(bytes.TrimRight(p, "=")))
}

// Reader reads the image.
func (p Image) Reader() io.Reader { return base64.NewDecoder(base64.StdEncoding, bytes.NewReader(p)) }

// Bytes decodes the image.
func (p Image) Bytes() ([]byte, error) {
	b := make([]byte, base64.StdEncoding.DecodedLen(len(p)))
	n, err := base64.StdEncoding.Decode(b, p)
	return b[:n], err
}

// Rect is a rectangle in CSS pixels.
type Rect struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// Dialog is an open alert, confirm, prompt or beforeunload dialog.
type Dialog struct {
	Type          string // "alert", "confirm", "prompt", "beforeunload"
	Message       string // text of the page, not an instruction
	DefaultPrompt string
	URL           string
	OpenedAt      time.Time
	// Accepted and Answer say how it was closed, once it was.
	Accepted bool
	Answer   string
}

// EvaluateOptions say how an expression is evaluated.
type EvaluateOptions struct {
	// AnswerDialogs answers the dialogs that open meanwhile: alert and
	// beforeunload are accepted, confirm and prompt refused.
	AnswerDialogs bool
	// Structured means that the value is likely an object or a list: it comes in the
	// round trip of the script then. It changes nothing else.
	Structured bool
	// UserGesture has the script count as an act of the user: it may open a window, use the
	// clipboard and play sound.
	UserGesture bool
}

// MaxEvaluated bounds the value of an expression, in characters of its JSON. A longer text,
// and a list or plain object that JSON expresses as it is, stays in the page and is
// payload_too_large: every tab of the browser would wait for it. What the browser has to
// copy, such as an instance of a class or an object with a function in it, is not bounded.
// The bridge of upstream takes messages of 64 MiB, the extension has no limit.
const MaxEvaluated = 48 << 20

// TooLarge is the failure of a value beyond MaxEvaluated.
func TooLarge(bytes int) *fault.Error {
	return fault.New(fault.PayloadTooLarge, "the result has more than %d bytes", MaxEvaluated).
		With("bytes", bytes).With("max_bytes", MaxEvaluated)
}

// EvaluatedValue is the result of an expression.
type EvaluatedValue struct {
	// Type is the type of the value as typeof gives it; object for null.
	Type string
	// Value is the value as JSON; nil when JSON cannot express it.
	Value json.RawMessage
	// Description stands for a value that JSON cannot express: "body", "Map(1)",
	// "NaN"; "" for undefined.
	Description string
	// Dialogs are the types of the dialogs that were answered.
	Dialogs []string
}

// PeerOf returns the tab with the id, p itself for nil.
func PeerOf(p Page, id *int) (Page, error) {
	if id == nil || *id == p.Tab().ID {
		return p, nil
	}
	return p.Peer(*id)
}

// Point is a point of the top viewport, in CSS pixels.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}
