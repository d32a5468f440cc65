package launch

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/internal/processgroup"
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
// Where there is a shell, it does that task, in a twentieth of the memory. A program
// that does not call MaybeSupervise gets the installed outrider where there is none.
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
		processgroup.Kill(group)
		processgroup.Await(group, time.Second)
	}
	if dir != "-" {
		removeProfile(dir, 5*time.Second)
	}
}

// supervisor is our end of the pipe to one.
type supervisor struct {
	cmd      *exec.Cmd
	pipe     *os.File
	released atomic.Bool
	ended    chan struct{} // closed when the process was collected
}

// startSupervisor starts a supervisor for the profile directory dir; "-" for
// none. lost is called, from another goroutine, when it ends before its time.
// Without a supervisor the browser still ends with its pipe, but a directory can
// stay.
func startSupervisor(dir string, lost func(error)) (*supervisor, error) {
	cmd, err := supervisorCommand(dir)
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting the watchdog of the browser: %w", err)
	}
	defer r.Close()
	cmd.Env = append(supervisorEnv(), cmd.Env...)
	cmd.Stdin = r
	cmd.Dir = os.TempDir()
	processgroup.Detach(cmd)
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("starting the watchdog of the browser: %w", err)
	}
	s := &supervisor{cmd: cmd, pipe: w, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		err := cmd.Wait()
		if !s.released.Load() {
			lost(fmt.Errorf("the watchdog of the browser ended: %w", cmp.Or(err, errors.New("exit status 0"))))
		}
	}()
	return s, nil
}

// shell is where every Unix has one.
var shell = "/bin/sh"

// supervisorCommand is the program to run: a shell, else this program where it calls
// MaybeSupervise, else the installed outrider. A shell keeps 1 to 2 MB and is there at
// once; a program of Go as large as ours keeps 35 MB, and needs 20 ms of processor time.
func supervisorCommand(dir string) (*exec.Cmd, error) {
	var cmd *exec.Cmd
	if _, err := os.Stat(shell); err == nil && runtime.GOOS != "windows" {
		return exec.Command(shell, "-c", superviseScript, dir), nil
	} else if supervisable.Load() {
		self := "/proc/self/exe" // also when the file was replaced meanwhile
		if runtime.GOOS != "linux" {
			var err error
			self, err = os.Executable()
			if err != nil {
				return nil, fmt.Errorf("starting the watchdog of the browser: %w", err)
			}
		}
		cmd = exec.Command(self)
	} else if installed, err := exec.LookPath("outrider"); err == nil {
		cmd = exec.Command(installed)
	} else {
		return nil, errors.New(
			"starting the watchdog of the browser: there is neither a shell nor an installed outrider",
		)
	}
	cmd.Args = []string{"outrider-supervisor"}
	cmd.Env = []string{superviseEnv + "=" + dir, "GOMAXPROCS=1"}
	return cmd, nil
}

// superviseScript is supervise for a shell; $0 is the directory. A browser that dies
// writes into its directory until its last process is gone.
const superviseScript = `trap '' INT TERM HUP PIPE
while read -r word arg; do
  case $word in group) group=$arg ;; done) exit 0 ;; esac
done
i=0
if [ -n "$group" ]; then
  kill -s KILL -- "-$group" 2>/dev/null
  while [ $i -lt 10 ] && kill -s 0 -- "-$group" 2>/dev/null; do
    i=$((i+1)); sleep 0.05
  done
fi
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
	s.released.Store(true)
	_, _ = s.pipe.WriteString("done\n")
	s.pipe.Close()
	stuck := time.AfterFunc(3*time.Second, func() { _ = s.cmd.Process.Kill() })
	<-s.ended
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
