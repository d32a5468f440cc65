// Package learn turns what was done in a session into an action: a workflow with arguments, waits and an end that is
// checked. It has no model, and runs what it writes before it gives it out. The verb learn and actions.site call it.
package learn

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/authoring/ident"
	"github.com/outrider-run/outrider/authoring/sample"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Host is where actions are tried: a runtime.Host.
type Host interface {
	Do(ctx context.Context, call runtime.Call) runtime.Reply
	Visit(ctx context.Context, on runtime.Target, f func(context.Context, primitives.Page) error) error
	NewWorkspace(ctx context.Context, opts runtime.WorkspaceOptions) (*runtime.Workspace, error)
}

// Options say what is learned.
type Options struct {
	NewID func() string
	Now   func() time.Time
	Name  string // of the action; "" makes one of the page and the last step
	// Start is the address that the action starts from; "" is where the session began.
	Start string
	// Each bounds one step of a trial. Default 10 s.
	Each time.Duration
	// Unproven gives out an action that could not be run again, and says so.
	Unproven bool
}

// Learned is an action with what is known of it.
type Learned struct {
	Action string          `json:"action"`
	Start  string          `json:"start"`
	Tool   json.RawMessage `json:"tool"`
	Map    json.RawMessage `json:"map"` // of the action alone
	Inputs []string        `json:"inputs"`
	// Values are the arguments of the session.
	Values map[string]json.RawMessage `json:"-"`
	// Verified: it was run again from the start, in a fresh session.
	Verified bool `json:"verified"`
	// Proven and Unproven say what was seen to hold, and what was not.
	Proven   []string `json:"proven"`
	Unproven []string `json:"unproven"`
	Notes    []string `json:"notes"`
	Cost     Cost     `json:"cost"`
}

// Cost compares the session with the action.
type Cost struct {
	SessionCalls int `json:"session_calls"`
	SessionBytes int `json:"session_bytes"` // of arguments and results
	ActionCalls  int `json:"action_calls"`
	ActionBytes  int `json:"action_bytes"`
}

// step is one step of the action.
type step struct {
	op     *op
	id     string
	values map[string]string // members of the arguments by their expression
	name   string            // expression for the name of the element
	own    map[string]any    // the locator of the session with arguments in it, nil without any
	used   bool              // a read whose value is used
	loop   *loop

	locator map[string]any
	to      map[string]any // of the other end of a drag
	settle  map[string]any
	chosen  *input // the name of the element is this argument, where names tell such elements apart
}

// loop is what a step is repeated for.
type loop struct {
	in    *input
	names []string
}

func (s *step) element() *likeness.Seen {
	if s.op.target == nil {
		return nil
	}
	return s.op.target.Element
}

// learning is the making of one action.
type learning struct {
	h      Host
	o      Options
	f      *flow
	steps  []*step
	inputs []*input
	names  map[string]bool
	last   int           // index of the last step that acts
	ends   []ending      // what may show the end, the first is what is checked
	took   time.Duration // from before the last step to the end, when it was rehearsed
	out    Learned
}

// Learn makes an action of one session, or of two of the same task.
func Learn(ctx context.Context, h Host, sessions [][]record.Call, o Options) (*Learned, error) {
	if len(sessions) == 0 || len(sessions) > 2 {
		return nil, fault.New(
			fault.InvalidInput, "an action is learned of one session or of two, not of %d", len(sessions),
		)
	}
	if o.Each <= 0 {
		o.Each = 10 * time.Second
	}
	l, err := learnOf(ctx, h, sessions, o, false)
	if fault.CodeOf(err) == fault.DriftDetected && l.f.guessed { // what was left out was needed
		l, err = learnOf(ctx, h, sessions, o, true)
	}
	if err != nil {
		return nil, err
	}
	return &l.out, nil
}

// learnOf makes the action. With whole it leaves nothing out that might lead nowhere.
func learnOf(ctx context.Context, h Host, sessions [][]record.Call, o Options, whole bool) (*learning, error) {
	l := &learning{h: h, o: o, names: map[string]bool{}, f: flowOf(sessions[0])}
	l.out = Learned{Inputs: []string{}, Proven: []string{}, Unproven: []string{}}
	l.f.kept(whole)
	if len(sessions) == 2 {
		g := flowOf(sessions[1])
		g.kept(whole)
		aligned(l.f, g)
		l.f.guessed = l.f.guessed || g.guessed
	}
	l.out.Start = ident.First(o.Start, l.f.start)
	l.out.Cost.SessionCalls, l.out.Cost.SessionBytes = l.f.calls, l.f.bytes
	for _, part := range []func(context.Context) error{l.prepare, l.rehearse, l.chooseEnd, l.write, l.confirm} {
		if err := part(ctx); err != nil {
			return l, err
		}
	}
	l.out.Notes = append([]string{}, l.f.notes...)
	if !l.out.Verified && (!o.Unproven || l.f.guessed) {
		return l, fault.New(
			fault.DriftDetected, "the action could not be run again: %s", strings.Join(l.out.Unproven, "; "),
		).With("unproven", l.out.Unproven).With("tool", l.out.Tool).Next(
			"record the task again from its start, without what other tabs or people do",
		)
	}
	return l, nil
}

// prepare makes the steps, their arguments and their loops.
func (l *learning) prepare(context.Context) error {
	l.last = -1
	for _, o := range l.f.ops {
		if !o.acts && o.locator == nil && o.goal.Keep == "" &&
			(o.primitive == "locator.text_content" || o.primitive == "locator.value") {
			l.f.notes = append(l.f.notes, fmt.Sprintf("the read of call %d went by a ref and is left out", o.at))
			continue
		}
		if o.primitive == "pointer.drag" && o.to == nil && (strings.Contains(string(o.args["from"]), `"ref"`) ||
			!strings.Contains(string(o.args["from"])+string(o.args["to"]), `"locator"`)) {
			l.out.Unproven = append(
				l.out.Unproven,
				fmt.Sprintf("the drag of call %d went by refs or points, which are others in another session", o.at),
			)
		}
		l.steps = append(l.steps, &step{op: o, values: map[string]string{}})
	}
	l.number()
	if l.last < 0 {
		return fault.New(fault.InvalidInput, "nothing was done in the session that an action could repeat").
			With("calls", l.f.calls)
	}
	if l.out.Start == "" {
		return fault.New(fault.InvalidInput, "the session has no page that it began on: give the address to start from")
	}
	l.valued()
	l.steps = slices.DeleteFunc(l.steps, func(s *step) bool {
		return !s.op.acts && !s.used && s.op.goal.Keep == "" && l.before(s)
	})
	l.loops()
	l.number()
	l.ordered()
	if len(l.steps) > maxSteps {
		return fault.New(
			fault.InvalidInput, "the session has %d steps; a workflow has at most %d", len(l.steps), maxSteps,
		).Next("learn a shorter span of it")
	}
	return nil
}

// ordered has the arguments in the order in which the steps use them.
func (l *learning) ordered() {
	first := func(in *input) int {
		return slices.IndexFunc(l.steps, func(s *step) bool {
			text := string(encode(s.values)) + " " + s.name + " " + string(encode(s.own))
			return s.loop != nil && s.loop.in == in || regexp.MustCompile(`input\.`+in.name+`\b`).MatchString(text)
		})
	}
	slices.SortStableFunc(l.inputs, func(a, b *input) int { return first(a) - first(b) })
}

// maxSteps leaves room for the steps that check the end.
const maxSteps = 23

// before reports whether a step comes before the last one that acts.
func (l *learning) before(s *step) bool { return slices.Index(l.steps, s) < l.last }

// number gives steps their ids, and finds the last one that acts.
func (l *learning) number() {
	used := map[string]bool{}
	l.last = -1
	for i, s := range l.steps {
		if s.op.acts {
			l.last = i
		}
		if s.id != "" {
			used[s.id] = true
		}
	}
	for _, s := range l.steps {
		if s.id != "" {
			continue
		}
		verb := primitives.StepOf(s.op.primitive).ID
		if s.op.goal.Keep == "assert" {
			verb = "see"
		}
		name := ident.First(verb, strings.ReplaceAll(s.op.primitive, ".", "_"))
		if e := s.element(); e != nil && ident.Slug(e.Name) != "" {
			name += "_" + ident.Slug(e.Name)
		} else if k := ident.Slug(s.op.text("key")); k != "" {
			name += "_" + k
		}
		s.id = freeIn(used, name)
	}
}

func freeIn(used map[string]bool, name string) string {
	out := name
	for i := 2; used[out]; i++ {
		out = name + "_" + strconv.Itoa(i)
	}
	used[out] = true
	return out
}

func (l *learning) free(name string) string { return freeIn(l.names, name) }

// leastLoop is how many similar steps in a row are a loop.
const leastLoop = 3

// loops makes one step for each run of clicks on elements that differ by their name.
func (l *learning) loops() {
	var out []*step
	for i := 0; i < len(l.steps); {
		j := i
		for j < len(l.steps) && l.similar(l.steps[i], l.steps[j]) {
			j++
		}
		if j-i < leastLoop {
			out = append(out, l.steps[i])
			i++
			continue
		}
		s := l.steps[i]
		var names, varying []string
		for _, each := range l.steps[i:j] {
			names = append(names, each.element().Name)
		}
		before, _, _, after := differing(names[0], names[1])
		for _, n := range names {
			if !strings.HasPrefix(n, before) || !strings.HasSuffix(n, after) || len(n) <= len(before)+len(after) {
				before, after = "", ""
			}
		}
		for _, n := range names {
			varying = append(varying, n[len(before):len(n)-len(after)])
		}
		in := &input{
			name:    l.free(ident.First(ident.Slug(strings.TrimSpace(before+after)), "items")),
			value:   encode(varying),
			choice:  true,
			isArray: true,
			schema:  sample.Property{Type: "array", Title: "names of what is clicked"},
		}
		l.inputs = append(l.inputs, in)
		s.loop, s.name = &loop{in, varying}, joined(before, "item", after)
		l.f.notes = append(l.f.notes, fmt.Sprintf("%d clicks became one step for each of %s", j-i, in.name))
		out = append(out, s)
		i = j
	}
	l.steps = out
}

func (l *learning) similar(a, b *step) bool {
	x, y := a.element(), b.element()
	if x == nil || y == nil || x.Name == "" || y.Name == "" {
		return false
	}
	if a.op.primitive != "pointer.click" || b.op.primitive != "pointer.click" || a.op.with != nil {
		return false
	}
	if x.Role != y.Role || x.Tag != y.Tag || !samePath(x, y) || a != b && x.Name == y.Name {
		return false
	}
	return b.op.stays() && len(a.values) == 0
}

// write puts the action together.
func (l *learning) write(context.Context) error {
	u, err := url.Parse(l.out.Start)
	if err != nil || u.Host == "" {
		return fault.New(fault.InvalidInput, "the start %s is no address of a site", fault.Clip(l.out.Start, 100))
	}
	if l.out.Action == "" {
		l.out.Action = l.o.Name
	}
	if l.out.Action == "" {
		area := ident.First(ident.Slug(strings.Trim(u.Path, "/")), ident.Slug(u.Hostname()), "site")
		l.out.Action = area + "." + l.steps[l.last].id
	}
	l.out.Inputs = []string{}
	tool := ordered{
		{"name", l.out.Action}, {"description", l.describe() + l.reservation()}, {"input_schema", l.schema()},
		{"workflow", ordered{
			{"version", 1}, {"expression_language", "jsonata"}, {"steps", l.workflow()}, {"output", l.output()},
		}},
	}
	text, err := indented(tool)
	if err != nil {
		return err
	}
	whole, err := indented(ordered{
		{"protocol", "actions.json"}, {"version", 1}, {"surface", ordered{{"origin", u.Scheme + "://" + u.Host}}},
		{"tools", []any{tool}},
		{"provenance", ordered{
			{"created_by", "outrider learn"}, {"created_at", l.o.Now().UTC().Format(time.RFC3339)},
			{"source", "a session of " + strconv.Itoa(l.f.calls) + " calls on " + u.Scheme + "://" + u.Host + u.Path},
		}},
	})
	l.out.Tool, l.out.Map = text, whole
	for _, in := range l.inputs {
		l.out.Inputs = append(l.out.Inputs, in.name)
	}
	return err
}

func (l *learning) describe() string {
	var parts []string
	for _, s := range l.steps {
		if e := s.element(); s.op.acts && e != nil && e.Name != "" && s.name == "" {
			parts = append(
				parts, strings.ReplaceAll(strings.SplitN(s.id, "_", 2)[0], "_", " ")+" "+strconv.Quote(clip(e.Name)),
			)
		}
	}
	if len(parts) > 6 {
		parts = append(parts[:5], parts[len(parts)-1])
	}
	if len(parts) == 0 {
		return "Learned from a session; describe what it is for."
	}
	text := strings.Join(parts, ", ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func (l *learning) schema() ordered {
	properties := ordered{}
	required := []string{}
	for _, in := range l.inputs {
		if in.isArray {
			properties = append(properties, member{in.name, ordered{
				{"type", "array"}, {"title", in.schema.Title}, {"items", ordered{{"type", "string"}}}, {"maxItems", 50},
			}})
		} else {
			properties = append(properties, member{in.name, in.schema})
		}
		required = append(required, in.name)
	}
	return ordered{
		{"type", "object"}, {"required", required}, {"properties", properties}, {"additionalProperties", false},
	}
}

// workflow are the steps as they are written.
func (l *learning) workflow() []any {
	var out []any
	ids := map[string]bool{}
	for _, s := range l.steps {
		ids[s.id] = true
	}
	for i, s := range l.steps {
		if i == l.last {
			out = append(out, l.end().before()...)
		}
		w := ordered{{"id", s.id}, {"primitive", s.op.primitive}, {"args", l.arguments(s)}}
		if s.loop != nil {
			w = append(w, member{"for_each", "{% input." + s.loop.in.name + " %}"}, member{"max_items", 50})
		}
		if s.op.repeats > 0 && readMember(s.op.primitive) != "" {
			if was := unquote(memberOf(s.op.first, readMember(s.op.primitive))); was != "" {
				w = append(w, member{
					"retry_until",
					"{% steps." + s.id + ".output." + readMember(s.op.primitive) + " != " + literal(was) + " %}",
				}, member{"max_attempts", 30})
			}
		}
		if s.op.goal.Keep == "assert" && s.op.primitive == "locator.text_content" {
			w = append(w, member{
				"retry_until", "{% $contains(steps." + s.id + ".output.text, " + l.worded(s.op.goal.Expected) + ") %}",
			}, member{"max_attempts", 30})
		}
		if s.op.primitive == closesDialog { // it opens a moment after what opens it
			w = append(
				w, member{"on_error", "continue"},
				member{"retry_until", "{% steps." + s.id + ".ok %}"}, member{"max_attempts", 20},
			)
		}
		if s.settle != nil && s.loop == nil {
			w = append(w, member{"settle_after", ordered{{"locator", s.settle}, {"timeout_ms", 8000}}})
		}
		out = append(out, w)
		if i == l.last && s.leaves() {
			press := ordered{{"id", freeIn(ids, "leave")}, {"primitive", "keyboard.press"}, {"args", leaveKey}}
			out = append(out, press)
		}
		if i == l.last && l.end().atOnce() {
			out = append(out, l.end().done())
		}
	}
	if l.end() != nil && !l.end().atOnce() {
		out = append(out, l.end().done())
	}
	if l.says() {
		out = append(out, ordered{
			{"id", "message"}, {"primitive", "locator.text_content"}, {"args", ordered{{"locator", l.end().locator}}},
		})
	}
	return out
}

// worded is the expression for a text in which arguments may stand.
func (l *learning) worded(text string) string {
	type piece struct{ text, value string }
	pieces := []piece{{text: text}}
	ranked := slices.Clone(l.inputs)
	// a short one may be a part of a long one
	slices.SortStableFunc(ranked, func(a, b *input) int { return len(b.value) - len(a.value) })
	for _, in := range ranked {
		v, value := unquote(in.value), "input."+in.name
		if in.schema.Type == "number" {
			value = "$string(" + value + ")"
			if v == "" {
				v = string(in.value)
			}
		}
		if len(v) < 2 || in.secret || in.isArray {
			continue
		}
		var next []piece
		for _, p := range pieces {
			for p.value == "" {
				before, after, ok := strings.Cut(p.text, v)
				if !ok {
					break
				}
				next = append(next, piece{text: before}, piece{value: value})
				p.text = after
			}
			next = append(next, p)
		}
		pieces = next
	}
	var out []string
	for _, p := range pieces {
		if p.value != "" {
			out = append(out, p.value)
		} else if p.text != "" {
			out = append(out, literal(p.text))
		}
	}
	if len(out) == 0 {
		return literal("")
	}
	return strings.Join(out, " & ")
}

func memberOf(raw json.RawMessage, name string) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m[name]
}

// arguments are those of a step: what was given by name, the rest as it was.
func (l *learning) arguments(s *step) ordered {
	out := ordered{}
	if s.locator != nil && s.to != nil {
		out = ordered{{"from", ordered{{"locator", s.locator}}}, {"to", ordered{{"locator", s.to}}}}
		for _, name := range slices.Sorted(maps.Keys(s.op.args)) {
			if name != "from" && name != "to" && name != "timeout_ms" {
				out = append(out, member{name, s.op.args[name]})
			}
		}
		return out
	}
	if s.op.primitive == "locator.wait_for" {
		return ordered{{"locator", s.locator}, {"state", "visible"}, {"timeout_ms", 8000}}
	}
	if s.locator != nil {
		where := "locator"
		if s.op.primitive == "text.insert" || s.op.primitive == "text.select" {
			where = "target"
		}
		out = append(out, member{where, s.locator})
	}
	names := []string{}
	for name := range s.op.args {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch name {
		case "locator", "target", "ref", "x", "y", "timeout_ms":
			if s.locator != nil || name == "timeout_ms" || name == "ref" {
				continue
			}
		}
		if e := s.values[name]; e != "" {
			out = append(out, member{name, "{% " + e + " %}"})
			continue
		}
		out = append(out, member{name, s.op.args[name]})
	}
	return out
}

// output is what the action says: what was read at the end, or the message that appeared.
func (l *learning) output() any {
	var parts []string
	for i, s := range l.steps {
		if keep := s.op.goal.Keep; s.op.acts || keep == "assert" || i < l.last && keep == "" {
			continue
		}
		path := readMember(s.op.primitive)
		if path != "" {
			path = "." + path
		}
		parts = append(parts, literal(s.id)+": steps."+s.id+".output"+path)
	}
	if l.says() {
		parts = append(parts, `"message": steps.message.output.text`)
	}
	switch {
	case l.unchecked() && len(parts) == 0:
		return ordered{{"done", true}, {"unchecked", true}}
	case l.unchecked():
		parts = append(parts, `"unchecked": true`)
	case len(parts) == 0:
		return ordered{{"done", true}}
	}
	return "{% {" + strings.Join(parts, ", ") + "} %}"
}

// member and ordered are an object whose members stay in order.
type member struct {
	name  string
	value any
}

type ordered []member

// MarshalJSON keeps the order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(m.name))
		b.WriteByte(':')
		v := encode(m.value)
		if v == nil {
			return nil, fmt.Errorf("encoding %s", m.name)
		}
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func encode(v any) json.RawMessage {
	text, err := jsonout.Line(v)
	if err != nil {
		return nil
	}
	return text
}

func indented(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	text := encode(v)
	if text == nil {
		return nil, fault.New(fault.Internal, "the action cannot be encoded")
	}
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// clip bounds what is repeated of a page's text.
func clip(s string) string { return primitives.CutText(s, 60) }
