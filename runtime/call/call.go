// Package call has the messages of the runtime: a Call is sent in, one Reply and
// any number of Events come out. It runs nothing and knows no protocol. The
// runtime, its rooms and, through the names of package runtime, the faces use it.
package call

import (
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Call is one request to the runtime, whatever protocol brought it.
type Call struct {
	// ID correlates the call with its reply; faces choose it.
	ID string
	// Target says which tab runs the call. The zero Target is the only tab, or
	// the active one.
	Target Target
	// Name is actions.site, a primitive, or a site action of the tab's page.
	Name string
	// Arguments is a JSON object; nil means an empty one.
	Arguments json.RawMessage
	// Timeout bounds the call from the moment it is accepted, waiting in the
	// queue included. Zero means the runtime's default.
	Timeout time.Duration
	// Punctual: the caller wants all of its time.
	Punctual bool
	// Map is set when the caller brings the map itself (site_action_call and
	// state_projection_call of the bridge): the action is looked up in it and
	// nowhere else.
	Map *SuppliedMap
	// Secrets, when not nil, are what placeholders stand for in place of the host's, which
	// masks them: see mask.Set.With.
	Secrets *mask.Set
	// Appearance, when not nil, asks for what the elements of a site action's steps look
	// like, see Reply.Remembered and Reply.Repairs.
	Appearance *Appearance
	// OwnWords is set by a face of this host for what it puts in words that the
	// upstream extension does not have, whoever caused it. A profile does not hold
	// such a call to the vocabulary of the extension (quirks.UpstreamVocabulary).
	OwnWords bool
	// Settles has a primitive that reads the page wait until its document has loaded, as
	// steps of actions do.
	Settles bool
	// Leaves accepts the beforeunload dialog of a page when the call navigates.
	Leaves bool
	// Watcher is who acts, for faces whose answers say what followed: with it an action goes on to be watched after
	// its reply, and what comes then is told with the watcher's next action on the tab, or by LaterEffects.
	Watcher string
	// Next: the Watcher's next action follows at once, and tells what this one brings later.
	Next bool
	// IdempotencyKey, when not "", says which act of its caller this is. A call of one session that comes again with
	// the key of an earlier one acts no second time: it gets the answer of that one. Calls that only read ignore it.
	IdempotencyKey string
	// Mutant, when not "", names one that the page makes while each of the call's functions reads it, and undoes: see
	// Proves. The call may only read.
	Mutant string
	// Proves, when not "", asks the page library in place of a call, for the proof of a plan: mutants lists what can be
	// made of the page, mutants_before notes how it looks. No face sets it.
	Proves string
	// Progress, when not nil, receives the step that the call has reached. It must
	// not block.
	Progress func(Progress)
}

// LaterEffects is the name of a call of a Watcher that answers the list of reports of what came of its actions since
// their replies. With quiet_ms it waits until the page has not changed for so long.
const LaterEffects = "runtime.effects.later"

// Appearance selects what a reply says of the elements of steps.
type Appearance struct {
	// Remember describes those that are found.
	Remember bool
	// Locks are lock files by the path of their map: by them others are proposed for
	// those that are not found. The action goes on with what is proposed, so that nothing
	// is done twice, and the reply says so: without it the action had failed.
	Locks json.RawMessage
}

// SiteTool is the one stable tool of every runtime: it lists and calls what the
// current site offers.
const SiteTool = "actions.site"

// HostName is the name of this host.
const HostName = "chromium-cdp"

// Target selects one tab. All set fields must match.
type Target struct {
	// Workspace names the workspace that the tab is in; the tabs of others are
	// out of reach. "" means the tabs that are in none.
	Workspace     string
	RuntimeID     string
	RuntimeKey    string
	TabID         int
	URLContains   string // case-insensitive substring of the URL
	TitleContains string // case-insensitive substring of the title
}

// SuppliedMap is a map that came with a call.
type SuppliedMap struct {
	Path string // storage path, for messages and host matching
	JSON json.RawMessage
}

// Progress says where a running call is.
type Progress struct {
	Step      string
	Primitive string
	Phase     string
}

// Reply is the one answer to a Call.
type Reply struct {
	ID        string
	RuntimeID string
	// Output is set on success only. A primitive that ran and failed says in the
	// evidence of Err what its payload says to a workflow.
	Output json.RawMessage
	Err    *fault.Error
	// Answer is the extension's answer beside Err: the envelope of a
	// primitive that ran and failed (quirks.UpstreamAnswers). A bridge gets it
	// instead of the error.
	Answer json.RawMessage
	// Steps summarizes a workflow, also one that failed.
	Steps json.RawMessage
	// Remembered and Repairs are lists, as the runtime's checks have them: what elements
	// look like that steps found, and targets that the action went on with in place of
	// one that found nothing. Only when Call.Appearance asks.
	Remembered, Repairs json.RawMessage
	// Repeated: the answer is that of an earlier call with the same IdempotencyKey. This one did nothing.
	Repeated bool
	// Started: the call began to run. One that did not has done nothing.
	Started bool
	// URL is the page's address after the call.
	URL      string
	Duration time.Duration

	// value is the value in Output where it need not be read from there, see Enveloped.
	value json.RawMessage
}

// Failure is Err as an error.
func (r Reply) Failure() error {
	if r.Err == nil {
		return nil
	}
	return r.Err
}

// EventKind says what a runtime Event is about.
type EventKind string

const (
	// TabReady: a tab was opened, or opened again after a lost browser.
	TabReady EventKind = "tab_ready"
	// TabChanged: address or title of a tab changed.
	TabChanged EventKind = "tab_changed"
	// TabRemoved: a tab was closed.
	TabRemoved EventKind = "tab_removed"
	// DOMEvent: a declared page event, or one of the runtime's own such as
	// runtime.navigated.
	DOMEvent EventKind = "dom_event"
)

// Event is something that answers no call.
type Event struct {
	Kind      EventKind
	ID        string // event id, unique per runtime
	Tab       TabStatus
	Name      string          // DOMEvent: declared name
	PageEvent string          // DOMEvent: name of the page's event
	Payload   json.RawMessage // DOMEvent
	// URL is the address of the document the event is of, "" for the tab's.
	URL            string
	PreviousCallID string
	ObservedAt     time.Time

	// Signal is set when a map declares the event.
	Signal SignalID
}

// SignalID is a signal by the map that declares it and its name there.
type SignalID struct{ MapPath, Name string }

// TabStatus describes a tab for announcements and status reports.
type TabStatus struct {
	RuntimeID       string   `json:"runtime_id"`
	RuntimeKey      string   `json:"runtime_key"`
	AuthorizationID string   `json:"authorization_id"`
	TabID           int      `json:"tab_id"`
	WindowID        int      `json:"window_id"`
	URL             string   `json:"url"`
	Title           string   `json:"title"`
	Active          bool     `json:"active"`
	Workspace       string   `json:"-"`              // the workspace it is in, "" for none
	Loading         bool     `json:"-"`              // its document has not loaded yet
	Busy            bool     `json:"busy,omitempty"` // its page has not answered since we are attached to it
	States          []string `json:"states,omitempty"`
	Actions         []string `json:"actions,omitempty"`
	// Attachments are those that the maps of the page declare.
	Attachments []AttachmentStatus `json:"attachments,omitempty"`
}

// AttachmentStatus is one attachment of a page in reports.
type AttachmentStatus struct {
	ID    string `json:"id"`
	State string `json:"state"`
	// Reason is why it is not on the page; empty when it is.
	Reason string `json:"reason,omitempty"`
}

// Info describes this host for announcements.
type Info struct {
	Version      string   // of the outrider binary
	Host         string   // "chromium-cdp"
	Browser      string   // product and version, "" while there is none
	Shell        bool     // the browser is a headless shell
	Device       string   // platform and a short stable suffix
	Capabilities []string // sorted capability names of the dictionary
}
