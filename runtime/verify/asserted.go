package verify

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/sites/manifest"
)

// claims are the expectations that the probes of one target have of its element.
type claims struct {
	texts   []string // texts and values, folded
	counted bool     // how many there are
	read    bool     // what it says is read: no locator may be made of that
}

func (c *claims) add(p *manifest.Probe) {
	for _, text := range []*string{p.TextEquals, p.ValueEquals, &p.TextContains} {
		if text != nil && *text != "" {
			c.texts = append(c.texts, folded(*text))
		}
	}
	c.counted = c.counted || p.Count != nil || p.MinCount != nil || p.MaxCount != nil
}

func folded(text string) string { return strings.ToLower(normalised(text)) }

// IsThere reports whether a selector of a target finds something that only its role, its name or its
// text keeps from matching. Its element is not lost then: it is other than the map says.
func IsThere(m descriptor.Match) bool {
	return slices.ContainsFunc(m.Tried, func(t descriptor.TriedCandidate) bool {
		return t.Candidate != "predicates" && slices.Contains([]string{"role", "name", "text"}, t.Unmatched)
	})
}

// Words of classes, ids and test ids that say in what state, or in what place, an element is.
var stateWords = strings.Fields(`
	active inactive current selected unselected checked unchecked indeterminate pressed toggled open
	opened closed expanded collapsed shown show hidden hide visible invisible enabled disabled readonly
	required focus focused hover hovered on off ok error errors invalid valid warning danger success
	failed failure passed done completed complete incomplete finished pending loading loaded busy idle
	ready empty full read unread online offline sorted asc desc ascending descending today highlighted
	highlight marked locked unlocked new old sold paid unpaid available unavailable filled dirty
	pristine touched untouched connected disconnected running stopped paused playing
`)

var placeWords = strings.Fields(
	"first last odd even nth index idx pos position top bottom prev previous start end middle",
)

var (
	// attributesIn are the attributes of a selector, with their values.
	attributesIn = lazyregexp.New(`\[\s*([\w:-]+)\s*(?:[~|^$*]?=\s*("[^"]*"|'[^']*'|[^\]\s]*))?[^\]]*\]`)
	number       = lazyregexp.New(`^["']?\d+["']?$`)
)

// namingAttributes are attributes that say which element it is. Others that begin with aria-, and
// those without a value, say in what state it is.
var namingAttributes = strings.Fields(
	"aria-label aria-labelledby aria-describedby aria-controls aria-owns aria-roledescription",
)

// distinguishes reports whether a selector chooses its element by a state or by a place: the element
// that has taken its name need not have either.
func distinguishes(selector string) bool {
	for _, m := range attributesIn().FindAllStringSubmatch(selector, -1) {
		name, value := strings.ToLower(m[1]), m[2]
		switch {
		case strings.HasPrefix(name, "aria-") && !slices.Contains(namingAttributes, name):
			return true
		case value == "", number().MatchString(value):
			return true
		case saysState(name) || saysState(strings.Trim(value, `"'`)):
			return true
		}
	}
	bare := attributesIn().ReplaceAllString(selector, "")
	if strings.ContainsAny(bare, ":+~*") || strings.Contains(selector, "!=") {
		return true
	}
	return saysState(bare)
}

// saysState reports whether one of the words of an identifier is one of a state or a place. Words are
// divided by signs and by capitals: is-active, pageCurrent.
func saysState(text string) bool {
	var spaced strings.Builder
	before := ' '
	for _, r := range text {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(unicode.ToLower(r))
		before = r
	}
	words := strings.FieldsFunc(spaced.String(), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains(stateWords, w) || slices.Contains(placeWords, w)
	})
}

// keeps reports whether the target of an assertion may have another selector at all: it loses nothing
// with it that it asserts. Only a selector is replaced, so there must be one.
func (c claims) keeps(t *manifest.Target) bool {
	candidates := t.Candidates()
	return !c.counted && len(candidates) > 0 && !slices.ContainsFunc(candidates, distinguishes)
}

// shownAttributes are attributes whose value is what an element shows or is called.
var shownAttributes = lazyregexp.New(`\[(?:value|title|alt|placeholder|aria-label)[~|^$*]?=`)

// saysWhatIsRead reports whether a locator is made of what its element shows: whatever is read by it, it is this.
func saysWhatIsRead(l locators.Locator) bool {
	return l.Name+l.TextEquals != "" || shownAttributes().MatchString(l.Selector)
}

// Readable are the locators by which an element may be read.
func Readable(names []locators.Locator) []locators.Locator {
	return slices.DeleteFunc(slices.Clone(names), func(l locators.Locator) bool {
		return saysWhatIsRead(l) || distinguishes(l.Selector)
	})
}

// Keeps reports whether a target that is read may have another locator: it loses neither a state nor a place.
func Keeps(t *manifest.Target) bool { return claims{}.keeps(t) }

// asserted writes the element of an assertion. Role, name and texts of the target stay as they are. No
// locator is made of what is asserted, of a place or of a state: with such a one it could not fail.
func (c claims) asserted(
	t *manifest.Target, names []locators.Locator, e likeness.Seen,
) (json.RawMessage, *manifest.Target, locators.Kind) {
	texts := c.texts
	for _, text := range []string{t.TextEquals, t.TextContains, t.Name} {
		if text != "" {
			texts = append(texts, folded(text))
		}
	}
	made := func(l locators.Locator) bool {
		says := folded(l.Selector + "\n" + l.Name)
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(says, text) })
	}
	for _, l := range names {
		switch {
		case l.Kind == locators.Structure, l.Kind == locators.Text, l.TextEquals != "":
			continue
		case c.read && saysWhatIsRead(l):
			continue
		case l.Role+l.Name != "" && (len(texts) > 0 || t.Role != "" && t.Role != l.Role):
			continue
		case distinguishes(l.Selector), made(l):
			continue
		}
		next := *t
		next.Selector = nil
		next.Selectors = nil
		next.FallbackSelectors = t.Candidates()
		if l.Selector != "" {
			next.Selector = []string{l.Selector}
			next.FallbackSelectors = slices.DeleteFunc(next.FallbackSelectors, func(s string) bool {
				return s == l.Selector
			})
		} else {
			next.Role = l.Role
			next.Name = l.Name
			next.FallbackSelectors = nil
		}
		return spelled(&next), &next, l.Kind
	}
	return nil, nil, ""
}
