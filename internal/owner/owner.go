// Package owner finds the process that a command works for: the nearest parent that stays when the command has ended.
// An agent runs each command in a shell of its own, which ends with it; the agent stays. A session of the shell without
// a name belongs to that process. The package starts and ends nothing.
package owner

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNone says that no parent stays.
var ErrNone = errors.New("no parent process stays when this command has ended")

// Process is one process. The two together name it for ever: a system uses a PID again.
type Process struct {
	PID int
	// Started is when it began, in a unit of the system.
	Started uint64
}

// parent is what is known of a process.
type parent struct {
	Process
	of      int // the PID of its own parent
	program string
	args    []string
}

// most is how many parents are looked at.
const most = 64

// Find is the nearest parent of the process pid that stays. Shells that are not interactive and programs that only run
// another one are passed over. ErrNone is returned where there is none.
func Find(pid int) (Process, error) {
	at, err := read(pid)
	for range most {
		if err != nil || at.of <= 0 {
			return Process{}, ErrNone
		}
		at, err = read(at.of)
		if err == nil && !at.passes() {
			if at.PID == 1 && at.starts() {
				return Process{}, ErrNone
			}
			return at.Process, nil
		}
	}
	return Process{}, ErrNone
}

// Name is what a session of the process is called that works in a tree of files: eight letters and digits.
func (p Process) Name(tree string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %s", p.PID, p.Started, tree))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5]))
}

// shells are the programs that run scripts.
var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "busybox"}

// wrappers are the programs that run another one and end with it.
var wrappers = []string{
	"env", "timeout", "nice", "ionice", "nohup", "setsid", "stdbuf", "time", "xargs", "sudo", "npx", "npm", "pnpm",
	"bunx", "uvx",
}

// inits are the programs that adopt every process whose parent has ended.
var inits = []string{
	"init", "systemd", "tini", "dumb-init", "docker-init", "catatonit", "runit", "s6-svscan", "launchd",
}

func (p parent) starts() bool { return slices.Contains(inits, p.program) }

// passes reports whether the process ends with what it runs.
func (p parent) passes() bool {
	switch {
	case slices.Contains(wrappers, p.program):
		return true
	case slices.Contains(shells, p.program):
		return !p.interactive()
	case p.program == "node" && len(p.args) > 1: // npx and npm are scripts
		return slices.Contains(wrappers, strings.TrimSuffix(filepath.Base(p.args[1]), "-cli.js"))
	}
	return false
}

// interactive reports whether a shell reads its commands from a person: it was given none, and no script.
func (p parent) interactive() bool {
	args := p.args[min(1, len(p.args)):]
	if p.program == "busybox" && len(args) > 0 {
		args = args[1:]
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "-" || arg == "--":
			return i+1 == len(args)
		case strings.HasPrefix(arg, "--"):
			if arg == "--rcfile" || arg == "--init-file" {
				i++
			}
		case strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "+"):
			if strings.Contains(arg, "c") {
				return false
			}
			if strings.HasSuffix(arg, "o") || strings.HasSuffix(arg, "O") { // -o OPTION
				i++
			}
		default:
			return false // a script
		}
	}
	return true
}

// programOf is the name of the program that arguments begin with. A login shell has a dash before it.
func programOf(args []string) string {
	if len(args) == 0 || args[0] == "" {
		return ""
	}
	return strings.TrimPrefix(filepath.Base(args[0]), "-")
}
