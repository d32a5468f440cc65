package processgroup

import (
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// Detach puts a process into a group of its own.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// Terminate ends a process and all it started: there is no signal that asks.
func Terminate(group int) { Kill(group) }

// Kill ends a process and all it started.
func Kill(group int) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(group)).Run()
}

// Await does not wait: taskkill has.
func Await(int, time.Duration) bool { return true }

// KillMarked ends nothing: which environment a process has is not known here.
func KillMarked(string) {}
