package lint

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// before is what is known to hold on the page before an action does something: what its own steps have found or
// used, and what the state says that it begins in.
type before map[string]bool

// unjudged are members of a condition or target that do not say what holds.
var unjudged = strings.Fields("name description timeout_ms within severity")

var unjudgedInTargets = strings.Fields("fallback_selectors confidence")

// keyOf is a condition in one form: "exists" or "visible" with a target, or all that it says.
func keyOf(condition map[string]any) string {
	plain := maps.Clone(condition)
	for _, name := range unjudged {
		delete(plain, name)
	}
	target, ok := plain["target"].(map[string]any)
	if !ok {
		return encoded(plain)
	}
	plain["target"] = targetKey(target)
	others := slices.Sorted(maps.Keys(plain))
	switch {
	case len(others) == 1, len(others) == 2 && plain["exists"] == true:
		return "exists " + targetKey(target)
	case len(others) == 2 && plain["visible"] == true:
		return "visible " + targetKey(target)
	}
	return encoded(plain)
}

func targetKey(target map[string]any) string {
	plain := maps.Clone(target)
	for _, name := range unjudgedInTargets {
		delete(plain, name)
	}
	return encoded(plain)
}

func encoded(v any) string {
	b, _ := json.Marshal(v) // it was read as JSON
	return string(b)
}

// note adds a condition. What is visible is there, too.
func (b before) note(key string) {
	b[key] = true
	if target, ok := strings.CutPrefix(key, "visible "); ok {
		b["exists "+target] = true
	}
}

// operating are the types of steps whose target must be visible before they do something.
var operating = strings.Fields("click tap double_click type fill input clear press select check uncheck")

// postconditions finds assertions of steps that hold before the action has done anything.
func (c *checker) postconditions(pointer, tool string, steps []any) {
	known := c.beginning(tool)
	acted := false
	for i, s := range steps {
		step, _ := s.(map[string]any)
		if step == nil || step["when"] != nil {
			continue
		}
		kind := text(step["type"])
		asserted, _ := step["assert"].(map[string]any)
		if target, ok := step["target"].(map[string]any); ok && !acted {
			switch {
			case slices.Contains(operating, kind),
				kind == "wait_for" && (step["state"] == nil || step["state"] == "visible"):
				known.note("visible " + targetKey(target))
			case kind == "inspect", kind == "read":
				known.note("exists " + targetKey(target))
			}
		}
		acted = acted || slices.Contains(acting, kind)
		switch {
		case asserted == nil:
		case !acted:
			known.note(keyOf(asserted))
		default:
			c.judge(!known[keyOf(asserted)], HoldsBefore, pointer+"/"+strconv.Itoa(i)+"/assert",
				"assert what is there only when the action was done, such as a text or a value that it makes",
				"what the step asserts holds before %s does anything, so it proves nothing", tool)
		}
	}
}

// beginning is what the one state says that an action begins in.
func (c *checker) beginning(tool string) before {
	known := before{}
	from := map[string]bool{}
	for _, t := range c.list("transitions") {
		if text(t["tool"]) == tool {
			from[text(t["from"])] = true
		}
	}
	if len(from) != 1 {
		return known
	}
	for _, s := range c.list("states") {
		diagnostics, _ := s["diagnostics"].([]any)
		for _, d := range diagnostics {
			if o, ok := d.(map[string]any); ok && from[text(s["name"])] {
				known.note(keyOf(o))
			}
		}
	}
	return known
}
