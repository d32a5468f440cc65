package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/outrider-run/outrider/bridgeclient/provider/conformance"
)

// runConformance starts a provider, tests it and says which tier it reaches. A
// provider that is less than certified is a failure of the verb.
func (a *app) runConformance(ctx context.Context, command []string) error {
	if len(command) == 0 {
		return usage("--conformance needs the command that starts the provider: outrider provider --conformance -- CMD [ARGS]")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = a.stderr
	cmd.WaitDelay = 15 * time.Second
	in, err := cmd.StdoutPipe()
	if err != nil {
		return &exit{exitEnvironment, err}
	}
	out, err := cmd.StdinPipe()
	if err != nil {
		return &exit{exitEnvironment, err}
	}
	if err := cmd.Start(); err != nil {
		return &exit{exitEnvironment, fmt.Errorf("starting the provider: %w", err)}
	}
	opts := conformance.Options{CallLimit: a.callLimit}
	if !a.json {
		opts.OnResult = a.printScenario
	}
	report, failed := conformance.Run(ctx, in, out, opts)
	leaving := a.endProvider(cmd, in, out, cancel)
	if failed != nil {
		return failed
	}
	if leaving != "" {
		report.Reasons = append(report.Reasons, leaving)
		if report.Tier == conformance.Certified {
			report.Tier = conformance.Compatible
		}
	}
	if a.json {
		a.printJSON(report)
	} else {
		a.printTier(report)
	}
	if report.Tier != conformance.Certified {
		return &exit{exitFailed, nil}
	}
	return nil
}

// endProvider closes the provider's input and says what is wrong with how it
// ends, "" when nothing is.
func (a *app) endProvider(cmd *exec.Cmd, in io.Reader, out io.Closer, kill context.CancelFunc) string {
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

func (a *app) printScenario(r conformance.Result) {
	fmt.Fprintf(a.stdout, "%-7s  %-14s  %6d ms  %s\n", r.Outcome, r.ID, r.Millis, r.Title)
	if r.Outcome == conformance.Failed {
		for _, reason := range r.Reasons {
			fmt.Fprintf(a.stdout, "         %s\n", reason)
		}
	}
}

func (a *app) printTier(report conformance.Report) {
	counts := map[conformance.Outcome]int{}
	for _, r := range report.Results {
		counts[r.Outcome]++
	}
	fmt.Fprintf(a.stdout, "\n%s: %d passed, %d failed, %d not claimed\n", strings.ToUpper(string(report.Tier)),
		counts[conformance.Passed], counts[conformance.Failed], counts[conformance.Skipped])
	for _, reason := range report.Reasons {
		fmt.Fprintf(a.stdout, "  because %s\n", reason)
	}
}
