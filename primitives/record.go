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

	// Step says how workflows and recordings treat the primitive, see StepOf.
	Step *Step `json:"x_step,omitempty"`

	ownEffects bool // the record declares an argument of that name itself
}

// Step describes a primitive as a step of a workflow or a recording. All that learns, records or reports
// steps reads it here, so that a new primitive declares it once.
type Step struct {
	// Repeats: a learned workflow repeats the primitive. Others that act are about the session, not the page.
	Repeats bool `json:"repeats,omitempty"`
	// ID begins the ids of learned steps, and Verb is the word for it in a list for people. A primitive without
	// has its name.
	ID   string `json:"id,omitempty"`
	Verb string `json:"verb,omitempty"`
	// Given are the arguments that the caller of a learned action chooses.
	Given []string `json:"given,omitempty"`
	// Typed are the arguments that go into a field, and so may be a secret.
	Typed []string `json:"typed,omitempty"`
	// Reads is the member of the result that was read from the page, "" for all of it. Nil reads nothing.
	Reads *string `json:"reads,omitempty"`
	// Settles: it reads the page once, and can be called again, so it waits until the document has loaded.
	Settles bool `json:"settles,omitempty"`
}

// Support reports whether an adapter provides a primitive.
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
