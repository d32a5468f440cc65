package shell

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/internal/idempotency"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Step is one call of a tool that a command asks for.
type Step struct {
	// Line is the command as it was written, for errors.
	Line string `json:"line"`
	// Tool is a tool of the catalog or a primitive.
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
	// Field is a control by its words; what the arguments name is taken where no control has them.
	Field string `json:"field,omitempty"`
	// Key says which act of the caller this is: see docs/reference/idempotency.md.
	Key string `json:"key,omitempty"`
	// Changed has a snapshot tell what changed since the last one.
	Changed bool `json:"changed,omitempty"`

	// Save is the file that a picture, a document or a download goes to; "" for none.
	Save string `json:"-"`
	// Show makes text of the structured result; nil prints the text of the answer.
	Show func(result map[string]any) string `json:"-"`
	// one: the result must have exactly one element.
	one bool
}

// Verb is one command of a session.
type Verb struct {
	Name  string
	Usage string // what follows the name
	Short string
	flags func(f *pflag.FlagSet, g *Given)
	steps func(g *Given, words []string) ([]Step, error)
}

// Given are the flags of a verb.
type Given struct {
	Page    string
	Timeout int
	// Key is that of the act, "" for none.
	Key string

	role, name, label, near, selector, text string
	nth                                     int
	hasNth                                  bool

	interactive, changed, full, double, submit, gone, idle, outline, drop, failed, all, keep bool
	find, format, button, at, to, attribute, level, url, method, locale, timezone, color     string
	modifiers                                                                                []string
	tokens, offset, count, limit, quality                                                    int
	options, headers                                                                         []string
	// of route
	status, times                         int
	body, file, contentType, abort, delay string
}

// errUsage is a command that cannot be read.
var errUsage = errors.New("usage")

// wrong refuses a command; the usage of its verb goes with it.
func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUsage, fmt.Sprintf(format, args...))
}

// IsUsage reports whether an error is a command that cannot be read.
func IsUsage(err error) bool { return errors.Is(err, errUsage) }

// Verbs are the commands of a session, those that look first.
func Verbs() []Verb { return slices.Concat(looks(), acts(), others()) }

// verbNamed finds a verb; the error names the nearest one.
func verbNamed(name string) (Verb, error) {
	verbs := Verbs()
	names := make([]string, 0, len(verbs))
	for _, v := range verbs {
		if v.Name == name {
			return v, nil
		}
		names = append(names, v.Name)
	}
	if near := fault.Near(name, names); len(near) > 0 {
		return Verb{}, wrong("there is no command %s in a session; the nearest is %s", name, near[0])
	}
	return Verb{}, wrong("there is no command %s in a session", name)
}

// Flags declares the flags of the verb. What they are given stands in the result once f has been parsed.
func (v Verb) Flags(f *pflag.FlagSet) *Given {
	g := &Given{}
	f.StringVar(&g.Page, "page", "", "page, such as p2 (default: the active one)")
	f.IntVar(&g.Timeout, "wait-ms", 0, "time of the command in milliseconds")
	f.StringVar(&g.Key, "key", "", "idempotency key: the same act with it again is not done twice (see outcome)")
	if v.flags != nil {
		v.flags(f, g)
	}
	return g
}

// Steps are the calls of tools that the verb makes of its words.
func (v Verb) Steps(g *Given, words []string) ([]Step, error) {
	steps, err := v.steps(g, words)
	if err != nil {
		return nil, err
	}
	line := strings.Join(append([]string{v.Name}, words...), " ")
	for i := range steps {
		if steps[i].Arguments == nil {
			steps[i].Arguments = map[string]any{}
		}
		if g.Page != "" && steps[i].Arguments["page"] == nil && !aboutRoutes(steps[i].Tool) {
			steps[i].Arguments["page"] = g.Page
		}
		if g.Timeout > 0 && timed(steps[i].Tool) {
			steps[i].Arguments["timeout_ms"] = g.Timeout
		}
		steps[i].Key = idempotency.Part(g.Key, i)
		steps[i].Line = line
	}
	return steps, nil
}

// timed reports whether a tool takes a time.
func timed(tool string) bool {
	return !slices.Contains([]string{"snapshot", "read", "screenshot"}, tool) && !aboutRoutes(tool)
}

// Parse reads one command: the name of a verb, its words and its flags.
func Parse(words []string) ([]Step, error) {
	if len(words) == 0 {
		return nil, wrong("a command is empty")
	}
	v, err := verbNamed(words[0])
	if err != nil {
		return nil, err
	}
	f := pflag.NewFlagSet(v.Name, pflag.ContinueOnError)
	f.Usage = func() {}
	g := v.Flags(f)
	if err := f.Parse(words[1:]); err != nil {
		return nil, wrong("%s: %v", v.Name, err)
	}
	g.hasNth = f.Changed("nth")
	steps, err := v.Steps(g, f.Args())
	if err != nil {
		return nil, fmt.Errorf("%w (outrider %s %s)", err, v.Name, v.Usage)
	}
	return steps, nil
}

// Changed tells the flags which of them were given.
func (g *Given) Changed(changed func(flag string) bool) { g.hasNth = changed("nth") }

// locatorFlags are the flags that name an element in place of the first word.
func locatorFlags(f *pflag.FlagSet, g *Given) {
	f.StringVar(&g.role, "role", "", "in place of TARGET: an ARIA role")
	f.StringVar(&g.name, "name", "", "accessible name, with --role or alone")
	f.StringVar(&g.label, "label", "", "in place of TARGET: the label of a field")
	f.StringVar(&g.text, "text", "", "in place of TARGET: text of an element")
	f.StringVar(&g.near, "near", "", "in place of TARGET: what stands beside a control without a name")
	f.StringVar(&g.selector, "selector", "", "in place of TARGET: a CSS selector")
	f.IntVar(&g.nth, "nth", 0, "of several the one at this place, from 0")
}

// byFlags is the element that flags name.
func (g *Given) byFlags() target {
	locator := map[string]any{}
	for member, value := range map[string]string{
		"role": g.role, "name": g.name, "label": g.label, "text": g.text, "near": g.near, "selector": g.selector,
	} {
		if value != "" {
			locator[member] = value
		}
	}
	if len(locator) == 0 {
		return target{}
	}
	if g.hasNth {
		locator["nth"] = g.nth
	}
	return target{locator: locator}
}

// take reads the element that a command is about, from its flags or its first word, and gives back the other words.
func (g *Given) take(words []string, field bool) (target, []string, error) {
	if t := g.byFlags(); !t.none() {
		return t, words, nil
	}
	if len(words) == 0 {
		return target{}, nil, wrong("name an element: a ref such as e12, button:Save, a label or a selector")
	}
	t, err := readTarget(words[0], field)
	if err != nil {
		return target{}, nil, wrong("%v", err)
	}
	if g.hasNth && t.locator != nil {
		t.locator["nth"] = g.nth
		t.words = ""
	}
	return t, words[1:], nil
}

// only is take for a command that has no further words.
func (g *Given) only(words []string, field bool) (target, error) {
	t, rest, err := g.take(words, field)
	if err != nil {
		return target{}, err
	}
	return t, none(rest)
}

// none refuses words that a command has no use for.
func none(words []string) error {
	if len(words) > 0 {
		return wrong("%q is one word too many", words[0])
	}
	return nil
}

// point reads X,Y.
func point(text string) (map[string]any, error) {
	left, right, ok := strings.Cut(text, ",")
	x, errX := strconv.ParseFloat(strings.TrimSpace(left), 64)
	y, errY := strconv.ParseFloat(strings.TrimSpace(right), 64)
	if !ok || errX != nil || errY != nil {
		return nil, wrong("%q is no point: expected X,Y in CSS pixels", text)
	}
	return map[string]any{"x": x, "y": y}, nil
}

// put sets a member unless its value is the zero value.
func put[V comparable](args map[string]any, member string, value V) {
	var zero V
	if value != zero {
		args[member] = value
	}
}
