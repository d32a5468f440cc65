//go:build unix

package owner

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Which processes stay is told by their command lines.
func TestWhatStays(t *testing.T) {
	for line, passes := range map[string]bool{
		"bash -c outrider":      true,
		"bash -lc outrider":     true,
		"/bin/sh -ec outrider":  true,
		"bash script.sh":        true,
		"bash -x script.sh":     true,
		"bash -o pipefail -c x": true,
		"busybox sh -c x":       true,
		"bash":                  false,
		"-bash":                 false,
		"bash -i":               false,
		"bash --norc -i":        false,
		"bash --rcfile file":    false,
		"zsh -l":                false,
		"env A=1 outrider":      true,
		"timeout 5 outrider":    true,
		"npx outrider":          true,
		"node /usr/lib/node_modules/npm/bin/npx-cli.js": true,
		"node agent.js":    false,
		"claude":           false,
		"python3 agent.py": false,
	} {
		args := strings.Fields(line)
		p := parent{program: programOf(args), args: args}
		if p.passes() != passes {
			t.Errorf("%q is passed over: %v", line, !passes)
		}
	}
}

// Each caller has a name of its own, also where the system has given its PID away again.
func TestNames(t *testing.T) {
	one := Process{PID: 10, Started: 1}
	names := map[string]bool{}
	for _, n := range []string{
		one.Name(""), one.Name("/tree"), Process{PID: 10, Started: 2}.Name(""), Process{PID: 11, Started: 1}.Name(""),
	} {
		names[n] = true
	}
	if len(names) != 4 || one.Name("") != one.Name("") {
		t.Errorf("%v", names)
	}
}

// The end of a process is seen, and a process that has its PID later is another one.
func TestWait(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	at, err := read(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		at.Wait(t.Context())
		close(ended)
	}()
	if at.of != os.Getpid() || !at.alive() {
		t.Errorf("%+v", at)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	<-ended
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	Process{PID: os.Getpid(), Started: at.Started + 1}.Wait(ctx)
	if ctx.Err() != nil {
		t.Error("a process of another start was waited for")
	}
}
