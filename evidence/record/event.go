package record

import (
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/primitives"
)

// Version is that of the format. A reader refuses a greater one.
const Version = 1

// Format is the name in the first event.
const Format = "outrider-recording"

// Event is one entry of a recording.
type Event struct {
	Seq  int64           `json:"seq"`
	T    float64         `json:"t"` // milliseconds since the beginning
	Kind Kind            `json:"kind"`
	Tab  int             `json:"tab,omitempty"`
	Data json.RawMessage `json:"data"`
}

// Kind says which struct the data of an event is.
type Kind string

// Kinds of events.
const (
	KindRecording Kind = "recording"  // Header
	KindHost      Kind = "host"       // Host
	KindMap       Kind = "map"        // Map
	KindTab       Kind = "tab"        // Tab
	KindItem      Kind = "item"       // Item
	KindCallBegin Kind = "call_begin" // CallBegin
	KindCallEnd   Kind = "call_end"   // CallEnd
	KindStepBegin Kind = "step_begin" // StepBegin
	KindStepEnd   Kind = "step_end"   // StepEnd
	KindSnapshot  Kind = "snapshot"   // Snapshot
	KindPicture   Kind = "picture"    // Picture
	KindConsole   Kind = "console"    // Console
	KindRequest   Kind = "request"    // Request
	KindDialog    Kind = "dialog"     // Dialog
	KindDownload  Kind = "download"   // Download
	KindSignal    Kind = "signal"     // Signal
	KindState     Kind = "state"      // State
	KindEnd       Kind = "end"        // End
)

// Header begins a recording.
type Header struct {
	Format   string    `json:"format"`
	Version  int       `json:"version"`
	Started  time.Time `json:"started"` // the instant of t = 0
	Program  string    `json:"program"` // name and version of what recorded
	Browser  string    `json:"browser,omitempty"`
	Profile  string    `json:"profile,omitempty"` // strict or extension
	Verb     string    `json:"verb,omitempty"`
	Viewport *Size     `json:"viewport,omitempty"`
	Locale   string    `json:"locale,omitempty"`
	Timezone string    `json:"timezone,omitempty"`
	// Since is set in what a ring wrote: t of its oldest event.
	Since float64 `json:"since,omitempty"`
}

// Size is in CSS pixels.
type Size struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// Host is the runtime and its browser.
type Host struct {
	Version string `json:"version"`
	Browser string `json:"browser"`
	Device  string `json:"device,omitempty"`
}

// Map is a file of the site maps that are on offer, or a map that came with a call.
type Map struct {
	// Root is the place of the file or folder among those that were given, Path the place of the file in it,
	// with / separators. Of a file that was given by itself Path is its name and Folder is false.
	Root     int    `json:"root,omitempty"`
	Folder   bool   `json:"folder,omitempty"`
	Import   bool   `json:"import,omitempty"` // the file that was given imports it
	Path     string `json:"path"`
	Resource string `json:"resource"`
	Call     string `json:"call,omitempty"` // the call that brought it
}

// Tab is the state of a tab after it was opened, changed or removed.
type Tab struct {
	State     string   `json:"state"` // opened, changed, removed
	RuntimeID string   `json:"runtime_id,omitempty"`
	URL       string   `json:"url"`
	Title     string   `json:"title"`
	States    []string `json:"states,omitempty"` // of maps, that are current
}

// State is how a state projection of a map was before a call, or at the end.
type State struct {
	Projection string `json:"projection"`
	Call       string `json:"call,omitempty"` // before which it was read; "" is the end
	Hash       string `json:"state_hash,omitempty"`
	// Resource is the state. Without one it could not be read, and Code says why.
	Resource string `json:"resource,omitempty"`
	Code     string `json:"code,omitempty"`
	// Patches lead to it from the state before, as JSON Patch; none when it is the same, or the first.
	Patches json.RawMessage `json:"patches,omitempty"`
}

// Item is a message of a protocol.
type Item struct {
	Direction string          `json:"direction"` // in, out
	Item      json.RawMessage `json:"item"`
}

// CallBegin says that a call has begun to run. Its arguments are in CallEnd: what of them is secret is
// known when they were used.
type CallBegin struct {
	ID        string  `json:"id"` // unique in the recording
	Name      string  `json:"name"`
	URL       string  `json:"url"` // of the page
	TimeoutMS float64 `json:"timeout_ms,omitempty"`
}

// CallEnd is the result of a call.
type CallEnd struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	CallerID   string          `json:"caller_id,omitempty"` // the id that the caller gave
	Arguments  json.RawMessage `json:"arguments"`
	OK         bool            `json:"ok"`
	Output     json.RawMessage `json:"output,omitempty"`
	Error      json.RawMessage `json:"error,omitempty"`
	Summaries  json.RawMessage `json:"steps,omitempty"` // of the steps of a workflow
	URL        string          `json:"url"`             // of the page, afterwards
	DurationMS float64         `json:"duration_ms"`
}

// StepBegin says that a primitive begins to run for a call.
type StepBegin struct {
	ID        string          `json:"id"` // unique in the recording
	Call      string          `json:"call"`
	Step      string          `json:"step,omitempty"` // of the workflow; "" for the call itself
	Primitive string          `json:"primitive"`
	Arguments json.RawMessage `json:"arguments"` // as evaluated
	Acts      bool            `json:"acts,omitempty"`
	URL       string          `json:"url"`
	Target    *Target         `json:"target,omitempty"`
	// To is where a drag ends.
	To *Target `json:"to,omitempty"`
	// Intent is what a person said of the step, nil for a step of a program.
	Intent *Intent `json:"meant,omitempty"`
}

// Intent is what a person who did a step meant by it.
type Intent struct {
	// Keep says that the step belongs to the action although it changes nothing: "assert" or "read".
	Keep string `json:"keep,omitempty"`
	// Expected is the text of an assertion.
	Expected string `json:"expected,omitempty"`
	// Choice is what the element is one choice of: its name is an argument of this title.
	Choice string `json:"choice,omitempty"`
	// Options are what else there was to choose.
	Options []string `json:"options,omitempty"`
	// Type is that of the field, and Limits are its attributes that bound what it takes.
	Type   string            `json:"type,omitempty"`
	Limits map[string]string `json:"limits,omitempty"`
	// Fixed: what was typed is the same each time.
	Fixed bool `json:"fixed,omitempty"`
}

// Target is the element that a step is about, before it.
type Target struct {
	Element *likeness.Seen `json:"element,omitempty"`
	// Candidates are the ways to name it, the one that should last longest first.
	Candidates []locators.Locator `json:"candidates,omitempty"`
	Box        *primitives.Rect   `json:"box,omitempty"`   // in the viewport of the tab
	Point      *primitives.Point  `json:"point,omitempty"` // where it is clicked
	Frame      string             `json:"frame,omitempty"` // "" is the main frame
	// Path leads to it in the snapshot of its frame: places among children.
	Path []int `json:"path,omitempty"`
	// Secret: what it holds, and what is typed into it, is not recorded.
	Secret bool `json:"secret,omitempty"`
}

// StepEnd is the result of a step.
type StepEnd struct {
	ID         string          `json:"id"`
	OK         bool            `json:"ok"`
	Output     json.RawMessage `json:"output,omitempty"`
	Error      json.RawMessage `json:"error,omitempty"`
	Effects    json.RawMessage `json:"effects,omitempty"`
	DurationMS float64         `json:"duration_ms"`
	WaitMS     float64         `json:"wait_ms,omitempty"` // pacing
}

// Snapshot is the document of one frame, as node arrays of Playwright's snapshots.
type Snapshot struct {
	Step    string `json:"step"`
	Phase   string `json:"phase"` // before, after
	Frame   string `json:"frame"`
	Main    bool   `json:"main"`
	URL     string `json:"url"`
	Title   string `json:"title,omitempty"`
	Doctype string `json:"doctype,omitempty"`
	Size    Size   `json:"size"`
	// Resource is JSON: a node is a text, or [name, attributes, child...].
	Resource string `json:"resource"`
	// Frames are the frames of the iframe elements, by their attribute __outrider_frame__.
	Frames []string `json:"frames,omitempty"`
}

// Picture is a frame of the screencast.
type Picture struct {
	Resource string `json:"resource"`
	Size     Size   `json:"size"` // of the page, not of the picture
	// Painted are the places that were painted over.
	Painted int `json:"painted,omitempty"`
}

// Console is a line of the console.
type Console struct {
	Level  string    `json:"level"`
	Source string    `json:"source"`
	Type   string    `json:"type,omitempty"`
	Text   string    `json:"text"`
	URL    string    `json:"url,omitempty"`
	Line   int       `json:"line,omitempty"`
	Column int       `json:"column,omitempty"`
	At     time.Time `json:"at"`
}

// Request is one request and its answer, in the words of HAR where HAR has some.
type Request struct {
	ID              string          `json:"id"`
	Method          string          `json:"method"`
	URL             string          `json:"url"`
	Type            string          `json:"type"`
	Frame           string          `json:"frame,omitempty"`
	Status          int             `json:"status"`
	StatusText      string          `json:"status_text,omitempty"`
	MimeType        string          `json:"mime_type,omitempty"`
	Protocol        string          `json:"protocol,omitempty"`
	RemoteAddress   string          `json:"remote_address,omitempty"`
	FromCache       bool            `json:"from_cache,omitempty"`
	FromWorker      bool            `json:"from_worker,omitempty"`
	RequestHeaders  json.RawMessage `json:"request_headers,omitempty"`
	ResponseHeaders json.RawMessage `json:"response_headers,omitempty"`
	Began           time.Time       `json:"began"`
	FirstByteMS     float64         `json:"first_byte_ms"`
	DurationMS      float64         `json:"duration_ms"`
	Bytes           int64           `json:"bytes"`
	State           string          `json:"state"` // finished, failed, redirected
	Failure         string          `json:"failure,omitempty"`
	RedirectedTo    string          `json:"redirected_to,omitempty"` // id of the next hop
	// RequestBody and Body are resources. BodyMissing says why there is no Body.
	RequestBody string `json:"request_body,omitempty"`
	Body        string `json:"body,omitempty"`
	BodySize    int    `json:"body_size,omitempty"`
	BodyMissing string `json:"body_missing,omitempty"` // too_large, not_kept
}

// CookieValue stands for the value of a cookie in the header Set-Cookie of an answer.
const CookieValue = "{{secret:cookie}}"

// Dialog is a JavaScript dialog that opened or was closed.
type Dialog struct {
	State   string `json:"state"` // opened, closed
	Type    string `json:"type,omitempty"`
	Message string `json:"message,omitempty"`
	Default string `json:"default,omitempty"`
	URL     string `json:"url,omitempty"`
}

// Download is a file that the page sent.
type Download struct {
	ID       string `json:"id"`
	URL      string `json:"url"`
	Filename string `json:"filename"`
	State    string `json:"state"`
	Received int64  `json:"received"`
	SHA256   string `json:"sha256,omitempty"`
}

// Signal is an event that the page dispatched and a map declares, or one of the runtime.
type Signal struct {
	Name    string          `json:"name"`
	URL     string          `json:"url,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// End closes a recording.
type End struct {
	Events  int64 `json:"events"`
	Dropped int   `json:"dropped,omitempty"` // events that could not be written
}

// Of decodes the data of an event into the struct of its kind.
func Of[T any](e Event) (T, error) {
	var v T
	err := json.Unmarshal(e.Data, &v)
	return v, err
}

// Omitted begins a text that stands for one that is not recorded, such as a picture.
const Omitted = "[omitted: "

// Resourced is the name of the resource that an output was put into, "" for one that stands in its event.
func Resourced(output json.RawMessage) string {
	var ref struct {
		Resource string `json:"$resource"`
	}
	if len(output) < 100 && json.Unmarshal(output, &ref) == nil {
		return ref.Resource
	}
	return ""
}
