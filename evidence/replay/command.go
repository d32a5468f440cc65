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

	In         io.Reader
	Out, Words io.Writer // results for people, and prompts; nil Out for none
}

// Run repeats the log in a file. An error with the code invalid_input is one of the files.
func (c Command) Run(ctx context.Context, path string) (*Report, error) {
	l, err := Read(path)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	o := c.Options
	if c.Profile != "" {
		set, ok := quirks.Profile(c.Profile)
		if !ok {
			return nil, fault.New(fault.InvalidInput, "--profile is %q: expected strict or extension", c.Profile)
		}
		o.Quirks = &set
	}
	if c.Fill != "" {
		values, err := ReadFill(c.Fill)
		if err == nil {
			err = l.Fill(values, o.Secrets)
		}
		if err != nil {
			return nil, err
		}
	}
	if c.State != "" {
		data, err := os.ReadFile(c.State)
		if err != nil {
			return nil, fault.Wrap(fault.InvalidInput, err, "the storage state cannot be read")
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
	if c.Out != nil {
		o.OnCall = func(r CallResult) { r.Print(c.Out) }
	}
	r, err := Play(ctx, l, o)
	if err == nil && c.Out != nil {
		r.Print(c.Out)
	}
	return r, err
}
