//go:build unix

package launch

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

var ignoredSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE}

// detach puts a process into a group of its own, so that Ctrl-C in a terminal
// reaches us and not it: the browser is ours to close.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// open starts the browser with a DevTools pipe on descriptors 3 and 4.
func (p *Process) open(args []string) (cdp.Transport, error) {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		theirIn.Close()
		ourOut.Close()
		return nil, err
	}
	p.cmd.Args = append(append(p.cmd.Args, args...), "--remote-debugging-pipe")
	p.cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	err = p.start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		ourOut.Close()
		ourIn.Close()
		return nil, err
	}
	return cdp.NewPipe(ourIn, ourOut), nil
}

func killGroup(group int) {
	_ = syscall.Kill(-group, syscall.SIGKILL)
}

// awaitGroup waits until no process of the group is left. Processes that died
// but were not collected by their new parent still count, so it gives up.
func awaitGroup(group int, within time.Duration) {
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if syscall.Kill(-group, 0) == syscall.ESRCH || groupIsDead(group) {
			return
		}
	}
}
