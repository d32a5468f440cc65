package browserbridge

import "encoding/json"

// ProtocolVersion is the one that this package speaks. Versions 3 and 4 refuse
// each other ("Versioning discipline").
const ProtocolVersion = 4

// Close codes of a server that has sent reject.
const (
	CloseVersion = 4001 // the protocol version does not match
	ClosePairing = 4002 // the pairing token is not valid
)

// Hello is the client's first message ("Handshake").
type Hello struct {
	Type            string   `json:"type"` // "hello"
	ProtocolVersion int      `json:"protocolVersion"`
	ClientVersion   string   `json:"clientVersion"`
	PairingToken    string   `json:"pairingToken"`
	Caps            []string `json:"caps"`
}

// Ack accepts the client.
type Ack struct {
	Type            string `json:"type"` // "ack"
	ProtocolVersion int    `json:"protocolVersion"`
	ServerVersion   string `json:"serverVersion"`
}

// Reject refuses the client for good.
type Reject struct {
	Type                       string `json:"type"` // "reject"
	RequiredMinProtocolVersion int    `json:"requiredMinProtocolVersion"`
	Error                      Error  `json:"error"`
}

// Request asks for one action. Exactly one Response with its ID follows.
type Request struct {
	Type   string          `json:"type"` // "request"
	ID     string          `json:"id"`   // UUIDv4, made by the backend
	Action json.RawMessage `json:"action"`
}

// Response answers a Request with exactly one of Result and Error.
type Response struct {
	Type   string          `json:"type"` // "response"
	ID     string          `json:"id"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
}

// Error is the protocol's failure.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Event is something that nobody asked for ("Events").
type Event struct {
	Type  string         `json:"type"` // "event"
	Event map[string]any `json:"event"`
}

// Element is one interactive node of a page ("extract result shape").
type Element struct {
	UID     string `json:"uid"`
	Role    string `json:"role"`
	Name    string `json:"name,omitempty"`
	Value   string `json:"value,omitempty"`
	Visible bool   `json:"visible"`
}

// Tab is an entry of get_tabs.
type Tab struct {
	TabID  int    `json:"tabId"`
	URL    string `json:"url"`
	Title  string `json:"title"`
	Domain string `json:"domain"`
}
