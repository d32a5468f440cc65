package fault

import (
	"fmt"
	"strconv"
	"strings"
)

// Line is the error on one line, for everybody who shows no evidence: its code and message,
// which element was meant, and what was found that is near.
func (e *Error) Line() string {
	text := string(e.Code) + ": " + e.Message
	for _, member := range []string{"target", "locator"} {
		suggestion := element(e.Evidence[member])
		if suggestion == "" || strings.Contains(e.Message, suggestion) {
			continue
		}
		text += ": " + suggestion
		break
	}
	if near := texts(e.Evidence["nearest"]); len(near) > 0 && !strings.Contains(e.Message, strconv.Quote(near[0])) {
		for i := range near {
			near[i] = strconv.Quote(Clip(near[i], longestShown))
		}
		text += "; nearest: " + strings.Join(near, ", ")
	}
	return text
}

// Bounds of what a line shows.
const (
	longestShown = 80
	mostNear     = 3
)

// texts are the first texts of a list in evidence.
func texts(v any) []string {
	var out []string
	switch list := v.(type) {
	case []string:
		out = append(out, list...)
	case []any:
		for _, one := range list {
			if text, ok := one.(string); ok {
				out = append(out, text)
			}
		}
	}
	return out[:min(len(out), mostNear)]
}

// element is a locator or a target for people, such as button "Save draft".
func element(v any) string {
	if text, ok := v.(string); ok {
		return Clip(text, longestShown)
	}
	members, ok := v.(map[string]any)
	if !ok {
		return ""
	}
	var parts []string
	member := func(name string) string {
		text, _ := members[name].(string)
		return text
	}
	if selectors := texts(members["selectors"]); len(selectors) > 0 {
		parts = append(parts, Clip(strings.Join(selectors, ", "), longestShown))
	}
	for _, plain := range []string{"selector", "css", "ref", "role"} {
		if text := member(plain); text != "" {
			parts = append(parts, Clip(text, longestShown))
		}
	}
	if name := member("name"); name != "" {
		parts = append(parts, strconv.Quote(Clip(name, longestShown)))
	}
	worded := []struct{ member, word string }{
		{"label", "labelled"}, {"text", "with the text"}, {
			"text_equals", "with the text",
		}, {"text_contains", "with a text that contains"},
		{"near", "beside"}, {
			"placeholder", "with the placeholder",
		}, {"test_id", "with the test id"}, {"title", "with the title"}, {"alt", "with the alternative text"},
	}
	for _, w := range worded {
		if text := member(w.member); text != "" {
			parts = append(parts, fmt.Sprintf("%s %q", w.word, Clip(text, longestShown)))
		}
	}
	return strings.Join(parts, " ")
}
