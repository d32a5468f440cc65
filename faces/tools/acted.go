package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/outrider-run/outrider/runtime"
)

// acted is the answer of act: what was done, and what followed.
type acted struct {
	Did      string
	Followed []string
	// More is what else the primitive returned that is no matter of course.
	More map[string]any
	// NotKept: a control has kept nothing of a text, and nothing else followed.
	NotKept bool

	seen followed // what Followed words
}

// expectedOf are members of results that are left out when they have their usual value: the
// line about the action says the same. A nil value stands for any.
var expectedOf = map[string]any{
	"target":               nil,
	"x":                    nil,
	"y":                    nil,
	"modifiers":            nil,
	"waited_ms":            nil,
	"scrolls":              nil,
	"attempts":             nil,
	"effects":              nil,
	"fidelity":             "trusted",
	"candidate_count":      json.Number("1"),
	"clicked":              true,
	"double_clicked":       true,
	"tapped":               true,
	"hovered":              true,
	"dragged":              true,
	"inserted":             true,
	"typed":                true,
	"pressed":              true,
	"focused":              true,
	"scrolled":             true,
	"selected":             nil,
	"selected_length":      nil,
	"target_kind":          nil,
	"confirmed":            true,
	"changed":              true,
	"key":                  nil,
	"mode":                 nil,
	"length":               nil,
	"inserted_length":      nil,
	"from":                 nil,
	"to":                   nil,
	"delay_ms":             nil,
	"input_method":         nil,
	"selected_text_length": nil,
	"selection_sync":       nil,
	"selected_back":        json.Number("0"),
	"multiple":             nil,
	"ref":                  nil,
	"value":                nil,
	"repeat":               json.Number("1"),
	"exceeds_maxlength":    nil,
	"steps":                nil,
	"points":               nil,
	"diagnostics":          nil,
	"drop_target":          nil,
	"count":                nil,
	"files":                nil,
	"via":                  nil,
	"button":               "left",
	"adapter":              nil,
	"trusted":              true,
	"accepted":             nil,
	"handled":              true,
	"dismissed":            true,
	"dialog_type":          nil,
	"default_prevented":    false,
	"stable":               true,
	"ambiguous":            false,
	"sanitized":            nil,
	"unchanged":            nil,

	"active_is_target": true, "selection_preserved": nil, "selection_before_length": nil,
	"selection_after_length": nil, "tag_name": nil,
}

var didWords = map[string]string{
	"click":        "clicked",
	"double_click": "double-clicked",
	"hover":        "moved the pointer over",
	"drag":         "dragged",
	"fill":         "filled",
	"type":         "typed into",
	"press":        "pressed",
	"select":       "selected in",
	"scroll":       "scrolled",
	"focus":        "focused",
	"upload":       "chose files for",
	"dialog":       "answered the dialog",
	"select_text":  "selected the words in",
}

type effectElement struct {
	TagName      string `json:"tag_name"`
	Role         string `json:"role"`
	ComputedRole string `json:"computed_role"`
	Name         string `json:"name"`
	Near         string `json:"near"`
	Text         string `json:"text"`
	Type         string `json:"type"`
}

// String names an element as a snapshot does.
func (e *effectElement) String() string {
	if e == nil {
		return ""
	}
	role := e.ComputedRole
	for _, other := range []string{e.Role, e.TagName, "element"} {
		if role == "" || role == "generic" || role == "none" {
			role = other
		}
	}
	name := e.Name
	if name == "" {
		name = e.Text
	}
	if e.Name == "" && e.Near != "" {
		return role + " ≈" + quote(e.Near, 60)
	}
	if name == "" {
		return role
	}
	return role + " " + quote(name, 60)
}

// quote is text of the page on one line, not longer than most runes.
func quote(text string, most int) string {
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return strconv.Quote(text)
}

type followed struct {
	WindowMS int64 `json:"window_ms"`
	URL      *struct {
		From, To    string
		NewDocument bool `json:"new_document"`
		Loading     bool
	}
	Dialog *struct {
		Type, Message string
		Open          bool
	}
	Focus  *struct{ To *effectElement }
	Values []struct {
		Target  *effectElement
		Length  int
		Checked *bool
		Chosen  string
		Form    string
	}
	Texts   []string
	Passed  []string
	Invalid []struct {
		Target  *effectElement
		Message string
	}
	Opened   []*effectElement
	Closed   []*effectElement
	Requests *struct {
		Pending int
		First   []struct {
			Method, URL, Type, Error string
			Status                   int
		}
	}
	DOM  *struct{ Added, Removed, Attributes, Text int }
	Tabs []struct {
		TabID     int `json:"tab_id"`
		URL       string
		Navigated bool
	}
	TabsRefused *struct{ Count, Limit int } `json:"tabs_refused"`
	Downloads   []downloaded
	TabGone     bool `json:"tab_gone"`
	Unseen      []string
	Earlier     []followed // of actions before, after their answers
}

// elsewhere reports whether something followed but the focus and what controls hold: a page may take a text out of the
// control that it was written into.
func (f followed) elsewhere() bool {
	for _, seen := range []int{
		len(f.Texts), len(f.Passed), len(f.Opened), len(f.Closed), len(f.Tabs), len(f.Downloads),
	} {
		if seen > 0 {
			return true
		}
	}
	return f.URL != nil || f.DOM != nil || f.Requests != nil || f.TabGone || f.TabsRefused != nil
}

// heldBefore is said of a control that has taken nothing of a text.
const heldBefore = "it holds what it held before"

// insertedText is the part of the answer of text.insert about a text that the control has not kept as it is.
type insertedText struct {
	Unchanged bool `json:"unchanged"`
	Sanitized bool `json:"sanitized"`
	Exceeds   bool `json:"exceeds_maxlength"`
}

// notes are its lines in an answer.
func (t insertedText) notes() []string {
	var out []string
	if t.Unchanged {
		out = append(out, heldBefore)
	}
	if t.Sanitized && !t.Unchanged {
		out = append(out, "the control keeps another form of the text")
	}
	if t.Exceeds {
		out = append(out, "the text is longer than its maxlength")
	}
	return out
}

// report makes the answer of one action from the primitive's result and its effects.
func (c *Call) report(in actIn, p page, r runtime.Reply, value json.RawMessage) acted {
	var envelope struct{ Effects json.RawMessage }
	_ = json.Unmarshal(r.Output, &envelope)
	var result struct {
		Target *effectElement `json:"target"`
		Drop   *effectElement `json:"drop_target"`
		insertedText
		Frame *struct {
			URL string `json:"url"`
		} `json:"frame"`
		Effects json.RawMessage `json:"effects"`
	}
	_ = json.Unmarshal(value, &result)
	if len(envelope.Effects) == 0 {
		envelope.Effects = result.Effects
	}
	var f followed
	reported := json.Unmarshal(envelope.Effects, &f) == nil
	out := acted{Did: in.did(result.Target), More: map[string]any{}}
	for name, v := range Members(value) {
		expected, known := expectedOf[name]
		if known && (expected == nil || expected == v) || empty(v) {
			continue
		}
		out.More[name] = v
	}
	if frame := result.Frame; frame != nil {
		delete(out.More, "frame")
		out.Did += " in the frame " + cutMiddle(frame.URL)
	}
	if result.Drop != nil {
		out.Did += " onto " + result.Drop.String()
	}
	if in.Action == "click" && result.Target != nil && result.Target.Type == "file" {
		out.Did += ", a file input: act, action upload, gives it files"
	}
	if reported {
		c.noteAct(p)
		for _, t := range f.Tabs {
			if !t.Navigated {
				c.set.openers.set(handle(p.session, t.TabID), p.handle())
			}
		}
		c.tellLater(p, f.Earlier)
		f.Earlier = nil
		out.Followed, out.seen = slices.DeleteFunc(f.lines(p, result.Target), func(line string) bool {
			return in.holdsText(result.Target, line) // the line about the act says it
		}), f
	}
	out.Followed = append(out.Followed, result.notes()...)
	out.NotKept = result.Unchanged && !f.elsewhere()
	return out
}

// holdsText reports whether a line says that the control which was filled holds as much as it was given.
func (in actIn) holdsText(target *effectElement, line string) bool {
	if in.Action != "fill" || in.Text == nil || target == nil {
		return false
	}
	given := len(utf16.Encode([]rune(*in.Text)))
	return line == fmt.Sprintf("%s holds %d characters", target, given)
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

func (in actIn) did(target *effectElement) string {
	did := didWords[in.Action]
	switch in.Action {
	case "press":
		did += " " + in.Key
		if target != nil {
			did += " on"
		}
	case "scroll":
		did += fmt.Sprintf(" by %g pixels", *in.DeltaY)
		return did
	case "dialog":
		return did + map[bool]string{true: " with OK", false: " with Cancel"}[*in.Accept]
	}
	if target != nil {
		did += " " + target.String()
	}
	return did
}

// refusedTabs tells of tabs that a page opened above the limit.
func refusedTabs(count, limit int) string {
	what := "a tab"
	if count > 1 {
		what = fmt.Sprintf("%d tabs", count)
	}
	return fmt.Sprintf("%s more than the %d that there may be, closed again", what, limit)
}

// showsText and changedNodes begin lines that an outline of the page makes needless.
const showsText, changedNodes = "shows ", "the page changed"

// lines lists the effects, or says that there are none.
func (f followed) lines(p page, target *effectElement) []string {
	out := f.seen(p, target)
	switch {
	case len(out) == 0 && len(f.Unseen) > 0 && !slices.ContainsFunc(f.Unseen, notReplaced):
		return []string{"the document of a frame was replaced"}
	case len(out) == 0 && len(f.Unseen) > 0:
		return []string{"what followed could not be seen: " + strings.Join(f.Unseen, ", ")}
	case len(out) == 0:
		return []string{fmt.Sprintf("nothing observed within %d ms", f.WindowMS)}
	}
	return out
}

// notReplaced reports whether a document is unseen for another reason than that another one took its place.
func notReplaced(why string) bool { return why != "a document that was replaced" }

// inFrame reports whether a request brought a document, and not that of the page or of another one.
func (f followed) inFrame(kind string, status int) bool {
	return kind == "document" && status/100 == 2 && status < 204 && f.URL == nil && len(f.Tabs)+len(f.Downloads) == 0
}

// seen lists the effects, the weightiest first.
func (f followed) seen(p page, target *effectElement) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if d := f.Dialog; d != nil {
		line := "a dialog came: " + d.Type + " " + quote(d.Message, 200)
		if d.Open {
			line += "; it blocks the page until act, action dialog, answers it"
		}
		add("%s", line)
	}
	if f.TabGone {
		add("the page was closed")
	}
	if u := f.URL; u != nil {
		switch {
		case u.Loading:
			add("another document is loading; wait for it or take a snapshot")
		case u.NewDocument:
			add("a new document is there: %s", cutMiddle(u.To))
		default:
			add("the address is %s", cutMiddle(u.To))
		}
	}
	for _, t := range f.Tabs {
		if t.Navigated {
			add("%s went to %s", handle(p.session, t.TabID), cutMiddle(t.URL))
			continue
		}
		add("%s", strings.TrimSpace("opened "+handle(p.session, t.TabID)+" "+cutMiddle(t.URL)))
	}
	if refused := f.TabsRefused; refused != nil {
		add("%s", refusedTabs(refused.Count, refused.Limit))
	}
	for _, d := range f.Downloads {
		add("%s", d)
	}
	for _, i := range f.Invalid {
		add("%s is not valid: %s", i.Target, quote(i.Message, 120))
	}
	for _, layer := range f.Opened {
		add("shows %s", layer)
	}
	for _, layer := range f.Closed {
		add("%s is gone", layer)
	}
	for _, text := range f.Texts {
		add("%s%s", showsText, quote(text, 120))
	}
	slices.Sort(f.Passed)
	for _, text := range slices.Compact(f.Passed) {
		add("showed %s, which is gone", quote(text, 120))
	}
	for _, v := range f.Values {
		in := ""
		if v.Form != "" {
			in = " in form " + quote(v.Form, 40)
		}
		switch {
		case v.Checked != nil && *v.Checked:
			add("%s%s is checked", v.Target, in)
		case v.Checked != nil:
			add("%s%s is not checked", v.Target, in)
		case v.Chosen != "":
			add("%s%s holds %s", v.Target, in, quote(v.Chosen, 60))
		case v.Length == 0:
			add("%s%s is empty", v.Target, in)
		default:
			add("%s%s holds %d characters", v.Target, in, v.Length)
		}
	}
	if f.Focus != nil && f.Focus.To != nil && (target == nil || f.Focus.To.Name != target.Name) {
		add("the focus is on %s", f.Focus.To)
	}
	if q := f.Requests; q != nil {
		for _, x := range q.First {
			switch {
			case x.Type == "document" && (x.Status == 204 || x.Status == 205):
				add("%s %s was answered with %d, so no document came", x.Method, cutMiddle(x.URL), x.Status)
			case x.Type == "document" && x.Error == "net::ERR_ABORTED" && f.URL == nil && len(f.Downloads) == 0:
				add("%s %s brought no document: %s", x.Method, cutMiddle(x.URL), noDocument(x.URL))
			case x.Error == "" && f.inFrame(x.Type, x.Status):
				add("a frame went to %s", cutMiddle(x.URL))
			case x.Error != "" && x.Error != "net::ERR_ABORTED":
				add("%s %s failed: %s", x.Method, cutMiddle(x.URL), x.Error)
			case x.Status >= 400:
				add("%s %s failed with %d", x.Method, cutMiddle(x.URL), x.Status)
			}
		}
		if q.Pending > 0 {
			add("%d requests are under way", q.Pending)
		}
	}
	if d := f.DOM; d != nil && len(out) == 0 && len(f.Texts)+len(f.Passed)+len(f.Opened)+len(f.Closed) == 0 {
		add("%s, without a new text", changedNodes)
	}
	return out
}

// cutMiddle is an address that is not longer than is worth reading.
func cutMiddle(address string) string {
	const most = 120
	if r := []rune(address); len(r) > most {
		return string(r[:80]) + "…" + string(r[len(r)-30:])
	}
	return address
}

// result is the structured answer, and text the same for a model.
func (a acted) result(p page, r runtime.Reply) (map[string]any, string) {
	out := inBrief(map[string]any{"page": p.handle(), "url": r.URL, "did": a.Did})
	for name, v := range a.More {
		out[name] = v
	}
	text := a.Did
	if len(a.Followed) > 0 {
		out["followed"] = a.Followed
		text += "\n" + strings.Join(a.Followed, "\n")
	}
	if len(a.More) > 0 {
		more, err := json.Marshal(a.More)
		if err == nil {
			text += "\n" + string(more)
		}
	}
	return out, text
}
