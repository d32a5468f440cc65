package processgroup

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// dead reports whether only zombies are left of a process group.
func dead(group int) bool {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return false
	}
	want := []byte(strconv.Itoa(group))
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// pid (comm) state ppid pgrp; comm may contain anything.
		f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		if len(f) > 2 && bytes.Equal(f[2], want) && f[0][0] != 'Z' && f[0][0] != 'X' {
			return false
		}
	}
	return true
}

// KillMarked ends the processes whose environment has a variable, also those that left the group
// of the program that was started with it.
func KillMarked(variable string) {
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return
	}
	for _, path := range environments {
		b, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(append([]byte{0}, b...), []byte("\x00"+variable+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
