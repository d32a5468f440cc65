package launch

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// tick is the unit of processor times in /proc, USER_HZ, which is the same on every architecture.
const tick = 10 * time.Millisecond

// Spent is how much processor time the browser's main process has used; ok says whether that is known.
func (p *Process) Spent() (spent time.Duration, ok bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
	if err != nil {
		return 0, false
	}
	// pid (comm) state ppid …, and utime and stime as fields 14 and 15; comm may contain anything.
	const user = 11
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) <= user+1 {
		return 0, false
	}
	for _, field := range f[user : user+2] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, false
		}
		spent += time.Duration(n) * tick
	}
	return spent, true
}
