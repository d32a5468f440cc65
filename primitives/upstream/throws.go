package upstream

import (
	"encoding/json"
	"slices"
	"strings"
)

// background are the primitives that the extension runs in its background only.
var background = []string{
	"a11y.query", "a11y.tree", "a11y.watch", "browser.close_tab", "browser.dismiss_dialog",
	"browser.navigate", "browser.open_tab", "keyboard.press_gated",
}

// InBackground reports whether the extension runs a call in its background, where
// whatever fails is background_action_failed.
func InBackground(primitive string, args json.RawMessage) bool {
	if slices.Contains(background, primitive) {
		return true
	}
	if !slices.Contains([]string{"keyboard.press", "pointer.drag", "text.type"}, primitive) {
		return false
	}
	var in struct {
		Trusted any `json:"trusted"`
	}
	return json.Unmarshal(args, &in) == nil && in.Trusted == true
}

// throwing are the primitives that the extension runs in the page and that throw
// where others answer what went wrong.
var throwing = []string{
	"browser.claimed_tabs.activate", "browser.claimed_tabs.list",
	"browser.extract_elements", "browser.run_javascript", "debug.run_javascript",
	"overlay.close", "overlay.open", "overlay.register_launcher", "storage.import_bundle", "storage.list",
}

// Throws reports whether the extension has no code for what fails in a primitive,
// which is handler_failed.
func Throws(primitive string) bool {
	return slices.Contains(throwing, primitive) || strings.HasPrefix(primitive, "overlay.menu.")
}
