//go:build unix

package serve

import (
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/internal/processgroup"
)

// watchdog is our end of a pipe to a shell that ends an app when the pipe ends without a farewell:
// then we were killed.
type watchdog struct {
	cmd  *exec.Cmd
	pipe *os.File
}

// watchScript reads "group <id>" and "done" lines; $0 is the mark. It ends the group, and where the
// system shows environments what left it.
const watchScript = `trap '' INT TERM HUP PIPE
while read -r word arg; do
  case $word in group) group=$arg ;; done) exit 0 ;; esac
done
[ -n "$group" ] && kill -s KILL -- "-$group" 2>/dev/null
for p in /proc/[0-9]*; do
  grep -q -- "$0" "$p/environ" 2>/dev/null && kill -s KILL "${p#/proc/}" 2>/dev/null
done`

func startWatchdog(mark string) (*watchdog, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", watchScript, mark)
	cmd.Stdin = r
	cmd.Dir = os.TempDir()
	processgroup.Detach(cmd)
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, err
	}
	return &watchdog{cmd, w}, nil
}

func (w *watchdog) group(id int) { _, _ = w.pipe.WriteString("group " + strconv.Itoa(id) + "\n") }

// release ends the watchdog and waits for it.
func (w *watchdog) release() {
	if w == nil {
		return
	}
	_, _ = w.pipe.WriteString("done\n")
	w.pipe.Close()
	stuck := time.AfterFunc(3*time.Second, func() { _ = w.cmd.Process.Kill() })
	_ = w.cmd.Wait()
	stuck.Stop()
}
