package providerkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// RunCommand starts a provider, tests it and ends it. The reasons of the report hold
// how it ended, if that was wrong. StartError is what a command gives that does not
// start.
func RunCommand(ctx context.Context, command []string, stderr io.Writer, opts Options) (Report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = stderr
	cmd.WaitDelay = 15 * time.Second
	in, err := cmd.StdoutPipe()
	if err != nil {
		return Report{}, &StartError{err}
	}
	out, err := cmd.StdinPipe()
	if err != nil {
		return Report{}, &StartError{err}
	}
	if err := cmd.Start(); err != nil {
		return Report{}, &StartError{fmt.Errorf("starting the provider: %w", err)}
	}
	report, failed := Run(ctx, in, out, opts)
	leaving := endProvider(cmd, in, out, cancel)
	if failed != nil {
		return report, failed
	}
	if leaving != "" {
		report.Reasons = append(report.Reasons, leaving)
		if report.Tier == Certified {
			report.Tier = Compatible
		}
	}
	return report, nil
}

// StartError says why a provider could not be started.
type StartError struct{ Err error }

func (e *StartError) Error() string { return e.Err.Error() }

func (e *StartError) Unwrap() error { return e.Err }

// endProvider closes the provider's input and says what is wrong with how it
// ends, "" when nothing is.
func endProvider(cmd *exec.Cmd, in io.Reader, out io.Closer, kill context.CancelFunc) string {
	_ = out.Close()
	ended := make(chan error, 1)
	go func() {
		_, _ = io.Copy(io.Discard, in)
		ended <- cmd.Wait()
	}()
	timer := time.NewTimer(15 * time.Second)
	defer timer.Stop()
	select {
	case err := <-ended:
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			return "exit: the provider ended with " + failed.String()
		}
		return ""
	case <-timer.C:
		kill()
		<-ended
		return "exit: the provider did not end when its input did"
	}
}

// Print writes one scenario for people.
func (r Result) Print(w io.Writer) {
	fmt.Fprintf(w, "%-7s  %-14s  %6d ms  %s\n", r.Outcome, r.ID, r.Millis, r.Title)
	if r.Outcome == Failed {
		for _, reason := range r.Reasons {
			fmt.Fprintf(w, "         %s\n", reason)
		}
	}
}

// PrintTier writes the tier and its reasons for people.
func (r Report) PrintTier(w io.Writer) {
	counts := map[Outcome]int{}
	for _, result := range r.Results {
		counts[result.Outcome]++
	}
	fmt.Fprintf(
		w, "\n%s: %d passed, %d failed, %d not claimed\n",
		strings.ToUpper(string(r.Tier)), counts[Passed], counts[Failed], counts[Skipped],
	)
	for _, reason := range r.Reasons {
		fmt.Fprintf(w, "  because %s\n", reason)
	}
}
