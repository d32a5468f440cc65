package worker

import (
	"os"
	"strconv"
	"strings"
)

// measure is the machine's load over one minute, and the memory of this process.
func measure() (one float64, memoryMB int64) {
	if raw, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(raw), " ")
		one, _ = strconv.ParseFloat(first, 64)
	}
	if raw, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := strings.Fields(string(raw)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64)
			return one, pages * int64(os.Getpagesize()) >> 20
		}
	}
	return one, 0
}
