package replay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// Command is a replay as it is asked for on the command line.
type Command struct {
	Options
	Fill  string // file of the values that the log does not hold
	State string // file of a storage state
	ByOne bool   // wait for a line of In before each call
	// Profile is the name of the profile, "" for that of the log.
	Profile string

	BisectQuirks  bool
	BisectVersion string   // another build of the program
	Minimise      string   // folder for the smallest case
	Arguments     []string // of the verb, for the other build

	In         io.Reader
	Out, Words io.Writer // results for people, and prompts; nil Out for none
}

// Answer is what a command gives: a Report, a Bisection, a Minimal or a VersionDifference.
type Answer interface{ Print(w io.Writer) }

// Run repeats the log in a file. An error with the code invalid_input is one of the files. verdict is
// that of the replay, Differs where builds do.
func (c Command) Run(ctx context.Context, path string) (answer Answer, verdict string, err error) {
	l, err := Read(path)
	if err != nil {
		return nil, "", err
	}
	defer l.Close()
	o, err := c.options(l)
	if err != nil {
		return nil, "", err
	}
	switch {
	case c.BisectQuirks:
		b, err := BisectQuirks(ctx, l, o)
		if err != nil {
			return nil, "", err
		}
		verdict = Reproduced
		if b.Report != nil {
			verdict = b.Report.Verdict
		}
		answer = b
	case c.BisectVersion != "":
		d, err := BisectVersion(ctx, l, o, c.BisectVersion, c.Arguments)
		if err != nil {
			return nil, "", err
		}
		verdict = Reproduced
		if d.Call > 0 {
			verdict = Differs
		}
		answer = d
	case c.Minimise != "":
		m, err := Minimise(ctx, l, o, c.Minimise, c.Words)
		if err != nil {
			return nil, "", err
		}
		answer, verdict = m, Reproduced
		if m.Ended {
			verdict = Ended
		}
	default:
		if c.Out != nil {
			o.OnCall = func(r CallResult) { r.Print(c.Out) }
		}
		r, err := Play(ctx, l, o)
		if err != nil {
			return nil, "", err
		}
		answer, verdict = r, r.Verdict
	}
	if c.Out != nil {
		answer.Print(c.Out)
	}
	return answer, verdict, nil
}

// options are those that the flags ask for.
func (c Command) options(l *Log) (Options, error) {
	o := c.Options
	if c.Profile != "" {
		set, ok := quirks.Profile(c.Profile)
		if !ok {
			return o, fault.New(fault.InvalidInput, "--profile is %q: expected strict or extension", c.Profile)
		}
		o.Quirks = &set
	}
	if c.Fill != "" {
		values, err := ReadFill(c.Fill)
		if err == nil {
			err = l.Fill(values, o.Secrets)
		}
		if err != nil {
			return o, err
		}
	}
	if c.State != "" {
		data, err := os.ReadFile(c.State)
		if err != nil {
			return o, fault.Wrap(fault.InvalidInput, err, "the storage state cannot be read")
		}
		o.Prepare = FromState(data)
	}
	if c.ByOne {
		lines := bufio.NewReader(c.In)
		o.Step = func(n int, call Call) error {
			fmt.Fprintf(c.Words, "next: %d %s %s (Enter) ", n, call.Name, call.Arguments)
			if _, err := lines.ReadString('\n'); err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			return nil
		}
	}
	return o, nil
}
