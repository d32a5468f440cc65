package provider

import "encoding/json"

// ProtocolVersion is the version of the protocol, not of the provider.
const ProtocolVersion = "0.1"

// Request is one line from a client.
type Request struct {
	ProtocolVersion string          `json:"protocol_version,omitempty"`
	ID              string          `json:"id"`
	Method          string          `json:"method"`
	Params          json.RawMessage `json:"params,omitempty"`
	// IdempotencyKey says which act of the client the request is: one of the session that comes again with it acts
	// no second time, and gets the result of the first.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
}

// Response answers one request. ID is null where the request had none that
// could be used.
type Response struct {
	ProtocolVersion string          `json:"protocol_version"`
	ID              *string         `json:"id"`
	OK              bool            `json:"ok"`
	Result          json.RawMessage `json:"result,omitempty"`
	Warnings        []Warning       `json:"warnings,omitzero"` // of a success: there, also when empty
	Error           *Failure        `json:"error,omitempty"`
}

// Event is something that happened and answers no request.
type Event struct {
	ProtocolVersion string         `json:"protocol_version"`
	Event           string         `json:"event"`
	Payload         map[string]any `json:"payload"`
}

// Warning names what a successful request did differently.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Failure is the error member of an answer.
type Failure struct {
	Code      Code           `json:"code"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable"`
	Details   map[string]any `json:"details"`
}

func (f *Failure) Error() string { return string(f.Code) + ": " + f.Message }

// Code is one of the standard error codes of the draft, "Standard error codes".
type Code string

const (
	UnsupportedMethod    Code = "unsupported_method"
	UnsupportedTarget    Code = "unsupported_target"
	InvalidRequest       Code = "invalid_request"
	InvalidSelector      Code = "invalid_selector"
	ElementNotFound      Code = "element_not_found"
	ElementNotActionable Code = "element_not_actionable"
	NavigationTimeout    Code = "navigation_timeout"
	NotReady             Code = "not_ready"
	SetupRequired        Code = "setup_required"
	PermissionDenied     Code = "permission_denied"
	BrowserNotRunning    Code = "browser_not_running"
	SessionNotFound      Code = "session_not_found"
	PageNotFound         Code = "page_not_found"
	InternalError        Code = "internal_error"
)

// Codes lists the standard error codes in the order of the draft.
func Codes() []Code {
	return []Code{
		UnsupportedMethod, UnsupportedTarget, InvalidRequest, InvalidSelector,
		ElementNotFound, ElementNotActionable, NavigationTimeout,
		NotReady, SetupRequired, PermissionDenied, BrowserNotRunning, SessionNotFound, PageNotFound, InternalError,
	}
}

// Description is the result of provider.describe.
type Description struct {
	ProviderID        string       `json:"provider_id"`
	ProviderLabel     string       `json:"provider_label"`
	ProviderVersion   string       `json:"provider_version"`
	ProtocolVersion   string       `json:"protocol_version"`
	BrowserFamilies   []string     `json:"browser_families"`
	Transport         string       `json:"transport"`
	CertificationTier string       `json:"certification_tier"`
	Capabilities      Capabilities `json:"capabilities"`
}

// Capabilities say what works. Stability tags methods and features by name; the
// lists themselves hold plain names, as in the draft's example.
type Capabilities struct {
	CoreMethods     []string          `json:"core_methods"`
	OptionalMethods []string          `json:"optional_methods"`
	Features        []string          `json:"features"`
	CustomMethods   []CustomMethod    `json:"custom_methods"`
	Events          []string          `json:"events"`
	Stability       map[string]string `json:"stability"`
}

// CustomMethod announces a method beyond the normalized ones.
type CustomMethod struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Stability    string          `json:"stability"`
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
}

// Status is the result of provider.status.
type Status struct {
	Availability        string       `json:"availability"` // ready, degraded, unavailable
	BrowserDetected     bool         `json:"browser_detected"`
	BrowserRunning      bool         `json:"browser_running"`
	SetupState          string       `json:"setup_state"` // complete, partial, required, broken
	RequiresManualSetup bool         `json:"requires_manual_setup"`
	RecommendedBrowser  string       `json:"recommended_browser"`
	ManualSteps         []string     `json:"manual_steps"`
	Diagnostics         []Diagnostic `json:"diagnostics"`
}

// Diagnostic is one finding of provider.status.
type Diagnostic struct {
	Level       string   `json:"level"` // info, warning, error
	Code        string   `json:"code"`
	Message     string   `json:"message"`
	ManualSteps []string `json:"manual_steps,omitempty"`
}

// PageSnapshotFormat names the format of page.snapshot.
const PageSnapshotFormat = "jcode.page_snapshot.v1"

// Snapshot is the page as page.snapshot answers it. The root is not among Nodes,
// which are in document order.
type Snapshot struct {
	Format string `json:"format"`
	Root   Node   `json:"root"`
	Nodes  []Node `json:"nodes"`
}

// Node is one thing on a page. ElementRef is there for what is an element of
// the document.
type Node struct {
	NodeID     string         `json:"node_id"`
	Role       string         `json:"role"`
	Name       string         `json:"name"`
	Text       string         `json:"text,omitempty"`
	ElementRef string         `json:"element_ref,omitempty"`
	Actionable bool           `json:"actionable"`
	State      map[string]any `json:"state,omitempty"`
	Children   []string       `json:"children,omitempty"`
}

// Element is one entry of the flat list of what can be acted on.
type Element struct {
	ElementRef string         `json:"element_ref"`
	Role       string         `json:"role"`
	Name       string         `json:"name"`
	Text       string         `json:"text"`
	Actionable bool           `json:"actionable"`
	Enabled    bool           `json:"enabled"`
	State      map[string]any `json:"state,omitempty"`
	// SelectorHint is a CSS selector of the element, "" where its markup has none that is
	// likely to last, and in frames and shadow roots.
	SelectorHint string `json:"selector_hint,omitempty"`
}
