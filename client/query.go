package client

import "encoding/json"

// Query says which element is meant. Members that are set must all match.
// docs/explanation describes how elements are found.
type Query struct {
	// Selector is a CSS selector list.
	Selector string `json:"selector,omitempty"`
	// Text is a part of the element's text, aria-label, title or value
	// attribute, TextEquals the whole of one of them. Case matters.
	Text       string `json:"text,omitempty"`
	TextEquals string `json:"text_equals,omitempty"`
	// Role is an ARIA role, Name the accessible name, as in Playwright's getByRole.
	Role string     `json:"role,omitempty"`
	Name *TextMatch `json:"name,omitempty"`
	// Label is the text of a label of a control, Placeholder its placeholder,
	// TestID the value of data-testid or its kin. Near is what a control without a
	// name is called, as a snapshot shows it.
	Label       *TextMatch `json:"label,omitempty"`
	Near        *TextMatch `json:"near,omitempty"`
	Placeholder *TextMatch `json:"placeholder,omitempty"`
	TestID      *TextMatch `json:"test_id,omitempty"`
	// HasText is a part of the element's text.
	HasText *TextMatch `json:"has_text,omitempty"`
	// Exact makes case matter in Name, Label, Near, Placeholder and HasText.
	Exact bool   `json:"exact,omitempty"`
	XPath string `json:"xpath,omitempty"`
	// Ref names an element of a snapshot, such as e12. It stands alone.
	Ref string `json:"ref,omitempty"`
	// Frame lists selectors of frames, outer to inner.
	Frame []string `json:"frame,omitempty"`
	// Within is the element to search inside of.
	Within *Query `json:"within,omitempty"`
	// Has must match inside the element. NearestTo picks of several matches the one
	// whose box is nearest to a match of it. Both are searched in the same document.
	Has       *Query `json:"has,omitempty"`
	NearestTo *Query `json:"nearest_to,omitempty"`
	// Nth is the match to take, from 0, or from the end when negative.
	Nth *int `json:"nth,omitempty"`
	// Pierce searches open shadow roots too, Strict fails when several visible
	// elements match. Both are on where any of Role to Nth is used.
	Pierce *bool `json:"pierce,omitempty"`
	Strict *bool `json:"strict,omitempty"`
	// AnyFrame searches the frames of the page where the top document shows no match.
	AnyFrame bool `json:"any_frame,omitempty"`
	// Fallback are CSS selectors that are tried in order when the rest finds nothing.
	Fallback []string `json:"fallback,omitempty"`
	// Retarget maps each match to its control.
	Retarget *Retarget `json:"retarget,omitempty"`
}

// Retarget takes the matches of Selector in the closest ancestor-or-self that
// matches Closest.
type Retarget struct {
	Closest  string `json:"closest,omitempty"`
	Selector string `json:"selector,omitempty"`
}

// TextMatch says which text is meant. Make one with Text, Contains or Regexp.
type TextMatch struct{ text, contains, regex, flags string }

// Text is a text as the field describes it: the whole name, a part of the text.
func Text(text string) *TextMatch { return &TextMatch{text: text} }

// Contains is any text with this part.
func Contains(part string) *TextMatch { return &TextMatch{contains: part} }

// Regexp is any text that the JavaScript pattern matches. flags are some of
// i, m, s and u.
func Regexp(pattern, flags string) *TextMatch { return &TextMatch{regex: pattern, flags: flags} }

// MarshalJSON encodes m as the fragment text_match of the dictionary.
func (m *TextMatch) MarshalJSON() ([]byte, error) {
	switch {
	case m.regex != "":
		out := map[string]string{"regex": m.regex}
		if m.flags != "" {
			out["flags"] = m.flags
		}
		return json.Marshal(out)
	case m.contains != "":
		return json.Marshal(map[string]string{"contains": m.contains})
	}
	return json.Marshal(m.text)
}
