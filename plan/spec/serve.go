package spec

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/internal/mask"
)

// Serve is a program that serves what a plan opens. It is started before the first case that
// needs it, once for all plans that say the same, and ended after the last.
type Serve struct {
	Command Command           `json:"command" doc:"a text for the shell, or a list of a program and its arguments"`
	URL     string            `json:"url,omitempty" doc:"ready when this answers with a status below 404"`
	Port    int               `json:"port,omitempty" min:"1" max:"65535" doc:"ready when this port accepts a connection"`
	Output  string            `json:"output,omitempty" doc:"ready when a line of its output matches"`
	Dir     string            `json:"cwd,omitempty" doc:"where it runs, relative to the plan's folder"`
	Env     map[string]string `json:"env,omitempty" doc:"variables beside ours; they may have secrets"`
	Timeout Duration          `json:"timeout,omitempty" doc:"how long it may take to be ready; default 1m"`
	Reuse   *bool             `json:"reuse,omitempty" doc:"whether an app that answers already is used; default true"`

	// At is where the plan says it.
	At Place `json:"-"`
}

// Serves are the programs of a plan, in the order in which they are started.
type Serves []Serve

// UnmarshalJSON reads a program or a list of them.
func (s *Serves) UnmarshalJSON(b []byte) error {
	*s = nil
	var list []json.RawMessage
	if json.Unmarshal(b, &list) != nil {
		list = []json.RawMessage{b}
	}
	for _, raw := range list {
		var one Serve
		if err := decode(raw, &one); err != nil {
			return err
		}
		*s = append(*s, one)
	}
	return nil
}

// Command is a program with its arguments, or a text for the shell.
type Command struct {
	Shell   string
	Program []string
}

// UnmarshalJSON reads a text or a list.
func (c *Command) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &c.Shell) == nil {
		return nil
	}
	return decode(b, &c.Program)
}

// MarshalJSON is the inverse of UnmarshalJSON.
func (c Command) MarshalJSON() ([]byte, error) {
	if c.Shell != "" {
		return json.Marshal(c.Shell)
	}
	return json.Marshal(c.Program)
}

// String is the command for people.
func (c Command) String() string {
	if c.Shell != "" {
		return c.Shell
	}
	return strings.Join(c.Program, " ")
}

const rowOfServe = "has a column of a row: an app is started once for all rows"

// serves finds what the schema cannot say of programs.
func (c *checker) serves(list Serves) {
	for i := range list {
		s := &list[i]
		at := "/serve"
		if _, many := c.places.lines["/serve/0"]; many {
			at += "/" + strconv.Itoa(i)
		}
		s.At = c.places.at(at)
		program := s.Command.Shell
		if len(s.Command.Program) > 0 {
			program = s.Command.Program[0]
		}
		if strings.TrimSpace(program) == "" {
			c.fail(at+"/command", "is empty, expected a program")
		}
		if s.URL == "" && s.Port == 0 && s.Output == "" {
			c.fail(at, "nothing says when the app is ready: expected one of url, port and output")
		}
		if s.Output != "" {
			if _, err := regexp.Compile(s.Output); err != nil {
				c.fail(at+"/output", "%v", err)
			}
		}
		if s.Reuse != nil && s.URL == "" && s.Port == 0 {
			c.fail(at+"/reuse", "reuse needs url or port: nothing else tells an app that runs already")
		}
		for name := range s.Env {
			if name == "" || strings.ContainsAny(name, "=\x00") {
				c.fail(at+"/env/"+escapePointer(name), "%q is no name of a variable", name)
			}
			if strings.Contains(s.Env[name], "${row.") {
				c.fail(at+"/env/"+escapePointer(name), rowOfServe)
			}
		}
		for member, texts := range map[string][]string{
			"command": append([]string{s.Command.Shell}, s.Command.Program...),
			"url":     {s.URL},
			"output":  {s.Output},
			"cwd":     {s.Dir},
		} {
			for _, text := range texts {
				switch {
				case len(mask.Used(text)) > 0:
					c.fail(at+"/"+member, "has a secret, which others on this machine could read: give it by env")
				case strings.Contains(text, "${row."):
					c.fail(at+"/"+member, rowOfServe)
				}
			}
		}
	}
}

// serves refuses references that nothing declares, and addresses that are none.
func (x *useChecker) serves(list Serves) {
	for i := range list {
		at := list[i].At.Pointer
		x.value(plain(list[i]), at)
		s := list[i]
		if s.Expand(&x.scope) != nil || s.URL == "" {
			continue // it was said
		}
		u, err := url.Parse(s.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			x.fail(at+"/url", fmt.Errorf("is %q, expected an address such as http://127.0.0.1:8080/", s.URL))
		}
	}
}

// Expand replaces the references in what is said of a program.
func (s *Serve) Expand(scope *Scope) error {
	program := append([]string(nil), s.Command.Program...)
	fields := []*string{&s.Command.Shell, &s.URL, &s.Output, &s.Dir}
	for i := range program {
		fields = append(fields, &program[i])
	}
	for _, field := range fields {
		text, err := scope.Text(*field)
		if err != nil {
			return err
		}
		*field = text
	}
	s.Command.Program = program
	env := make(map[string]string, len(s.Env))
	for name, value := range s.Env {
		text, err := scope.Text(value)
		if err != nil {
			return err
		}
		env[name] = text
	}
	s.Env = env
	return nil
}

// Ready is for people how it is known that the app is ready.
func (s *Serve) Ready() string {
	switch {
	case s.URL != "":
		return s.URL
	case s.Port != 0:
		return "port " + strconv.Itoa(s.Port)
	}
	return "output " + s.Output
}

// Serves are the programs that the plans of the case need, with the plan that names each.
func (c *Case) Serves(each func(p *Plan, s *Serve)) {
	for _, p := range c.All() {
		for i := range p.Serve {
			each(p, &p.Serve[i])
		}
	}
}

// relativeDirs makes the folders of programs relative to where the plan is.
func (p *Plan) relativeDirs(dir string) {
	for i := range p.Serve {
		s := &p.Serve[i]
		if !filepath.IsAbs(s.Dir) {
			s.Dir = filepath.Join(dir, s.Dir)
		}
	}
}
