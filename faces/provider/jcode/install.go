package jcode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/internal/background"
)

// jcode runs a program at a fixed place for each action of its browser tool.
// What is put there is a script that runs this binary.

const mark = "# Outrider's command-line face for jcode; written by: outrider jcode install"

// executable is where jcode looks for its browser command.
func executable() (string, error) {
	home := os.Getenv("JCODE_HOME")
	if home == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		home = filepath.Join(user, ".jcode")
	}
	return filepath.Join(home, "browser", "browser"), nil
}

// Installation describes the file at the path of jcode's browser command.
type Installation struct {
	Path  string
	There bool // some program
	Ours  bool
}

// Installed inspects the path of jcode's browser command.
func Installed() (Installation, error) {
	path, err := executable()
	if err != nil {
		return Installation{}, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return Installation{Path: path, There: !errors.Is(err, fs.ErrNotExist)}, nil
	}
	return Installation{path, true, bytes.Contains(content[:min(len(content), 4096)], []byte(mark))}, nil
}

// before is where a program that was there is kept.
func (i Installation) before() string { return i.Path + ".before-outrider" }

// Install puts a script in place that runs self with flags. Another program that
// is there is an error, or with force kept beside it.
func Install(self string, flags []string, force bool) (Installation, error) {
	i, err := Installed()
	if err != nil {
		return i, err
	}
	if i.There && !i.Ours {
		if !force {
			return i, fmt.Errorf(
				"%s is another program; --force replaces it and keeps it as %s", i.Path, filepath.Base(i.before()),
			)
		}
		if err := os.Rename(i.Path, i.before()); err != nil {
			return i, err
		}
	}
	return i, writeScript(i.Path, self, flags)
}

// Uninstall takes our script away, puts back what was there before, and ends the
// processes of all sessions. It returns what was there, and how many ended.
func Uninstall(ctx context.Context) (i Installation, ended int, err error) {
	i, err = Installed()
	if err != nil {
		return i, 0, err
	}
	if i.There && !i.Ours {
		return i, 0, fmt.Errorf("%s is another program and stays", i.Path)
	}
	if i.There {
		if err := os.Remove(i.Path); err != nil {
			return i, 0, err
		}
	}
	if _, err := os.Stat(i.before()); err == nil {
		if err := os.Rename(i.before(), i.Path); err != nil {
			return i, 0, err
		}
	}
	for _, s := range LiveSessions() {
		if s.End(ctx) == nil {
			ended++
		}
	}
	removeLocks()
	return i, ended, nil
}

// removeLocks removes the lock files of sessions that nobody serves. Without the command
// that was taken away none of them is served again.
func removeLocks() {
	files, _ := filepath.Glob(filepath.Join(runtimeDir(), "browser-session-*.lock")) // the pattern is ours
	for _, f := range files {
		unlock, err := background.Lock(f)
		if err != nil {
			continue // it is served
		}
		_ = os.Remove(f)
		unlock()
	}
}

// writeScript writes the script in one step: jcode may be running.
func writeScript(path, self string, flags []string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/sh\n%s\nexec %s jcode run", mark, shellWord(self))
	for _, f := range flags {
		b.WriteString(" " + shellWord(f))
	}
	b.WriteString(` -- "$@"` + "\n")
	fresh := path + "." + strconv.Itoa(os.Getpid())
	if err := os.WriteFile(fresh, []byte(b.String()), 0o755); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return nil
}

// shellWord quotes a word for sh.
func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
