package shell

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// memoryOf is the resident memory of a process and of all that it started, in bytes.
func memoryOf(root int) int64 {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0
	}
	parents := map[int]int{}
	pages := map[int]int64{}
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if err != nil || len(fields) < 22 {
			continue
		}
		parents[pid], _ = strconv.Atoi(fields[1])
		pages[pid], _ = strconv.ParseInt(fields[21], 10, 64)
	}
	total := int64(0)
	for pid, size := range pages {
		at := pid
		for at != root && at > 1 {
			at = parents[at]
		}
		if at == root {
			total += size
		}
	}
	return total * int64(os.Getpagesize())
}
