package primitives

import "encoding/json"

// Record is the dictionary entry of one primitive: dictionary/<name>.json. The
// record comes first; handler, catalog and documentation are checked against
// it.
type Record struct {
	Name         string             `json:"name"`
	Version      int                `json:"version"`
	Stage        int                `json:"stage"`
	Summary      string             `json:"summary"`
	Class        string             `json:"capability_class"` // portable, privileged, mixed, debug, bridge, host
	Portable     bool               `json:"portable"`
	Capabilities []string           `json:"capabilities"`
	InputSchema  json.RawMessage    `json:"input_schema"`
	OutputSchema json.RawMessage    `json:"output_schema"`
	Adapters     map[string]Support `json:"adapters"` // cdp, and extension and embed as upstream has them
	Errors       []string           `json:"errors"`
	Conformance  Conformance        `json:"conformance"`

	// Result is "enveloped" or "flat": the wire form of the result.
	Result string `json:"x_result"`
	// Paced means that the primitive is a human-visible action: pacing keeps a
	// minimum distance between two of them.
	Paced bool `json:"x_paced,omitempty"`
	// Acts means that the primitive can change the page; others only read.
	// Each of these takes the argument effects: see Registry.Invoke.
	Acts bool `json:"x_acts,omitempty"`

	ownEffects bool // the record declares an argument of that name itself
}

// Support says whether an adapter provides a primitive.
type Support struct {
	Support string `json:"support"` // supported, partial, unsupported
	Reason  string `json:"reason,omitempty"`
}

// Conformance names what proves a primitive: a folder or file below
// testdata/pages, and assertions about it.
type Conformance struct {
	Fixture    string   `json:"fixture"`
	Assertions []string `json:"assertions"`
}
