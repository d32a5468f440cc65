// Package spec is the language of plans: what a plan file may say, reading and checking
// it, its JSON Schema, and the test cases that it comes to. It opens no browser and runs
// nothing. Package plan runs its cases; the verbs and a fleet read plans with it.
package spec

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/outrider-run/outrider/projection/expr"
)

// Plan is a file of steps. The tags doc are the descriptions of the schema and of the
// reference.
type Plan struct {
	Schema       string             `json:"$schema,omitempty" doc:"address of the JSON Schema, for editors"`
	Name         string             `json:"name,omitempty" doc:"name in reports; default: the file's name"`
	Tags         []string           `json:"tags,omitempty" doc:"words by which --grep selects plans"`
	Open         string             `json:"open,omitempty" doc:"address to open; --open comes before it"`
	Maps         []string           `json:"maps,omitempty" doc:"map files and storage folders, relative to the plan; --maps come before them"`
	Vars         map[string]any     `json:"vars,omitempty" doc:"variables: ${vars.NAME}; --var comes before them"`
	Secrets      map[string]Secret  `json:"secrets,omitempty" doc:"secrets by reference: {{secret:NAME}}; --secret comes before them"`
	Data         *Data              `json:"data,omitempty" doc:"rows, or a CSV or JSON file of rows: a test case for each, with ${row.COLUMN}"`
	Setup        []string           `json:"setup,omitempty" doc:"plans whose steps run before, in the same session"`
	Teardown     []string           `json:"teardown,omitempty" doc:"plans whose steps run afterwards in any case"`
	StorageState string             `json:"storage_state,omitempty" doc:"file with the cookies and storage to begin with; --storage-state comes before it"`
	Sessions     map[string]Session `json:"sessions,omitempty" doc:"what further sessions begin with"`
	Route        Routes             `json:"route,omitempty" doc:"answers requests while the plan runs: a route, or a list"`
	Serve        Serves             `json:"serve,omitempty" doc:"starts the app of the plan: a program, or a list"`

	Matrix *Matrix `json:"matrix,omitempty" doc:"a test case for each device, locale, time zone, colours"`
	Clock  *Clock  `json:"clock,omitempty" doc:"what scripts of its pages take for the time"`

	Repeatable bool `json:"repeatable,omitempty" doc:"prove may run it again with other answers on any machine"`

	Quarantine *Quarantine `json:"quarantine,omitempty" doc:"the plan is known to fail: it runs and is shown, and fails the run only when this is over"`

	HTTPCredentials []SignIn `json:"http_credentials,omitempty" doc:"signs in to servers that ask for it; --http-credentials come before"`

	Timeout Duration `json:"timeout,omitempty" doc:"bound on a test case, such as 2m"`
	Retries int      `json:"retries,omitempty" min:"0" max:"10" doc:"how often a test case that failed is run again, in a new session"`
	Steps   []Step   `json:"steps" doc:"at least one step"`

	path     string
	places   *places
	absolute string // see Case.Absolute
}

// Secret is where a secret is.
type Secret struct {
	Env     string   `json:"env,omitempty" doc:"variable of the environment"`
	File    string   `json:"file,omitempty" doc:"file, relative to the plan"`
	Command []string `json:"command,omitempty" doc:"program and arguments that print it"`
	Origins []string `json:"origins,omitempty" doc:"where it may be used, such as https://*.example.com; default: everywhere"`
}

// SignIn is a name and a password for the servers of one origin.
type SignIn struct {
	Origin   string `json:"origin" doc:"such as https://app.example; no other origin gets them"`
	Name     string `json:"name" doc:"the user's name"`
	Password string `json:"password" doc:"a secret: {{secret:NAME}}"`
}

// Session is what a further session begins with.
type Session struct {
	StorageState string `json:"storage_state,omitempty" doc:"file with its cookies and storage"`
	Open         string `json:"open,omitempty" doc:"address that its first tab opens"`
}

// Step is one step: an action, a state projection, a primitive, the checks of the
// page's maps, or steps for each of some items.
type Step struct {
	Name    string `json:"name,omitempty" doc:"name in reports"`
	Open    string `json:"open,omitempty" doc:"goes to this address first"`
	Leave   string `json:"leave,omitempty" enum:"accept,fail" doc:"what open does at a beforeunload question; default accept"`
	Action  string `json:"action,omitempty" doc:"a site action"`
	State   string `json:"state,omitempty" doc:"a state projection"`
	Summary string `json:"summary,omitempty" doc:"a summary of that projection"`
	Call    string `json:"call,omitempty" doc:"a primitive"`
	Check   bool   `json:"check,omitempty" doc:"every check of the page's maps"`

	Request *Request `json:"request,omitempty" doc:"an HTTP request with the session's cookies"`

	ExpectStatus int      `json:"expect_status,omitempty" min:"100" max:"599" doc:"HTTP status that the document must have, of a check"`
	Requires     []string `json:"requires,omitempty" doc:"states that must be current, of a check"`
	StrictChecks bool     `json:"strict_checks,omitempty" doc:"a critical check must say something, of a check"`
	FailOnDrift  bool     `json:"fail_on_drift,omitempty" doc:"a check that drifted fails, of a check"`

	Args    map[string]any    `json:"args,omitempty" doc:"arguments of the action or primitive"`
	Expect  Expectations      `json:"expect,omitempty" doc:"what must hold: JSONata over the step's result, an expectation, or a list of them"`
	Capture map[string]string `json:"capture,omitempty" doc:"variables for later steps: JSONata over the step's result"`
	Session string            `json:"session,omitempty" doc:"session that it runs in; a new name makes a session with cookies and storage of its own"`
	Tab     string            `json:"tab,omitempty" doc:"tab that it runs in; a new name opens one"`
	NewTab  string            `json:"new_tab,omitempty" doc:"name for the tab that the step makes the page open"`
	ForEach *ForEach          `json:"for_each,omitempty" doc:"steps that run once for each item"`
	Route   Routes            `json:"route,omitempty" doc:"answers requests while the step runs, before the plan's"`
	Timeout Duration          `json:"timeout,omitempty" doc:"bound on the step, such as 10s"`
	Retries int               `json:"retries,omitempty" min:"0" max:"10" doc:"how often the step is repeated when it fails"`

	OnFailure string `json:"on_failure,omitempty" enum:"stop,continue" doc:"what follows a failure; default stop"`

	// At is where the plan says it.
	At Place `json:"-"`

	captures map[string]expr.Program
}

// ForEach repeats steps.
type ForEach struct {
	In    any    `json:"in" doc:"a list, or a variable that is one"`
	As    string `json:"as,omitempty" doc:"name of the item: ${item}; default item"`
	Steps []Step `json:"steps" doc:"at least one step"`

	AllowEmpty bool `json:"allow_empty,omitempty" doc:"a list without items is no failure"`
}

// NoItems is what is wrong with a for_each over an empty list.
const NoItems = "for_each: 0 items, expected at least 1"

// Expectation is one thing that must hold after a step. All of its members must.
type Expectation struct {
	// Expression is JSONata over the step's result.
	Expression string `json:"expression,omitempty" doc:"JSONata over the step's result; a text alone is this"`
	Text       string `json:"text,omitempty" doc:"the page shows this text, in some frame"`
	TextGone   string `json:"text_gone,omitempty" doc:"the page does not show this text"`

	Target       any    `json:"target,omitempty" doc:"an element: a selector, or a target as in maps, for the members that follow"`
	TextEquals   string `json:"text_equals,omitempty" doc:"its text is this"`
	TextContains string `json:"text_contains,omitempty" doc:"its text contains this"`
	ValueEquals  string `json:"value_equals,omitempty" doc:"its value is this"`
	Visible      *bool  `json:"visible,omitempty" doc:"it is rendered"`
	Exists       *bool  `json:"exists,omitempty" doc:"it is in the document"`
	Enabled      *bool  `json:"enabled,omitempty" doc:"the control is enabled"`
	Checked      *bool  `json:"checked,omitempty" doc:"the box is checked"`
	Focused      *bool  `json:"focused,omitempty" doc:"it has the focus"`
	Count        *int   `json:"count,omitempty" doc:"so many elements match"`
	MinCount     *int   `json:"min_count,omitempty" doc:"at least so many match"`
	MaxCount     *int   `json:"max_count,omitempty" doc:"at most so many match"`

	Screenshot string   `json:"screenshot,omitempty" doc:"a picture beside the plan that it looks like"`
	FullPage   bool     `json:"full_page,omitempty" doc:"the screenshot is of the whole page"`
	Region     *Region  `json:"region,omitempty" doc:"the screenshot is of this part of the page"`
	Mask       []string `json:"mask,omitempty" doc:"CSS selectors of what is painted over in the screenshot"`
	Tolerance  string   `json:"tolerance,omitempty" enum:"exact,perceptual,loose" doc:"default perceptual"`
	Snapshot   string   `json:"snapshot,omitempty" doc:"rows of its outline; others may stand between"`

	State         string           `json:"state,omitempty" doc:"this state of the page's maps is current"`
	URL           string           `json:"url,omitempty" doc:"the address: a glob when it has a star, else a part of it"`
	Title         string           `json:"title,omitempty" doc:"the title is this"`
	Status        int              `json:"status,omitempty" min:"100" max:"599" doc:"HTTP status of the document"`
	ConsoleErrors *int             `json:"console_errors,omitempty" min:"0" doc:"at most so many errors in the console since the step began"`
	Network       []NetworkRequest `json:"network,omitempty" doc:"requests since the step began"`
	Within        Duration         `json:"within,omitempty" doc:"how long it may take to hold; default 5s"`

	given   map[string]json.RawMessage // the members that are there, also when they are empty
	program expr.Program
	engine  expr.Engine
}

// Region is a part of a picture in CSS pixels.
type Region struct {
	X      int `json:"x" min:"0" max:"16384" doc:"from the left"`
	Y      int `json:"y" min:"0" max:"16384" doc:"from the top"`
	Width  int `json:"width" min:"1" max:"16384" doc:"of the part"`
	Height int `json:"height" min:"1" max:"16384" doc:"of the part"`
}

// NetworkRequest is a request that must have been made.
type NetworkRequest struct {
	URL    string `json:"url" doc:"part of the address"`
	Method string `json:"method,omitempty" doc:"its method"`
	Status int    `json:"status,omitempty" min:"100" max:"599" doc:"status of the answer"`
	Count  *int   `json:"count,omitempty" min:"0" doc:"exactly so many; default: at least one"`
}

// Expectations are what must hold after a step.
type Expectations []Expectation

// UnmarshalJSON reads a text, an object or a list of them.
func (e *Expectations) UnmarshalJSON(b []byte) error {
	*e = nil
	var list []json.RawMessage
	if json.Unmarshal(b, &list) != nil {
		list = []json.RawMessage{b}
	}
	for _, raw := range list {
		var one Expectation
		if json.Unmarshal(raw, &one.Expression) != nil {
			if err := decode(raw, &one); err != nil {
				return err
			}
		}
		*e = append(*e, one)
	}
	return nil
}

// Data are the rows of a plan: those that stand in it, or a file.
type Data struct {
	File string
	Rows []map[string]any
}

// UnmarshalJSON reads rows, or the path of a file.
func (d *Data) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &d.File) == nil {
		return nil
	}
	return decode(b, &d.Rows)
}

// MarshalJSON is the inverse of UnmarshalJSON.
func (d Data) MarshalJSON() ([]byte, error) {
	if d.File != "" {
		return json.Marshal(d.File)
	}
	return json.Marshal(d.Rows)
}

// Duration is a time such as 1m30s.
type Duration time.Duration

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	v, err := time.ParseDuration(text)
	*d = Duration(v)
	return err
}

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// Path is the file of the plan.
func (p *Plan) Path() string { return p.path }

// Place is a place in a plan.
type Place struct {
	File    string
	Line    int
	Pointer string // RFC 6901
}

// String is the place as file:line and pointer.
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	pointer := p.Pointer
	if pointer == "" {
		pointer = "/"
	}
	return fmt.Sprintf("%s:%d %s", p.File, p.Line, pointer)
}

// Does says in a word what the step does.
func (s *Step) Does() string {
	for _, one := range []struct{ word, name string }{
		{"action", s.Action},
		{"state", s.State},
		{"call", s.Call},
		{"open", s.Open},
	} {
		if one.name != "" {
			return one.word + " " + one.name
		}
	}
	switch {
	case s.Request != nil:
		return "request " + s.Request.String()
	case s.Check:
		return "check"
	case s.ForEach != nil:
		return "for_each"
	}
	return "expect"
}

// Captures are the compiled expressions of Capture.
func (s *Step) Captures() map[string]expr.Program { return s.captures }

// Program is the compiled expression, nil when there is none, and its engine.
func (e *Expectation) Program() (expr.Program, expr.Engine) { return e.program, e.engine }

// Element reports whether the expectation is about an element.
func (e *Expectation) Element() bool { return e.Target != nil }
