//go:build unix

package fleettest

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Process is a child that can be stopped and killed. It ends with the test, whatever
// happens.
type Process struct {
	Done <-chan struct{} // closed when it has ended
	cmd  *exec.Cmd
}

// Spawn starts a program and waits until it has printed ready, "" for not at all.
func Spawn(t testing.TB, ready string, env []string, program string, args ...string) *Process {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	var words bytes.Buffer
	cmd.Stderr = &words
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	p := &Process{done, cmd}
	in := bufio.NewReader(out)
	for said := ""; !strings.Contains(said, ready); {
		line, err := in.ReadString('\n')
		said += line
		if err != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			t.Fatalf("%s %v said %q and %q", program, args, said, words.String())
		}
	}
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, in)
		_ = cmd.Wait()
	}()
	t.Cleanup(p.Kill)
	return p
}

// Signal sends a signal, to a process that has ended none.
func (p *Process) Signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// Kill ends the process as a machine that loses its power does.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.Done
}

// NATS builds the program nats-server of the module that go.mod names.
func NATS(t testing.TB, dir string) (program string) {
	t.Helper()
	program = filepath.Join(dir, "nats-server")
	out, err := exec.Command("go", "build", "-o", program, "github.com/nats-io/nats-server/v2").CombinedOutput()
	if err != nil {
		t.Fatalf("building nats-server: %v\n%s", err, out)
	}
	return program
}
