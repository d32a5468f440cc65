package call

import "encoding/json"

// Mode selects an operation of the tool actions.site.
type Mode string

// The modes that this program asks for itself. Others are in the schema of the tool.
const (
	List         Mode = "list"
	CallAction   Mode = "call"
	Check        Mode = "check"
	StateRead    Mode = "state_read"
	StateSummary Mode = "state_summary"
	StateDiff    Mode = "state_diff"
	StateWatch   Mode = "state_watch"
)

// Site has the arguments of the tool actions.site. The tool refuses members that a mode does not know.
type Site struct {
	Mode Mode `json:"mode"`
	// Only leaves all but one part out of a list, such as states.
	Only string `json:"only,omitempty"`

	Action    string `json:"action,omitempty"`
	Arguments any    `json:"arguments,omitempty"`

	Projection string `json:"projection_name,omitempty"`
	Summary    string `json:"summary_name,omitempty"`
	Baseline   any    `json:"baseline,omitempty"`
	MaxBytes   int    `json:"max_bytes,omitempty"`
	// Rows is the JSON pointer of a list in the state, of which a page from Offset on is read. Hash is that of
	// the state that the pages before were of.
	Rows   *string `json:"rows,omitempty"`
	Offset int     `json:"offset,omitempty"`
	Limit  int     `json:"limit,omitempty"`
	Hash   string  `json:"state_hash,omitempty"`
	// Enabled ends a watch when it is false. DebounceMS is how long the page must be quiet.
	Enabled    *bool `json:"enabled,omitempty"`
	DebounceMS int   `json:"debounce_ms,omitempty"`

	// WaitMS is how long a check is repeated while it fails.
	WaitMS       int64    `json:"wait_ms,omitempty"`
	ExpectStatus int      `json:"expect_status,omitempty"`
	Requires     []string `json:"requires,omitempty"`
	StrictChecks bool     `json:"strict_checks,omitempty"`
	FailOnDrift  bool     `json:"fail_on_drift,omitempty"`
	Remember     bool     `json:"remember,omitempty"`
	Lock         any      `json:"lock,omitempty"`
}

// JSON encodes the arguments; an error is one of what the caller put into them.
func (s Site) JSON() (json.RawMessage, error) { return json.Marshal(s) }
