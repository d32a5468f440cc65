package scaffold

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/authoring/ident"
	"github.com/outrider-run/outrider/authoring/inspect"
	"github.com/outrider-run/outrider/authoring/sample"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/internal/lazyregexp"
)

// Risk is what a trial of an action could do to the site.
type risk int

const (
	harmless risk = iota // it shows, hides or reads
	changes              // it may send or change something
)

// action is an action that was drafted of a page.
type action struct {
	Tool
	risk    risk
	operate int // index of the step that a trial leaves out when it must not change the site, -1 for none
	link    string
	// pressed is the control that the last step clicks.
	pressed *inspect.Control
}

// draft is what a page gives a map, before anything of it was tried.
type draft struct {
	page    inspect.Page
	prefix  string
	targets map[string]*locators.Target // by handle; nil when nothing names the element alone
	actions []*action
	report  *Report
	used    ident.Names
}

// drafted reads the actions of a page. targets has what names each element.
func drafted(page inspect.Page, targets map[string]*locators.Target, report *Report, used ident.Names) *draft {
	d := &draft{page: page, targets: targets, report: report, used: used}
	d.prefix = ident.First(ident.Slug(heading(page)), ident.Slug(page.Title), "page")
	taken := map[string]bool{}
	distinctFields(page.Controls)
	for i := range page.Groups {
		d.group(i, taken)
	}
	for i := range page.Controls {
		c := &page.Controls[i]
		if taken[c.Handle] || c.Repeated {
			continue
		}
		switch {
		case fillable(c):
			d.loose(c)
		case c.Tag == "a" && c.Href != "" && d.isOtherPage(c.Href):
			d.navigation(c)
		case c.Tag == "a" && c.Href != "" && !acts(c):
			// It leads to another site, or to where one is.
		case clickable(c):
			d.button(c)
		}
	}
	return d
}

// distinctFields finds the fields of forms that are laid out as a table: each row has another field. The
// fields of the entries of a list have one name, but for a number.
func distinctFields(controls []inspect.Control) {
	plain := func(c inspect.Control) string {
		digits := func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}
		return strconv.Itoa(c.Group) + " " + strings.Map(digits, c.Attributes["name"])
	}
	count := map[string]int{}
	for _, c := range controls {
		if c.Repeated && fillable(&c) && c.Type != "radio" {
			count[plain(c)]++
		}
	}
	for i, c := range controls {
		if c.Repeated && c.Group >= 0 && c.Attributes["name"] != "" && count[plain(c)] == 1 {
			controls[i].Repeated = false
		}
	}
}

// heading is the main heading of a page.
func heading(page inspect.Page) string {
	for level := 1; level <= 2; level++ {
		for _, m := range page.Marks {
			if m.Level == level && m.Name != "" {
				return m.Name
			}
		}
	}
	return ""
}

var typed = strings.Fields("text email password search tel url number date time datetime-local month week color")

// fillable reports whether a control takes a value.
func fillable(c *inspect.Control) bool {
	switch {
	case c.Tag == "input":
		return slices.Contains(typed, c.Type) || c.Type == "checkbox" || c.Type == "radio" || c.Type == "file"
	case c.Tag == "select", c.Tag == "textarea":
		return true
	}
	return c.Editable || c.Role == "switch" || c.Role == "checkbox"
}

func clickable(c *inspect.Control) bool {
	switch {
	case c.Tag == "button", c.Tag == "summary", c.Tag == "a":
		return true
	case c.Tag == "input":
		return c.Type == "button" || c.Type == "submit" || c.Type == "reset" || c.Type == "image"
	}
	return slices.Contains([]string{"button", "link", "tab", "menuitem"}, c.Role)
}

var (
	backs = lazyregexp.New(`(?i)^(?:cancel|close|back|previous|reset|clear|dismiss|×|x)\b`)
	icon  = lazyregexp.New(`(?i)(?:show|hide|toggle).{0,12}password`)
)

// group drafts the action of a form: its fields are filled in, its button is clicked.
func (d *draft) group(index int, taken map[string]bool) {
	g := d.page.Groups[index]
	var fields, buttons []*inspect.Control
	for i := range d.page.Controls {
		c := &d.page.Controls[i]
		if c.Group == index && c.Repeated && fillable(c) {
			d.report.leave("field", fieldName(c), "it is in an entry of a list")
		}
		if c.Group != index || c.Repeated {
			continue
		}
		switch {
		case fillable(c):
			fields = append(fields, c)
		case clickable(c) && c.Tag != "a" && c.Role != "tab" && !c.Disabled:
			buttons = append(buttons, c)
		}
	}
	if len(fields) == 0 ||
		g.Tag != "form" && len(fields) == 1 && !slices.Contains(typed, fields[0].Type) && fields[0].Tag != "textarea" {
		return
	}
	submit := sender(fields, buttons, g.Tag == "form")
	if submit == nil && g.Tag != "form" {
		return // fields without a button are actions each
	}
	title := ident.First(g.Name, g.Title, legend(fields), humane(g.Attributes["id"]), humane(g.Attributes["name"]))
	a := &action{operate: -1}
	for _, f := range fields {
		taken[f.Handle] = true
	}
	if !d.fill(a, fields) {
		return
	}
	verb := "fill_in"
	if submit != nil {
		taken[submit.Handle] = true
		verb = ident.First(ident.Slug(buttonName(submit)), "submit")
	}
	area := ident.First(ident.Slug(title), d.prefix)
	name := area + "." + verb
	if verb == area {
		name = d.prefix + "." + verb
	}
	if submit != nil {
		t := d.targets[submit.Handle]
		if t == nil {
			d.report.leave("action", name, "no locator names the button "+strconv.Quote(buttonName(submit))+" alone")
			return
		}
		a.operate = len(a.XActions.Execution.Steps)
		a.XActions.Execution.Steps = append(a.XActions.Execution.Steps, Step{ID: "send", Type: "click", Target: t})
		a.pressed = submit
		if g.Method != "get" {
			a.risk = changes
		}
		a.Description = fmt.Sprintf(
			"Fill in %s and click %s.", ident.First(quotedTitle(title), "the form"), strconv.Quote(buttonName(submit)),
		)
	} else {
		a.operate, a.risk = len(a.XActions.Execution.Steps), changes
		last := a.XActions.Execution.Steps[len(a.XActions.Execution.Steps)-1]
		if len(fields) == 1 && fields[0].Tag == "input" {
			a.XActions.Execution.Steps = append(a.XActions.Execution.Steps, Step{
				ID:     "send",
				Type:   "press",
				Target: last.Target,
				Key:    "Enter",
			})
			a.Description = fmt.Sprintf("Fill in %s and press Enter.", ident.First(quotedTitle(title), "the form"))
			verb = "enter"
			name = area + "." + verb
		} else {
			a.operate, a.risk = -1, harmless
			a.Description = fmt.Sprintf("Fill in %s.", ident.First(quotedTitle(title), "the form"))
		}
	}
	a.Name = d.used.Free(name)
	d.actions = append(d.actions, a)
}

func quotedTitle(title string) string {
	if title == "" {
		return ""
	}
	return strconv.Quote(title)
}

func legend(fields []*inspect.Control) string {
	for _, f := range fields {
		if f.Legend == "" || f.Legend != fields[0].Legend || f.Type == "radio" {
			return ""
		}
	}
	return fields[0].Legend
}

// humane is an id or a name that people gave.
func humane(v string) string {
	v = regexp.MustCompile(`(?i)[-_]?form$|^form[-_]`).ReplaceAllString(v, "")
	if ident.Slug(v) == "" || !stable(v) {
		return ""
	}
	return v
}

// sender is the button that a group is sent with.
func sender(fields, buttons []*inspect.Control, form bool) *inspect.Control {
	var usable []*inspect.Control
	for _, b := range buttons {
		if !backs().MatchString(buttonName(b)) && !icon().MatchString(buttonName(b)) && b.Type != "reset" {
			usable = append(usable, b)
		}
	}
	for _, b := range usable {
		if form && (b.Type == "submit" || b.Type == "image") {
			return b
		}
	}
	if len(usable) == 0 {
		return nil
	}
	return usable[len(usable)-1]
}

func buttonName(c *inspect.Control) string {
	return ident.First(c.Name, c.Text, c.Attributes["value"], c.Attributes["title"])
}

// fill drafts a step and an argument for each field; false when nothing is left.
func (d *draft) fill(a *action, fields []*inspect.Control) bool {
	used := ident.Names{}
	a.InputSchema = Schema{Type: "object", Properties: Properties{}}
	a.XActions.Execution.Mode = "steps_only"
	radios := map[string]bool{}
	for _, f := range fields {
		label := fieldName(f)
		switch {
		case f.Disabled || f.ReadOnly && f.Tag != "select":
			d.report.leave("field", label, "it is disabled or cannot be written")
			continue
		case f.Type == "file":
			d.report.leave("field", label, "it takes a file: use upload.set_files")
			continue
		case f.Type == "radio":
			group := f.Attributes["name"]
			if group == "" || radios[group] {
				continue
			}
			radios[group] = true
			d.radio(a, fields, f, used)
			continue
		}
		t := d.targets[f.Handle]
		if t == nil {
			d.report.leave("field", label, "no locator names it alone")
			continue
		}
		p := property(f)
		name := used.Free(ident.First(ident.Slug(label), ident.Slug(f.Attributes["name"]), "value"))
		step := Step{ID: name, Type: "fill", Target: t, ValueFrom: name, Optional: !f.Required}
		switch {
		case p.Type == "boolean":
			step.Type = "check"
		case f.Tag == "select":
			step.Type = "select"
			if f.Multiple || len(p.Enum) == 0 {
				d.report.leave("field", label, "its list is empty or takes several")
				continue
			}
		}
		if f.Required && p.Type != "boolean" {
			a.InputSchema.Required = append(a.InputSchema.Required, name)
			step.Optional = false
		}
		a.InputSchema.Properties = append(a.InputSchema.Properties, Named{name, p})
		a.XActions.Execution.Steps = append(a.XActions.Execution.Steps, step)
	}
	return len(a.XActions.Execution.Steps) > 0
}

// radio drafts the choice among radio buttons of one name.
func (d *draft) radio(a *action, fields []*inspect.Control, one *inspect.Control, used ident.Names) {
	p := sample.Property{Type: "string", Title: ident.First(one.Legend, one.Attributes["name"])}
	required := false
	for _, f := range fields {
		if f.Type == "radio" && f.Attributes["name"] == one.Attributes["name"] {
			p.Enum = append(p.Enum, ident.First(f.Attributes["value"], f.Label))
			required = required || f.Required
		}
	}
	name := used.Free(ident.First(ident.Slug(one.Attributes["name"]), ident.Slug(one.Legend), "choice"))
	if !stable(one.Attributes["name"]) {
		d.report.leave("field", name, "its radio buttons have a generated name")
		return
	}
	selector := locators.Attribute("input", "name", one.Attributes["name"])
	if required {
		a.InputSchema.Required = append(a.InputSchema.Required, name)
	}
	a.InputSchema.Properties = append(a.InputSchema.Properties, Named{name, p})
	a.XActions.Execution.Steps = append(a.XActions.Execution.Steps, Step{
		ID:        name,
		Type:      "select",
		Target:    &locators.Target{Selector: selector, Confidence: "observed"},
		ValueFrom: name,
		Optional:  !required,
	})
}

// fieldName is what people call a field.
func fieldName(c *inspect.Control) string {
	trimmed := func(text string) string { return strings.TrimRight(strings.TrimSpace(text), ":* ") }
	own := trimmed(c.Name)
	if c.Beside != "" && own == trimmed(c.Attributes["placeholder"]) {
		own = "" // an example of what is written
	}
	return ident.First(
		trimmed(c.Label), own, trimmed(c.Beside), c.Attributes["placeholder"], c.Attributes["name"], c.Attributes["id"],
	)
}

// property is the JSON Schema of what a field takes.
func property(c *inspect.Control) sample.Property {
	p := sample.Property{Type: "string", Title: fieldName(c)}
	whole := func(name string) *int {
		if n, err := strconv.Atoi(c.Limits[name]); err == nil && n >= 0 {
			return &n
		}
		return nil
	}
	number := func(name string) *float64 {
		if n, err := strconv.ParseFloat(c.Limits[name], 64); err == nil {
			return &n
		}
		return nil
	}
	switch {
	case c.Type == "checkbox", c.Role == "switch", c.Role == "checkbox":
		return sample.Property{Type: "boolean", Title: p.Title}
	case c.Tag == "select":
		for _, o := range c.Choices {
			if !o.Disabled && o.Value != "" && !slices.Contains(p.Enum, o.Value) {
				p.Enum = append(p.Enum, o.Value)
			}
		}
		return p
	case c.Type == "number":
		p.Type = "number"
		p.Minimum = number("min")
		p.Maximum = number("max")
		step := number("step")
		switch {
		case c.Limits["step"] == "any":
		case step == nil || *step == 1:
			p.Type = "integer"
		case *step > 0 && p.Minimum == nil:
			p.MultipleOf = step
		}
		return p
	}
	p.MinLength = whole("minlength")
	p.MaxLength = whole("maxlength")
	p.Pattern = c.Limits["pattern"]
	switch c.Type {
	case "email", "date", "time", "tel", "color", "month", "week", "datetime-local":
		p.Format = c.Type
	case "url":
		p.Format = "uri"
	case "password":
		p.Format, p.WriteOnly = "password", true
	}
	if c.Tag != "input" && p.Format == "" && len(c.Text) > 0 && c.Editable {
		p.Title = ident.First(c.Label, c.Name, "text")
	}
	if p.Pattern != "" {
		p.Pattern = "^(?:" + p.Pattern + ")$"
		if _, err := regexp.Compile(p.Pattern); err != nil {
			p.Pattern = "" // an expression that only browsers read
		}
	}
	return p
}

// loose drafts an action for a field that no form holds.
func (d *draft) loose(c *inspect.Control) {
	a := &action{operate: -1}
	if !d.fill(a, []*inspect.Control{c}) {
		return
	}
	label := fieldName(c)
	a.Name = d.used.Free(d.prefix + ".set_" + ident.First(ident.Slug(label), "value"))
	a.Description = "Set " + ident.First(quotedTitle(label), "the field") + "."
	for i := range a.XActions.Execution.Steps {
		a.XActions.Execution.Steps[i].Optional = false
	}
	a.InputSchema.Required = []string{a.InputSchema.Properties[0].Name}
	a.operate = len(a.XActions.Execution.Steps) - 1
	if c.Type == "checkbox" || c.Role == "switch" || c.Role == "checkbox" {
		a.risk = changes
	}
	d.actions = append(d.actions, a)
}

// button drafts an action that clicks.
func (d *draft) button(c *inspect.Control) {
	label := buttonName(c)
	if c.Disabled {
		d.report.leave("action", ident.First(label, c.Tag), "its button is disabled")
		return
	}
	if ident.Slug(label) == "" {
		d.report.leave("action", c.Tag, "its button has no name")
		return
	}
	name := d.prefix + "." + ident.Slug(label)
	if c.Role == "tab" || c.Tag == "summary" {
		name = d.prefix + ".show_" + ident.Slug(label)
	}
	t := d.targets[c.Handle]
	if t == nil {
		d.report.leave("action", name, "no locator names its button alone")
		return
	}
	a := &action{operate: 0, pressed: c}
	a.Name = d.used.Free(name)
	a.Description = "Click " + strconv.Quote(label) + "."
	a.InputSchema = Schema{Type: "object", Properties: Properties{}}
	a.XActions.Execution = Execution{Mode: "steps_only", Steps: []Step{{ID: "click", Type: "click", Target: t}}}
	if c.Role != "tab" && c.Tag != "summary" && c.Limits["aria-expanded"] == "" && c.Limits["aria-haspopup"] == "" {
		a.risk = changes
	}
	d.actions = append(d.actions, a)
}

// isOtherPage reports whether a link leads to another page of the site, or to another place of
// this one.
func (d *draft) isOtherPage(href string) bool {
	from, e1 := url.Parse(d.page.URL)
	to, e2 := url.Parse(href)
	if e1 != nil || e2 != nil || to.Host != from.Host || to.Scheme != from.Scheme {
		return false
	}
	return to.Path != from.Path || to.Fragment != ""
}

// acts reports whether a link is a button in disguise.
func acts(c *inspect.Control) bool {
	href := c.Attributes["href"]
	return href == "" || href == "#" || strings.HasPrefix(href, "javascript:") || c.Role != "link"
}

// maxLinks bounds the links of a page that become transitions.
const maxLinks = 12

// navigation drafts an action for a link.
func (d *draft) navigation(c *inspect.Control) {
	links := 0
	for _, a := range d.actions {
		if a.link == c.Href {
			return
		}
		if a.link != "" {
			links++
		}
	}
	label := buttonName(c)
	name := d.prefix + ".open_" + ident.First(ident.Slug(label), "link")
	if links >= maxLinks {
		d.report.leave("action", name, fmt.Sprintf("the page has more than %d links", maxLinks))
		return
	}
	t := d.targets[c.Handle]
	if t == nil {
		d.report.leave("action", name, "no locator names its link alone")
		return
	}
	if c.Limits["target"] == "_blank" {
		d.report.leave("action", name, "its link opens another tab")
		return
	}
	a := &action{operate: -1, link: c.Href, pressed: c}
	a.Name = d.used.Free(name)
	a.Description = "Follow the link " + strconv.Quote(label) + "."
	a.InputSchema = Schema{Type: "object", Properties: Properties{}}
	a.XActions.Execution = Execution{Mode: "steps_only", Steps: []Step{{ID: "follow", Type: "click", Target: t}}}
	d.actions = append(d.actions, a)
}
