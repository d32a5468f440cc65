package actionsbridge

import (
	"encoding/json"

	"github.com/outrider-run/outrider/runtime"
)

// Item types. The first six are those of the protocol text; the others are
// what the upstream bridge speaks beyond it.
const (
	typeReady            = "runtime_ready"
	typeStatus           = "runtime_status"
	typeCall             = "action_call"
	typeOutput           = "action_call_output"
	typeEvent            = "dom_event"
	typeError            = "action_error"
	typeSiteCall         = "site_action_call"
	typeStateCall        = "state_projection_call"
	typeProbe            = "runtime_probe"
	typeProbeResult      = "runtime_probe_result"
	typeCredential       = "credential_hydration"
	typeCancel           = "action_cancel"
	typeCredentialResult = "credential_hydration_result"
	typeProgress         = "action_progress"
	typeRemoved          = "runtime_removed"
	typeReplaySummary    = "bridge_runtime_replay_summary"
	typeAgentEvent       = "agent_event"
	typeAnnouncement     = "a11y_announcement"
)

// direction says who sends a type.
type direction int

const (
	toRuntime direction = iota + 1
	toBridge
	bothWays
)

// directions is every type there is. A type that only runtimes send is not
// answered when it arrives here: it would be our own, sent back by an echo.
var directions = map[string]direction{
	typeStatus:     bothWays,
	typeCall:       toRuntime,
	typeSiteCall:   toRuntime,
	typeStateCall:  toRuntime,
	typeProbe:      toRuntime,
	typeCredential: toRuntime,
	typeCancel:     toRuntime,

	typeError:            toBridge, // a bridge may report one; it is never answered
	typeReady:            toBridge,
	typeOutput:           toBridge,
	typeEvent:            toBridge,
	typeProbeResult:      toBridge,
	typeCredentialResult: toBridge,
	typeProgress:         toBridge,
	typeRemoved:          toBridge,
	typeReplaySummary:    toBridge,
	typeAgentEvent:       toBridge,
	typeAnnouncement:     toBridge,
}

// importTool is the action_call that hands over a storage bundle.
const importTool = "storage.import_bundle"

// siteTool is what site actions and projections are to the runtime.
const siteTool = "actions.site"

// callItem is action_call, protocol text "action_call".
type callItem struct {
	CallID              string          `json:"call_id"`
	RuntimeID           string          `json:"runtime_id"`
	Name                string          `json:"name"`
	Arguments           json.RawMessage `json:"arguments"`
	Target              *targetItem     `json:"target"`
	TargetRuntimeID     string          `json:"target_runtime_id"`
	TargetRuntimeKey    string          `json:"target_runtime_key"`
	TargetURLContains   string          `json:"target_url_contains"`
	TargetTitleContains string          `json:"target_title_contains"`
	TimeoutMS           float64         `json:"timeout_ms"`
	// IdempotencyKey is ours.
	IdempotencyKey string `json:"idempotency_key"`
}

type targetItem struct {
	RuntimeID     string `json:"runtime_id"`
	RuntimeKey    string `json:"runtime_key"`
	TabID         int    `json:"tab_id"`
	URLContains   string `json:"url_contains"`
	TitleContains string `json:"title_contains"`
}

// siteCallItem is site_action_call: a workflow action with its whole map.
type siteCallItem struct {
	CallID    string          `json:"call_id"`
	RuntimeID string          `json:"runtime_id"`
	Action    string          `json:"action"`
	Arguments json.RawMessage `json:"arguments"`
	MapPath   string          `json:"map_path"`
	Map       json.RawMessage `json:"map"`
	TimeoutMS float64         `json:"timeout_ms"`
	// IdempotencyKey is ours.
	IdempotencyKey string `json:"idempotency_key"`
}

// stateCallItem is state_projection_call: one projection with its declaration.
type stateCallItem struct {
	CallID         string          `json:"call_id"`
	RuntimeID      string          `json:"runtime_id"`
	Mode           string          `json:"mode"`
	ProjectionName string          `json:"projection_name"`
	SummaryName    *string         `json:"summary_name"`
	MaxBytes       *int64          `json:"max_bytes"`
	MapPath        string          `json:"map_path"`
	Projection     json.RawMessage `json:"projection"`
	TimeoutMS      float64         `json:"timeout_ms"`
}

// probeItem is runtime_probe.
type probeItem struct {
	ProbeID   string `json:"probe_id"`
	RuntimeID string `json:"runtime_id"`
}

// readyItem is runtime_ready. host, title and capabilities are what the
// protocol text intends; the upstream bridge reads tab.title.
type readyItem struct {
	Type             string          `json:"type"`
	RuntimeID        string          `json:"runtime_id"`
	RuntimeKey       string          `json:"runtime_key,omitempty"`
	AuthorizationID  string          `json:"authorization_id,omitempty"`
	ExtensionVersion string          `json:"extension_version,omitempty"`
	Device           string          `json:"device,omitempty"`
	URL              string          `json:"url"`
	Host             string          `json:"host,omitempty"`
	Title            string          `json:"title"`
	Tab              tabItem         `json:"tab"`
	Runtime          runtimeItem     `json:"runtime"`
	Capabilities     []string        `json:"capabilities,omitempty"`
	Manifest         json.RawMessage `json:"manifest,omitempty"`
}

type tabItem struct {
	TabID    int    `json:"tab_id"`
	WindowID int    `json:"window_id"`
	Title    string `json:"title"`
	Active   bool   `json:"active"`
}

// runtimeItem describes the software behind a runtime.
type runtimeItem struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Host    string `json:"host,omitempty"`
	Browser string `json:"browser,omitempty"`
	// RepeatsCalls: an action_call that arrives again with the same call_id is
	// not executed again. A bridge can therefore send a call once more after a
	// lost connection.
	RepeatsCalls bool `json:"repeats_calls"`
	// CancelsCalls: action_cancel {call_id, runtime_id} ends a call that nobody
	// waits for.
	CancelsCalls bool `json:"cancels_calls"`
}

// statusItem is runtime_status.
type statusItem struct {
	Type             string   `json:"type"`
	RuntimeID        string   `json:"runtime_id"`
	RuntimeKey       string   `json:"runtime_key,omitempty"`
	AuthorizationID  string   `json:"authorization_id,omitempty"`
	ExtensionVersion string   `json:"extension_version,omitempty"`
	URL              string   `json:"url"`
	Connected        bool     `json:"connected"`
	States           []string `json:"states"`
	Actions          []string `json:"actions,omitempty"`
	// Attachments are those of the page's maps, with their states.
	Attachments []runtime.AttachmentStatus `json:"attachments,omitempty"`
	ObservedAt  string                     `json:"observed_at"`
}

type outputItem struct {
	Type      string          `json:"type"`
	CallID    string          `json:"call_id"`
	RuntimeID string          `json:"runtime_id,omitempty"`
	Output    json.RawMessage `json:"output"`
}

type errorItem struct {
	Type      string          `json:"type"`
	CallID    string          `json:"call_id,omitempty"`
	RuntimeID string          `json:"runtime_id,omitempty"`
	Error     json.RawMessage `json:"error"`
}

type eventItem struct {
	Type           string          `json:"type"`
	EventID        string          `json:"event_id"`
	RuntimeID      string          `json:"runtime_id"`
	Name           string          `json:"name"`
	Event          string          `json:"event,omitempty"`
	URL            string          `json:"url,omitempty"`
	Payload        json.RawMessage `json:"payload"`
	PreviousCallID string          `json:"previous_call_id,omitempty"`
	ObservedAt     string          `json:"observed_at,omitempty"`
}

// announcementItem reports a text of a live region: a session.Announcement. The
// bridge has a history of its own.
type announcementItem struct {
	Type       string          `json:"type"`
	RuntimeID  string          `json:"runtime_id"`
	RuntimeKey string          `json:"runtime_key,omitempty"`
	Record     json.RawMessage `json:"record"`
	At         string          `json:"ts"`
}

type progressItem struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	RuntimeID string `json:"runtime_id,omitempty"`
	Action    string `json:"action,omitempty"`
	// Entered is where the call is; the upstream bridge shows it when the call
	// times out.
	Entered    string  `json:"last_entered_content_phase,omitempty"`
	Completed  *string `json:"last_completed_content_phase"`
	Step       string  `json:"step,omitempty"`
	Primitive  string  `json:"primitive,omitempty"`
	ObservedAt string  `json:"observed_at"`
}

type removedItem struct {
	Type      string `json:"type"`
	RuntimeID string `json:"runtime_id"`
}

type probeResultItem struct {
	Type    string `json:"type"`
	ProbeID string `json:"probe_id"`
	Alive   bool   `json:"alive"`
}

type credentialResultItem struct {
	Type       string          `json:"type"`
	Provider   string          `json:"provider"`
	OK         bool            `json:"ok"`
	Configured bool            `json:"configured"`
	Error      json.RawMessage `json:"error"`
}
