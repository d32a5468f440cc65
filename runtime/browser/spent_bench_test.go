package browser_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// spentMeter adds up the processor time of the browsers that this process has started, which other work on the machine
// changes much less than it changes times.
type spentMeter struct{}

// newSpentMeter is nil where the machine does not tell.
func newSpentMeter() *spentMeter {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		return nil
	}
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		return nil
	}
	return &spentMeter{}
}

// read is the processor time so far. Threads that have ended are not counted.
func (m *spentMeter) read() time.Duration {
	if m == nil {
		return 0
	}
	parents := map[int]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		b, err := os.ReadFile(name)
		end := bytes.LastIndexByte(b, ')')
		if err != nil || end < 0 {
			continue
		}
		fields := bytes.Fields(b[end+1:]) // state, parent
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(string(fields[1]))
		}
	}
	var all time.Duration
	for pid := range parents {
		if pid == os.Getpid() || !descends(parents, pid) {
			continue
		}
		tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
		for _, name := range tasks {
			b, err := os.ReadFile(name)
			if err != nil {
				continue
			}
			spent, _, _ := bytes.Cut(b, []byte(" "))
			ns, _ := strconv.ParseInt(string(spent), 10, 64)
			all += time.Duration(ns)
		}
	}
	return all
}

// descends reports whether a process is this one or was started by it, also by way of others.
func descends(parents map[int]int, pid int) bool {
	for range len(parents) {
		if pid == os.Getpid() {
			return true
		}
		next, ok := parents[pid]
		if !ok || next == 0 {
			return false
		}
		pid = next
	}
	return false
}

// reportSpent reports what the browser has used for the two sides, ours first.
func reportSpent(b *testing.B, spent [2]time.Duration) {
	if spent[1] > 0 {
		b.ReportMetric(float64(spent[0])/float64(spent[1]), "ratio-of-processor-time")
	}
}
