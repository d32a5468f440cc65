package learn

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/authoring/ident"
	"github.com/outrider-run/outrider/authoring/sample"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/primitives"
)

// input is an argument of the learned action.
type input struct {
	name    string
	schema  sample.Property
	value   json.RawMessage // in the first session
	other   json.RawMessage // in the second one, nil without
	secret  bool
	choice  bool     // one of a list of the page: another value cannot be made up
	options []string // what is known of that list
	isArray bool     // an array
}

// aligned pairs the steps of two sessions of the same task. What is in one alone is
// dropped from the first, and noted when it acts.
func aligned(a, b *flow) {
	n, m := len(a.ops), len(b.ops)
	best := make([][]float64, n+1)
	for i := range best {
		best[i] = make([]float64, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if like := alike(a.ops[i], b.ops[j]); like > 0 {
				best[i][j] = max(best[i][j], best[i+1][j+1]+like)
			}
		}
	}
	var out []*op
	i, j := 0, 0
	for i < n && j < m {
		like := alike(a.ops[i], b.ops[j])
		switch {
		case like > 0 && best[i][j] == best[i+1][j+1]+like:
			a.ops[i].with = b.ops[j]
			out = append(out, a.ops[i])
			i, j = i+1, j+1
		case best[i+1][j] >= best[i][j+1]:
			a.alone(a.ops[i], "first")
			i++
		default:
			a.alone(b.ops[j], "second")
			j++
		}
	}
	for ; i < n; i++ {
		a.alone(a.ops[i], "first")
	}
	for ; j < m; j++ {
		a.alone(b.ops[j], "second")
	}
	a.ops = out
}

func (f *flow) alone(o *op, which string) {
	if o.acts {
		f.notes = append(
			f.notes, fmt.Sprintf("%s of call %d is in the %s session alone and left out", o.primitive, o.at, which),
		)
	}
}

// alike is how much two steps have in common, 0 when they are different ones.
func alike(a, b *op) float64 {
	if a.primitive != b.primitive {
		return 0
	}
	if a.target == nil || b.target == nil || a.target.Element == nil || b.target.Element == nil {
		if (a.target == nil) != (b.target == nil) {
			return 0
		}
		if strings.HasPrefix(a.primitive, "keyboard.") && a.text("key") != b.text("key") {
			return 0
		}
		return 1
	}
	x, y := a.target.Element, b.target.Element
	if x.Tag != y.Tag || x.Role != y.Role {
		return 0
	}
	like := likeness.Of(x.Describe(true), y.Describe(true))
	if x.Name == y.Name && x.Attributes["id"] == y.Attributes["id"] {
		return 2
	}
	if like >= likeness.Least || samePath(x, y) {
		return 0.5 + like
	}
	return 0
}

// samePath: elements of two entries of one list.
func samePath(a, b *likeness.Seen) bool {
	if len(a.Path) != len(b.Path) {
		return false
	}
	for i := range a.Path {
		if a.Path[i].Tag != b.Path[i].Tag {
			return false
		}
	}
	return true
}

// valued finds what of the steps is an argument, and what was read from the page.
func (l *learning) valued() {
	for i, s := range l.steps {
		for _, member := range primitives.StepOf(s.op.primitive).Given {
			raw := s.op.args[member]
			if len(raw) == 0 || string(raw) == "null" {
				continue
			}
			var other json.RawMessage
			if s.op.with != nil {
				other = s.op.with.args[member]
				if string(other) == string(raw) {
					if e := l.fromPage(i, raw, nil); e != "" {
						s.values[member] = e
					}
					continue // the same in both: it belongs to the task
				}
			}
			if s.op.goal.Fixed {
				continue
			}
			if strings.Contains(unquote(raw), "{{secret:") { // the call names it: a map alone may type no secret
				in := l.argument(s, member, raw, other)
				in.schema.Format = "password"
				in.schema.WriteOnly = true
				in.secret = true
				s.values[member] = "input." + in.name
				continue
			}
			if e := l.fromPage(i, raw, other); e != "" {
				s.values[member] = e
				continue
			}
			in := l.argument(s, member, raw, other)
			s.values[member] = "input." + in.name
		}
	}
	l.named()
}

func unquote(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// argument is the argument for a value: one for each value, however often it is used.
func (l *learning) argument(s *step, member string, raw, other json.RawMessage) *input {
	for _, in := range l.inputs {
		if string(in.value) == string(raw) && string(in.other) == string(other) && s.op.primitive == "text.insert" &&
			len(unquote(raw)) > 2 {
			return in
		}
	}
	label := member
	if e := s.element(); e != nil {
		label = ident.First(
			strings.TrimRight(e.Name, " *:"), e.Attributes["placeholder"],
			e.Attributes["name"], e.Attributes["id"], member,
		)
	}
	in := &input{
		name:   l.free(ident.First(ident.Slug(label), member)),
		value:  raw,
		other:  other,
		schema: sample.Property{Type: "string", Title: clip(label)},
	}
	in.choice = s.op.primitive == "dom.select_option" || s.op.primitive == "page.select" ||
		s.op.primitive == "upload.set_files"
	if raw[0] == '[' {
		in.schema.Type, in.isArray = "array", true
	}
	in.options = s.op.goal.Options
	if in.choice && !in.isArray {
		in.schema.Enum = in.options
	}
	in.limited(s.op.goal)
	if e := s.element(); e != nil && e.Role == "combobox" {
		in.choice = true // what is offered for another text, nobody knows
	}
	if e := s.element(); e != nil && e.Tag == "input" && in.schema.Type == "string" {
		switch t := e.Attributes["type"]; t {
		case "email", "date", "time", "tel", "month", "week":
			in.schema.Format = t
		case "url":
			in.schema.Format = "uri"
		case "password":
			in.schema.Format = "password"
			in.schema.WriteOnly = true
			in.secret = true
		case "number", "range":
			in.choice = true // the page may limit it
		}
	}
	l.inputs = append(l.inputs, in)
	return in
}

// limited puts into the schema what the field says of itself.
func (in *input) limited(m record.Intent) {
	number := func(name string) *float64 {
		v, err := strconv.ParseFloat(m.Limits[name], 64)
		if err != nil {
			return nil
		}
		return &v
	}
	count := func(name string) *int {
		v, err := strconv.Atoi(m.Limits[name])
		if err != nil || v < 0 {
			return nil
		}
		return &v
	}
	switch m.Type {
	case "number", "range":
		v, err := strconv.ParseFloat(unquote(in.value), 64)
		if err != nil {
			return
		}
		in.schema.Type, in.value = "number", encode(v)
		in.schema.Minimum = number("min")
		in.schema.Maximum = number("max")
		in.schema.MultipleOf = number("step")
		if m.Type == "range" && in.schema.Minimum == nil {
			in.schema.Minimum = new(float64)
		}
		if m.Type == "range" && in.schema.Maximum == nil {
			hundred := 100.0
			in.schema.Maximum = &hundred
		}
		if in.schema.MultipleOf == nil {
			one := 1.0
			in.schema.MultipleOf = &one
		}
		if o, err := strconv.ParseFloat(unquote(in.other), 64); err == nil {
			in.other = encode(o)
		}
	case "date", "time", "datetime-local", "month", "week", "color", "email", "tel":
		in.schema.Format = m.Type
	case "text", "search", "textarea", "url", "password":
		in.schema.MinLength = count("minlength")
		in.schema.MaxLength = count("maxlength")
		in.schema.Pattern = m.Limits["pattern"]
	}
}

// fromPage is the expression for a value that an earlier step read, "" for none. With two
// sessions it must be right in both.
func (l *learning) fromPage(at int, raw, other json.RawMessage) string {
	value := unquote(raw)
	if len(strings.TrimSpace(value)) < 2 {
		return ""
	}
	for i := at - 1; i >= 0; i-- {
		s := l.steps[i]
		if s.op.acts || len(s.op.output) == 0 {
			continue
		}
		for _, path := range paths(s.op.output, value) {
			if other != nil && (s.op.with == nil || !slices.Contains(paths(s.op.with.output, unquote(other)), path)) {
				continue
			}
			s.used = true
			return "steps." + s.id + ".output" + path
		}
	}
	return ""
}

// paths are where a value stands in a result, as expressions lead there.
func paths(raw json.RawMessage, value string) []string {
	var v any
	if json.Unmarshal(raw, &v) != nil || value == "" {
		return nil
	}
	var out []string
	var walk func(v any, at string)
	walk = func(v any, at string) {
		switch v := v.(type) {
		case string:
			if strings.TrimSpace(v) == strings.TrimSpace(value) {
				out = append(out, at)
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if k == "locator" || k == "target" {
					continue
				}
				walk(v[k], at+".`"+k+"`")
			}
		case []any:
			for i, e := range v {
				walk(e, at+"["+strconv.Itoa(i)+"]")
			}
		}
	}
	walk(v, "")
	for i, p := range out {
		out[i] = plainPath(p)
	}
	return out
}

// plainPath drops quotes that an expression does not need.
func plainPath(p string) string {
	parts := strings.Split(p, "`")
	for i := 1; i < len(parts); i += 2 {
		if ident.Slug(parts[i]) != strings.ToLower(parts[i]) {
			parts[i] = "`" + parts[i] + "`"
		}
	}
	return strings.Join(parts, "")
}

// named makes the name of an element an argument: it differs between two sessions, or has
// what was given in it.
func (l *learning) named() {
	for i, s := range l.steps {
		e := s.element()
		if e == nil && s.op.locator != nil {
			l.templated(s)
			continue
		}
		if e == nil || e.Name == "" || s.op.goal.Keep != "" {
			continue
		}
		if s.op.goal.Choice != "" && s.op.with == nil {
			l.choice(s, s.op.goal.Choice)
			continue
		}
		if s.op.with != nil && s.op.with.target != nil && s.op.with.target.Element != nil &&
			s.op.with.target.Element.Name != e.Name {
			other := s.op.with.target.Element.Name
			before, a, b, after := differing(e.Name, other)
			if a == "" || b == "" || !s.op.acts && s.op.locator != nil {
				continue
			}
			in := l.inputFor(a, b)
			if in == nil {
				in = &input{
					name:   l.free(ident.First(ident.Slug(strings.TrimSpace(before+" "+after)), e.Role, "item")),
					value:  encode(a),
					other:  encode(b),
					schema: sample.Property{Type: "string", Title: "which " + ident.First(e.Role, e.Tag)},
					choice: true,
				}
				l.inputs = append(l.inputs, in)
			}
			s.name = joined(before, "input."+in.name, after)
			continue
		}
		for _, in := range l.inputs {
			v := unquote(in.value)
			if len(v) < 3 || in.secret {
				continue
			}
			if before, after, ok := strings.Cut(e.Name, v); ok && (s.op.with == nil || s.op.with.target != nil) {
				s.name = joined(before, "input."+in.name, after)
				break
			}
		}
		if s.name == "" && s.op.with == nil && s.op.chooses() {
			l.choice(s, l.choiceOf(i))
		}
	}
}

// choice makes the name of what is chosen from a list of the page an argument.
func (l *learning) choice(s *step, title string) {
	e := s.element()
	in := l.inputFor(e.Name, "")
	if in == nil {
		title = strings.TrimRight(title, " *:")
		in = &input{
			name:    l.free(ident.First(ident.Slug(title), e.Role)),
			value:   encode(e.Name),
			choice:  true,
			options: s.op.goal.Options,
			schema:  sample.Property{Type: "string", Title: clip(ident.First(title, e.Role))},
		}
		l.inputs = append(l.inputs, in)
	}
	s.name, s.chosen = "input."+in.name, in
}

// choiceOf is what a step chooses, in the words of what opened the list.
func (l *learning) choiceOf(at int) string {
	for _, s := range slices.Backward(l.steps[:at]) {
		e := s.element()
		if !s.op.acts || e == nil || s.op.chooses() {
			continue
		}
		return ident.First(e.Name, e.Near, e.Attributes["placeholder"], e.Attributes["name"], e.Attributes["id"])
	}
	return ""
}

// templated puts arguments into the locator that the session itself used, for an element
// that was not there yet when the step began.
func (l *learning) templated(s *step) {
	var own, other map[string]any
	if json.Unmarshal(s.op.locator, &own) != nil {
		return
	}
	if s.op.with != nil && s.op.with.locator != nil && json.Unmarshal(s.op.with.locator, &other) != nil {
		other = nil
	}
	changed := false
	for _, name := range []string{"name", "text", "text_equals", "text_contains", "label", "has_text", "selector"} {
		text, ok := own[name].(string)
		if !ok {
			continue
		}
		if b, ok := other[name].(string); ok && b != text {
			before, x, y, after := differing(text, b)
			in := l.inputFor(x, y)
			if in == nil {
				in = &input{
					name:   l.free(ident.First(ident.Slug(strings.TrimSpace(before+" "+after)), "item")),
					value:  encode(x),
					other:  encode(y),
					schema: sample.Property{Type: "string", Title: "which one"},
					choice: true,
				}
				l.inputs = append(l.inputs, in)
			}
			own[name], changed = "{% "+joined(before, "input."+in.name, after)+" %}", true
			continue
		}
		for _, in := range l.inputs {
			if v := unquote(in.value); len(v) >= 3 && !in.secret {
				if before, after, ok := strings.Cut(text, v); ok {
					own[name], changed = "{% "+joined(before, "input."+in.name, after)+" %}", true
					break
				}
			}
		}
	}
	if changed {
		s.own = own
	}
}

func (l *learning) inputFor(a, b string) *input {
	for _, in := range l.inputs {
		if unquote(in.value) == a && unquote(in.other) == b {
			return in
		}
	}
	return nil
}

// differing is what two texts do not share, by words, between what they begin and end
// with.
func differing(a, b string) (before, x, y, after string) {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for i > 0 && (i < len(a) || i < len(b) && b[i-1] != ' ') && a[i-1] != ' ' {
		i--
	}
	j := 0
	for j < len(a)-i && j < len(b)-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	for j > 0 && a[len(a)-j] != ' ' {
		j--
	}
	return a[:i], a[i : len(a)-j], b[i : len(b)-j], a[len(a)-j:]
}

// joined is an expression for a text with a value in it.
func joined(before, value, after string) string {
	out := value
	if before != "" {
		out = literal(before) + " & " + out
	}
	if after != "" {
		out += " & " + literal(after)
	}
	return out
}

// literal is a text in an expression.
func literal(s string) string { return string(encode(s)) }
