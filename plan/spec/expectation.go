package spec

import (
	"fmt"
	"slices"
	"strings"
)

// Expand replaces the references in an expectation.
func (e *Expectation) Expand(s *Scope) error {
	for _, field := range []*string{&e.Text, &e.TextGone, &e.TextEquals, &e.TextContains, &e.ValueEquals, &e.State, &e.URL, &e.Title} {
		text, err := s.Text(*field)
		if err != nil {
			return err
		}
		*field = text
	}
	target, err := s.Expand(e.Target)
	if err != nil {
		return err
	}
	e.Target = target
	e.Network = slices.Clone(e.Network)
	for i := range e.Network {
		if e.Network[i].URL, err = s.Text(e.Network[i].URL); err != nil {
			return err
		}
	}
	return nil
}

// Probe is the expectation of an element as an assertion of a map.
func (e *Expectation) Probe() map[string]any {
	target := e.Target
	if selector, ok := target.(string); ok {
		target = map[string]any{"selector": selector}
	}
	out := map[string]any{"target": target}
	for name, text := range map[string]string{"text_equals": e.TextEquals, "text_contains": e.TextContains, "value_equals": e.ValueEquals} {
		if text != "" {
			out[name] = text
		}
	}
	for name, b := range map[string]*bool{"visible": e.Visible, "exists": e.Exists, "enabled": e.Enabled, "checked": e.Checked, "focused": e.Focused} {
		if b != nil {
			out[name] = *b
		}
	}
	for name, n := range map[string]*int{"count": e.Count, "min_count": e.MinCount, "max_count": e.MaxCount} {
		if n != nil {
			out[name] = *n
		}
	}
	return out
}

// String is the expectation for people.
func (e *Expectation) String() string {
	var parts []string
	for _, one := range []struct{ what, text string }{
		{"", e.Expression}, {"text", e.Text}, {"no text", e.TextGone}, {"state", e.State}, {"url", e.URL}, {"title", e.Title},
	} {
		if one.text != "" {
			parts = append(parts, strings.TrimSpace(one.what+" "+one.text))
		}
	}
	if e.Status != 0 {
		parts = append(parts, fmt.Sprintf("status %d", e.Status))
	}
	if e.Target != nil {
		probe := e.Probe()
		target := fmt.Sprint(e.Target)
		if m, ok := e.Target.(map[string]any); ok && m["selector"] != nil {
			target = fmt.Sprint(m["selector"])
		}
		delete(probe, "target")
		text := target
		for _, name := range []string{"text_equals", "text_contains", "value_equals", "visible", "exists", "enabled", "checked", "focused", "count", "min_count", "max_count"} {
			if v, ok := probe[name]; ok {
				text += fmt.Sprintf(" %s %v", name, v)
			}
		}
		parts = append(parts, text)
	}
	if e.ConsoleErrors != nil {
		parts = append(parts, fmt.Sprintf("at most %d console errors", *e.ConsoleErrors))
	}
	for _, q := range e.Network {
		parts = append(parts, "request "+strings.TrimSpace(q.Method+" "+q.URL))
	}
	return strings.Join(parts, " and ")
}
