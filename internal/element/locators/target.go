package locators

import (
	"slices"
	"strings"
	"unicode"

	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/descriptor"
)

// Target is a target of a map, as it is written.
type Target struct {
	Selector          string   `json:"selector,omitempty"`
	Role              string   `json:"role,omitempty"`
	Name              string   `json:"name,omitempty"`
	TextEquals        string   `json:"text_equals,omitempty"`
	FallbackSelectors []string `json:"fallback_selectors,omitempty"`
	Confidence        string   `json:"confidence,omitempty"`
}

// maxFallbacks bounds the fallbacks of a target.
const maxFallbacks = 2

// TargetOf is the target of an element by its unique locators, the best first: the
// best of them, and two fallbacks of other kinds. ok is false when none names the
// element alone.
func TargetOf(e likeness.Seen, unique []Locator) (t Target, ok bool) {
	if len(unique) == 0 {
		return t, false
	}
	t.Confidence = "observed"
	first := unique[0]
	t.Selector = first.Selector
	t.Role = first.Role
	t.Name = first.Name
	t.TextEquals = first.TextEquals
	used := map[Kind]bool{first.Kind: true}
	named := false
	for _, l := range unique {
		named = named || l.Kind == RoleName
	}
	if first.Kind != RoleName && first.Kind != Text && named && stableName(e.Name) {
		// The selector is tried with the name, and alone when the name is another.
		t.Role, t.Name = e.Role, e.Name
	}
	for _, l := range unique[1:] {
		if len(t.FallbackSelectors) == maxFallbacks || used[l.Kind] {
			continue
		}
		selector := l.Selector
		switch l.Kind {
		case RoleName:
			if t.Name == "" {
				continue
			}
			selector = e.Tag // with the role and name of the target
		case Text, Structure:
			// A text cannot be a fallback of another locator, and a place is soon that of another element.
			continue
		}
		used[l.Kind] = true
		t.FallbackSelectors = append(t.FallbackSelectors, selector)
	}
	return t, true
}

// Kinds are the ways in which a target names its element.
func (t Target) Kinds() []Kind {
	var out []Kind
	add := func(k Kind) {
		if slices.Contains(out, k) {
			return
		}
		out = append(out, k)
	}
	if t.Selector != "" {
		add(KindOf(t.Selector))
	}
	if t.Role != "" && t.Name != "" {
		add(RoleName)
	}
	if t.TextEquals != "" {
		add(Text)
	}
	for _, s := range t.FallbackSelectors {
		if t.Role == "" || !plainTag(s) {
			add(KindOf(s))
		}
	}
	return out
}

// KindOf is how a selector names its element.
func KindOf(selector string) Kind {
	for _, name := range likeness.TestIDs {
		if strings.HasPrefix(selector, "["+name) || strings.HasPrefix(lastStep(selector), "["+name) {
			return TestID
		}
	}
	last := lastStep(selector)
	if strings.Contains(last, ":nth-") || plainTag(last) {
		return Structure
	}
	return Attributes
}

// lastStep is the part of a selector behind its last combinator.
func lastStep(selector string) string {
	steps := Split(selector, " >+~")
	return steps[len(steps)-1]
}

// Split cuts a selector at each of the given characters that is not in brackets, in a
// string or behind a backslash.
func Split(selector, at string) []string {
	var out []string
	depth, start := 0, 0
	quote, escaped := rune(0), false
	for i, r := range selector {
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '[' || r == '(':
			depth++
		case r == ']' || r == ')':
			depth--
		case depth == 0 && strings.ContainsRune(at, r):
			out, start = append(out, selector[start:i]), i+1
		}
	}
	return append(out, selector[start:])
}

func plainTag(s string) bool {
	return s != "" &&
		strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' }) < 0
}

// stableName reports whether a name is a label: one with numbers counts something.
func stableName(name string) bool {
	return name != "" && len(name) <= maxName && strings.IndexFunc(name, unicode.IsDigit) < 0
}

// Descriptor is the target as it is resolved.
func (t Target) Descriptor() descriptor.Descriptor {
	d := descriptor.Descriptor{
		Role:              t.Role,
		Name:              t.Name,
		TextEquals:        t.TextEquals,
		FallbackSelectors: t.FallbackSelectors,
	}
	if t.Selector != "" {
		d.Selector = []string{t.Selector}
	}
	return d
}

// JSON is the target as it is written in a map.
func (t Target) JSON() ([]byte, error) { return jsonout.Line(t) }

// String is the locator for people.
func (l Locator) String() string {
	if l.Selector != "" && l.TextEquals == "" {
		return l.Selector
	}
	text, err := jsonout.Line(struct {
		Selector   string `json:"selector,omitempty"`
		Role       string `json:"role,omitempty"`
		Name       string `json:"name,omitempty"`
		TextEquals string `json:"text_equals,omitempty"`
	}{l.Selector, l.Role, l.Name, l.TextEquals})
	if err != nil {
		return string(l.Kind)
	}
	return string(text)
}
