package mapschema

// stepTypes are the types of abstract steps, as docs/reference/map-steps.md has them.
var stepTypes = []struct{ name, about string }{
	{"inspect", "scrolls the target into view; gives text, count, visible, enabled, checked, value"},
	{"find", "inspect by another name"},
	{"locate", "inspect by another name"},
	{"click", "clicks the target with the pointer, hit-tested"},
	{"tap", "click by another name"},
	{"double_click", "clicks the target twice"},
	{"hover", "moves the pointer over the target"},
	{"type", "replaces the contents of the target by value, value_from or text"},
	{"fill", "type by another name"},
	{"input", "type by another name"},
	{"clear", "empties the target"},
	{"focus", "focuses the target"},
	{"press", "presses key or keys, in the target when there is one"},
	{"select", "chooses an option of a native list, by option, label or a value"},
	{"check", "checks a checkbox, when it is not, and sees that it changed"},
	{"uncheck", "unchecks a checkbox, when it is checked, and sees that it changed"},
	{"scroll", "scrolls the target into view, or it or the page in a direction"},
	{"wait_for", "waits for a target, a state, a signal, or timeout_ms"},
	{"wait", "wait_for by another name"},
	{"extract", "reads text, a property, an attribute, a list or records"},
	{"read", "extract by another name"},
	{"collect", "extract by another name"},
	{"navigate", "goes to url, url_from or a value"},
	{"reload", "loads the page again"},
	{"assert", "nothing but its assertion"},
	{"handler", "calls a function of the page"},
	{"screenshot", "takes a picture"},
}

// waits are the primitives that after_each may run.
var waits = []any{
	"locator.wait_for", "locator.element_info", "dom.observe.visible",
	"viewport.scroll", "overlay.menu.hide", "overlay.menu.show",
}

var workflow = object{
	"type":     "object",
	"required": []any{"version", "expression_language", "steps"},
	"properties": object{
		"version":             object{"description": "always 1", "const": 1},
		"expression_language": object{"description": "always jsonata", "const": "jsonata"},
		"steps": object{
			"description": "the steps, in order",
			"type":        "array",
			"maxItems":    25,
			"items":       object{"$ref": "#/$defs/workflowStep"},
		},
		"output":          object{"description": "value of the action, with expressions"},
		"postcondition":   object{"description": "what must hold on the page afterwards", "type": "object"},
		"x_state_machine": object{"description": "ignored"},
	},
	"additionalProperties": false,
}

var workflowStep = object{
	"type":     "object",
	"required": []any{"id", "primitive"},
	"properties": object{
		"id": object{
			"description": "name of the step, each once",
			"type":        "string",
			"pattern":     "^[A-Za-z][A-Za-z0-9_-]*$",
		},
		"args": object{
			"description": "arguments of the primitive, with expressions",
			"type":        []any{"object", "null"},
		},
		"when":     object{"description": "the step is skipped when this is not true: {% … %}"},
		"for_each": object{"description": "a list: the primitive runs for each item"},
		"max_items": object{
			"description": "at most so many items; needed with for_each",
			"type":        "number",
			"minimum":     1,
			"maximum":     50,
		},
		"retry_until": object{"description": "the primitive runs again until this is true: {% … %}"},
		"max_attempts": object{
			"description": "at most so many runs; needed with retry_until",
			"type":        "number",
			"minimum":     1,
			"maximum":     50,
		},
		"after_each": object{"description": "what runs between two attempts", "$ref": "#/$defs/afterEach"},
		"on_error": object{
			"description": "whether a failure of the step ends the workflow",
			"enum":        []any{"stop", "continue"},
			"default":     "stop",
		},
		"settle_after": object{"description": "what to wait for afterwards", "$ref": "#/$defs/settleAfter"},
	},
	"dependentRequired":    object{"for_each": []any{"max_items"}, "retry_until": []any{"max_attempts"}},
	"additionalProperties": false,
}

var afterEach = object{
	"type":     "object",
	"required": []any{"primitive"},
	"properties": object{
		"primitive": object{"description": "it waits or observes", "enum": waits},
		"args":      object{"description": "its arguments, with expressions", "type": []any{"object", "null"}},
	},
	"additionalProperties": false,
}

var settleAfter = object{
	"type": "object",
	"properties": object{
		"state":      object{"description": "state to wait for", "type": "string", "default": "visible"},
		"timeout_ms": object{"description": "how long to wait", "default": 8000},
		"delay_ms":   object{"description": "waits for so long"},
	},
	"oneOf":                []any{object{"required": []any{"locator"}}, object{"required": []any{"delay_ms"}}},
	"additionalProperties": false,
}
