// Package patience says how much longer something may take on a busy machine. It judges no page: its
// callers do, with the time that they get here.
package patience

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// most is how many times as long a page gets on a busy machine at most.
const most = 20

// With is how long a page gets where it would get d on an idle machine. A page that
// waits for a processor is not stuck, and its answer does not tell the two apart.
func With(d time.Duration) time.Duration {
	line, err := os.ReadFile("/proc/loadavg")
	if err != nil { // not Linux
		return d
	}
	return d * time.Duration(waitingPer(string(line), runtime.NumCPU()))
}

// waitingPer is how many threads want each processor, from 1 to most, by the
// line of /proc/loadavg: three averages, then "runnable/all".
func waitingPer(loadavg string, processors int) int {
	fields := strings.Fields(loadavg)
	if len(fields) < 4 {
		return 1
	}
	runnable, _, _ := strings.Cut(fields[3], "/")
	n, err := strconv.Atoi(runnable)
	if err != nil {
		return 1
	}
	return min(max((n+processors-1)/processors, 1), most)
}
