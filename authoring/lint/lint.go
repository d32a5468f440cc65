// Package lint says what makes a map worse than it could be, and gives it a score. It reads the text of a map and no
// page, and does not say whether the map is valid. The verb validate calls it; coverage adds what pages show.
package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/locators"
	edit "github.com/outrider-run/outrider/internal/mapedit"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Rule is the stable name of what a finding is about.
type Rule string

// The rules. They are never renamed.
const (
	NoPostcondition  Rule = "action_without_postcondition"
	HoldsBefore      Rule = "postcondition_holds_before"
	OneKind          Rule = "locator_of_one_kind"
	GeneratedLocator Rule = "generated_locator"
	StatesOverlap    Rule = "states_overlap"
	NoDiagnostics    Rule = "state_without_diagnostics"
	NoIdentity       Rule = "projection_without_identity"
	UnusedInput      Rule = "input_unused"
	NeverVaried      Rule = "input_never_varied"
	FixedDelay       Rule = "fixed_delay"
	NotReached       Rule = "control_not_reached" // of coverage
)

// Finding is one thing that could be better.
type Finding struct {
	Rule    Rule   `json:"rule"`
	Pointer string `json:"pointer"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// Result is what is said of one map.
type Result struct {
	// Score is the share of what was judged that is as it should be, in percent.
	Score    int       `json:"score"`
	Judged   int       `json:"judged"`
	Findings []Finding `json:"findings"`
}

// Reported are the findings as reports have them.
func (r Result) Reported(file string) []report.Finding {
	var out []report.Finding
	for _, f := range r.Findings {
		out = append(out, report.Finding{
			Rule:    "lint." + string(f.Rule),
			Level:   "warning",
			Message: f.Message + "; " + f.Fix,
			Place:   report.Place{File: file, Line: f.Line, Pointer: f.Pointer},
		})
	}
	return out
}

// Call is one use of an action, such as a step of a plan.
type Call struct {
	Action    string
	Arguments map[string]json.RawMessage
}

// CallOf is the use of an action by a step of a plan.
func CallOf(action string, arguments map[string]any) Call {
	c := Call{Action: action, Arguments: map[string]json.RawMessage{}}
	for name, v := range arguments {
		if raw, err := json.Marshal(v); err == nil {
			c.Arguments[name] = raw
		}
	}
	return c
}

// checker judges one map.
type checker struct {
	text   []byte
	root   map[string]any
	judged int
	found  []Finding
}

// Map judges the text of a map. calls are uses of its actions; without any nothing is
// said about values that never vary.
func Map(text []byte, calls []Call) (Result, error) {
	c := &checker{text: text}
	if err := json.Unmarshal(text, &c.root); err != nil {
		return Result{}, fault.New(fault.InvalidJSON, "the map is not a JSON object")
	}
	for i, t := range c.list("tools") {
		c.tool(at("tools", i), t, calls)
	}
	c.states()
	for i, p := range c.list("state_projections") {
		c.projection(at("state_projections", i), p)
	}
	c.targets("", c.root)
	slices.SortStableFunc(c.found, func(a, b Finding) int { return a.Line - b.Line })
	out := Result{Score: 100, Judged: c.judged, Findings: c.found}
	if out.Findings == nil {
		out.Findings = []Finding{}
	}
	if c.judged > 0 {
		out.Score = (c.judged - min(len(c.found), c.judged)) * 100 / c.judged
	}
	return out, nil
}

func at(section string, i int) string { return "/" + section + "/" + strconv.Itoa(i) }

// judge counts one thing that was looked at, and notes what is wrong with it.
func (c *checker) judge(good bool, rule Rule, pointer, fix, format string, args ...any) {
	c.judged++
	if !good {
		c.found = append(c.found, Finding{rule, pointer, edit.Line(c.text, pointer), fmt.Sprintf(format, args...), fix})
	}
}

func (c *checker) list(name string) []map[string]any {
	items, _ := c.root[name].([]any)
	out := make([]map[string]any, len(items))
	for i, it := range items {
		out[i], _ = it.(map[string]any)
	}
	return out
}

func member(o map[string]any, names ...string) any {
	var v any = o
	for _, n := range names {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[n]
	}
	return v
}

func text(v any) string { s, _ := v.(string); return s }

// acting are the types of steps and the families of primitives that change the page.
var acting = strings.Fields("click tap double_click type fill input clear press select check uncheck navigate " +
	"handler pointer.click pointer.double_click pointer.drag keyboard.press keyboard.press_gated text.insert " +
	"text.type dom.select_option page.select upload.set_files transfer.insert clipboard.paste")

// writing are those that leave their text in a field, which tells of its change when it is left or at Enter.
var writing = strings.Fields("type fill input text.insert text.type")

func (c *checker) tool(pointer string, t map[string]any, calls []Call) {
	if t == nil || member(t, "x_actions", "static_output") != nil ||
		text(member(t, "x_actions", "direction")) == "html_to_agent" {
		return
	}
	name := text(t["name"])
	steps, _ := member(t, "x_actions", "execution", "steps").([]any)
	form := "/x_actions/execution/steps"
	if flow, ok := member(t, "workflow", "steps").([]any); ok {
		steps, form = flow, "/workflow/steps"
	}
	acts, promised := false, member(t, "workflow", "postcondition") != nil || c.promised(name)
	lastAct := ""
	for i, s := range steps {
		step, _ := s.(map[string]any)
		kind := cmp.Or(text(step["type"]), text(step["primitive"]))
		if slices.Contains(acting, kind) {
			acts = true
			lastAct = kind
		}
		if acts && (kind == "locator.wait_for" || kind == "page.wait") {
			promised = true // it fails when what it waits for does not come
		}
		if step["assert"] != nil || kind == "assert" || step["retry_until"] != nil {
			promised = true
		}
		c.delay(pointer+form+"/"+strconv.Itoa(i), kind, step)
	}
	if acts {
		fix := "give its last step an assert, or a projection a postcondition for it"
		if slices.Contains(writing, lastAct) {
			fix += "; its text stays in a field: a page that waits for change needs Enter or Tab after it"
		}
		c.judge(
			promised, NoPostcondition, pointer, fix,
			"%s changes the page and nothing says how to see that it did", name,
		)
	}
	if acts {
		c.postconditions(pointer+form, name, steps)
	}
	c.inputs(pointer, name, t, steps, calls)
}

// promised reports whether a projection or a transition says what holds after an action.
func (c *checker) promised(name string) bool {
	for _, p := range c.list("state_projections") {
		if member(p, "postconditions", name) != nil {
			return true
		}
	}
	for _, t := range c.list("transitions") {
		if text(t["tool"]) == name && text(t["to"]) != "" {
			return true
		}
	}
	return false
}

// delay finds steps that wait for a time and not for what they need.
func (c *checker) delay(pointer, kind string, step map[string]any) {
	waits := kind == "wait" || kind == "wait_for"
	forNothing := step["target"] == nil && step["until"] == nil && step["state"] == nil && step["signal"] == nil
	fixed := member(step, "settle_after", "delay_ms") != nil || waits && forNothing
	if fixed || member(step, "settle_after") != nil || waits {
		c.judge(
			!fixed, FixedDelay, pointer, "wait for an element or a state that shows that the page is ready",
			"the step waits for a time, whatever the page does",
		)
	}
}

func (c *checker) inputs(pointer, name string, t map[string]any, steps []any, calls []Call) {
	properties, _ := member(t, "input_schema", "properties").(map[string]any)
	if len(properties) == 0 {
		return
	}
	used, err := json.Marshal([]any{
		steps, member(t, "workflow", "output"), member(t, "workflow", "postcondition"),
		member(t, "x_actions", "binding"), member(t, "x_actions", "handler"),
	})
	if err != nil {
		return
	}
	for _, p := range slices.Sorted(maps.Keys(properties)) {
		where := pointer + "/input_schema/properties/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p)
		if text(member(t, "x_actions", "handler")) == "" {
			reads := mentions(string(used), p)
			c.judge(
				reads, UnusedInput, where, "use it in a step, or take it out of the schema",
				"no step of %s uses the argument %s", name, p,
			)
		}
		values := map[string]bool{}
		given := 0
		for _, call := range calls {
			if v, ok := call.Arguments[p]; ok && call.Action == name {
				values[string(v)] = true
				given++
			}
		}
		if given >= 2 {
			c.judge(
				len(values) > 1, NeverVaried, where,
				"give it another value in one of the plans, or make it a constant of the step",
				"%d calls of %s all give the same %s", given, name, p,
			)
		}
	}
}

// mentions reports whether steps name an argument: as value_from, or as input.NAME in an
// expression.
func mentions(steps, name string) bool {
	for _, form := range []string{
		`"` + name + `"`, `"` + name + `.`, "input." + name, "input.`" + name + "`",
		`input[\"` + name, "input['" + name, "{% input %}", "$$.input",
	} {
		if strings.Contains(steps, form) {
			return true
		}
	}
	return false
}

// states finds states that nothing tells, and pairs that nothing tells apart.
func (c *checker) states() {
	all := c.list("states")
	conditions := make([]map[string]bool, len(all))
	for i, s := range all {
		diagnostics, _ := member(s, "diagnostics").([]any)
		pointer := at("states", i)
		c.judge(
			len(diagnostics) > 0, NoDiagnostics, pointer,
			"give it a diagnostic: a target that is there in this state alone",
			"nothing says when the state %s is current", text(s["name"]),
		)
		conditions[i] = map[string]bool{}
		for _, d := range diagnostics {
			if o, ok := d.(map[string]any); ok {
				plain := maps.Clone(o)
				for _, name := range []string{"name", "description"} {
					delete(plain, name)
				}
				if key, err := json.Marshal(plain); err == nil {
					conditions[i][string(key)] = true
				}
			}
		}
		if len(diagnostics) == 0 {
			continue
		}
		overlap := ""
		for j := range i {
			if len(conditions[j]) > 0 &&
				(within(conditions[i], conditions[j]) || within(conditions[j], conditions[i])) {
				overlap = text(all[j]["name"])
			}
		}
		c.judge(
			overlap == "", StatesOverlap, pointer, "add a diagnostic to each that does not hold in the other",
			"the states %s and %s hold at the same time: one has all diagnostics of the other", text(s["name"]),
			overlap,
		)
	}
}

func within(a, b map[string]bool) bool {
	for k := range a {
		if !b[k] {
			return false
		}
	}
	return true
}

func (c *checker) projection(pointer string, p map[string]any) {
	expression := text(member(p, "snapshot", "projection", "expression"))
	lists := strings.Contains(expression, "$append(") || strings.Contains(expression, "[]") ||
		strings.Contains(expression, "[records")
	if entries, ok := member(p, "snapshot", "extract").([]any); ok && !lists {
		for _, e := range entries {
			o, _ := e.(map[string]any)
			lists = lists || o["fields"] != nil && o["many"] != false
		}
	}
	if lists {
		identity, _ := member(p, "x_identity").(map[string]any)
		c.judge(
			len(identity) > 0, NoIdentity, pointer, `add x_identity, such as {"/items": "id"}`,
			"nothing tells the entries of %s apart, so differences compare them by place", text(p["name"]),
		)
	}
}

// targets judges every target and locator of the map, wherever it stands.
func (c *checker) targets(pointer string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			where := pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			o, ok := v[name].(map[string]any)
			if ok && (name == "target" || name == "locator" || name == "until") && operated(pointer) {
				c.target(where, o)
				continue
			}
			c.targets(where, v[name])
		}
	case []any:
		for i, e := range v {
			c.targets(pointer+"/"+strconv.Itoa(i), e)
		}
	}
}

// operated reports whether what stands at a pointer is part of an action: states may use
// one locator that tells them apart.
func operated(pointer string) bool { return strings.HasPrefix(pointer, "/tools/") }

func (c *checker) target(pointer string, o map[string]any) {
	var selectors []string
	for _, name := range []string{"selector", "selectors", "fallback_selectors"} {
		switch v := o[name].(type) {
		case string:
			selectors = append(selectors, parts(v)...)
		case []any:
			for _, e := range v {
				selectors = append(selectors, parts(text(e))...)
			}
		}
	}
	kinds := map[locators.Kind]bool{}
	bad := ""
	computed := false
	for _, s := range selectors {
		computed = computed || strings.Contains(s, "{%")
		kinds[locators.KindOf(s)] = true
		if g := generatedIn(s); g != "" {
			bad = g
		}
	}
	if text(o["role"]) != "" && o["name"] != nil {
		kinds[locators.RoleName] = true
	}
	if o["text_equals"] != nil || o["text_contains"] != nil || o["text"] != nil || o["has_text"] != nil {
		kinds[locators.Text] = true
	}
	if o["label"] != nil || o["placeholder"] != nil {
		kinds[locators.Attributes] = true
	}
	if o["test_id"] != nil {
		kinds[locators.TestID] = true
	}
	if computed || len(kinds) == 0 {
		return // what an expression names cannot be judged here
	}
	c.judge(
		bad == "", GeneratedLocator, pointer, "outrider locators shows others for the element",
		"%s looks generated: the next build of the site may have another", strconv.Quote(bad),
	)
	c.judge(
		len(kinds) > 1, OneKind, pointer, "outrider locators shows fallbacks of other kinds for the element",
		"the target is named in one way alone, by %s", slices.Sorted(maps.Keys(kinds))[0],
	)
}

// parts are the alternatives of a selector list.
func parts(list string) []string {
	if strings.Contains(list, "{%") {
		return []string{list}
	}
	out := locators.Split(list, ",")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// generatedIn is an id or a class of a selector that looks generated.
func generatedIn(selector string) string {
	if strings.Contains(selector, "{%") {
		return ""
	}
	name := []rune{}
	in := false
	check := func() string {
		v := strings.ReplaceAll(string(name), `\`, "")
		name = name[:0]
		if in && v != "" && likeness.Generated(v) {
			return v
		}
		return ""
	}
	depth := 0
	escaped := false
	for _, r := range selector {
		switch {
		case escaped:
			name, escaped = append(name, r), false
		case r == '\\':
			escaped = true
		case depth == 0 && (r == '#' || r == '.'):
			if v := check(); v != "" {
				return v
			}
			in = true
		case r == '[' || r == '(':
			depth++
		case r == ']' || r == ')':
			depth--
		case depth == 0 && strings.ContainsRune(" >+~:,", r) || depth > 0:
			if v := check(); v != "" {
				return v
			}
			in = false
		case in:
			name = append(name, r)
		}
	}
	return check()
}

// Print shows the findings of a map for people.
func (r Result) Print(w io.Writer, file string) {
	fmt.Fprintf(
		w, "score      %d %%  %s: %d of %d\n", r.Score, report.Printable(file), r.Judged-len(r.Findings), r.Judged,
	)
	for _, f := range r.Findings {
		fmt.Fprintf(
			w, "  %s:%d  %s: %s\n             %s\n",
			report.Printable(f.Pointer), f.Line, f.Rule, report.Printable(f.Message), report.Printable(f.Fix),
		)
	}
}
