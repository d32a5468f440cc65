package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/internal/lazyregexp"
)

// refForm is a ref of a snapshot.
var refForm = lazyregexp.New(`^(f[1-9][0-9]*)?e[1-9][0-9]*$`)

// roles are the ARIA roles that a target can begin with, as in button:Save.
var roles = []string{
	"alert", "article", "banner", "button", "cell", "checkbox", "columnheader", "combobox", "dialog", "figure", "form",
	"grid", "gridcell", "group", "heading", "img", "link", "list", "listbox", "listitem", "main", "menu", "menubar",
	"menuitem", "menuitemcheckbox", "menuitemradio", "navigation", "option", "progressbar", "radio", "radiogroup",
	"region", "row", "rowheader", "scrollbar", "search", "searchbox", "separator", "slider", "spinbutton", "status",
	"switch", "tab", "table", "tablist", "tabpanel", "textbox", "toolbar", "tooltip", "tree", "treeitem",
}

// prefixes say of what kind the rest of a target is.
var prefixes = map[string]string{
	"css": "selector", "selector": "selector", "xpath": "xpath", "text": "text", "label": "label",
	"placeholder": "placeholder", "testid": "test_id", "near": "near",
}

// target is an element as a caller writes it: a ref, or a locator.
type target struct {
	ref     string
	locator map[string]any
	// words are what a field was called without saying how: its label, its name or what stands beside it.
	words string
}

func (t target) none() bool { return t.ref == "" && t.locator == nil }

// put writes the target as the members ref or locator of a tool's arguments.
func (t target) put(args map[string]any) {
	if t.ref != "" {
		args["ref"] = t.ref
	}
	if t.locator != nil {
		args["locator"] = t.locator
	}
}

// asLocator is the target as a locator, which a ref is a part of too.
func (t target) asLocator() map[string]any {
	if t.ref != "" {
		return map[string]any{"ref": t.ref}
	}
	return t.locator
}

// readTarget reads a target: a ref (e12), a role and a name (button:Save), a kind and its text (label=Name), a locator
// as JSON, a CSS selector (#id, .class, [attribute], a > b), else words. Words are the label of a field where field is
// true, else the name or the text of an element.
func readTarget(word string, field bool) (target, error) {
	trimmed := strings.TrimSpace(word)
	if trimmed == "" {
		return target{}, errors.New(
			"a target is empty: give a ref such as e12, a name such as button:Save, or a selector",
		)
	}
	if refForm().MatchString(trimmed) {
		return target{ref: trimmed}, nil
	}
	if trimmed[0] == '{' {
		var locator map[string]any
		if err := json.Unmarshal([]byte(trimmed), &locator); err != nil {
			return target{}, fmt.Errorf("the target %s is no locator: %w", trimmed, err)
		}
		return target{locator: locator}, nil
	}
	if role, name, ok := strings.Cut(trimmed, ":"); ok && slices.Contains(roles, role) {
		locator := map[string]any{"role": role}
		put(locator, "name", unquoted(strings.TrimSpace(name)))
		return target{locator: locator}, nil
	}
	if kind, rest, ok := strings.Cut(trimmed, "="); ok && prefixes[kind] != "" && rest != "" {
		return target{locator: map[string]any{prefixes[kind]: unquoted(rest)}}, nil
	}
	if strings.ContainsRune("#.[", rune(trimmed[0])) || strings.Contains(trimmed, " > ") {
		return target{locator: map[string]any{"selector": trimmed}}, nil
	}
	if field {
		return target{locator: map[string]any{"label": trimmed}, words: trimmed}, nil
	}
	return target{locator: map[string]any{"text": trimmed}}, nil
}

// unquoted is a name without the quotes that snapshots put around names.
func unquoted(name string) string {
	if len(name) > 1 && name[0] == '"' && name[len(name)-1] == '"' {
		return name[1 : len(name)-1]
	}
	return name
}

// field is the target as a key of fields: a ref or a label.
func (t target) field() (string, error) {
	if t.ref != "" {
		return t.ref, nil
	}
	for _, member := range []string{"label", "near", "name"} {
		if text, ok := t.locator[member].(string); ok {
			return text, nil
		}
	}
	return "", wrong("of several fields each is named by a ref or its label")
}

// ordered is a JSON object of names and values in the order in which they stand.
func ordered(pairs []string) json.RawMessage {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		b.WriteByte("{,"[min(i, 1)])
		for at, text := range pairs[i : i+2] {
			encoded, _ := json.Marshal(text) // a string
			b.Write(encoded)
			if at == 0 {
				b.WriteByte(':')
			}
		}
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}
