package expr

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// selfExe stays the running binary when its file is replaced.
const selfExe = "/proc/self/exe"

func workerBaseEnv() []string { return nil }

// limitMemory lets the process map budget bytes more than it has. The Go
// runtime reserves much more address space than it uses, so a fixed number
// would not do; one allocation past the limit ends the process.
func limitMemory(budget int64) {
	text, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		pages, _, _ := bytes.Cut(text, []byte(" "))
		var n uint64
		n, err = strconv.ParseUint(string(pages), 10, 64)
		if err == nil {
			limit := n*uint64(os.Getpagesize()) + uint64(budget)
			err = unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: limit, Max: limit})
		}
	}
	if err != nil {
		watchMemory(budget)
	}
}
