//go:build unix

package processgroup

import (
	"os/exec"
	"syscall"
	"time"
)

// Detach puts a process into a group of its own, so that Ctrl-C in a terminal
// reaches us and not it: it is ours to end.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// Terminate asks the processes of a group to end.
func Terminate(group int) { _ = syscall.Kill(-group, syscall.SIGTERM) }

// Kill ends the processes of a group.
func Kill(group int) { _ = syscall.Kill(-group, syscall.SIGKILL) }

// Await waits until no process of the group is left, and reports whether that is so.
// Processes that died but were not collected by their new parent still count where
// the system does not say so, so it gives up.
func Await(group int, within time.Duration) bool {
	pause := 2 * time.Millisecond
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(pause) {
		if syscall.Kill(-group, 0) == syscall.ESRCH || dead(group) {
			return true
		}
		pause = min(2*pause, 10*time.Millisecond)
	}
	return false
}
