package mask

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	hosts "github.com/outrider-run/outrider/primitives/address"
)

// Reference says where a secret is. Exactly one of Env, File and Command is set.
type Reference struct {
	Env  string // name of a variable of the environment
	File string
	// Command prints it: a program and its arguments, without a shell.
	Command []string
	// Origins limit where the secret may be used; none is everywhere.
	Origins []string
}

// ParseReference reads env:NAME, file:PATH or cmd:PROGRAM ARGUMENTS.
func ParseReference(text string) (Reference, error) {
	kind, rest, ok := strings.Cut(text, ":")
	switch {
	case !ok || strings.TrimSpace(rest) == "":
	case kind == "env":
		return Reference{Env: rest}, nil
	case kind == "file":
		return Reference{File: rest}, nil
	case kind == "cmd":
		return Reference{Command: strings.Fields(rest)}, nil
	}
	// The text is not shown: somebody may have given the secret itself.
	return Reference{}, errors.New("expected env:NAME, file:PATH or cmd:PROGRAM ARGUMENTS")
}

// AddReference adds the secret of NAME=REFERENCE.
func (s *Set) AddReference(ctx context.Context, assignment string) error {
	name, text, ok := strings.Cut(assignment, "=")
	if !ok {
		return errors.New("is not understood: expected NAME=env:VARIABLE, NAME=file:PATH or NAME=cmd:PROGRAM ARGUMENTS")
	}
	r, err := ParseReference(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	value, err := r.Resolve(ctx, "")
	if err != nil {
		return fmt.Errorf("%s: %w", name, r.unnamed(err))
	}
	return s.Add(name, value, r.Origins...)
}

// unnamed is an error of Resolve without what the reference says. The shell may have put
// the secret itself in its place, as in env:$NAME.
func (r Reference) unnamed(err error) error {
	const with = ": expected the name and not the secret, so without a $"
	var path *os.PathError
	switch {
	case r.Env != "":
		return errors.New("the environment has no variable of the name that follows env:" + with)
	case r.File != "" && errors.As(err, &path):
		return fmt.Errorf("the file that follows file: cannot be read: %w", path.Err)
	case r.File != "":
		return errors.New("the file that follows file: cannot be read")
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("the program that follows cmd: did not end in time")
	}
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return fmt.Errorf("the program that follows cmd: failed: %s", ended.ProcessState)
	}
	return errors.New("the program that follows cmd: cannot be run")
}

// Check says what is wrong with a reference, without resolving it.
func (r Reference) Check() error {
	given := 0
	for _, set := range []bool{r.Env != "", r.File != "", len(r.Command) > 0} {
		if set {
			given++
		}
	}
	if given != 1 {
		return errors.New("expected exactly one of env, file and command")
	}
	for _, o := range r.Origins {
		if hosts.Origin(o) == "" {
			return fmt.Errorf("%q is no origin: expected one such as https://example.com or https://*.example.com", o)
		}
	}
	return nil
}

const (
	// commandTime bounds a command that prints a secret.
	commandTime = 30 * time.Second
	maxOutput   = maxLength + 2 // with a line ending
)

// Resolve reads the secret. A path that is not absolute is relative to dir. A line
// ending at its end does not belong to it.
func (r Reference) Resolve(ctx context.Context, dir string) (string, error) {
	if err := r.Check(); err != nil {
		return "", err
	}
	var value string
	switch {
	case r.Env != "":
		v, ok := os.LookupEnv(r.Env)
		if !ok || v == "" {
			return "", fmt.Errorf("the environment has no variable %s", r.Env)
		}
		value = v
	case r.File != "":
		path := r.File
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		b, err := io.ReadAll(io.LimitReader(f, maxOutput))
		if err != nil {
			return "", err
		}
		value = string(b)
	default:
		v, err := run(ctx, dir, r.Command)
		if err != nil {
			return "", err
		}
		value = v
	}
	return strings.TrimSuffix(strings.TrimSuffix(value, "\n"), "\r"), nil
}

// run is what a command prints. What it says on standard error is not shown: it may
// have the secret in it.
func run(ctx context.Context, dir string, command []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Dir, c.WaitDelay = dir, time.Second
	var out limited
	c.Stdout = &out
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("%s did not end in time: %w", command[0], ctx.Err())
		}
		return "", fmt.Errorf("%s: %w", command[0], err)
	}
	return out.b.String(), nil
}

// limited takes what fits and drops the rest.
type limited struct{ b bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	l.b.Write(p[:min(len(p), max(0, maxOutput-l.b.Len()))])
	return len(p), nil
}
