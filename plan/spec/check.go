package spec

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/internal/mask"
)

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// fresh is the scope of the case before its first step.
func (c *Case) fresh() Scope {
	return Scope{Vars: maps.Clone(c.Scope.Vars), Row: c.Scope.Row, Items: map[string]any{}, Env: c.Scope.Env}
}

// check refuses references that nothing declares: variables, columns, items, secrets.
func (s Source) check(c *Case) error {
	x := &useChecker{root: s.Root, scope: c.fresh(), secrets: slices.Clone(s.Secrets)}
	for _, p := range c.All() {
		x.secrets = append(x.secrets, slices.Collect(maps.Keys(p.Secrets))...)
	}
	for _, p := range c.All() {
		x.places = p.places
		for member, text := range map[string]string{"/open": p.Open, "/storage_state": p.StorageState} {
			x.value(text, member)
		}
		for name, session := range p.Sessions {
			x.value(session.Open, "/sessions/"+escapePointer(name)+"/open")
		}
		for i, one := range p.HTTPCredentials {
			for member, text := range map[string]string{
				"origin": one.Origin, "name": one.Name, "password": one.Password,
			} {
				x.value(text, "/http_credentials/"+strconv.Itoa(i)+"/"+member)
			}
		}
		x.routes(p.Route)
		x.serves(p.Serve)
		if p.Clock != nil {
			x.value(p.Clock.At, "/clock/at")
		}
		x.steps(p.Steps)
	}
	return x.problems.sorted()
}

type useChecker struct {
	places   *places
	root     string // of Source
	scope    Scope
	secrets  []string
	names    *Names // judged in place of references; nil judges references
	problems Problems
}

func (x *useChecker) fail(pointer string, err error) {
	x.problems = append(x.problems, Problem{x.places.at(pointer), err.Error()})
}

func (x *useChecker) steps(steps []Step) {
	for i := range steps {
		x.step(&steps[i], steps[i].At.Pointer)
	}
}

func (x *useChecker) step(s *Step, at string) {
	x.named(s, at)
	x.value(s.Open, at+"/open")
	for member, text := range map[string]string{
		"action":  s.Action,
		"state":   s.State,
		"summary": s.Summary,
		"call":    s.Call,
		"session": s.Session,
		"tab":     s.Tab,
	} {
		x.value(text, at+"/"+member)
	}
	x.value(s.Args, at+"/args")
	x.request(s, at)
	x.routes(s.Route)
	for i := range s.Expect {
		x.value(plain(s.Expect[i]), at+"/expect")
	}
	if f := s.ForEach; f != nil {
		list, err := x.scope.Expand(f.In)
		if err != nil {
			x.fail(at+"/for_each/in", err)
			return
		}
		items := []any{unknown{}}
		switch v := list.(type) {
		case []any:
			if len(v) > 0 {
				items = v
			}
		case unknown:
		default:
			x.fail(at+"/for_each/in", errors.New("in: expected a list"))
		}
		if x.names == nil {
			items = items[:1] // the others have the same members
		}
		before, had := x.scope.Items[f.As]
		for _, item := range items {
			x.scope.Items[f.As] = item
			x.steps(f.Steps)
		}
		if delete(x.scope.Items, f.As); had {
			x.scope.Items[f.As] = before
		}
	}
	for name := range s.Capture {
		x.scope.Vars[name] = unknown{}
	}
}

// value checks the texts in a value.
func (x *useChecker) value(v any, at string) {
	if x.names != nil {
		return
	}
	switch v := v.(type) {
	case string:
		if _, err := x.scope.Text(v); err != nil {
			x.fail(at, err)
		}
		for _, name := range mask.Used(v) {
			if !slices.Contains(x.secrets, name) {
				x.fail(at, noName("secret", name, x.secrets))
			}
		}
	case []any:
		for i := range v {
			x.value(v[i], at+"/"+strconv.Itoa(i))
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			x.value(v[k], at+"/"+escapePointer(k))
		}
	}
}

// plain is a value as JSON has it.
func plain(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var out any
	if d.Decode(&out) != nil {
		return nil
	}
	return out
}

// Explain writes what the case would run, one line for each step.
func (c *Case) Explain(line func(depth int, text string)) {
	line(0, c.Name)
	scope := c.fresh()
	for i, p := range c.All() {
		depth := 1
		if p != c.Plan {
			word := "setup"
			if i >= len(c.Setup) {
				word = "teardown"
			}
			line(1, word+" "+p.Name)
			depth = 2
		}
		for _, s := range p.Serve {
			_ = s.Expand(&scope) // what cannot be expanded was refused
			line(depth, "serve "+s.Command.String()+" ("+s.Ready()+")")
		}
		if p.Open != "" {
			line(depth, "open "+explained(&scope, p.Open))
		}
		explainRoutes(p.Route, &scope, depth, line)
		explainSteps(p.Steps, &scope, depth, line)
	}
}

// Opens lists the addresses that the case opens, as far as they are known before it runs.
func (c *Case) Opens(each func(p *Plan, at Place, address string)) {
	scope := c.fresh()
	for _, p := range c.All() {
		tell := func(at Place, address string) {
			text, err := scope.Text(address)
			if err == nil && text != "" {
				each(p, at, text)
			}
		}
		tell(p.At("/open"), p.Open)
		for _, name := range slices.Sorted(maps.Keys(p.Sessions)) {
			tell(p.At("/sessions/"+escapePointer(name)+"/open"), p.Sessions[name].Open)
		}
		eachStep(p.Steps, func(s *Step) { tell(p.At(s.At.Pointer+"/open"), s.Open) })
	}
}

// At is the place of a member of the plan.
func (p *Plan) At(pointer string) Place { return p.places.at(pointer) }

func explainSteps(steps []Step, scope *Scope, depth int, line func(int, string)) {
	for i := range steps {
		s := &steps[i]
		text := s.Name
		if does := s.Does(); does != s.Name && !strings.HasSuffix(does, " "+s.Name) {
			text += ": " + explained(scope, does)
		}
		if len(s.Args) > 0 {
			if args, err := scope.Expand(map[string]any(s.Args)); err == nil {
				if raw, err := jsonout.Line(args); err == nil {
					text += " " + string(raw)
				}
			}
		}
		for _, one := range []struct{ word, name string }{
			{"session", s.Session},
			{"tab", s.Tab},
			{"new tab", s.NewTab},
		} {
			if one.name != "" {
				text += ", " + one.word + " " + one.name
			}
		}
		if n := len(s.Expect); n > 0 {
			text += ", " + strconv.Itoa(n) + map[bool]string{true: " expectation", false: " expectations"}[n == 1]
		}
		line(depth, text)
		explainRoutes(s.Route, scope, depth+1, line)
		if f := s.ForEach; f != nil {
			list, err := scope.Expand(f.In)
			items, ok := list.([]any)
			if err != nil || !ok {
				items = []any{unknown{}}
			}
			before, had := scope.Items[f.As]
			for _, item := range items {
				scope.Items[f.As] = item
				line(depth+1, f.As+" "+explained(scope, "${"+f.As+"}"))
				explainSteps(f.Steps, scope, depth+2, line)
			}
			if delete(scope.Items, f.As); had {
				scope.Items[f.As] = before
			}
		}
		for name := range s.Capture {
			scope.Vars[name] = unknown{}
		}
	}
}

func explainRoutes(list Routes, scope *Scope, depth int, line func(int, string)) {
	for _, r := range list {
		_ = r.Expand(scope) // what cannot be expanded was refused
		line(depth, "route "+r.String())
	}
}

func explained(scope *Scope, text string) string {
	out, err := scope.Text(text)
	if err != nil {
		return text
	}
	return out
}
