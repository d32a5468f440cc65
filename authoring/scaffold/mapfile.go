package scaffold

import (
	"bytes"
	"encoding/json"

	"github.com/outrider-run/outrider/authoring/sample"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/internal/jsonout"
)

// Map is a map as it is written: members in the order in which people read them.
type Map struct {
	Protocol    string       `json:"protocol"`
	Version     int          `json:"version"`
	Surface     Surface      `json:"surface"`
	States      []State      `json:"states,omitempty"`
	Transitions []Transition `json:"transitions,omitempty"`
	Tools       []Tool       `json:"tools"`
	Projections []Projection `json:"state_projections,omitempty"`
	Provenance  Provenance   `json:"provenance"`
}

// Surface is where a map applies.
type Surface struct {
	Origin string `json:"origin"`
	Name   string `json:"name"`
}

// Provenance says what made a map.
type Provenance struct {
	CreatedBy string `json:"created_by"`
	CreatedAt string `json:"created_at"`
	Source    string `json:"source"`
}

// State is a condition of the page.
type State struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Diagnostics []Probe `json:"diagnostics"`
}

// Probe asserts something of the page.
type Probe struct {
	Name         string           `json:"name,omitempty"`
	Target       *locators.Target `json:"target,omitempty"`
	Selector     string           `json:"selector,omitempty"`
	Visible      *bool            `json:"visible,omitempty"`
	Exists       *bool            `json:"exists,omitempty"`
	TextContains string           `json:"text_contains,omitempty"`
	URLContains  string           `json:"url_contains,omitempty"`
}

// shows asserts that an element with a name is shown. A fallback would let any element in its place pass, and so would
// a selector: a name beside it is no condition.
func shows(probe string, target *locators.Target, name string) Probe {
	yes := true
	exact := *target
	exact.FallbackSelectors = nil
	out := Probe{Name: probe, Target: &exact, Visible: &yes}
	if exact.Selector != "" && exact.TextEquals == "" {
		out.TextContains = name
	}
	return out
}

// Transition leads from one state to another.
type Transition struct {
	Name string `json:"name"`
	From string `json:"from,omitempty"`
	To   string `json:"to"`
	Tool string `json:"tool"`
}

// Tool is an action.
type Tool struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	InputSchema Schema   `json:"input_schema"`
	XActions    XActions `json:"x_actions"`
}

// Schema is the JSON Schema of the arguments.
type Schema struct {
	Type                 string     `json:"type"`
	Required             []string   `json:"required,omitempty"`
	Properties           Properties `json:"properties"`
	AdditionalProperties bool       `json:"additionalProperties"`
}

// Properties are the arguments in the order of the page.
type Properties []Named

// Named is one argument.
type Named struct {
	Name string
	sample.Property
}

// MarshalJSON keeps the order.
func (p Properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, n := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(n.Name)
		if err != nil {
			return nil, err
		}
		value, err := jsonout.Line(n.Property)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// XActions is how an action runs.
type XActions struct {
	Execution Execution `json:"execution"`
}

// Execution is the steps of an action.
type Execution struct {
	Mode  string `json:"mode"`
	Steps []Step `json:"steps"`
}

// Step is one of them.
type Step struct {
	ID        string           `json:"id"`
	Type      string           `json:"type"`
	Target    *locators.Target `json:"target,omitempty"`
	ValueFrom string           `json:"value_from,omitempty"`
	Optional  bool             `json:"optional,omitempty"`
	Key       string           `json:"key,omitempty"`
	As        string           `json:"as,omitempty"`
	Assert    *Probe           `json:"assert,omitempty"`
	TimeoutMS int              `json:"timeout_ms,omitempty"`
}

// Projection is a view of the page's state.
type Projection struct {
	Name           string                   `json:"name"`
	Description    string                   `json:"description"`
	Scope          Scope                    `json:"scope"`
	Snapshot       Snapshot                 `json:"snapshot"`
	Summaries      []Summary                `json:"summaries"`
	Postconditions map[string]Postcondition `json:"postconditions,omitempty"`
	Identity       map[string]string        `json:"x_identity,omitempty"`
}

// Scope is the pages that a projection is for.
type Scope struct {
	URLMatches string `json:"url_matches"`
}

// Snapshot is how a state is read.
type Snapshot struct {
	Version      int             `json:"version"`
	Source       string          `json:"source"`
	Extract      []Extract       `json:"extract"`
	Projection   Expression      `json:"projection"`
	OutputSchema json.RawMessage `json:"output_schema"`
}

// Extract reads records.
type Extract struct {
	ID       string `json:"id"`
	Selector string `json:"selector"`
	Fields   Fields `json:"fields"`
}

// Fields are those of a record in the order of the page.
type Fields []Field

// Field is one of them.
type Field struct {
	Name      string `json:"-"`
	Selector  string `json:"selector,omitempty"`
	Attribute string `json:"attribute,omitempty"`
	Property  string `json:"property,omitempty"`
	Trim      bool   `json:"trim,omitempty"`
}

// MarshalJSON keeps the order.
func (f Fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, one := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(one.Name)
		if err != nil {
			return nil, err
		}
		value, err := jsonout.Line(one)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Expression is JSONata.
type Expression struct {
	Language   string `json:"language"`
	Expression string `json:"expression"`
}

// Summary is a shorter view of a state.
type Summary struct {
	Name       string `json:"name"`
	MaxBytes   int    `json:"max_bytes"`
	Expression string `json:"expression"`
}

// Postcondition is what must hold after an action.
type Postcondition struct {
	Verify         Expression `json:"verify"`
	FailureMessage string     `json:"failure_message"`
}

// Encode is the map as a file.
func (m *Map) Encode() ([]byte, error) {
	text, err := jsonout.Line(m)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
