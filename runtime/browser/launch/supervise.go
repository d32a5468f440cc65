package launch

import (
	"bufio"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// superviseEnv carries the profile directory to remove to a supervisor; "-"
// when there is none.
const superviseEnv = "OUTRIDER_SUPERVISE"

// supervisable means that this program calls MaybeSupervise, so running its
// executable again gives a supervisor and not a second program.
var supervisable atomic.Bool

// MaybeSupervise must be the first call of main (and of TestMain): when this
// process was started as the supervisor of a browser it does that work and exits.
// Otherwise it returns at once.
//
// A supervisor holds the reading end of a pipe to its parent. When the pipe ends
// without a farewell, the parent is dead: the supervisor kills the browser's
// process group, removes the profile directory and exits. It starts beside the
// browser, not before it, so it costs no start-up time.
//
// A program that does not call MaybeSupervise gets a shell with the same task
// where there is one.
func MaybeSupervise() {
	dir, ok := os.LookupEnv(superviseEnv)
	if !ok {
		supervisable.Store(true)
		return
	}
	signal.Ignore(ignoredSignals...)
	supervise(os.Stdin, dir)
	os.Exit(0) // layering:allow: this process was started for nothing else
}

// supervise reads "group <id>" and "done" lines from life.
func supervise(life *os.File, dir string) {
	group := 0
	lines := bufio.NewScanner(life)
	for lines.Scan() {
		word, arg, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "group":
			group, _ = strconv.Atoi(arg)
		case "done":
			return
		}
	}
	if group > 0 {
		killGroup(group)
		awaitGroup(group, time.Second)
	}
	if dir != "-" {
		removeProfile(dir, 5*time.Second)
	}
}

// supervisor is our end of the pipe to one.
type supervisor struct {
	cmd  *exec.Cmd
	pipe *os.File
}

// startSupervisor starts a supervisor for the profile directory dir; "-" for
// none. It returns nil when there is no way to run one: then the browser still
// ends with its pipe, but a directory can stay.
func startSupervisor(dir string) *supervisor {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer r.Close()
	var cmd *exec.Cmd
	switch {
	case supervisable.Load():
		self := "/proc/self/exe" // also when the file was replaced meanwhile
		if runtime.GOOS != "linux" {
			if self, err = os.Executable(); err != nil {
				w.Close()
				return nil
			}
		}
		cmd = exec.Command(self)
		cmd.Args = []string{"outrider-supervisor"}
		cmd.Env = append(os.Environ(), superviseEnv+"="+dir, "GOMAXPROCS=1")
	default:
		sh, err := exec.LookPath("sh")
		if err != nil || runtime.GOOS == "windows" {
			w.Close()
			return nil
		}
		cmd = exec.Command(sh, "-c", superviseScript, dir)
	}
	cmd.Stdin = r
	cmd.Dir = os.TempDir()
	detach(cmd)
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil
	}
	return &supervisor{cmd: cmd, pipe: w}
}

// superviseScript is supervise for a shell; $0 is the directory.
const superviseScript = `trap '' INT TERM HUP
while read -r word arg; do
  case $word in group) group=$arg ;; done) exit 0 ;; esac
done
[ -n "$group" ] && kill -s KILL -- "-$group" 2>/dev/null
[ "$0" = - ] && exit 0
i=0
while [ $i -lt 100 ]; do
  rm -rf -- "$0" 2>/dev/null
  [ -e "$0" ] || exit 0
  i=$((i+1)); sleep 0.05
done`

func (s *supervisor) watch(group int) {
	if s != nil {
		_, _ = s.pipe.WriteString("group " + strconv.Itoa(group) + "\n")
	}
}

// release ends the supervisor and waits for it.
func (s *supervisor) release() {
	if s == nil {
		return
	}
	_, _ = s.pipe.WriteString("done\n")
	s.pipe.Close()
	stuck := time.AfterFunc(3*time.Second, func() { _ = s.cmd.Process.Kill() })
	_ = s.cmd.Wait()
	stuck.Stop()
}

// removeProfile removes a profile directory, again and again while dying
// processes still write into it.
func removeProfile(dir string, within time.Duration) error {
	deadline := time.Now().Add(within)
	pause := 5 * time.Millisecond
	for {
		err := os.RemoveAll(dir)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(pause)
		pause = min(2*pause, 100*time.Millisecond)
	}
}
