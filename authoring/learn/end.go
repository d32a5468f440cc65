package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/outrider-run/outrider/authoring/inspect"
	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// settleTime is how long the page may take to show the end, and calm how long nothing may happen until all of it counts
// as shown.
const (
	settleTime = 2 * time.Second
	quietTime  = 800 * time.Millisecond // filters wait for half a second without a key
)

// mostEnds is how many ends are tried, mostRefused how many of them may not come again, mostTold how many are lines of
// the page, each of longestLine at most, and longestWatch how long it is watched whether one comes by itself.
const (
	mostEnds     = 12
	mostRefused  = 3
	mostTold     = 2
	longestLine  = 200
	longestWatch = 5 * time.Second
)

// shortestLabel is how many letters the words before an amount have.
const shortestLabel = 3

// ending is something that may show the end.
type ending struct {
	kind    endKind
	url     string
	locator map[string]any
	// given is the argument that a field shows otherwise than it was given.
	given string
	says  bool // what it says is the message of the page
	// line is a line of the page with the value of an argument in it, which is what about is called.
	line  string
	about *input
}

type endKind string

const (
	reached  endKind = "reached"  // another address
	appears  endKind = "appears"  // an element, or one in another state
	another  endKind = "another"  // an element says another thing than before
	revalued endKind = "revalued" // a field holds another value than before
	vanishes endKind = "vanishes" // an element that was shown is not
	reworked endKind = "reworked" // a field shows another text than was written into it
	told     endKind = "told"     // the page says something with what was given in it
)

// end is what is checked, nil for nothing.
func (l *learning) end() *ending {
	if len(l.ends) == 0 {
		return nil
	}
	return &l.ends[0]
}

// says is whether the end has a message of the page.
func (l *learning) says() bool { return l.end() != nil && l.end().says }

// asserts is whether the session itself asserts something at its end.
func (l *learning) asserts() bool {
	return slices.ContainsFunc(l.steps[min(l.last, len(l.steps)):], func(s *step) bool {
		return s.op.goal.Keep == "assert"
	})
}

// unchecked is whether nothing shows that the action did what it is for.
func (l *learning) unchecked() bool { return l.end() == nil && !l.asserts() }

// reservation is what a caller of the action has to know of its success.
func (l *learning) reservation() string {
	if l.unchecked() {
		return " What comes of it is not checked."
	}
	return ""
}

// proven is what was seen of an end.
func (e *ending) proven() string {
	switch e.kind {
	case another, revalued, reworked:
		return "what said something else at the end does so again, and the action fails when it does not"
	case vanishes:
		return "what was gone at the end is gone again, and the action fails when it stays"
	}
	return "what appeared at the end appears again, and the action fails without it"
}

// lacks reports whether an action failed because its end did not come.
func (e *ending) lacks(failure string) bool {
	return strings.HasSuffix(failure, "(step done)") || strings.HasSuffix(failure, "(step before)")
}

// atOnce is whether the end is waited for before the page is read; else it is the last step.
func (e *ending) atOnce() bool {
	return e != nil && (e.kind == reached || e.kind == appears || e.kind == told)
}

// before is the step ahead of the last one that acts.
func (e *ending) before() []any {
	if e == nil {
		return nil
	}
	switch e.kind {
	case another:
		return []any{
			ordered{{"id", "before"}, {"primitive", "locator.text_content"}, {"args", ordered{{"locator", e.locator}}}},
		}
	case revalued:
		return []any{
			ordered{{"id", "before"}, {"primitive", "locator.value"}, {"args", ordered{{"locator", e.locator}}}},
		}
	case vanishes:
		return []any{ordered{
			{"id", "before"}, {"primitive", "locator.wait_for"},
			{"args", ordered{{"locator", e.locator}, {"state", "visible"}, {"timeout_ms", 8000}}},
		}}
	}
	return nil
}

// done is the step that waits for the end, and fails without it.
func (e *ending) done() ordered {
	read := func(primitive, until string) ordered {
		return ordered{
			{"id", "done"}, {"primitive", primitive}, {"args", ordered{{"locator", e.locator}}},
			{"retry_until", "{% " + until + " %}"}, {"max_attempts", 30},
		}
	}
	wait := func(state string) ordered {
		return ordered{
			{"id", "done"}, {"primitive", "locator.wait_for"},
			{"args", ordered{{"locator", e.locator}, {"state", state}, {"timeout_ms", 8000}}},
		}
	}
	switch e.kind {
	case reached:
		return ordered{
			{"id", "done"}, {"primitive", "page.wait"},
			{"args", map[string]any{"conditions": []any{e.condition()}, "timeout_ms": 8000}},
		}
	case told:
		pre, post, _ := strings.Cut(e.line, unquote(e.about.value))
		text := fmt.Sprintf("{%% %s & input.%s & %s %%}", encode(pre), e.about.name, encode(post))
		return ordered{
			{"id", "done"}, {"primitive", "page.wait"},
			{"args", map[string]any{"conditions": []any{map[string]any{"text": text}}, "timeout_ms": 8000}},
		}
	case another:
		return read("locator.text_content", "steps.done.output.text != steps.before.output.text")
	case revalued:
		return read("locator.value", "steps.done.output.value != steps.before.output.value")
	case reworked:
		return read("locator.value", `steps.done.output.value != "" and steps.done.output.value != input.`+e.given)
	case vanishes:
		return wait("hidden")
	}
	return wait(e.state())
}

func (e *ending) condition() map[string]any {
	if e.kind == told {
		return map[string]any{"text": e.line}
	}
	return map[string]any{"url": map[string]any{"contains": e.url}}
}

// state is what an element that appears has to be: a box that is checked may be drawn by
// another element.
func (e *ending) state() string {
	if s, _ := e.locator["selector"].(string); strings.HasSuffix(s, ":checked") {
		return "attached"
	}
	return "visible"
}

// moment is what the page is like before or after the last step.
type moment struct {
	page   inspect.Page
	states inspect.States
	lines  []string // of the text that the page shows
	at     time.Time
}

func (s *session) moment(ctx context.Context) (m moment, err error) {
	err = s.visit(ctx, func(ctx context.Context, p primitives.Page) (err error) {
		m, err = momentOf(ctx, p)
		return err
	})
	m.lines = s.lines(ctx)
	return m, err
}

// lines are those of the text that the page shows, none where it cannot be read.
func (s *session) lines(ctx context.Context) []string {
	var out struct {
		Text string `json:"text"`
	}
	reply := s.call(ctx, "page.extract", map[string]any{"formats": []string{"text"}, "frames": false})
	if reply.Err != nil || json.Unmarshal(reply.Value(), &out) != nil {
		return nil
	}
	return strings.Split(out.Text, "\n")
}

func momentOf(ctx context.Context, p primitives.Page) (m moment, err error) {
	m.at = time.Now()
	m.page, err = inspect.Take(ctx, p)
	if err == nil {
		m.states, err = inspect.TakeStates(ctx, p)
	}
	return m, err
}

// ending finds what the last step made appear, or made another than it was.
func (s *session) ending(ctx context.Context, before moment) error {
	deadline := time.Now().Add(settleTime)
	from, err := url.Parse(before.page.URL)
	if err != nil {
		return err
	}
	known := ""
	var since time.Time // that no other end came
	for {
		var ends []ending
		lines := s.lines(ctx)
		err := s.visit(ctx, func(ctx context.Context, p primitives.Page) (err error) {
			after, err := momentOf(ctx, p)
			if err != nil {
				return err
			}
			after.lines = lines
			ends, err = s.l.endings(ctx, p, from, before, after)
			return err
		})
		if err != nil && fault.CodeOf(err) != fault.PageNavigated {
			return err
		}
		if now := string(encode(keys(ends))); now != known {
			known, since = now, time.Now()
		}
		left := time.Until(deadline)
		if len(ends) > 0 {
			left = min(left, quietTime-time.Since(since))
		}
		if left <= 0 {
			s.l.ends, s.l.took = ends, time.Since(before.at)
			return nil
		}
		s.changed(ctx, left)
	}
}

// keys tell ends apart.
func keys(ends []ending) (out []any) {
	for _, e := range ends {
		out = append(out, e.kind, e.url, e.locator, e.line)
	}
	return out
}

// endings are what may show the end, what says most of it first.
func (l *learning) endings(
	ctx context.Context, p primitives.Page, from *url.URL, before, after moment,
) ([]ending, error) {
	var ends []ending
	if to, err := url.Parse(after.page.URL); err == nil && (to.Path != from.Path || to.Fragment != from.Fragment) &&
		!l.varies(to.Path) {
		part := to.Path
		if to.Fragment != "" {
			part = "#" + to.Fragment
		}
		ends = append(ends, ending{kind: reached, url: part})
	}
	appeared := inspect.Appeared(before.page, after.page)
	reworded := inspect.Reworded(before.page, after.page)
	changes := inspect.Changes(before.page, after.page, before.states, after.states)
	var seen []likeness.Seen
	for _, m := range slices.Concat(appeared, reworded) {
		seen = append(seen, m.Seen)
	}
	for _, c := range changes {
		seen = append(seen, c.Seen)
	}
	unique, err := locators.UniqueOf(ctx, p, seen)
	if err != nil {
		return nil, err
	}
	for i, m := range slices.Concat(appeared, reworded) {
		if at := l.locate(m.Seen, unique[i], i >= len(appeared)); at != nil && i < len(appeared) {
			ends = append(ends, ending{kind: appears, locator: at, says: m.Rank() == 4 || m.Rank() == 1})
		} else if at != nil {
			ends = append(ends, ending{kind: another, locator: at})
		}
	}
	ends = append(ends, l.told(before, after)...)
	ends = append(ends, l.counted(before, after)...)
	if own := l.reworks(before, after); own != nil {
		ends = append(ends, *own)
	}
	for i, c := range changes {
		found := unique[len(appeared)+len(reworded)+i]
		switch c.What {
		case inspect.Gone:
			ends = append(ends, l.vanishing(c.Seen)...)
			continue
		case inspect.NewValue:
			if l.own(c.Seen) {
				continue // that is what was done, and not what came of it
			}
		}
		at := l.locate(c.Seen, found, c.What == inspect.NewText)
		if at == nil {
			continue
		}
		switch c.What {
		case inspect.NewText:
			ends = append(ends, ending{kind: another, locator: at})
		case inspect.NewValue:
			ends = append(ends, ending{kind: revalued, locator: at})
		case inspect.NewState:
			if selector, _ := at["selector"].(string); !l.varies(c.To) {
				state := inspect.StateSelector(c.State, c.To)
				at["selector"] = selector + state // without a fallback: another element in this state is no end
				ends = append(ends, ending{kind: appears, locator: at})
			}
		}
	}
	slices.SortStableFunc(ends, func(a, b ending) int { return a.placed() - b.placed() })
	return ends, nil
}

// told are the lines that the page did not show before, with what an argument gave in them.
func (l *learning) told(before, after moment) (ends []ending) {
	for _, line := range after.lines {
		line = strings.TrimSpace(line)
		if line == "" || len(line) > longestLine || strings.Contains(line, "%}") ||
			slices.ContainsFunc(before.lines, func(was string) bool { return strings.Contains(was, line) }) {
			continue
		}
		for _, in := range l.inputs {
			v := unquote(in.value)
			once := len(v) > 1 && strings.Count(line, v) == 1 && !l.mixes(line, in)
			if !once || in.secret || in.choice || in.isArray || len(ends) == mostTold {
				continue
			}
			ends = append(ends, ending{kind: told, line: line, about: in})
			break
		}
	}
	return ends
}

// counted are the lines that begin with words and end in another amount than before, such as the total of a basket.
func (l *learning) counted(before, after moment) (ends []ending) {
	for _, line := range after.lines {
		label := labelOf(line)
		if len(ends) == mostTold || label == "" || l.varies(label) || slices.Contains(before.lines, line) {
			continue
		}
		begins := func(each string) bool { return labelOf(each) == label }
		if once(before.lines, begins) && once(after.lines, begins) {
			ends = append(ends, ending{kind: another, locator: map[string]any{"text_contains": label}})
		}
	}
	return ends
}

// labelOf are the words of a line before an amount that it ends in, "" for a line of another form.
func labelOf(line string) string {
	digit := strings.IndexFunc(line, unicode.IsDigit)
	if digit < 0 || len(line) > longestLine || strings.ContainsFunc(line[digit:], unicode.IsLetter) {
		return ""
	}
	label := strings.TrimFunc(line[:digit], func(r rune) bool { return !unicode.IsLetter(r) })
	if utf8.RuneCountInString(label) < shortestLabel {
		return ""
	}
	return label
}

func once(lines []string, is func(string) bool) bool {
	i := slices.IndexFunc(lines, is)
	return i >= 0 && !slices.ContainsFunc(lines[i+1:], is)
}

// mixes reports whether another argument than this one has its value in a line, which is then another with other
// values.
func (l *learning) mixes(line string, but *input) bool {
	return slices.ContainsFunc(l.inputs, func(in *input) bool {
		v := unquote(in.value)
		return in != but && v != "" && strings.Contains(line, v)
	})
}

// placed is 1 for what is found by its place alone, which lasts shortest.
func (e *ending) placed() int {
	if s, _ := e.locator["selector"].(string); strings.Contains(s, ":nth-of-type(") {
		return 1
	}
	return 0
}

// locate is the best locator of an element that does not go by what an argument says, nor
// where rewords is set by the text that is about to change.
func (l *learning) locate(e likeness.Seen, found []locators.Locator, rewords bool) map[string]any {
	for _, u := range found {
		if u.Kind == locators.Text || u.Kind == locators.RoleName && (l.varies(u.Name) || rewords && u.Name == e.Text) {
			continue
		}
		at := locatorFor(u)
		if e.Shadow && at["role"] == nil {
			at["pierce"] = true
		}
		return at
	}
	return nil
}

// vanishing are locators of what is not there any more. Whether they find it is seen when it is there again.
func (l *learning) vanishing(e likeness.Seen) []ending {
	var out []ending
	for _, u := range locators.Ranked(e) {
		if at := l.locate(e, []locators.Locator{u}, false); at != nil && u.Kind != locators.Structure && len(out) < 2 {
			out = append(out, ending{kind: vanishes, locator: at})
		}
	}
	return out
}

// own reports whether an element is what the last step acted on.
func (l *learning) own(e likeness.Seen) bool {
	t := l.steps[l.last].element()
	if t == nil || t.Tag != e.Tag || t.Role != e.Role || t.Name != e.Name {
		return false
	}
	return t.Attributes["id"] == e.Attributes["id"] && t.Attributes["name"] == e.Attributes["name"]
}

// reworks is the end of writing into a field that shows another text than was written: one
// that formats or completes it.
func (l *learning) reworks(before, after moment) *ending {
	last := l.steps[l.last]
	given, ok := strings.CutPrefix(last.values["text"], "input.")
	if !ok || last.op.primitive != "text.insert" && last.op.primitive != "text.type" || last.locator == nil {
		return nil
	}
	i := slices.IndexFunc(after.states.Elements, func(e inspect.State) bool { return l.own(e.Seen) && e.Value != nil })
	j := slices.IndexFunc(before.states.Elements, func(e inspect.State) bool { return l.own(e.Seen) && e.Value != nil })
	if i < 0 || j < 0 || last.op.text("mode") != "replace" && *before.states.Elements[j].Value != "" {
		return nil
	}
	if v := *after.states.Elements[i].Value; v == "" || v == last.op.text("text") {
		return nil
	}
	return &ending{kind: reworked, locator: last.locator, given: given}
}

// chooseEnd chooses what the end is checked by: what is not there when all was done but the last step.
func (l *learning) chooseEnd(ctx context.Context) error {
	l.ends = l.ends[:min(len(l.ends), mostEnds)]
	if len(l.ends) == 0 || l.steps[l.last].op.primitive == closesDialog { // before that nothing can be read
		return nil
	}
	return l.refute(ctx)
}

// refute drops the ends that are there without the last step, or come by themselves in the
// time that the last step took.
func (l *learning) refute(ctx context.Context) error {
	s, err := l.fresh(ctx)
	if err != nil {
		return err
	}
	defer s.close(ctx)
	if l.last > 0 {
		if err := l.write(ctx); err != nil { // it is named by its last step
			return err
		}
		whole, ends := l.steps, l.ends
		l.steps, l.ends = whole[:l.last], nil
		err := l.write(ctx)
		l.steps, l.ends = whole, ends
		if err != nil {
			return err
		}
		if reply := s.site(ctx, l.out.Action, l.out.Map, l.values()); reply.Err != nil {
			return nil // what comes without the last step is not known
		}
	}
	said := make([]string, len(l.ends))
	refuted := make([]bool, len(l.ends))
	until := time.Now().Add(min(l.took, longestWatch) + quietTime)
	for turn := 0; turn < 2 || time.Now().Before(until); turn++ {
		if turn > 0 {
			s.changed(ctx, quietTime)
		}
		for i, e := range l.ends {
			if !refuted[i] {
				refuted[i] = s.refutes(ctx, e, &said[i], turn > 0)
			}
		}
	}
	var left []ending
	for i, e := range l.ends {
		if !refuted[i] {
			left = append(left, e)
		}
	}
	l.ends = left
	return nil
}

// refutes reports whether an end is there without the last step. said is what its element said the time before.
func (s *session) refutes(ctx context.Context, e ending, said *string, again bool) bool {
	there := func(state string) bool {
		return s.call(ctx, "locator.wait_for", map[string]any{
			"locator":    e.locator,
			"state":      state,
			"timeout_ms": 0,
		}).Err == nil
	}
	read := func(primitive string) bool {
		text := string(s.call(ctx, primitive, map[string]any{"locator": e.locator}).Output)
		differs := text != *said
		*said = text
		return again && differs
	}
	switch e.kind {
	case reached, told:
		return s.call(ctx, "page.wait", map[string]any{"timeout_ms": 0, "conditions": []any{e.condition()}}).Err == nil
	case another:
		return read("locator.text_content")
	case revalued:
		return read("locator.value")
	case vanishes:
		return !there("visible")
	case reworked:
		return false // what is not written is not formatted
	}
	return there(e.state())
}
