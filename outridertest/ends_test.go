package outridertest_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
)

// TestEndsLeaveNothing runs tests of another module that end in every way, and looks for processes and folders after.
func TestEndsLeaveNothing(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("processes are found in /proc")
	}
	binary := filepath.Join(t.TempDir(), "ends.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", binary, ".")
	build.Dir = "testdata/ends"
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	for _, c := range []struct {
		name, run string
		signal    os.Signal // sent when it says ready
		without   bool      // TestMain does not call Run
		fails     bool
		says      string
		long      bool // only in the long run
	}{
		{name: "passes", run: "TestPasses", long: true},
		{name: "passes without Run", run: "TestPasses", without: true},
		{name: "fails", run: "TestFails|TestPasses", fails: true, says: "target_not_found", long: true},
		{name: "panics", run: "TestPanics", fails: true, says: "of the test"},
		{name: "panics in a goroutine", run: "TestPanicsInGoroutine", fails: true, says: "of a goroutine", long: true},
		{name: "fatal in a goroutine", run: "TestFatalInGoroutine", fails: true, says: "target_not_found"},
		{name: "fatal in an act", run: "TestFatalInAct", fails: true, says: "target_not_found", long: true},
		{name: "exits", run: "TestExits", fails: true, long: true},
		{name: "times out", run: "TestHangs", fails: true, says: "test timed out"},
		{name: "killed", run: "TestHangs", signal: os.Kill, fails: true},
		{name: "interrupted", run: "TestHangs", signal: syscall.SIGINT, fails: true, long: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.long {
				browsertest.OnlyLong(t)
			}
			dir, err := os.MkdirTemp("", "e") // a short path: the browser puts a socket there
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			limit := "1m"
			if c.run == "TestHangs" && c.signal == nil {
				limit = "3s"
			}
			cmd := exec.CommandContext(t.Context(), binary, "-test.run=^("+c.run+")$", "-test.timeout="+limit)
			cmd.Env = append(os.Environ(), "TMPDIR="+dir)
			if c.without {
				cmd.Env = append(cmd.Env, "WITHOUT_RUN=1")
			}
			var errors bytes.Buffer
			cmd.Stderr = &errors
			stdout, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			reader := bufio.NewReader(stdout)
			if c.signal != nil {
				for line := ""; line != "ready\n" && err == nil; {
					line, err = reader.ReadString('\n')
				}
				if len(using(t, dir)) < 2 {
					t.Error("its browser is not seen")
				}
				_ = cmd.Process.Signal(c.signal)
			}
			out, _ := io.ReadAll(reader)
			ended := cmd.Wait()
			all := string(out) + errors.String()
			if (ended != nil) != c.fails || !strings.Contains(all, c.says) || strings.Contains(all, "are left") {
				t.Errorf("it ended with %v\n%s", ended, all)
			}
			var left []string
			for until := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
				left, err = filepath.Glob(filepath.Join(dir, "*"))
				if err != nil {
					t.Fatal(err)
				}
				left = append(left, using(t, dir)...)
				if len(left) == 0 || time.Now().After(until) {
					break
				}
			}
			if len(left) > 0 {
				t.Errorf("these are left: %q", left)
			}
		})
	}
}

// using are the processes with a folder in their command line or in their environment.
func using(t *testing.T, dir string) (found []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, process := range all {
		command, _ := os.ReadFile(filepath.Join(process, "cmdline")) // it may have ended
		environment, _ := os.ReadFile(filepath.Join(process, "environ"))
		if bytes.Contains(command, []byte(dir)) || bytes.Contains(environment, []byte("TMPDIR="+dir+"\x00")) {
			found = append(found, strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}
