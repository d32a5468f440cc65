//go:build unix

package launch_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/launch"
)

// childEnv makes this test binary launch a browser, say where, and wait.
const childEnv = "OUTRIDER_TEST_CHILD"

type childReport struct {
	PID int
	Dir string
}

// TestChild is not a test: it is the process that TestOrphans kills.
func TestChild(t *testing.T) {
	if os.Getenv(childEnv) == "" {
		t.Skip("runs only as a child of TestOrphans")
	}
	if os.Getenv(childEnv) == "program" {
		launch.ForgetShell()
	}
	b, err := browser.Launch(context.Background(), browsertest.Options())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.NewTab(context.Background(), "data:text/html,hello", browser.TabOptions{}); err != nil {
		t.Fatal(err)
	}
	report, _ := json.Marshal(childReport{b.PID(), b.ProfileDir()})
	os.Stdout.Write(append(report, '\n')) // layering:allow: a test
	select {}
}

// Killing the process that launched a browser leaves neither a process nor a
// directory, whichever supervisor there is.
func TestOrphans(t *testing.T) {
	browsertest.Require(t)
	for _, kind := range []string{"shell", "program"} {
		t.Run(kind, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
			cmd.Env = append(os.Environ(), childEnv+"="+kind)
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Wait()
			defer cmd.Process.Kill()
			var report childReport
			var output []string
			for lines := bufio.NewScanner(out); report.PID == 0 && lines.Scan(); {
				_ = json.Unmarshal(lines.Bytes(), &report)
				output = append(output, lines.Text())
			}
			if report.PID == 0 || report.Dir == "" {
				t.Fatalf("the child did not launch a browser; its output is\n%s", strings.Join(output, "\n"))
			}
			all := using(t, report.Dir, report.PID)
			if len(all) < 3 {
				t.Fatalf("found %d processes with the profile directory: the test does not see them", len(all))
			}
			if kind == "shell" {
				kb := residentKB(t, report.Dir)
				if kb > 5_000 || kb == 0 && runtime.GOOS == "linux" {
					t.Errorf("the supervisor keeps %d kB, want at most 5,000", kb)
				}
				t.Logf("the supervisor keeps %d kB", kb)
			}
			if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			var left []string
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("left: %s", left)
				}
			})
			browsertest.Eventually(t, 4*time.Second, "no process and no directory", func() bool {
				_, err := os.Stat(report.Dir)
				left = using(t, report.Dir, report.PID)
				return os.IsNotExist(err) && len(left) == 0
			})
			t.Logf("ended after %v", time.Since(start))
			matches, _ := filepath.Glob(filepath.Join(filepath.Dir(report.Dir), "outrider-test-*"))
			for _, m := range matches {
				if strings.HasPrefix(report.Dir, m+"/") {
					os.RemoveAll(m) // the killed child's temporary directory
				}
			}
		})
	}
}

// A browser starts where no process can watch it, and its owner is told.
func TestNoWatchdog(t *testing.T) {
	browsertest.Require(t)
	options := browsertest.Options()
	found, err := launch.Find(options.Path, "")
	if err != nil {
		t.Fatal(err)
	}
	options.Path = found.Path
	t.Setenv("PATH", t.TempDir()) // no installed outrider
	launch.ForgetShell()
	launch.ForgetPrograms()
	defer launch.Restore()
	told := make(chan error, 1)
	options.OnWatchdogLost = func(err error) { told <- err }
	b, err := browser.Launch(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close(context.Background())
	select {
	case err := <-told:
		if !strings.Contains(err.Error(), "neither a shell nor an installed outrider") {
			t.Errorf("told %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("nothing is told of the missing watchdog")
	}
}

// residentKB is what the shell that watches dir keeps; 0 when there is none, or no /proc.
func residentKB(t *testing.T, dir string) int {
	t.Helper()
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		line, _ := os.ReadFile(path)
		if !strings.HasPrefix(string(line), "/bin/sh\x00-c\x00") ||
			!strings.HasSuffix(string(line), "\x00"+dir+"\x00") {
			continue
		}
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "status"))
		_, rest, _ := strings.Cut(string(status), "VmRSS:")
		kb, err := strconv.Atoi(strings.Fields(rest + " ?")[0])
		if err != nil {
			t.Fatalf("%s has no VmRSS: %v", path, err)
		}
		return kb
	}
	return 0
}

// using lists the processes that name dir in their command line, the supervisor
// and the browser's children included.
// using are the processes that name a profile directory, and those of a browser's group. The headless shell names the
// directory only to its first process.
func using(t *testing.T, dir string, group int) []string {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pgid=,pid=,stat=,args=", "-ww").Output()
	if err != nil {
		t.Skipf("ps is not usable here: %v", err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		member := group != 0 && fields[0] == strconv.Itoa(group) // threads of the kernel are of group 0
		if strings.Contains(line, dir) || member && !strings.HasPrefix(fields[2], "Z") {
			found = append(found, line)
		}
	}
	return found
}

// Chromium aborts where the path of its socket is too long, so a long TMPDIR must not be
// its own. Issue 15: in a folder of CI with a long name the browser did not start.
func TestALongTemporaryFolder(t *testing.T) {
	browsertest.Require(t)
	long := filepath.Join(t.TempDir(), strings.Repeat("a-long-name-", 12))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	b := browsertest.Launch(t, nil)
	if _, err := b.NewTab(
		browsertest.Within(t, 30*time.Second), "data:text/html,hello", browser.TabOptions{},
	); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.ProfileDir(), long) {
		t.Errorf("the profile is in %s, want it in TMPDIR", b.ProfileDir())
	}
}

// What a killed browser leaves behind is removed at once, not at Close.
func TestKilledBrowserLeavesNothing(t *testing.T) {
	tmp, err := os.MkdirTemp("/tmp", "o") // short, so that the browser's socket is with its profile
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	t.Setenv("TMPDIR", tmp)
	b := browsertest.Launch(t, nil)
	if _, err := b.NewTab(
		browsertest.Within(t, 30*time.Second), "data:text/html,hello", browser.TabOptions{},
	); err != nil {
		t.Fatal(err)
	}
	dir := b.ProfileDir()
	if err := syscall.Kill(b.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var left []os.DirEntry
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("left: %v", left)
		}
	})
	browsertest.Eventually(t, 3*time.Second, "no process, and nothing in the temporary folder", func() bool {
		left, err = os.ReadDir(tmp)
		return err == nil && len(left) == 0 && len(using(t, dir, 0)) == 0
	})
}

// A profile that the user named is kept.
func TestNamedProfileIsKept(t *testing.T) {
	dir := t.TempDir()
	b := browsertest.Launch(t, func(o *browser.Options) { o.UserDataDir = dir })
	if _, err := b.NewTab(browsertest.Within(t, 30*time.Second), "", browser.TabOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(browsertest.Within(t, 20*time.Second)); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) == 0 {
		t.Errorf("the profile was removed: %v %v", entries, err)
	}
}
