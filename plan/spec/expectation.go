package spec

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/evidence/outline"
	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/projection/expr"
)

// UnmarshalJSON keeps which members are there: an expected text may be empty.
func (e *Expectation) UnmarshalJSON(b []byte) error {
	type members Expectation
	if err := decode(b, (*members)(e)); err != nil {
		return err
	}
	return json.Unmarshal(b, &e.given)
}

func (e *Expectation) has(members ...string) bool {
	return slices.ContainsFunc(members, func(m string) bool { _, ok := e.given[m]; return ok })
}

// Members of an expectation. Those of an element need a target. An element can be without
// text or value, so that these two may be expected to be empty.
var (
	ofElement = []string{
		"text_equals", "text_contains", "value_equals", "visible", "exists",
		"enabled", "checked", "focused", "count", "min_count", "max_count",
	}
	ofPage = []string{
		"expression", "text", "text_gone", "state", "url", "title", "status", "console_errors", "network",
		"screenshot", "snapshot",
	}
	ofScreenshot = []string{"full_page", "region", "mask", "tolerance"}
	mayEmpty     = []string{"text_equals", "value_equals"}
)

// expectation finds what is odd in an expectation as it is written.
func (c *checker) expectation(e *Expectation, at string, i, of int) {
	if _, list := c.places.lines[at+"/0"]; list && of > 0 {
		at += "/" + strconv.Itoa(i)
	}
	switch {
	case e.has(ofElement...) && !e.has("target"):
		c.fail(at, "the expectation is about an element and has no target")
	case strings.TrimSpace(e.Expression) == "" && !e.has("target") && !e.has(ofPage...):
		c.fail(at, "the expectation is empty")
	}
	c.pictured(e, at)
	for _, o := range e.emptyMembers() {
		c.fail(at+o.pointer, "%s %s", o.member, o.why)
	}
	if strings.TrimSpace(e.Expression) != "" {
		place := at
		if _, ok := c.places.lines[at+"/expression"]; ok {
			place += "/expression"
		}
		e.program, e.engine = c.compile(e.Expression, place), c.engine
	}
}

// screenshotName is a name that is a file's on every platform.
var screenshotName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$`)

// pictured finds what is odd of a screenshot and of a snapshot.
func (c *checker) pictured(e *Expectation, at string) {
	if e.has(ofScreenshot...) && !e.has("screenshot") {
		c.fail(at, "full_page, region, mask and tolerance are about a screenshot, and there is none")
	}
	if e.Screenshot != "" && !screenshotName().MatchString(e.Screenshot) {
		c.fail(at+"/screenshot", "the name %q has more than letters, digits, dots, _ and -", e.Screenshot)
	}
	if e.has("target") && e.has("full_page", "region") {
		c.fail(at, "a screenshot is of the target, of a region or of the full page: expected one of them")
	}
	if e.Snapshot == "" {
		return
	}
	if _, err := outline.Parse(e.Snapshot, true); err != nil {
		c.fail(at+"/snapshot", "the snapshot cannot be read: %v", err)
	}
}

// Forgives reports whether the expectation judges the failure of its step: its expression
// reads error or ok. No other can make a step well that failed.
func (e *Expectation) Forgives() bool { return e.Judges("error", "ok") }

// Judges reports whether the expression reads one of these members of the result, see expr.Reads.
func (e *Expectation) Judges(members ...string) bool {
	return e.program != nil && expr.Reads(e.program, members...)
}

// texts are the members that are texts.
func (e *Expectation) texts() map[string]*string {
	return map[string]*string{
		"text":          &e.Text,
		"text_gone":     &e.TextGone,
		"text_equals":   &e.TextEquals,
		"text_contains": &e.TextContains,
		"value_equals":  &e.ValueEquals,
		"state":         &e.State,
		"url":           &e.URL,
		"title":         &e.Title,
		"screenshot":    &e.Screenshot,
		"snapshot":      &e.Snapshot,
	}
}

// emptyMember is why a member cannot be judged; member is what its author calls it.
type emptyMember struct{ pointer, member, why string }

const (
	noText   = "is empty, expected a text"
	noTarget = "is empty, expected a selector or an object"
	noSecret = "has a secret, expected none: secrets are only typed"
)

// emptyMembers lists members that are given and say nothing, and secrets where no page is searched
// for one.
func (e *Expectation) emptyMembers() []emptyMember {
	var out []emptyMember
	say := func(pointer, why string) {
		out = append(out, emptyMember{pointer, strings.ReplaceAll(pointer[1:], "/", "."), why})
	}
	text := func(pointer, text string) {
		switch {
		case strings.TrimSpace(text) == "":
			say(pointer, noText)
		case len(mask.Used(text)) > 0 && pointer != "/title": // a title is compared as it is shown, masked
			say(pointer, noSecret)
		}
	}
	if e.has("expression") && strings.TrimSpace(e.Expression) == "" {
		say("/expression", noText)
	}
	texts := e.texts()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		value := *texts[name]
		if e.has(name) && (strings.TrimSpace(value) != "" || !slices.Contains(mayEmpty, name)) {
			text("/"+name, value)
		}
	}
	if e.has("target") {
		emptyTargetMembers(e.Target, say, text)
	}
	if e.has("network") && len(e.Network) == 0 {
		say("/network", "is empty, expected a request")
	}
	for i, q := range e.Network {
		text(fmt.Sprintf("/network/%d/url", i), q.URL)
	}
	return out
}

// emptyTargetMembers is odd of a target. A map takes an empty member for one that is absent, and
// would look for another element.
func emptyTargetMembers(v any, say, text func(pointer, what string)) {
	switch v := v.(type) {
	case nil:
		say("/target", noTarget)
	case string:
		if strings.TrimSpace(v) == "" {
			say("/target", noTarget)
			return
		}
		text("/target", v)
	case map[string]any:
		if len(v) == 0 {
			say("/target", noTarget)
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := "/target/" + escapePointer(name)
			switch member := v[name].(type) {
			case nil:
				say(at, noText)
			case string:
				if name != "notes" {
					text(at, member)
				}
			case []any:
				for i := range member {
					if one, ok := member[i].(string); ok {
						text(at+"/"+strconv.Itoa(i), one)
					}
				}
			}
		}
	default:
		say("/target", "is neither a selector nor an object, expected one")
	}
}

// Expand replaces the references in an expectation. It is an error when nothing is left
// to expect by a member.
func (e *Expectation) Expand(s *Scope) error {
	written := *e
	texts := e.texts()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text, err := s.Text(*texts[name])
		if err != nil {
			return err
		}
		*texts[name] = text
	}
	target, err := s.Expand(e.Target)
	if err != nil {
		return err
	}
	e.Target = target
	e.Network = slices.Clone(e.Network)
	for i := range e.Network {
		e.Network[i].URL, err = s.Text(e.Network[i].URL)
		if err != nil {
			return err
		}
	}
	if odd := e.emptyMembers(); len(odd) > 0 {
		return fmt.Errorf("%s: %s %s", odd[0].member, writtenAt(plain(written), odd[0].pointer), odd[0].why)
	}
	return nil
}

// writtenAt is the text that an expectation has at a pointer, or around it.
func writtenAt(v any, pointer string) string {
	for _, token := range strings.Split(pointer[1:], "/") {
		switch at := v.(type) {
		case map[string]any:
			v = at[unescapePointer(token)]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(at) {
				return "…"
			}
			v = at[i]
		}
	}
	text, _ := v.(string)
	return text
}

// Probe is the expectation of an element as an assertion of a map.
func (e *Expectation) Probe() map[string]any {
	target := e.Target
	if selector, ok := target.(string); ok {
		target = map[string]any{"selector": selector}
	}
	out := map[string]any{"target": target}
	for name, text := range map[string]string{
		"text_equals":   e.TextEquals,
		"text_contains": e.TextContains,
		"value_equals":  e.ValueEquals,
	} {
		if e.has(name) {
			out[name] = text
		}
	}
	for name, b := range map[string]*bool{
		"visible": e.Visible,
		"exists":  e.Exists,
		"enabled": e.Enabled,
		"checked": e.Checked,
		"focused": e.Focused,
	} {
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

// targetText is a target for people, such as button "Save".
func targetText(m map[string]any) string {
	if m["selector"] != nil {
		return fmt.Sprint(m["selector"])
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if name != "role" && name != "name" {
			parts = append(parts, fmt.Sprintf("%s %v", name, m[name]))
		}
	}
	if name, ok := m["name"].(string); ok {
		parts = append([]string{strconv.Quote(name)}, parts...)
	}
	if role, ok := m["role"].(string); ok {
		parts = append([]string{role}, parts...)
	}
	return strings.Join(parts, " ")
}

// String is the expectation for people.
func (e *Expectation) String() string {
	var parts []string
	for _, one := range []struct{ what, text string }{
		{"", e.Expression},
		{"text", e.Text},
		{"no text", e.TextGone},
		{"state", e.State},
		{"url", e.URL},
		{"title", e.Title},
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
		if m, ok := e.Target.(map[string]any); ok {
			target = targetText(m)
		}
		delete(probe, "target")
		text := target
		for _, name := range []string{
			"text_equals", "text_contains", "value_equals", "visible", "exists",
			"enabled", "checked", "focused", "count", "min_count", "max_count",
		} {
			if v, ok := probe[name]; ok {
				if v == "" {
					v = `""`
				}
				text += fmt.Sprintf(" %s %v", name, v)
			}
		}
		parts = append(parts, text)
	}
	if e.Screenshot != "" {
		parts = append(parts, "screenshot "+e.Screenshot)
	}
	if e.Snapshot != "" {
		parts = append(parts, "snapshot of "+strconv.Itoa(strings.Count(strings.TrimSpace(e.Snapshot), "\n")+1)+" rows")
	}
	if e.ConsoleErrors != nil {
		parts = append(parts, fmt.Sprintf("at most %d console errors", *e.ConsoleErrors))
	}
	for _, q := range e.Network {
		parts = append(parts, "request "+strings.TrimSpace(q.Method+" "+q.URL))
	}
	return strings.Join(parts, " and ")
}
