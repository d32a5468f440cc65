// Package workflow compiles and runs the steps of a site action: schema v1, section
// "workflow". It does not choose a tab or an action, and runs primitives only through
// the Invoker that it is given. Package runtime/mapset compiles a workflow when its map
// loads, and runtime/siteaction runs it.
//
// Compile checks a workflow whole and compiles its expressions when its map
// loads; Run executes it against an Invoker, which is the same registry that a
// direct call of a primitive reaches. A Program is immutable and may run many
// times at once.
//
// A step fails when its primitive fails. The Chrome extension swallows such
// failures, against its own documentation; this package does not.
package workflow

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/outrider-run/outrider/projection/expr"
)

// Limits of schema v1. They are the same for every map.
const (
	MaxSteps       = 25
	MaxItems       = 50
	MaxAttempts    = 50
	MaxOutputBytes = 32_000
	// MaxRetainedBytes bounds the results of all steps together, which every
	// later expression can read.
	MaxRetainedBytes = 4 << 20

	maxSlotBytes      = 16_000
	defaultSettle     = 8000 * time.Millisecond
	settlePrimitive   = "locator.wait_for"
	outputPrimitive   = "actions.workflow"
	longestSettleWait = time.Hour
)

// waitPrimitives are those that after_each may run: it is a place to wait and
// to probe, not a second action.
var waitPrimitives = []string{
	"locator.wait_for", "locator.element_info", "dom.observe.visible", "viewport.scroll",
	"overlay.menu.hide", "overlay.menu.show",
}

// toolOnly are the primitives that the extension offers as tools and refuses
// as steps: see quirks.ToolOnlyNames.
var toolOnly = []string{
	"browser.extract_elements", "browser.run_javascript", "debug.run_javascript", "runtime.agent.memory_clear",
	"runtime.configure_pacing", "runtime.session.log", "storage.import_bundle", "storage.list",
}

// Reads lists what the expressions are certain to read of input and steps, with
// pointers into the workflow.
func (p *Program) Reads() []expr.Read { return p.reads }

// StepIDs lists the ids of the steps.
func (p *Program) StepIDs() []string {
	ids := make([]string, len(p.steps))
	for i := range p.steps {
		ids[i] = p.steps[i].id
	}
	return ids
}

// Program is a checked workflow.
type Program struct {
	steps         []step
	output        *expr.Template // nil when not declared
	postcondition json.RawMessage
	warnings      []Problem
	reads         []expr.Read
}

// Postcondition returns the declaration as it stands in the workflow, nil when
// there is none. Checking it needs the projections of the map, so it is the
// caller's work: see RunOptions.ChecksPostcondition.
func (p *Program) Postcondition() json.RawMessage { return p.postcondition }

// Warnings lists what is allowed but cannot be what the author meant.
func (p *Program) Warnings() []Problem { return p.warnings }

// Len returns the number of steps.
func (p *Program) Len() int { return len(p.steps) }

// Primitives returns the names of all primitives that the program may invoke,
// in order and without repetition.
func (p *Program) Primitives() []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, s := range p.steps {
		add(s.primitive)
		if s.retryUntil != nil && s.forEach == nil && s.afterEach != nil {
			add(s.afterEach.primitive)
		}
		if s.settle != nil && s.settle.locator != nil && s.forEach == nil {
			add(settlePrimitive)
		}
	}
	return names
}

// step is one step. Its templates are nil when the field is absent.
type step struct {
	id          string
	primitive   string
	args        *arguments
	when        *expr.Template
	forEach     *expr.Template
	maxItems    int
	retryUntil  *expr.Template
	maxAttempts int
	afterEach   *wait
	settle      *settle
	goOn        bool // on_error is continue
}

// wait is the primitive of after_each.
type wait struct {
	primitive string
	args      *arguments
}

// settle is what a step waits for after it: a delay, or the state of a
// locator.
type settle struct {
	delay   time.Duration
	locator *arguments
	// verbatim is the locator as written, slots included.
	verbatim json.RawMessage
	state    string
	timeout  json.RawMessage // milliseconds, as written
}
