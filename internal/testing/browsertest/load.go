package browsertest

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// mostPatience is how many times as long a page gets on a busy machine at most.
const mostPatience = 20

// OnThisMachine is the Patience of browsers in tests: the more threads want each processor, the longer
// is what a page gets where it would get d on an idle machine.
func OnThisMachine(d time.Duration) time.Duration {
	line, err := os.ReadFile("/proc/loadavg")
	if err != nil { // not Linux
		return d
	}
	return d * time.Duration(waitingPer(string(line), runtime.NumCPU()))
}

// waitingPer is how many threads want each processor, from 1 to mostPatience, by the
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
	return min(max((n+processors-1)/processors, 1), mostPatience)
}
