package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/projection/expr"
)

// Read reads a plan and refuses what is odd in it. The error is Problems, or that the
// file cannot be read. Variables are not looked at: see Cases.
func Read(path string, engine expr.Engine) (*Plan, error) {
	doc, places, err := readDocument(path)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encoding the plan")
	}
	c := checker{places: places, engine: engine}
	found := compiled().Validate(raw)
	for _, p := range found {
		if p.Keyword == "anyOf" &&
			slices.ContainsFunc(found, func(o schema.Problem) bool { return strings.HasPrefix(o.Path, p.Path+"/") }) {
			continue // what is inside says more
		}
		message := p.Message
		if _, ok := places.lines[p.Path]; !ok || p.Keyword == "additionalProperties" {
			i := strings.LastIndexByte(p.Path, '/')
			message = unescapePointer(p.Path[i+1:]) + ": " + message
		}
		if p.Keyword == "additionalProperties" {
			if member := suggestedMember(p.Path); member != "" {
				message += "; did you mean " + member + "?"
			}
		}
		c.fail(p.Path, "%s", message)
	}
	p := &Plan{path: path, places: places}
	if err := decode(raw, p); err == nil {
		p.keepNumbers()
		c.plan(p)
	} else if len(c.problems) == 0 {
		c.fail("", "the plan cannot be read: %v", err)
	}
	if err := c.problems.sorted(); err != nil {
		return nil, err
	}
	if p.Name == "" {
		p.Name = filepath.Base(path)
	}
	p.relative()
	return p, nil
}

// relative makes the paths of a plan relative to where the plan is.
func (p *Plan) relative() {
	dir := filepath.Dir(p.path)
	from := func(path *string) {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
	for _, list := range [][]string{p.Setup, p.Teardown, {p.StorageState}} {
		for _, path := range list {
			if filepath.IsAbs(path) {
				p.absolute = path
			}
		}
	}
	for _, list := range [][]string{p.Maps, p.Setup, p.Teardown} {
		for i := range list {
			from(&list[i])
		}
	}
	from(&p.StorageState)
	p.relativeDirs(dir)
	for name, s := range p.Sessions {
		if filepath.IsAbs(s.StorageState) {
			p.absolute = s.StorageState
		}
		from(&s.StorageState)
		p.Sessions[name] = s
	}
	if p.Data != nil {
		from(&p.Data.File)
	}
	routes := func(list Routes) {
		for i := range list {
			for _, path := range []*string{&list[i].Path, &list[i].HAR} {
				if filepath.IsAbs(*path) {
					p.absolute = *path
				}
				from(path)
			}
		}
	}
	routes(p.Route)
	eachStep(p.Steps, func(s *Step) { routes(s.Route) })
}

// checker finds what the schema cannot say.
type checker struct {
	places   *places
	engine   expr.Engine
	problems Problems
}

func (c *checker) fail(pointer, format string, args ...any) {
	c.problems = append(c.problems, Problem{c.places.at(pointer), fmt.Sprintf(format, args...)})
}

func (c *checker) plan(p *Plan) {
	for name, s := range p.Secrets {
		at := "/secrets/" + escapePointer(name)
		if err := mask.CheckName(name); err != nil {
			c.fail(at, "%s", fault.From(err).Message)
		}
		if err := s.Reference().Check(); err != nil {
			c.fail(at, "%v", err)
		}
	}
	for name := range p.Vars {
		if !word().MatchString(name) {
			c.fail("/vars/"+escapePointer(name), "%q is no name of a variable: expected letters, digits and _", name)
		}
	}
	for i, one := range p.HTTPCredentials {
		at := "/http_credentials/" + strconv.Itoa(i)
		for member, text := range map[string]string{"/origin": one.Origin, "/name": one.Name} {
			if text == "" {
				c.fail(at+member, "is empty")
			}
		}
		if names := mask.Used(one.Password); len(names) != 1 || one.Password != mask.Placeholder(names[0]) {
			c.fail(at+"/password", "expected a secret, such as {{secret:PW}}")
		}
	}
	c.quarantine(p.Quarantine)
	c.matrix(p.Matrix)
	c.clock(p.Clock)
	c.routes(p.Route, "/route")
	c.serves(p.Serve)
	c.steps(p.Steps, "/steps")
	number(p.Steps, map[string]int{})
}

func (c *checker) steps(steps []Step, at string) {
	for i := range steps {
		c.step(&steps[i], at+"/"+strconv.Itoa(i))
	}
}

func (c *checker) step(s *Step, at string) {
	s.At = c.places.at(at)
	kinds := 0
	for _, given := range []bool{
		s.Action != "", s.State != "", s.Call != "", s.Check, s.ForEach != nil, s.Request != nil,
	} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds > 1:
		c.fail(at, "the step has %d of action, state, call, request, check and for_each: expected one", kinds)
	case kinds == 0 && s.Open == "" && len(s.Expect) == 0:
		c.fail(
			at, "the step does nothing: expected one of action, state, call, request, check, for_each, open and expect",
		)
	}
	c.request(s, at)
	if s.Summary != "" && s.State == "" {
		c.fail(at+"/summary", "summary belongs to state")
	}
	for member, given := range map[string]bool{
		"expect_status": s.ExpectStatus != 0,
		"requires":      len(s.Requires) > 0,
		"strict_checks": s.StrictChecks,
		"fail_on_drift": s.FailOnDrift,
	} {
		if given && !s.Check {
			c.fail(at+"/"+member, "%s belongs to check", member)
		}
	}
	if len(s.Args) > 0 && s.Action == "" && s.Call == "" {
		c.fail(at+"/args", "args belong to action and call")
	}
	if f := s.ForEach; f != nil {
		for member, given := range map[string]bool{
			"open":    s.Open != "",
			"expect":  len(s.Expect) > 0,
			"capture": len(s.Capture) > 0,
			"new_tab": s.NewTab != "",
			"retries": s.Retries > 0,
			"timeout": s.Timeout > 0,
			"session": s.Session != "",
			"tab":     s.Tab != "",
			"route":   len(s.Route) > 0,
		} {
			if given {
				c.fail(at+"/"+member, "%s belongs to the steps of for_each", member)
			}
		}
		if f.As == "" {
			f.As = "item"
		}
		if !word().MatchString(f.As) || slices.Contains(roots, f.As) {
			c.fail(
				at+"/for_each/as", "%q is no name of an item: expected letters, digits and _, and none of %s",
				f.As, strings.Join(roots, ", "),
			)
		}
		if list, ok := f.In.([]any); ok && len(list) == 0 && !f.AllowEmpty {
			c.fail(at+"/for_each/in", "%s; allow_empty: true allows none", NoItems)
		}
		c.steps(f.Steps, at+"/for_each/steps")
	}
	if s.Name == "" {
		s.Name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(s.Does(), "action "), "state "), "call ")
		if strings.HasPrefix(s.Name, "open ") {
			s.Name = "open"
		}
		if s.Request != nil && s.Open == "" {
			s.Name = "request"
		}
	}
	c.routes(s.Route, at+"/route")
	for i := range s.Expect {
		c.expectation(&s.Expect[i], at+"/expect", i, len(s.Expect))
	}
	for name, text := range s.Capture {
		place := at + "/capture/" + escapePointer(name)
		if !word().MatchString(name) {
			c.fail(place, "%q is no name of a variable: expected letters, digits and _", name)
		}
		if program := c.compile(text, place); program != nil {
			if s.captures == nil {
				s.captures = map[string]expr.Program{}
			}
			s.captures[name] = program
		}
	}
}

// compile compiles an expression. One with a variable in it is compiled when it runs.
func (c *checker) compile(text, at string) expr.Program {
	if reference().MatchString(text) {
		c.fail(at, "an expression has no ${…}: it sees variables as vars, the row as row, and secrets not at all")
		return nil
	}
	program, err := c.engine.Compile(text)
	if err != nil {
		c.fail(at, "%s", fault.From(err).Error())
		return nil
	}
	return program
}

// number makes the names of steps different: a report with two test cases of one
// name is read as one.
func number(steps []Step, seen map[string]int) {
	for i := range steps {
		s := &steps[i]
		s.Name = Numbered(s.Name, seen)
		if s.ForEach != nil {
			number(s.ForEach.Steps, seen)
		}
	}
}

// Numbered is a name that seen does not have: the name itself, or with a number.
func Numbered(name string, seen map[string]int) string {
	unique := name
	for seen[unique] > 0 {
		seen[name]++
		unique = fmt.Sprintf("%s (%d)", name, seen[name])
	}
	seen[unique]++
	return unique
}

// Reference is the secret's reference.
func (s Secret) Reference() mask.Reference {
	return mask.Reference{Env: s.Env, File: s.File, Command: s.Command, Origins: s.Origins}
}

func unescapePointer(token string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}

// errCycle says that plans set each other up.
var errCycle = errors.New("the plan sets itself up")
