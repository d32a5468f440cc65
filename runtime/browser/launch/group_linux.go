package launch

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// groupIsDead reports whether only zombies are left of a process group.
func groupIsDead(group int) bool {
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
